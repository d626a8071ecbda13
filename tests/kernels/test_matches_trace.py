"""The kernel and the picture: tile states, O and lse of the kernels are those of the trace."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

import kernels
from explainer.algorithms.inputs import make_inputs
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.traffic import traffic
from explainer.problem import Problem
from explainer.trace import trace
from kernels.measure.counting import count_traffic
from tests.kernels.attention_checks import DEVICE, DTYPES, UNIT_ROUNDOFF, score_error

# The default Problem, ragged, Br < Bc, Br > Bc, one row
SHAPES = [
    dict(zip(("n", "d", "block_q", "block_k"), sizes, strict=True))
    for sizes in ((16, 8, 4, 4), (37, 12, 5, 16), (29, 16, 16, 6), (1, 2, 1, 1))
]


def tensors(problem):
    """q (1, H, N, d), k and v (1, Hk, N, d) of all heads, as their pictures have them."""
    p, group = problem, problem.q_heads // problem.kv_heads
    made = [make_inputs(replace(p, head=h)) for h in range(p.q_heads)]
    whole = ([q for q, _, _ in made], *([x[t] for x in made[::group]] for t in (1, 2)))
    return [torch.tensor(np.stack(x))[None].to(DTYPES[p.dtype]).to(DEVICE) for x in whole]


def assert_agreement(problem, heads=(0,)):
    """O, lse and the tiles' states of these heads are the trace's."""
    q, k, v = tensors(problem)
    blocks = {"block_m": problem.block_q, "block_n": problem.block_k}
    options = {**problem.rules, "order": problem.order, **blocks}
    drop = {"dropout": problem.dropout, "seed": problem.seed}
    all_o, all_lse = kernels.flash_attention(q, k, v, return_lse=True, **drop, **options)
    states = ()
    if problem.order != "standard":
        states = kernels.tile_states(q, k, v, **options)
    for h in heads:
        one = replace(problem, head=h)
        traced, g = trace(one), one.kv_head
        part = [x[:, at : at + 1] for x, at in ((q, h), (k, g), (v, g))]
        for given, used in zip((traced.Q, traced.K, traced.V), part, strict=True):
            assert np.array_equal(used[0, 0].cpu().float().numpy(), given), "inputs must be exact"
        o, lse = all_o[0, h].cpu().float().numpy(), all_lse[0, h].cpu().numpy()
        assert_output(one, traced, *part, o, lse)
        if states:
            assert_tiles(one, traced, *part[:2], *(x[0, h].cpu().numpy() for x in states))


@pytest.mark.pairwise
@pytest.mark.parametrize(("score", "dropout"), [("none", 0.0), ("alibi", 0.0), ("none", 0.3)])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("order", ALGORITHMS)
def test_a_head_of_several_that_share_keys(order, dtype, score, dropout):
    sizes = {"n": 21, "d": 8, "block_q": 5, "block_k": 8, "q_heads": 4, "kv_heads": 2}
    how = {"mask": "causal&window:9,0", "score": score, "dropout": dropout}
    assert_agreement(Problem(**sizes, **how, order=order, dtype=dtype), heads=(3, 1))


def score_slack(problem, q, k):
    """δ of two fp32 computations of a score; what it is changed by, and a sink, are rounded too."""
    added = abs(problem.sink or 0) + (problem.score.changes and 8)
    return 2 * score_error(q, k, problem.scale, 2.0**-24) + 1e-6 + 16 * added * 2.0**-24


def assert_output(problem, traced, q, k, v, o, lse):
    """Two correct runs differ by the fp32 arithmetic of a score (δ each), and where that decides
    a rounding of P or O to the dtype, by two units there; FA-1 rounds O at every visit."""
    unit = UNIT_ROUNDOFF[q.dtype]
    delta = score_slack(problem, q, k)
    visits = problem.Tc**0.5 if problem.order == "fa1" else 1
    v_max = v.abs().max().item() / (1 - problem.dropout)  # what a weight may carry
    np.testing.assert_allclose(o, traced.O, rtol=0, atol=(4 * unit * visits + delta) * v_max)
    rounded = problem.order == "standard"  # S itself is rounded: a tie may fall either way
    largest = np.abs(traced.S[np.isfinite(traced.S)]).max(initial=0)
    lse_atol = delta + (2 * unit * largest if rounded else 0)
    np.testing.assert_allclose(lse, traced.lse, rtol=0, atol=lse_atol)


ORDERS_AND_DTYPES = [
    ("fa2", "fp32"),
    ("fa1", "fp16"),
    ("fa2", "bf16"),
    ("fa2_split", "fp32"),
    ("standard", "fp32"),
    ("standard", "bf16"),
]
# Of a row block that sees no key, rows that see none in a tile, a sink above and below the scores.
RULES = [
    {"mask": "causal&window:5,0|prefix:2"},
    {"mask": "window:2,1|global:3", "score": "softcap:2&alibi", "sink": 1.5},
    {"mask": "causal&document:0,5,13", "sink": -1.0},
    {"mask": "block:4x5,0.0-1,2.1,3.3", "score": "scale:0.5&bias:1,0.25,-2"},
    {"mask": "block:6x3,0.2,4.1-3|chunk:3&dilated:2", "sink": 0.5},
]


@pytest.mark.pairwise
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(map(str, rules.values())))
@pytest.mark.parametrize(("order", "dtype"), ORDERS_AND_DTYPES)
@pytest.mark.parametrize("shape", SHAPES[:2], ids=lambda shape: f"n{shape['n']}")
def test_states_and_output_of_any_mask(shape, order, dtype, rules):
    problem = Problem(**shape, **rules, order=order, dtype=dtype, inputs="random")
    assert_agreement(problem)
    if not kernels.INTERPRETED:
        return
    blocks = {"block_m": problem.block_q, "block_n": problem.block_k}
    how = {"order": order, "dtype": dtype, **problem.rules}
    counted = count_traffic(problem.n, problem.d, **blocks, **how)
    for tensor, both in counted.items():
        assert both == traffic(problem).get(tensor, (0, 0)), tensor


@pytest.mark.pairwise  # which tiles a loop visits hangs on shape, order and mask: all triples run
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize(("order", "causal"), list(product(ALGORITHMS, [False, True])))
@pytest.mark.parametrize("inputs", ["rising", "random"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"n{shape['n']}")
def test_states_and_output(shape, inputs, order, causal, dtype):
    assert_agreement(Problem(**shape, causal=causal, order=order, dtype=dtype, inputs=inputs))


def assert_tiles(problem, traced, q, k, m, l):
    assert m.shape == (problem.Tr, problem.Tc, problem.block_q)
    expected = np.full((2, *m.shape), np.nan, np.float32)
    for visit in traced.visits:
        if visit.kind != "skipped" and visit.j is not None:
            expected[0, visit.i, visit.j, : len(visit.m_new)] = visit.m_new
            expected[1, visit.i, visit.j, : len(visit.l_new)] = visit.l_new
    delta = score_slack(problem, q, k)
    np.testing.assert_allclose(m, expected[0], rtol=0, atol=delta)
    np.testing.assert_allclose(l, expected[1], rtol=2 * delta)
