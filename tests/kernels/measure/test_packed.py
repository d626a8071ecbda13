"""Packed sequences of others, as far as they can be tried without a GPU."""

import sys
import types
from itertools import accumulate, pairwise

import pytest
import torch

import kernels
from kernels.measure import packed
from kernels.measure.bench import make_functions
from kernels.measure.contenders import tried

LENGTHS = (9, 1, 22)


@pytest.fixture
def leaves():
    return [torch.randn(sum(LENGTHS), 2, 16, requires_grad=True) for _ in range(3)]


def by_sequence(q, k, v, cuts, causal):
    """Return O of each sequence by naive attention, one below the other."""
    parts = []
    for a, b in pairwise(cuts):
        one = [x[a:b].transpose(0, 1)[None] for x in (q, k, v)]
        parts.append(kernels.naive_attention(*one, causal=causal)[0].transpose(0, 1))
    return torch.cat(parts)


def flash_attn_varlen_func(
    q, k, v, qv=None, cu_seqlens_q=None, cu_seqlens_k=None, max_seqlen_q=None, max_seqlen_k=None,
    causal=False,
):  # fmt: skip
    """Take what flash-attn-4 4.0.0b36 takes, in its order, and return O and lse as it does."""
    assert qv is None and cu_seqlens_q.dtype == torch.int32 and cu_seqlens_q is cu_seqlens_k
    assert max_seqlen_q == max_seqlen_k == max(LENGTHS)
    return by_sequence(q, k, v, cu_seqlens_q.tolist(), causal), None


def row_of(function) -> dict:
    """Return the row of this function, before it is timed."""
    _, rows = make_functions({}, {"fa4 varlen": function}, lambda name: tried(function))
    return rows["fa4 varlen"]


@pytest.mark.parametrize("causal", [False, True])
def test_fa4_sees_the_packed_tensors_and_has_gradients(causal, leaves, monkeypatch):
    module = types.ModuleType("flash_attn.cute")
    module.flash_attn_varlen_func = flash_attn_varlen_func
    monkeypatch.setitem(sys.modules, "flash_attn", types.ModuleType("flash_attn"))
    monkeypatch.setitem(sys.modules, "flash_attn.cute", module)
    card = [9, 0]
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: tuple(card))
    cuts = [0, *accumulate(LENGTHS)]
    cu = torch.tensor(cuts, dtype=torch.int32)
    function = packed._fa4_varlen(*leaves, cu, max(LENGTHS), causal)
    o, want = function(), by_sequence(*leaves, cuts, causal)
    torch.testing.assert_close(o, want)
    found = torch.autograd.grad(o, leaves, torch.ones_like(o))
    torch.testing.assert_close(found, torch.autograd.grad(want, leaves, torch.ones_like(o)))
    assert "refused" not in row_of(function)
    card[0] = 8
    assert row_of(function)["refused"].startswith("FlashAttention-4 needs a Hopper")
    card[0] = 9
    monkeypatch.setitem(sys.modules, "flash_attn.cute", None)
    assert row_of(function)["refused"].startswith("FlashAttention-4 needs the package flash-attn-4")
