"""The trace against plain attention in float64, visit by visit."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from explainer.algorithms import tiling
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.transfers import PASSES
from explainer.problem import Problem
from explainer.trace import trace
from kernels.spec.formats import round_to
from tests import by_hand
from tests.by_autograd import UNIT
from tests.test_problem import problems

SHAPES = [
    (16, 8, 4, 4),
    (37, 12, 5, 16),
    (29, 16, 16, 6),
    (1, 1, 1, 1),
    (7, 3, 7, 1),
    (50, 20, 9, 7),
]
DATA = ("rising", "random", "spike")


def grid(orders: Iterable[str], kinds: list[tuple[str, str]]) -> list[Problem]:
    """Make Problems of every shape in these loop orders, of each (dtype, inputs)."""
    return [
        Problem(n=n, d=d, block_q=br, block_k=bc, causal=c, order=o, dtype=t, inputs=x, seed=3)
        for n, d, br, bc in SHAPES
        for c in (True, False)
        for o in orders
        for t, x in kinds
    ]


GRID = grid(ALGORITHMS, [*product(UNIT, DATA)])


def scores64(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Scaled and masked scores, and V, in float64, from the very operands of the trace."""
    found = trace(problem)
    s = by_hand.scores(problem, found.Q, found.K)
    s[~by_hand.seen(problem)] = -np.inf
    return s, found.V.astype(np.float64)


