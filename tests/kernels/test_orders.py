"""All three loop orders: lengths, heads, dimensions and masks that trip public kernels."""

from itertools import product

import pytest
import torch

import kernels
from tests.kernels.attention_checks import assert_attention, make_qkv

ORDERS = ["standard", "fa1", "fa2", "fa2_split"]
MASKS = pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
in_each_order = pytest.mark.parametrize("order", ORDERS)
in_each_dtype = pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])


@pytest.mark.pairwise  # which tiles a loop visits hangs on lengths, order and mask: all triples run
@pytest.mark.parametrize(("order", "causal"), list(product(ORDERS, [False, True])))
@in_each_dtype
@pytest.mark.parametrize(
    ("n_q", "n_k", "block_m", "block_n"),
    [(37, 37, 8, 20), (37, 37, 20, 8), (33, 50, 16, 16), (50, 33, 12, 16), (1, 49, 16, 16)],
)
def test_lengths_bottom_right(n_q, n_k, block_m, block_n, dtype, order, causal):
    """Br < Bc, Br > Bc, and Nq ≠ Nk with the diagonal ending in the last row and column."""
    q, k, v = make_qkv(n_q, 16, n_k=n_k, dtype=dtype)
    assert_attention(q, k, v, causal=causal, order=order, block_m=block_m, block_n=block_n)


@in_each_order
def test_rows_that_see_no_key(order):
    q, k, v = make_qkv(40, 8, n_k=10)
    o, lse = assert_attention(q, k, v, causal=True, order=order, block_m=16, block_n=4)
    assert (o[:, :, :30] == 0).all() and lse[:, :, :30].isneginf().all()
    assert (o[:, :, 30:] != 0).all() and lse[:, :, 30:].isfinite().all()


@in_each_order
@pytest.mark.parametrize("k_heads", [1, 2, 6])
def test_grouped_and_multi_query_heads(k_heads, order):
    q, k, v = make_qkv(21, 8, batch=2, heads=6, k_heads=k_heads)
    assert_attention(q, k, v, causal=True, order=order, block_m=16, block_n=16)


@in_each_order
@pytest.mark.parametrize("d", [1, 8, 40, 59, 111, 192, 256])
def test_head_dimensions(d, order):
    q, k, v = make_qkv(35, d, dtype="bf16")
    assert_attention(q, k, v, causal=True, order=order, block_m=16, block_n=32)


@in_each_order
def test_n_is_one(order):
    q, k, v = make_qkv(1, 8)
    o, lse = assert_attention(q, k, v, causal=True, order=order, block_m=1, block_n=1)
    torch.testing.assert_close(o, v, atol=0, rtol=1e-6)
    torch.testing.assert_close(lse, (q * k).sum(-1) / 8**0.5, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("precision", ["ieee", "tf32", "tf32x3"])
@in_each_order
def test_precision_of_fp32_products(order, precision):
    q, k, v = make_qkv(70, 64)
    o, _ = assert_attention(q, k, v, order=order, block_m=32, block_n=32, precision=precision)
    exact, _ = kernels.reference_attention(q, k, v)
    error = (o.double() - exact).abs().max().item()
    assert (error > 1e-5) == (precision == "tf32" and not kernels.INTERPRETED), error


@MASKS
@in_each_dtype
def test_orders_agree_on_their_states(causal, dtype):
    """m and l do not depend on the loop order, except for the rounding of exp and exp2."""
    q, k, v = make_qkv(21, 12, heads=2, dtype=dtype)  # both sides end ragged
    options = {"causal": causal, "block_m": 8, "block_n": 5}
    for one, other in zip(
        kernels.tile_states(q, k, v, order="fa1", **options),
        kernels.tile_states(q, k, v, order="fa2", **options),
        strict=True,
    ):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=2e-6, equal_nan=True)
