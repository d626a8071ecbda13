"""Contenders that others made, as far as they can be tried without a GPU."""

import sys
import types
from dataclasses import replace
from functools import partial

import pytest
import torch

import kernels
from kernels.measure import contenders, flex
from kernels.measure.contenders import ORDERS, NotAvailable, random_tensors
from kernels.measure.memory import moved_bytes
from kernels.spec import masks, scores
from kernels.spec.cases import BenchmarkCase
from kernels.spec.methods import COMPILED, NAMES
from tests.tables import table

MASKS = ("full", "causal")
WINDOW = "causal&window:9,0"
BLIND = "window:3,0&prefix:9"  # rows from 12 on see no key


def tensors(mask: str, n: int = 40, d: int = 16):
    problem = BenchmarkCase(n, d, mask, "fp32", 2, 3)
    return problem, random_tensors(problem, device="cpu")


def counting_compiler():
    """PyTorch's compiler, which runs graphs as they are, and the list of those that it made."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    return partial(torch.compile, backend=backend, dynamic=False, fullgraph=True), graphs


@pytest.fixture
def uncompiled(monkeypatch):
    """What PyTorch's compiler would make is run as it is."""
    monkeypatch.setattr(contenders, "_compiled", lambda function, problem: function)


@pytest.mark.parametrize("mask", [*MASKS, BLIND])
def test_naive_is_one_graph(mask, monkeypatch):
    """So that what PyTorch compiles is all of it; also of rows that see no key, which give 0."""
    problem, (q, k, v) = tensors(mask)
    compiled, graphs = counting_compiler()
    monkeypatch.setattr(contenders, "_compiled", lambda function, problem: compiled(function))
    o = contenders._function("naive_compiled", problem, q, k, v)()
    torch.testing.assert_close(o, kernels.reference_attention(q, k, v, mask=mask)[0].float())
    assert len(graphs) == 1


def test_naive_goes_over_its_matrices_no_more_often_than_it_must():
    """QKᵀ writes S, softmax reads S and writes P, PV reads P: four times N × N. The rest is Q, K, V
    and O once, and Q · scale written and read for Q."""
    problem, (q, k, v) = tensors("full", 64)
    square, small = problem.n**2, problem.n * problem.d
    heads = problem.batch * problem.heads
    moved = moved_bytes(lambda: kernels.naive_attention(q, k, v))
    assert moved == 4 * heads * (4 * square + 6 * small)


VARIANTS, REFUSED = table(__file__).values()
# Two groups of three query heads, or each with keys of its own.
SAME = [
    *(("flex", *rules, kv_heads) for rules in VARIANTS for kv_heads in (None, 2)),
    *(("sdpa_dense", mask, "none", None, 2) for mask, *_ in VARIANTS),
    *((name, "causal", "none", None, 2) for name in ("naive", "fa2", "sdpa_math")),
]


@pytest.mark.parametrize(("name", "mask", "score", "sink", "kv_heads"), SAME)
@pytest.mark.filterwarnings("ignore")  # it would rather be compiled
def test_each_is_the_same_attention(name, mask, score, sink, kv_heads, uncompiled, monkeypatch):
    if name == "fa2" and not kernels.INTERPRETED:
        pytest.skip("on the CPU the kernels need Triton's interpreter")
    monkeypatch.setattr(contenders, "STRIP", 16)
    problem = BenchmarkCase(40, 16, mask, "fp32", 2, 6, score, sink, kv_heads)
    q, k, v = random_tensors(problem, device="cpu")
    o = contenders._function(name, problem, q, k, v)().nan_to_num(0.0)
    truth, _ = kernels.reference_attention(q, k, v, **problem.rules)
    torch.testing.assert_close(o, truth.float())
    one = contenders.head_of(q, k, v, 1, 4)
    if score == "none":
        alone = kernels.naive_attention(*one, mask=mask, sink=sink)[0, 0]
        torch.testing.assert_close(o[1, 4], alone)


