"""Dropout by Philox: the numbers are Triton's, and all orders drop the same weights."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import kernels
from kernels.spec.algorithms import ORDERS
from kernels.spec.dropout import uniform
from tests.kernels.attention_checks import DEVICE, DTYPES, UNIT_ROUNDOFF


@triton.jit
def draw(OUT, AT, SEED, SIZE: tl.constexpr):
    lanes = tl.arange(0, SIZE)
    tl.store(OUT + lanes, tl.rand(tl.load(SEED), tl.load(AT + lanes)))


@pytest.mark.parametrize("seed", [0, 9, 2**31 - 1])
def test_the_numbers_are_tritons_bit_by_bit(seed):
    rng = np.random.default_rng(1)
    at = np.concatenate([np.arange(40), rng.integers(0, 2**40, 8152)])
    out = torch.empty(8192, device=DEVICE)
    given = [torch.tensor(x, dtype=torch.int64, device=DEVICE) for x in (at, [seed])]
    draw[(1,)](out, *given, SIZE=8192)
    np.testing.assert_array_equal(out.cpu().numpy(), uniform(seed, at))


def dense(q, k, v, mask, dropout, seed):
    """O and lse in float64 from the definition, head by head."""
    (batch, heads, n_q, d), (_, key_heads, n_k, _) = q.shape, k.shape
    k, v = (x.double().repeat_interleave(heads // key_heads, 1) for x in (k, v))
    s = q.double() @ k.transpose(-1, -2) / d**0.5
    if mask == "causal":
        s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu(1 + n_k - n_q), -torch.inf)
    drawn = uniform(seed, np.arange(batch * heads * n_q * n_k)).reshape(batch, heads, n_q, n_k)
    kept = torch.from_numpy(drawn >= np.float32(dropout)).to(q.device)
    return torch.where(kept, s.softmax(-1) / (1 - dropout), 0.0) @ v, s.logsumexp(-1)


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_drops_the_same(order, dtype, mask):
    torch.manual_seed(3)
    q, k, v = (
        torch.randn(2, h, n, 12).to(DTYPES[dtype]).to(DEVICE) for h, n in ((4, 9), (2, 13), (2, 13))
    )
    how = {"mask": mask, "dropout": 0.4, "seed": 77}
    truth, true_lse = dense(q, k, v, **how)
    o, lse = kernels.flash_attention(
        q, k, v, order=order, block_m=5, block_n=8, return_lse=True, **how
    )
    unit = UNIT_ROUNDOFF[q.dtype]
    within = {"rtol": 0, "atol": 16 * unit * v.abs().max().item() / 0.6 + 1e-5}
    torch.testing.assert_close(o.double(), truth, **within)
    torch.testing.assert_close(
        lse.double(), true_lse, rtol=0, atol=1e-5 + (order == "standard") * 8 * unit
    )
    judge, _ = kernels.reference_attention(q, k, v, **how)
    torch.testing.assert_close(judge, truth, rtol=0, atol=1e-6)
    naive = kernels.naive_attention(q, k, v, **how)
    torch.testing.assert_close(naive.double(), truth, **within)
    part = [q[:1, 3:], k[:1, 1:], v[:1, 1:]]
    alone, _ = kernels.reference_attention(*part, **how, of_heads=(3, 4))
    torch.testing.assert_close(alone[0, 0], truth[0, 3], rtol=0, atol=1e-6)
