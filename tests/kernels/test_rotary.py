"""RoPE against multiplication of complex numbers."""

import pytest
import torch

import kernels
from tests.kernels.attention_checks import UNIT_ROUNDOFF, in_each_dtype, make_qkv


@in_each_dtype
@pytest.mark.parametrize(("d", "base", "offset"), [(2, 10_000.0, 0), (8, 500.0, 7), (16, 1e6, -3)])
def test_each_pair_is_a_complex_number_that_is_turned(d, base, offset, dtype):
    x, _, _ = make_qkv(5, d, heads=2, dtype=dtype)
    found = kernels.rope(x, base, offset)
    assert found.dtype == x.dtype and found.shape == x.shape
    before, after = (torch.complex(*y.double().cpu().chunk(2, -1)) for y in (x, found))
    at = torch.arange(5, dtype=torch.float64)[:, None] + offset
    angles = at * base ** (-torch.arange(0, d, 2) / d)
    wanted = before * torch.polar(torch.ones_like(angles), angles)
    off = (after - wanted).abs()
    assert (off <= 2 * (UNIT_ROUNDOFF[x.dtype] + 2**-22) * before.abs()).all()
