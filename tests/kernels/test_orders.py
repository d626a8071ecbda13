"""All three loop orders: lengths, heads, dimensions and masks that trip public kernels."""

from itertools import product

import pytest

import kernels
from tests.kernels.attention_checks import assert_attention, in_each_dtype, make_qkv
from tests.tables import table

ORDERS = ["standard", "fa1", "fa2", "fa2_split"]
in_each_order = pytest.mark.parametrize("order", ORDERS)


@pytest.mark.pairwise  # which tiles a loop visits hangs on lengths, order and mask: all triples run
@pytest.mark.parametrize(("order", "causal"), list(product(ORDERS, [False, True])))
@in_each_dtype
@pytest.mark.parametrize(("n_q", "n_k", "block_m", "block_n"), table(__file__))
def test_lengths_bottom_right(n_q, n_k, block_m, block_n, dtype, order, causal):
    """Br < Bc, Br > Bc, and Nq ≠ Nk with the diagonal ending in the last row and column."""
    q, k, v = make_qkv(n_q, 16, n_k=n_k, dtype=dtype)
    assert_attention(q, k, v, causal=causal, order=order, block_m=block_m, block_n=block_n)


@in_each_order
@pytest.mark.parametrize("d", [1, 8, 40, 59, 111, 192, 256])
def test_head_dimensions(d, order):
    q, k, v = make_qkv(35, d, dtype="bf16")
    assert_attention(q, k, v, causal=True, order=order, block_m=16, block_n=32)


@pytest.mark.parametrize("precision", ["ieee", "tf32", "tf32x3"])
@in_each_order
def test_precision_of_fp32_products(order, precision):
    q, k, v = make_qkv(70, 64)
    o, _ = assert_attention(q, k, v, order=order, block_m=32, block_n=32, precision=precision)
    exact, _ = kernels.reference_attention(q, k, v)
    error = (o.double() - exact).abs().max().item()
    assert (error > 1e-5) == (precision == "tf32" and not kernels.INTERPRETED), error
