"""The grid of flash-attention's own tests, and what the interpreter cannot reach: GPU only."""

from itertools import product

import pytest
import torch

import kernels
from tests.kernels.attention_checks import (
    DEVICE,
    DTYPES,
    PEERS_LENGTHS,
    assert_attention,
    full_and_causal,
    in_each_dtype,
    make_qkv,
)

pytestmark = pytest.mark.gpu
ORDERS = ("standard", "fa1", "fa2")
in_each_order = pytest.mark.parametrize("order", ORDERS)

HALVES = ("fp16", "bf16")
DIMENSIONS = [32, 40, 59, 64, 80, 96, 111, 128, 160, 192, 224, 256]
GROUPS = [{"batch": 2, "heads": 6, "k_heads": k_heads} for k_heads in (6, 2, 1)]
# B > 1, which public kernels got wrong; the last are flash-attention's overflow test.
GRID = [
    *product(DIMENSIONS, HALVES, ["fa2"], GROUPS),
    *product(DIMENSIONS, ["fp32"], ["fa2"], [{"heads": 2}]),
    *product([59, 64, 128], DTYPES, ORDERS[:2], [{"batch": 2, "heads": 4, "k_heads": 2}]),
    *product([64, 128], HALVES, ORDERS, [{"heads": 2, "q_by": 5.0, "kv_by": 3.0}]),
]


@full_and_causal
@pytest.mark.parametrize(("d", "dtype", "order", "sizes"), GRID)
def test_peers_grid(d, dtype, order, sizes, causal):
    """All lengths of the peers at one head dimension."""
    for n_q, n_k in PEERS_LENGTHS:
        q, k, v = make_qkv(n_q, d, n_k=n_k, dtype=dtype, **sizes)
        assert_attention(q, k, v, causal=causal, order=order)


@in_each_order
def test_repeats_are_bit_equal(order):
    """A race, such as FA-1 reading O before it was written, would show as a moving result."""
    q, k, v = make_qkv(1023, 64, heads=8, dtype="bf16")
    first = kernels.flash_attention(q, k, v, causal=True, order=order)
    for _ in range(20):
        assert torch.equal(first, kernels.flash_attention(q, k, v, causal=True, order=order))


@in_each_order
def test_more_heads_than_a_grid_axis(order):
    """B·H = 70,000: the second and third axes of a grid end at 65,535."""
    heads, n, d = 70_000, 20, 16
    q, k, v = (torch.randn(1, heads, n, d, device=DEVICE, dtype=torch.float16) for _ in range(3))
    o, lse = kernels.flash_attention(q, k, v, causal=True, order=order, return_lse=True)
    judged = kernels.naive_attention(q.float(), k.float(), v.float(), causal=True)
    assert (o - judged).abs().max() < 5e-3 and lse.isfinite().all()


def test_offsets_above_2_to_31_in_one_head():
    """Rows 2²⁴ elements apart: the last of 200 starts at element 3.3 · 10⁹."""
    n, d = 200, 64
    plain = make_qkv(n, d, dtype="fp16")
    apart = []
    for x in plain:
        buffer = torch.empty(n << 24, dtype=torch.float16, device=DEVICE)
        apart.append(buffer.as_strided((1, 1, n, d), (n << 24, n << 24, 1 << 24, 1)))
        apart[-1].copy_(x)
    o, _ = assert_attention(*apart, causal=True)
    assert torch.equal(o, kernels.flash_attention(*plain, causal=True))


@in_each_order
def test_offsets_above_2_to_31_over_heads(order):
    """2.3 · 10⁹ elements in Q (standard: in S); the first and the last head are judged."""
    heads, n, d = (2_200, 1_024, 16) if order == "standard" else (35_000, 512, 128)
    q, k, v = (torch.randn(1, heads, n, d, device=DEVICE, dtype=torch.bfloat16) for _ in range(3))
    assert max(q.numel(), heads * n * n if order == "standard" else 0) > 1 << 31
    o = kernels.flash_attention(q, k, v, causal=True, order=order)
    for h in (0, heads - 1):
        expected, _ = kernels.reference_attention(
            *(x[:, h : h + 1] for x in (q, k, v)), causal=True
        )
        assert (o[:, h : h + 1].double() - expected).abs().max() < 2e-2


@in_each_dtype
@pytest.mark.parametrize(("block_m", "block_n"), [(16, 256), (256, 16), (65, 33), (128, 128)])
def test_tiles_that_the_table_does_not_have(block_m, block_n, dtype):
    q, k, v = make_qkv(300, 64, heads=2, dtype=dtype)
    assert_attention(q, k, v, causal=True, block_m=block_m, block_n=block_n)


def test_a_tile_that_does_not_fit_is_one_sentence():
    """Known before compiling, and only after it."""
    q, k, v = make_qkv(300, 256, dtype="fp32")
    with pytest.raises(ValueError, match="do not fit this GPU"):
        kernels.flash_attention(q, k, v, block_m=256, block_n=256)
    if torch.cuda.get_device_capability() == (9, 0):
        with pytest.raises(RuntimeError, match="do not fit this GPU"):
            kernels.flash_attention(q.half(), k.half(), v.half(), block_m=256, block_n=128)
