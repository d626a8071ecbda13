"""What short formats lose, judged by PyTorch and float64; and what the lessons' folds say of it."""

import math
import re

import numpy as np
import pytest
import torch

from explainer.learn.precision import ROUNDED, counted, long_row, lost
from kernels.spec.formats import FORMATS
from tests.effort import assert_light
from tests.learn.scenes import LESSONS


def said(key: str, pattern: str) -> list[float]:
    """The numbers of a lesson's fold where this stands."""
    found = re.search(pattern, LESSONS[key].more)
    return [float(x.replace(",", "")) for x in found.groups()]


def gradients(size: int) -> torch.Tensor:
    """Draw 500 of about 2^size, as the lessons do."""
    spread = np.random.default_rng(11).standard_normal(500)
    return torch.from_numpy(np.exp2(size + 3 * spread).astype(np.float32))


def test_counting_stops_where_a_format_ends():
    """At 2^(mantissa + 1) the gap is 2, and 1 is half of it: the tie goes back."""
    for f in FORMATS.values():
        assert counted(f, 4096) == min(4096, 2 ** (f.mantissa_bits + 1))
    for name, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        total = torch.zeros((), dtype=dtype)
        for _ in range(2100):
            total = total + 1
        assert counted(FORMATS[name], 2100) == float(total)
    assert said("stable", r"e4m3 stops at (\S+), bf16 at (\S+), fp16 at (\S+);") == [16, 256, 2048]


def test_loss_scaling_rescues_the_gradient():
    gradient = 1.25 * 2.0**-27
    assert float(torch.tensor(gradient).half()) == 0
    assert float((torch.tensor(gradient) * 2**16).half()) / 2**16 == gradient
    g = gradients(-27)
    kept = [(g * 2.0**k).half() for k in range(41)]
    good = [k for k, x in enumerate(kept) if x.isfinite().all() and (x != 0).all()]
    assert said("amp", r"k = (\d+) to k = (\d+);") == [good[0], good[-1]]
    gone = float((kept[0] == 0).float().mean())
    assert said("amp", r"turns (\d+)% into 0") == [round(100 * gone)]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("fp16", torch.float16),
        ("e5m2", torch.float8_e5m2),
        ("bf16", torch.bfloat16),
    ],
)
def test_lost_gradients_counted_by_torch(name, dtype):
    size, k = -20, np.arange(0, 41, 8)
    zero, over = lost(FORMATS[name], size, k)
    g = gradients(size)
    for i, power_of_two in enumerate(k):
        kept = (g * 2.0 ** int(power_of_two)).to(dtype).float()
        assert zero[i] == pytest.approx(float((kept == 0).float().mean()))
        assert over[i] == pytest.approx(float((~torch.isfinite(kept)).float().mean()))


def test_the_running_sum_is_what_must_be_wide():
    errors = long_row()
    assert tuple(errors) == ROUNDED and errors[""] < 2e-6 and errors["m"] < 2e-6
    assert 1e-6 < errors["P"] < 1e-3
    assert errors["S"] < errors["l"] and errors["l"] > 0.005
    long_row.cache_clear()
    assert_light(long_row, 100_000, 5_000_000)


@pytest.mark.parametrize("what", ["", "l"])
def test_a_long_row_against_torch(what):
    """The same numbers, an independent loop in torch: all in fp32, or ℓ kept in bf16."""
    rng = np.random.default_rng(3)
    S = torch.from_numpy(rng.standard_normal(2048).astype(np.float32))
    V = torch.from_numpy((1 + 0.5 * rng.standard_normal((2048, 8))).astype(np.float32))
    V = V.bfloat16().float()
    truth = torch.softmax(S.double(), 0) @ V.double()
    m, l, O = torch.tensor(-math.inf), torch.zeros(()), torch.zeros(8)
    for s, v in zip(S.split(16), V.split(16), strict=True):
        m_new = torch.maximum(m, s.max())
        p, alpha = torch.exp(s - m_new), torch.exp(m - m_new)
        l = alpha * l + p.sum()
        l = l.bfloat16().float() if what else l
        O, m = alpha * O + p @ v, m_new
    found = float((O / l - truth).abs().max() / truth.abs().max())
    assert long_row()[what] == pytest.approx(found, rel=0.01, abs=1e-6)
    if what:
        assert said("formats", r"if ℓ, by (\S+) %") == [pytest.approx(100 * found, rel=0.05)]
