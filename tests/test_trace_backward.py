"""The backward trace against autograd and finite differences in float64, visit by visit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from explainer.algorithms import tiling
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.transfers import PASSES
from explainer.problem import Problem
from explainer.trace import TRACES, trace_backward
from kernels.spec.formats import round_to
from tests import by_hand
from tests.by_autograd import NAMES, UNIT, autograd, judge
from tests.test_problem import problems
from tests.test_trace import DATA, check_places, grid

ORDERS = ("fa1", "fa2", "standard")
GRID = grid(ORDERS, [*zip(UNIT, DATA, strict=True)])
GRID += [
    replace(p, order=order, dtype=dtype)
    for p, dtype in zip(by_hand.drawn(30, seed=5), [*UNIT] * 10, strict=True)
    for order in ORDERS
]
GRID += [
    Problem(score="alibi&softcap:3", order=order, q_heads=4, kv_heads=2, head=head)
    for order, head in zip(ORDERS, (1, 2, 3), strict=True)
]


@pytest.mark.parametrize("problem", GRID, ids=lambda p: "-".join(p.to_query().values()))
def test_gradients_are_autograds(problem):
    t = trace_backward(problem)
    true, limits = judge(t)
    seen = set()
    for v in t.visits:
        r = slice(None) if v.i is None else tiling.rows(problem, v.i)
        c = slice(None) if v.j is None else tiling.cols(problem, v.j)
        for name in ("P", "dP", "dS", "D"):
            if (mine := getattr(v, name)) is None:
                continue
            seen.add(name)
            truth, limit = (getattr(x, name) for x in (true, limits))
            truth, limit = (x[r] if name == "D" else x[r, c] for x in (truth, limit))
            if name in ("P", "dS") or problem.order == "standard" or v.kind == "full":
                assert (np.abs(mine - truth) <= limit + 1e-7).all(), (v.i, v.j, name)
    computed = any(v.kind != "skipped" for v in t.visits if v.stage is None)
    assert seen == {"P", "dP", "dS", "D"} or not computed


@pytest.mark.parametrize("order", ["fa1", "fa2"])
def test_what_is_summed_is_the_sum_so_far(order):
    p = Problem(n=23, block_q=5, block_k=7, mask="causal&window:9,0|prefix:3", order=order)
    t = trace_backward(p)
    true = autograd(t)
    rows_of = dict.fromkeys(range(p.Tc), ())
    keys_of = dict.fromkeys(range(p.Tr), ())
    factor = p.scale if order == "fa1" else 1.0
    for v in t.visits:
        if v.part_dQ is None:
            continue
        r, c = tiling.rows(p, v.i), tiling.cols(p, v.j)
        rows_of[v.j] += tuple(range(r.start, r.stop))
        keys_of[v.i] += tuple(range(c.start, c.stop))
        rows, keys = list(rows_of[v.j]), list(keys_of[v.i])
        K, Q, dO = (x.astype(np.float64) for x in (t.K, t.Q, t.dO))
        for mine, sum_ in (
            (v.part_dQ, factor * true.dS[r, c] @ K[c]),
            (v.dQ, factor * true.dS[r][:, keys] @ K[keys]),
            (v.dK, true.dS[rows, c].T @ Q[rows]),
            (v.dV, true.P[rows, c].T @ dO[rows]),
        ):
            np.testing.assert_allclose(mine, sum_, atol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_judge_rejects_a_gradient_that_is_a_little_off(name):
    t = trace_backward(Problem(block_q=8, mask="causal&block:4x4,0.0,2.1-2", score="softcap:1"))
    judge(t)
    for factor, said in ((1.001, "beyond"), (np.nan, "not finite")):
        with pytest.raises(AssertionError, match=said):
            judge(replace(t, **{name: getattr(t, name) * np.float32(factor)}))


@given(problems(most_n=24, most_d=6))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_visits_are_the_schedule_and_the_mask(problem):
    p = replace(problem, dropout=0.0, cache="contiguous")
    found, steps = trace_backward(p), schedule(p, "backward")
    check_places(found, steps, PASSES["backward"])
    by_key = [(i, j) for j in range(p.Tc) for i in range(p.Tr)]
    left = sorted(by_hand.computed_tiles(p), key=lambda tile: tile[::-1])
    tiles = [v for v in found.visits if v.stage is None]
    computed = [(v.i, v.j) for v in tiles if v.kind != "skipped"]
    stages = list(dict.fromkeys(v.stage for v in found.visits))
    if p.order == "standard":
        assert stages == ["dV", "dP", "dS", "dQ", "dK"]
        by_row = sorted(by_key)
        for stage, order in {"dV": by_key, "dK": by_key, "dP": by_row, "dQ": by_row}.items():
            assert [(v.i, v.j) for v in found.visits if v.stage == stage] == order
        return
    assert computed == left
    assert all(v.kind == "full" or "mask" in v.phases for v in tiles if v.kind != "skipped")
    if p.order == "fa1":
        assert stages == [None] and [(v.i, v.j) for v in tiles] == by_key
    else:
        assert stages == ["D", None, "scale"]
        blind = [j for j in range(p.Tc) if all(k != j for _, k in left)]
        assert [(v.i, v.j) for v in tiles if v.kind == "skipped"] == [(None, j) for j in blind]


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("order", ALGORITHMS)
def test_frozen_and_deterministic(order, pass_):
    p = Problem(order=order, score="softcap:2", inputs="random")
    one, two = TRACES[pass_](p), TRACES[pass_].__wrapped__(p)
    for a, b in zip((one, *one.visits), (two, *two.visits), strict=True):
        for name, x in vars(a).items():
            if isinstance(x, np.ndarray):
                np.testing.assert_array_equal(x, getattr(b, name))
                assert x.dtype == np.float32 and not x.flags.writeable, name


def test_dO_is_its_own_and_the_heads():
    t = trace_backward(Problem())
    assert not any(np.array_equal(t.dO, x) for x in (t.Q, t.K, t.V))
    other = [
        trace_backward(Problem(**x)).dO
        for x in ({"seed": 8}, {"q_heads": 2, "head": 1}, {"dtype": "bf16"}, {"inputs": "spike"})
    ]
    assert [np.array_equal(t.dO, x) for x in other] == [False, False, False, True]
    np.testing.assert_array_equal(other[2], round_to(t.dO, "bf16"))
