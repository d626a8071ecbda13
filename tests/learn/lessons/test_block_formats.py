"""The lesson: rounding with scales per block, against torch and a loop over blocks."""

import numpy as np
import pytest
import torch

from explainer.learn.lessons.block_formats import lesson

FP4 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def nearest(x: float) -> float:
    return float(np.sign(x)) * min(FP4, key=lambda y: abs(y - abs(x)))


def e4m3(y: float) -> float:
    return float(torch.tensor(y, dtype=torch.float32).to(torch.float8_e4m3fn))


@pytest.mark.parametrize("size", (4, 40, 40_000))
def test_each_block_by_hand(size):
    x = lesson.numbers(size)
    whole = max(map(abs, x)) / 6 / 448
    for start in range(0, 64, 16):
        part = x[start : start + 16]
        scale = e4m3(max(map(abs, part)) / 6 / whole) * whole
        wanted = [nearest(y / scale) * scale for y in part]
        np.testing.assert_allclose(lesson.quantized(x, "nvfp4")[start : start + 16], wanted)
    for start in range(0, 64, 32):
        part = x[start : start + 32]
        scale = 2.0 ** np.ceil(np.log2(max(map(abs, part)) / 448))
        wanted = [e4m3(y / scale) * scale for y in part]
        np.testing.assert_allclose(lesson.quantized(x, "mxfp8")[start : start + 32], wanted)


def test_a_scale_per_block_helps_and_what_it_costs():
    x = lesson.numbers(40)
    assert lesson.error(x, "nvfp4") < lesson.error(x, "tensor") / 2
    x = lesson.numbers(40_000)
    assert lesson.error(x, "mxfp8") < lesson.error(x, "fp8")
    assert lesson.bits("nvfp4") == (16 * 4 + 8) / 16 and lesson.bits("mxfp8") == (32 * 8 + 8) / 32
