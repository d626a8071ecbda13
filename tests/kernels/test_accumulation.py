"""The sums of fp8 products in NumPy against a GPU's own, and against whole numbers."""

from fractions import Fraction

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from kernels.spec.accumulation import BITS, GROUP, matmul
from kernels.spec.formats import FORMATS

E4M3 = FORMATS["e4m3"]


def drawn(*shape: int, spread: float = 1.0, seed: int = 0) -> np.ndarray:
    """Draw values of e4m3 whose exponents are spread."""
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape) * np.exp2(spread * random.standard_normal(shape))
    return E4M3.round_to(x).astype(np.float32)


CASES = {
    "normal": (drawn(64, 128), drawn(128, 64, seed=1), np.zeros((64, 64))),
    "one sign": (abs(drawn(64, 128)), abs(drawn(128, 64, seed=1)), np.full((64, 64), 300.0)),
    "spread": (drawn(64, 64, spread=3), drawn(64, 64, spread=3, seed=1), drawn(64, 64, spread=6)),
    "subnormal": (drawn(64, 32) / 256, drawn(32, 64, seed=1) / 256, drawn(64, 64) / 2**14),
    "far accumulator": (drawn(64, 32), drawn(32, 64, seed=1), drawn(64, 64) * 1e5),
}
CASES["subnormal"] = (
    *(E4M3.round_to(x).astype("f4") for x in CASES["subnormal"][:2]),
    CASES["subnormal"][2],
)
CASES["zeros"] = (
    CASES["normal"][0] * (np.arange(64) % 2)[:, None],
    CASES["normal"][1] * (np.arange(64) % 3 > 0),
    drawn(64, 64, seed=2) * np.exp2(-np.arange(64.0))[:, None],
)


def exponent(x: Fraction) -> int:
    """Find the power of two of the leading bit."""
    x, e = abs(x), 0
    while x >= 2:
        x, e = x / 2, e + 1
    while x < 1:
        x, e = x * 2, e - 1
    return e


def cut(x: Fraction, place: int) -> Fraction:
    """Cut off all that lies below 2^place, towards 0."""
    unit = Fraction(2) ** place
    return int(x / unit) * unit


def by_fractions(a: np.ndarray, b: np.ndarray, start: float) -> Fraction:
    """Add the products of two vectors as the docstring of `matmul` says, in whole numbers."""
    total = Fraction(float(start))
    for first in range(0, len(a), GROUP):
        pairs = [
            (Fraction(float(x)), Fraction(float(y)))
            for x, y in zip(a[first : first + GROUP], b[first : first + GROUP], strict=True)
        ]
        exponents = [
            max(exponent(x), E4M3.lowest) + max(exponent(y), E4M3.lowest)
            for x, y in pairs
            if x and y
        ]
        exponents += [exponent(total)] if total else []
        if exponents:
            place = max(exponents) - BITS
            total = cut(total, place) + sum(cut(x * y, place) for x, y in pairs)
        if total:
            total = cut(total, exponent(total) - BITS)
    return total


@pytest.mark.parametrize("name", CASES)
def test_sums_are_those_of_whole_numbers(name):
    a, b, start = CASES[name]
    found = matmul(a, b, start)
    for row, col in zip(range(0, 64, 9), range(63, 0, -9), strict=False):
        want = by_fractions(a[row], b[:, col], start[row, col])
        assert Fraction(float(found[row, col])) == want


def test_strips_and_shapes_do_not_matter():
    a, b = drawn(200, 70), drawn(70, 3, seed=1)
    whole = matmul(a, b)
    np.testing.assert_array_equal(whole[7:9], matmul(a[7:9], b))
    np.testing.assert_allclose(whole, a @ b, rtol=2e-3, atol=5e-3)


@triton.jit
def one_tile(A, B, C, D, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, cols, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(A + rows[:, None] * K + inner)
    b = tl.load(B + cols[None, :] * K + inner[:, None])
    at = rows[:, None] * N + cols
    tl.store(D + at, tl.dot(a, b, tl.load(C + at)))


@pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9,
    reason="it needs a Hopper GPU",
)
@pytest.mark.parametrize("name", CASES)
def test_a_hopper_gpu_gives_the_same_bits(name):
    a, b, start = CASES[name]
    fp8 = [torch.from_numpy(x).to(torch.float8_e4m3fn).cuda() for x in (a, b.T.copy())]
    c = torch.from_numpy(start).float().cuda()
    found = torch.empty_like(c)
    one_tile[(1,)](*fp8, c, found, *c.shape, a.shape[1])
    np.testing.assert_array_equal(found.cpu().numpy(), matmul(a, b, c.cpu().numpy()))