@pytest.mark.filterwarnings("ignore")
def test_flex_is_one_graph_and_not_compiled_again():
    """Eight times for one problem, and PyTorch compiles no more."""
    asked = masks.parse(f"{WINDOW}|block:8x8,1.1"), scores.parse("softcap:3&alibi")
    compiler, graphs = counting_compiler()
    for turn in range(3):
        q, k, v = (torch.randn(1, 2, 40, 16) for _ in range(3))
        o = flex.attention(q, k, v, *asked, compiled=compiler(flex.flex_attention))()
        rules = {"mask": asked[0].text, "score": asked[1].text}
        torch.testing.assert_close(o, kernels.naive_attention(q, k, v, **rules))
        assert len(graphs) == 1, turn
    asked = asked[0], 40, q.device
    assert flex.mask_mod(*asked) is flex.mask_mod(*asked), "another function is another graph"


def test_dropout_is_the_same_for_all_or_refused(uncompiled):
    """What draws other random numbers is not compared; naive attention is, with the kernels' own,
    as far as they are made."""
    problem = BenchmarkCase(24, 16, "causal", "fp32", 2, 3, dropout=0.4, seed=7)
    q, k, v = random_tensors(problem, device="cpu")
    truth, _ = kernels.reference_attention(q, k, v, **problem.rules)
    every = [name for name in NAMES if kernels.INTERPRETED or name not in ORDERS]
    for name in every:
        if name in ("naive", "naive_compiled", *ORDERS):
            o = contenders._function(name, problem, q, k, v)()
            torch.testing.assert_close(o, truth.float(), atol=1e-5, rtol=1e-5)
            continue
        with pytest.raises(NotAvailable, match="draws other random numbers"):
            contenders._function(name, problem, q, k, v)
    with pytest.raises(NotAvailable, match="at most 16,777,216 are"):
        contenders.admit("naive", replace(problem, n=2048), torch.device("cuda"))


@pytest.mark.parametrize(("name", "mask", "score", "reason"), REFUSED)
def test_who_does_not_know_a_mask_or_a_score_says_so(name, mask, score, reason):
    problem = BenchmarkCase(40, 16, mask, "fp32", 1, 1, score)
    with pytest.raises(NotAvailable, match=reason):
        contenders._function(name, problem, *random_tensors(problem, device="cpu"))


def test_a_dense_mask_is_admitted_by_its_bytes(monkeypatch):
    """N² of them, and as many numbers of the inputs' dtype, however many heads there are."""
    free = [0]
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free[0], 0))
    problem, device = BenchmarkCase(4096, 64, WINDOW, "bf16", 2, 8), torch.device("cuda")
    for heads in (1, 8):
        asked = replace(problem, heads=heads)
        free[0] = int(3 * 4096**2 / contenders.SHARE) + 1
        contenders.admit("sdpa_dense", asked, device)
        free[0] -= 2
        with pytest.raises(NotAvailable, match="Its N × N mask would need"):
            contenders.admit("sdpa_dense", asked, device)
    with pytest.raises(NotAvailable, match="mask would need"):
        contenders.admit("flex", problem, device)
    contenders.admit("flex", replace(problem, mask="causal"), device)


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
@pytest.mark.parametrize("name", COMPILED)
def test_what_is_compiled_is_right(name, mask):
    problem = BenchmarkCase(256, 64, mask, "bf16", 2, 3)
    q, k, v = random_tensors(problem)
    try:
        o = contenders.contender(name, problem, q, k, v)()
    except NotAvailable as reason:
        pytest.skip(str(reason))
    truth, _ = kernels.reference_attention(q, k, v, mask=mask)
    naive = kernels.naive_attention(q, k, v, mask=mask)
    assert (o - truth).abs().max() <= 2 * (naive - truth).abs().max() + 2**-8 * truth.abs().max()
