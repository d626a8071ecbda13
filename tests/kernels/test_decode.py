"""Keys split among heads of the real kernel, combined: against float64 attention to all keys."""

from __future__ import annotations

import itertools

import pytest
import torch

import kernels
from kernels.decode import combine, split_attention
from tests.kernels.attention_checks import UNIT_ROUNDOFF, make_qkv, tolerance


@pytest.mark.pairwise
@pytest.mark.parametrize("splits", [1, 3, 8])
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize(("n_q", "batch", "heads"), [(1, 2, 2), (5, 1, 1)])
def test_split_attention(n_q, batch, heads, dtype, splits):
    q, k, v = make_qkv(n_q, 16, n_k=48, batch=batch, heads=heads, dtype=dtype, seed=splits)
    o, lse = split_attention(q, k, v, splits)
    o_ref, lse_ref = kernels.reference_attention(q, k, v)
    allowed = tolerance(
        q, k, v, o_ref, causal=False, scale=16**-0.5, order="fa2", key_blocks=1, tf32=False
    )
    # Each part's O is rounded to the dtype before the weighted mean of the parts is rounded again.
    more = UNIT_ROUNDOFF[q.dtype] * v.abs().max().item()
    assert o.dtype == q.dtype and o.shape == q.shape and lse.shape == q.shape[:3]
    assert (o.double() - o_ref).abs().max().item() <= allowed.o + more
    assert (lse.double() - lse_ref).abs().max().item() <= allowed.lse


@pytest.mark.parametrize("splits", [0, -1, 5, 96])
def test_an_uneven_split_is_one_sentence(splits):
    q, k, v = make_qkv(1, 16, n_k=48)
    with pytest.raises(ValueError, match=rf"^splits = {splits} is not allowed: Nk = 48 .*\.$"):
        split_attention(q, k, v, splits)


def parts_of(n_k: int, bounds: list[int], scale: float = 1.0):
    """Scores and V in float64; (O of each part, lse of each part), and those of all keys."""
    random = torch.Generator().manual_seed(n_k)
    s = torch.randn(2, 3, n_k, dtype=torch.float64, generator=random) * scale
    v = torch.randn(2, n_k, 4, dtype=torch.float64, generator=random)

    def one(a: int, b: int):
        return torch.softmax(s[..., a:b], -1) @ v[:, a:b], torch.logsumexp(s[..., a:b], -1)

    pieces = [one(a, b) for a, b in itertools.pairwise(bounds)]
    o, lse = (torch.stack(x, 1) for x in zip(*pieces, strict=True))
    return o, lse, *one(0, n_k)


@pytest.mark.parametrize("bounds", [[0, 40], [0, 1, 40], [0, 13, 26, 40], list(range(41))])
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_combining_parts_of_any_size(bounds, scale):
    """In fp32: products and sums of at most 40 terms with weights that add up to 1; the weights
    have the error of lse, of which fp32 keeps 24 bits."""
    o, lse, whole, whole_lse = parts_of(40, bounds, scale)
    found, found_lse = combine(o.float(), lse.float())
    unit = 2.0**-24
    lse_error = unit * lse.abs().max().item() * 2 + 8 * unit
    assert (found_lse - whole_lse).abs().max().item() <= lse_error
    error = (2 * lse_error + 8 * unit) * o.abs().max().item()
    assert (found - whole).abs().max().item() <= error


def test_parts_that_see_no_key_weigh_nothing():
    o, lse, whole, whole_lse = parts_of(40, [0, 13, 40])
    nothing = torch.zeros_like(o[:, :1]), torch.full_like(lse[:, :1], float("-inf"))
    padded = torch.cat([nothing[0], o, nothing[0]], 1), torch.cat([nothing[1], lse, nothing[1]], 1)
    found, found_lse = combine(*(x.float() for x in padded))
    torch.testing.assert_close(found.double(), whole, rtol=0, atol=1e-5)
    torch.testing.assert_close(found_lse.double(), whole_lse, rtol=0, atol=1e-5)
    empty, empty_lse = combine(*(torch.cat([x, x], 1) for x in nothing))
    assert (empty == 0).all() and empty_lse.isneginf().all()
