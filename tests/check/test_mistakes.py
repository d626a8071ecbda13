"""Each known mistake, planted in four implementations: where it shows first, and its name."""

from __future__ import annotations

import numpy as np
import pytest

from explainer.algorithms.inputs import make_inputs
from explainer.check import loop
from explainer.check.cases import case_of, cases, gradient_cases
from explainer.check.mistakes import MISTAKES
from explainer.check.verdict import examine, true_gradients
from explainer.problem import Problem
from explainer.trace import trace, trace_backward
from tests.check.in_process import load
from tests.check.planted import NUMPY, PLANTED, TRITON, plant

PROBLEMS = [
    Problem(),
    Problem(mask="full"),
    Problem(n=22, block_q=8, block_k=4),
    Problem(n=32, d=16, block_q=8, block_k=8, inputs="rising"),
    Problem(n=24, block_q=4, block_k=8, inputs="spike"),
]
# What is wrong first when nothing shows on the first Problem, and hides in another case.
ELSEWHERE = {
    **{"scale_ignored": "scale", "ragged_keys_counted": "ragged", "mask_not_aligned": "more_keys"},
    **{"empty_rows_nan": "rows_without_keys", "max_not_subtracted": "large_scores"},
    **{"m_starts_at_zero": "large_scores", "m_of_all_rows": "large_scores"},
}
CASES = [(key, name) for key in PLANTED for name in PLANTED[key]]


def first_wrong_state(key: str, problem: Problem, folder) -> tuple[int, int] | None:
    """Run the planted loop and the right one by themselves and compare what they report."""
    seen = []
    for name in (None, key):
        states: list = []
        module = load(plant(name, NUMPY), folder, f"by_hand_{name}").file.module
        q, k, v = (x[None, None] for x in make_inputs(problem))
        sizes = {"block_q": problem.block_q, "block_k": problem.block_k}

        def report(i, j, states=states, **arrays):
            states.append((i, j, *(x.copy() for x in arrays.values())))

        with np.errstate(all="ignore"):
            O, lse = module.attention(q, k, v, causal=problem.is_causal, **sizes, report=report)
        seen.append((states, O, lse))
    (right, O, lse), (wrong, O_wrong, lse_wrong) = seen
    near = lambda a, b: np.allclose(a, b, rtol=1e-4, atol=1e-4)  # noqa: E731
    theirs = {x[:2]: x[2:] for x in wrong}
    for i, j, *arrays in right:
        if (i, j) not in theirs or not all(map(near, arrays, theirs[i, j])):
            return i, j
        rows = slice(i * problem.block_q, (i + 1) * problem.block_q)
        last = max(y for x, y, *_ in right if x == i)
        ends = [(x[0, 0, rows], y[0, 0, rows]) for x, y in ((O, O_wrong), (lse, lse_wrong))]
        if j == last and not all(near(*pair) for pair in ends):
            return i, j
    return None


@pytest.mark.parametrize(
    "problem", PROBLEMS, ids=lambda p: str(p.to_query()["data"] + f"-{p.n}-{p.block_q}-{p.mask}")
)
@pytest.mark.parametrize("key", [key for key in PLANTED if NUMPY in PLANTED[key]])
def test_a_reported_mistake_is_found_in_its_first_tile(key, problem, tmp_path):
    expected = first_wrong_state(key, problem, tmp_path)
    found = examine(load(plant(key, NUMPY), tmp_path), "mine.py", first=problem)
    if expected and not (MISTAKES[key].warning and found.cases[0].right):
        assert (found.first["problem"], found.first["i"], found.first["j"]) == ("tiles", *expected)
    else:
        assert found.first["problem"] != "tiles"
    assert found.cause == key, found.sentence


@pytest.mark.parametrize(("key", "name"), [x for x in CASES if x[1] != NUMPY], ids=lambda x: str(x))
def test_a_mistake_is_found_from_outside(key, name, tmp_path):
    found = examine(load(plant(key, name), tmp_path), "mine.py")
    assert found.cause == key, found.sentence
    assert not found.right and found.first["problem"] == ELSEWHERE.get(key, found.first["problem"])
    if name == TRITON and NUMPY in PLANTED[key] and key not in ELSEWHERE:
        # Both visit the same tiles; from outside O is divided, so that a state that is wrong only
        # before the division shows in its next tile.
        problem = PROBLEMS[0] if found.first["problem"] == "tiles" else None
        expected = problem and first_wrong_state(key, problem, tmp_path)
        late = {"divided_every_tile": (1, 1), "diagonal_skipped": (0, 0)}
        if expected:
            assert (found.first["i"], found.first["j"]) == late.get(key, expected)


@pytest.mark.parametrize(
    "problem", PROBLEMS, ids=lambda p: str(p.to_query()["data"] + f"-{p.n}-{p.block_q}-{p.mask}")
)
def test_the_loop_without_a_mistake_is_the_trace(problem):
    case, traced = case_of("tiles", problem), trace(problem)
    seen = []
    rules = {"causal": problem.is_causal, "block_q": problem.block_q, "block_k": problem.block_k}
    with np.errstate(all="ignore"):
        O, lse = loop.forward(
            loop.Loop(), *(x[0, 0] for x in (case.q, case.k, case.v)), **rules,
            report=lambda i, j, m, l, o: seen.append((i, j, m, l, o)),
        )  # fmt: skip
    assert np.allclose(O, traced.O, atol=2e-6) and np.allclose(lse, traced.lse, atol=2e-6)
    visits = [v for v in traced.visits if v.m_new is not None and v.j is not None]
    assert [(v.i, v.j) for v in visits] == [x[:2] for x in seen]
    for visit, (_, _, m, l, o) in zip(visits, seen, strict=True):
        for mine, true in ((m, visit.m_new), (l, visit.l_new), (o, visit.O)):
            assert np.allclose(mine, true, atol=1e-5)


def test_the_truth_is_the_trace_and_float64():
    for case in cases(False):
        if case.dtype == "fp32" and case.problem and case.scale is None:
            part = case.part()
            assert np.abs(part.O - trace(case.problem).O).max() <= case.allowed
    for case, do in gradient_cases(False):
        q, k, v = (x[0, 0].astype(np.float64) for x in (case.q, case.k, case.v))
        true = true_gradients(case, do)
        made = loop.backward(loop.Loop(), q, k, v, true.O, true.lse, do[0, 0], **case.rules)
        for mine, theirs in zip(made, true.truth, strict=True):
            assert np.allclose(mine, theirs, rtol=1e-9, atol=1e-9)
        if case.problem and case.scale is None:
            traced = trace_backward(case.problem)
            parts = zip(made, (traced.dQ, traced.dK, traced.dV), strict=True)
            assert case.name == "large_scores" or all(np.allclose(*x, atol=1e-5) for x in parts)