def plain(problem: Problem, s: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """softmax(S) V and its log-sum-exp; 0 and −inf of a row that sees nothing."""
    m, l, p = by_hand.softmax(problem, s)
    with np.errstate(divide="ignore"):
        return (p * by_hand.left(problem)) @ v, m + np.log(l)


def roughly(problem: Problem, s: np.ndarray) -> float:
    """What fp32 rounding of a score may cost; in standard attention S itself is rounded."""
    finite = np.abs(s[np.isfinite(s)]).max(initial=abs(problem.sink or 0))
    stored = UNIT[problem.dtype] if problem.order == "standard" else 0.0
    return 2e-6 + finite * (stored + 8 * problem.d**0.5 * 2.0**-24)


ANY = [
    replace(p, order=order, dtype=dtype)
    for p, dtype in zip(by_hand.drawn(60), [*UNIT] * 20, strict=True)
    for order in ("fa1", "fa2", "standard")
]
ANY += [
    Problem(score="alibi&softcap:3", order=order, q_heads=4, kv_heads=2, head=head)
    for order, head in (("fa1", 1), ("fa2", 2), ("standard", 3))
]
ANY += [
    Problem(n=19, block_q=5, dropout=0.4, seed=3, order=order, q_heads=2, head=1, dtype=dtype)
    for order in ("fa1", "fa2", "standard")
    for dtype in ("fp32", "bf16")
]


@pytest.mark.parametrize("problem", GRID + ANY, ids=lambda p: "-".join(p.to_query().values()))
def test_output_and_every_visit(problem):
    s, v = scores64(problem)
    o, lse = plain(problem, s, v)
    found = trace(problem)
    slack = roughly(problem, s)
    unit = UNIT[problem.dtype]
    visits = problem.Tc**0.5 if problem.order == "fa1" else 1
    np.testing.assert_allclose(found.lse, lse, rtol=0, atol=2 * slack)
    reach = np.abs(v).max() / (1 - problem.dropout)
    np.testing.assert_allclose(
        found.O, o, rtol=0, atol=reach * (3 * unit * (visits + 1) + 3 * slack)
    )
    np.testing.assert_array_equal(found.O, round_to(found.O, problem.dtype))
    if problem.order == "standard":
        return check_standard(problem, s, slack)
    if problem.order == "fa2_split":
        return check_parts(found)
    for visit in found.visits:
        if visit.kind != "skipped":
            check_visit(problem, visit, s, v, slack)


def check_visit(problem, visit, s, v, slack):
    """m and l are those of the keys seen so far, and alpha, P and O follow from them."""
    rows = slice(visit.i * problem.block_q, min(problem.n, (visit.i + 1) * problem.block_q))
    start, stop = visit.j * problem.block_k, min(problem.n, (visit.j + 1) * problem.block_k)
    (old, _, _), (m, l, p) = (by_hand.softmax(problem, s[rows, :end]) for end in (start, stop))
    np.testing.assert_allclose(visit.m_new, m, rtol=0, atol=slack)
    np.testing.assert_allclose(visit.l_new, l, rtol=4 * slack + 1e-6)
    np.testing.assert_allclose(visit.m_old, old, rtol=0, atol=slack)
    there = np.isfinite(old)
    np.testing.assert_allclose(
        visit.alpha[there], np.exp(old[there] - m[there]), rtol=0, atol=2 * slack
    )
    np.testing.assert_array_equal(visit.l_old[~there], 0)
    if not start:
        np.testing.assert_array_equal(visit.l_old, 0 if problem.sink is None else 1)
    np.testing.assert_allclose(visit.row_max, s[rows, start:stop].max(axis=1), rtol=0, atol=slack)
    p = p * by_hand.left(problem)[rows, :stop]
    weights = p * l[:, None]
    atol = 2 * slack + UNIT[problem.dtype]
    np.testing.assert_allclose(visit.P, weights[:, start:], rtol=0, atol=atol)
    o = (p if problem.order == "fa1" else weights) @ v[:stop]
    visits = visit.j + 1
    largest = (
        np.abs(v).max()
        / (1 - problem.dropout)
        * (1 if problem.order == "fa1" else visit.l_new.max())
    )
    atol = largest * (4 * slack + UNIT[problem.dtype] * (1 + visits**0.5))
    np.testing.assert_allclose(visit.O, o, rtol=0, atol=atol)


@np.errstate(divide="ignore")
def check_parts(found):
    """The parts are FA-2 on a part of the keys; the combine is the softmax of all."""
    p, steps = found.problem, schedule(found.problem)
    whole = trace(replace(p, order="fa2"))
    np.testing.assert_array_equal(found.lse == -np.inf, whole.lse == -np.inf)
    assert [s.i for s in steps if s.stage] == list(range(p.Tr))
    last = {}
    for step, visit in zip(steps, found.visits, strict=True):
        if step.stage is None and "store" in step.phases:
            last[step.i, step.lane] = visit
    assert set(last) == {(i, lane) for i in range(p.Tr) for lane in (0, 1)}
    for visit in (v for v in found.visits if v.stage):
        parts = [last[visit.i, lane] for lane in (0, 1)]
        l = [np.where(v.l_new > 0, v.l_new, 1)[:, None] for v in parts]
        lse = np.stack([v.m_new + np.log(v.l_new) for v in parts], axis=1)
        np.testing.assert_allclose(visit.S, lse, rtol=1e-6)
        weights = np.exp(lse - np.where(np.isinf(visit.m_new), 0, visit.m_new)[:, None])
        np.testing.assert_allclose(visit.P, weights, rtol=1e-5, atol=1e-7)
        O = sum(w[:, None] * v.O / x for w, v, x in zip(weights.T, parts, l, strict=True))
        total = np.where(visit.l_new > 0, visit.l_new, 1)[:, None]
        np.testing.assert_allclose(visit.O, O / total, rtol=1e-5, atol=1e-6)


def check_standard(problem, s, slack):
    found = trace(problem)
    unit = UNIT[problem.dtype]
    stages = {}
    for visit in found.visits:
        stages.setdefault(visit.stage, []).append(visit)
    assert list(stages) == ["scores", "softmax", "output"]
    assert len(stages["scores"]) == problem.Tr * problem.Tc
    assert len(stages["softmax"]) == len(stages["output"]) == problem.Tr
    m, l, p = by_hand.softmax(problem, s)
    p = p * by_hand.left(problem)
    names = ("m_new", "l_new", "P")
    strips = (np.concatenate([getattr(v, name) for v in stages["softmax"]]) for name in names)
    found_m, found_l, found_p = strips
    np.testing.assert_allclose(found_m, m, rtol=0, atol=slack)
    np.testing.assert_allclose(found_l, l, rtol=4 * slack + 1e-6)
    np.testing.assert_allclose(found_p, p, rtol=0, atol=2 * unit + 4 * slack)


@pytest.mark.parametrize("order", ALGORITHMS)
def test_scores_are_the_product_before_its_mask(order):
    """What the mask hides is there until the mask takes it away."""
    problem = Problem(n=14, block_k=5, order=order, inputs="random", dtype="fp16")
    found = trace(problem)
    S = found.Q.astype(np.float64) @ found.K.astype(np.float64).T * problem.scale
    taken = 0
    for v in found.visits:
        if v.scores is None:
            continue
        r, c = tiling.rows(problem, v.i), tiling.cols(problem, v.j)
        np.testing.assert_allclose(v.scores, S[r, c], rtol=UNIT["fp16"], atol=1e-5)
        keep = problem.mask.keep(problem.n, problem.n, r, c)
        np.testing.assert_array_equal(v.S, np.where(keep, v.scores, -np.inf))
        assert keep.all() or "mask" in v.phases
        taken += (~keep).sum()
    assert taken


def check_places(found, steps, of):
    """Visits are those of the schedule, and name what happens in their pass, in its order."""
    for v, step in zip(found.visits, steps, strict=True):
        same = ("i", "j", "kind", "stage", "phases", "transfers")
        assert all(getattr(v, name) == getattr(step, name) for name in same)
        places = [of.phases.index(x) for x in v.phases]
        assert places == sorted(places) and v.stage in of.stages
        assert {t.phase for t in v.transfers} <= set(v.phases)
        assert all(t.nbytes and (t.op != "read" or t.phase == "load") for t in v.transfers)
        assert {t.tensor for t in v.transfers} <= set(of.tensors)


@given(problems(most_n=24, most_d=6))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_visits_are_the_schedule_and_the_mask(problem):
    found, steps = trace(problem), schedule(problem)
    check_places(found, steps, PASSES["forward"])
    if problem.order == "fa2_split":
        check_parts(found)
        return
    left = by_hand.computed_tiles(problem)
    blind = {*range(problem.Tr)} - {i for i, _ in left}
    everywhere = [(i, j) for i in range(problem.Tr) for j in range(problem.Tc)]
    computed = [(v.i, v.j) for v in found.visits if v.kind != "skipped"]
    if problem.order == "fa2":
        assert computed == left
        assert {v.i for v in found.visits if v.kind == "skipped"} == blind
        assert all(v.j is None and not v.O.any() for v in found.visits if v.kind == "skipped")
    elif problem.order == "fa1":
        by_key = sorted(everywhere, key=lambda t: (t[1], t[0]))
        assert [(v.i, v.j) for v in found.visits] == by_key
        assert computed == [t for t in by_key if t in left]
    else:
        assert computed[: len(everywhere)] == everywhere


@pytest.mark.parametrize("order", ALGORITHMS)
def test_fp16_logits_up_to_its_largest_number_give_no_nan(order):
    problem = Problem(order=order, dtype="fp16", inputs="spike", n=20, block_q=3, block_k=6, d=4)
    found = trace(problem)
    assert np.isfinite(found.O).all() and np.isfinite(found.lse).all()
