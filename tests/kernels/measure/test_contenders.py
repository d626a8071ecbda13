"""Contenders that others made, as far as they can be tried without a GPU."""

from __future__ import annotations

import sys
import types

import pytest
import torch

import kernels
from kernels import masks
from kernels.measure import contenders
from kernels.measure.contenders import NotAvailable, Problem
from kernels.measure.memory import moved_bytes
from kernels.reference import materialized

MASKS = ("full", "causal")


def tensors(mask: str, n: int = 40, d: int = 16):
    problem = Problem(n, d, mask, "fp32", 2, 3)
    return problem, problem.tensors(device="cpu")


@pytest.mark.parametrize("mask", MASKS)
def test_naive_is_one_graph(mask):
    """So that what PyTorch compiles is all of it."""
    _, (q, k, v) = tensors(mask)
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    compiled = torch.compile(materialized, backend=backend, dynamic=False, fullgraph=True)
    o = compiled(q, k, v, masks.parse(mask), 0.25)
    torch.testing.assert_close(o, kernels.naive_attention(q, k, v, mask=mask))
    assert len(graphs) == 1


def test_naive_goes_over_its_matrices_no_more_often_than_it_must():
    """QKᵀ writes S, softmax reads S and writes P, PV reads P: four times N × N. The rest is Q, K, V
    and O once, and Q · scale written and read for Q."""
    problem, (q, k, v) = tensors("full", 64)
    square, small = problem.n**2, problem.n * problem.d
    heads = problem.batch * problem.heads
    moved = moved_bytes(lambda: kernels.naive_attention(q, k, v))
    assert moved == 4 * heads * (4 * square + 6 * small)


def test_rows_that_see_no_key_are_zero():
    q, k = torch.randn(1, 2, 6, 4), torch.randn(1, 2, 4, 4)
    o = kernels.naive_attention(q, k, k, causal=True)
    truth, _ = kernels.reference_attention(q, k, k, causal=True)
    assert not o[:, :, :2].any() and o.isfinite().all()
    torch.testing.assert_close(o, truth.float())


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.filterwarnings("ignore")  # it would rather be compiled
def test_flex_has_the_mask(mask, monkeypatch):
    monkeypatch.setattr(contenders, "_compiled", lambda function, problem: function)
    problem, (q, k, v) = tensors(mask)
    o = contenders._function("flex", problem, q, k, v)()
    torch.testing.assert_close(o, kernels.naive_attention(q, k, v, mask=mask))


@pytest.mark.parametrize("mask", MASKS)
def test_fa4_sees_its_own_layout_and_no_copy(mask, monkeypatch):
    problem, (q, k, v) = tensors(mask)

    def flash_attn_func(*given, causal):
        assert all(x.shape == (2, 40, 3, 16) for x in given)
        assert [x.data_ptr() for x in given] == [x.data_ptr() for x in (q, k, v)]
        heads_first = [x.transpose(1, 2) for x in given]
        return kernels.naive_attention(*heads_first, causal=causal).transpose(1, 2), None

    module = types.ModuleType("flash_attn.cute")
    module.flash_attn_func = flash_attn_func
    monkeypatch.setitem(sys.modules, "flash_attn", types.ModuleType("flash_attn"))
    monkeypatch.setitem(sys.modules, "flash_attn.cute", module)
    card = [8, 0]
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: tuple(card))
    with pytest.raises(NotAvailable, match="needs a Hopper"):
        contenders._function("fa4", problem, q, k, v)
    card[0] = 9
    o = contenders._function("fa4", problem, q, k, v)()
    torch.testing.assert_close(o, kernels.naive_attention(q, k, v, mask=mask))
    monkeypatch.setitem(sys.modules, "flash_attn.cute", None)
    with pytest.raises(NotAvailable, match="needs the package flash-attn-4"):
        contenders._function("fa4", problem, q, k, v)


@pytest.mark.gpu
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", contenders.COMPILED)
def test_what_is_compiled_is_right(name, mask):
    problem = Problem(256, 64, mask, "bf16", 2, 3)
    q, k, v = problem.tensors()
    try:
        o = contenders.contender(name, problem, q, k, v)()
    except NotAvailable as reason:
        pytest.skip(str(reason))
    truth, _ = kernels.reference_attention(q, k, v, mask=mask)
    naive = kernels.naive_attention(q, k, v, mask=mask)
    assert (o - truth).abs().max() <= 2 * (naive - truth).abs().max() + 2**-8 * truth.abs().max()
