"""The kernel and the picture: tile states of the kernels are those of the trace."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

import kernels
from explainer.algorithms.inputs import make_inputs
from explainer.algorithms.registry import ALGORITHMS
from explainer.problem import Problem
from explainer.trace import trace
from tests.kernels.attention_checks import DEVICE, DTYPES, UNIT_ROUNDOFF, in_each_dtype, score_error
from tests.tables import table

TILED = [order for order in ALGORITHMS if order != "standard"]  # they have states
# The default Problem, ragged, Br < Bc, Br > Bc, one row; rules of a row block that sees no key, of
# rows that see none in a tile, of a sink above and below the scores.
SHAPES, ORDERS_AND_DTYPES, RULES = table(__file__).values()


def tensors(problem):
    """q (1, H, N, d), k and v (1, Hk, N, d) of all heads, as their pictures have them."""
    p, group = problem, problem.q_heads // problem.kv_heads
    made = [make_inputs(replace(p, head=h)) for h in range(p.q_heads)]
    whole = ([q for q, _, _ in made], *([x[t] for x in made[::group]] for t in (1, 2)))
    return [torch.tensor(np.stack(x))[None].to(DTYPES[p.dtype]).to(DEVICE) for x in whole]


def assert_agreement(problem, heads=(0,)):
    """The tiles' states of these heads are the trace's. O and lse of both are judged elsewhere."""
    q, k, v = tensors(problem)
    states = kernels.tile_states(q, k, v, **problem.rules, **problem.blocks, order=problem.order)
    for h in heads:
        one = replace(problem, head=h)
        part = [x[:, at : at + 1] for x, at in ((q, h), (k, one.kv_head))]
        assert_tiles(one, trace(one), *part, *(x[0, h].cpu().numpy() for x in states))


@pytest.mark.pairwise
@pytest.mark.parametrize("score", ["none", "alibi"])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("order", TILED)
def test_a_head_of_several_that_share_keys(order, dtype, score):
    sizes = {"n": 21, "d": 8, "block_q": 5, "block_k": 8, "q_heads": 4, "kv_heads": 2}
    how = {"mask": "causal&window:9,0", "score": score}
    assert_agreement(Problem(**sizes, **how, order=order, dtype=dtype), heads=(3, 1))


@pytest.mark.pairwise
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(map(str, rules.values())))
@pytest.mark.parametrize(("order", "dtype"), ORDERS_AND_DTYPES)
@pytest.mark.parametrize("shape", SHAPES[:2], ids=lambda shape: f"n{shape['n']}")
def test_states_of_any_mask(shape, order, dtype, rules):
    problem = Problem(**shape, **rules, order=order, dtype=dtype, inputs="random")
    assert_agreement(problem)


@pytest.mark.pairwise  # which tiles a loop visits hangs on shape, order and mask: all triples run
@in_each_dtype
@pytest.mark.parametrize(("order", "causal"), list(product(TILED, [False, True])))
@pytest.mark.parametrize("inputs", ["rising", "random"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"n{shape['n']}")
def test_states(shape, inputs, order, causal, dtype):
    assert_agreement(Problem(**shape, causal=causal, order=order, dtype=dtype, inputs=inputs))


@in_each_dtype
@pytest.mark.parametrize("n", [16, 14])
def test_pages_are_read_where_the_block_table_of_the_picture_says(n, dtype):
    """In the pages of other requests lies NaN: a read of any of them would be seen."""
    problem = Problem(n=n, cache="paged", dtype=dtype)
    q, *pair = tensors(problem)
    table = torch.tensor([problem.block_table], dtype=torch.int32, device=DEVICE)
    pools = []
    for x in pair:
        pool = x.new_full((problem.pages, problem.block_k, 1, problem.d), math.nan)
        for j, page in enumerate(problem.block_table):
            keys = x[0, 0, j * problem.block_k :][: problem.block_k]
            pool[page, : len(keys), 0] = keys
        pools.append(pool)
    lengths = torch.tensor([n], dtype=torch.int32, device=DEVICE)
    how = {"causal": True, "block_table": table, "lengths": lengths, "return_lse": True}
    o, lse = kernels.decode_attention(q, *pools, **how)
    traced = trace(problem)
    delta = 2 * score_error(q, pair[0], problem.rules) + 1e-6
    np.testing.assert_allclose(lse[0, 0].cpu(), traced.lse, rtol=0, atol=delta)
    unit = UNIT_ROUNDOFF[DTYPES[dtype]]
    allowed = (4 * unit + 2 * delta) * np.abs(traced.V).max()
    np.testing.assert_allclose(o[0, 0].float().cpu(), traced.O, rtol=0, atol=allowed)
    assert trace(replace(problem, cache="contiguous")).O.tobytes() == traced.O.tobytes()


def assert_tiles(problem, traced, q, k, m, l):
    assert m.shape == (problem.Tr, problem.Tc, problem.block_q)
    expected = np.full((2, *m.shape), np.nan, np.float32)
    for visit in traced.visits:
        if visit.kind != "skipped" and visit.j is not None:
            expected[0, visit.i, visit.j, : len(visit.m_new)] = visit.m_new
            expected[1, visit.i, visit.j, : len(visit.l_new)] = visit.l_new
    # Two fp32 computations of a score
    delta = 2 * score_error(q, k, problem.rules) + 1e-6
    np.testing.assert_allclose(m, expected[0], rtol=0, atol=delta)
    np.testing.assert_allclose(l, expected[1], rtol=2 * delta)
