"""The lesson: rounding against PyTorch's formats."""

import numpy as np
import pytest
import torch

from explainer.learn.lessons.formats import lesson
from kernels.spec.formats import FORMATS
from tests.learn.scenes import block, find_mark

TORCH = {"bf16": torch.bfloat16, "fp16": torch.float16}
TORCH |= {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


@pytest.mark.parametrize("power", (-60, -20, 0, 20))
def test_what_a_format_loses(power):
    said = block("formats", power=power)["words"]
    for key, f in FORMATS.items():
        part = said.split(f"{f.title}: ")[1].split(";")[0]
        kept = float(torch.tensor(0.8 * 2.0**power).to(TORCH.get(key, torch.float32)))
        gone = not np.isfinite(kept) or not kept or abs(kept) >= f.largest
        assert part.startswith(("overflow", "becomes 0")) == gone, (key, part)


def test_the_bits_are_the_format_s_and_the_least_error_is_marked():
    sign, exponent, mantissa = FORMATS["bf16"].fields(0.8)
    assert find_mark("formats", "grid", "bf16", show="bits", power=3)["cells"] == [[sign]]
    assert lesson.rounded("bf16", 0.8) == float(torch.tensor(0.8).to(torch.bfloat16))
    bars = find_mark("formats", "bars", show="fp8", size=30)["items"]
    best = min(bars, key=lambda item: item["value"])
    assert best["hue"] == "v" and best["key"] == "rotated" and len(exponent + mantissa) == 15
