"""RoPE against multiplication of complex numbers."""

import cmath

import pytest
import torch

import kernels
from tests.kernels.attention_checks import UNIT_ROUNDOFF, in_each_dtype, make_qkv


@in_each_dtype
@pytest.mark.parametrize(("d", "base", "offset"), [(2, 10_000.0, 0), (8, 500.0, 7), (16, 1e6, -3)])
def test_each_pair_is_a_complex_number_that_is_turned(d, base, offset, dtype):
    x, _, _ = make_qkv(5, d, heads=2, dtype=dtype)
    found, half = kernels.rope(x, base, offset), d // 2
    assert found.dtype == x.dtype and found.shape == x.shape
    for h, i, c in torch.cartesian_prod(*map(torch.arange, (2, 5, half))).tolist():
        before = complex(x[0, h, i, c].item(), x[0, h, i, c + half].item())
        after = before * cmath.exp(1j * (i + offset) * base ** (-2 * c / d))
        got = complex(found[0, h, i, c].item(), found[0, h, i, c + half].item())
        assert abs(got - after) <= 2 * (UNIT_ROUNDOFF[x.dtype] + 2**-22) * abs(before)
