"""Each known mistake, planted in four implementations: where it shows first, and its name."""

import numpy as np
import pytest
import torch

from explainer.algorithms.inputs import make_inputs
from explainer.check import loop
from explainer.check.cases import case_of, cases, gradient_cases
from explainer.check.mistakes import MISTAKES
from explainer.check.verdict import examine, true_gradients
from explainer.problem import Problem
from explainer.trace import trace, trace_backward
from tests.check.in_process import load
from tests.check.planted import CS336, NUMPY, PLANTED, TORCH, TRITON, plant
from tests.tables import table

TABLE = table(__file__)
PROBLEMS, WHOLE = ([*map(Problem.from_query, TABLE[key])] for key in ("problems", "whole"))
LATE = {tuple(case): tuple(tile) for *case, tile in TABLE["late"]}
of_each_problem = pytest.mark.parametrize(
    "problem", PROBLEMS, ids=lambda p: f"{p.inputs}-{p.n}-{p.block_q}-{p.mask}"
)
CASES = [(key, name) for key in PLANTED for name in PLANTED[key]]


# Where an implementation that does not report can: before which line, and what.
REPORTS = {
    TORCH: ("            out[:, :, rows] =", "start // block_q, first // block_k, m, l, acc"),
    CS336: ("            O[:, q0:q1] =", "i, j, m_i, l_i, O_i"),
}


def first_wrong_state(key: str, problem: Problem, folder, name=NUMPY) -> tuple[int, int] | None:
    """Run the planted loop and the right one by themselves and compare what they report: the first
    tile of the Problem, in the order rows, keys, with a state that differs."""
    seen = []
    for planted in (None, key):
        states: dict = {}

        def report(i, j, m, l, o, states=states):
            states[i, j] = [np.array(x.tolist()) for x in (m, l, o)]

        source, (end, values) = plant(planted, name), REPORTS.get(name, ("", ""))
        if end:
            assert source.count(end) == 1
            source = source.replace(end, f"                report({values})\n{end}")
        module = load(source, folder, f"by_hand_{planted}").file.module
        module.report = report
        inputs = [x[None, None].copy() for x in make_inputs(problem)]
        sizes = {"block_q": problem.block_q, "block_k": problem.block_k}
        if name == CS336:
            inputs = [torch.from_numpy(x[0]).requires_grad_() for x in inputs]
            O = module.FlashAttention.apply(*inputs, problem.is_causal)
            o, lse = O[None], O.grad_fn.saved_tensors[-1][None]
        elif name == TORCH:
            inputs = [torch.from_numpy(x) for x in inputs]
            o, lse = module.attention(*inputs, causal=problem.is_causal, **sizes)
        else:
            rules = {"causal": problem.is_causal, "report": report, **sizes}
            with np.errstate(all="ignore"):
                o, lse = module.attention(*inputs, **rules)
        seen.append((states, *(np.array(x.tolist())[0, 0] for x in (o, lse))))
    (right, O, lse), (wrong, O_wrong, lse_wrong) = seen
    near = lambda a, b: np.allclose(a, b, rtol=1e-4, atol=1e-4)  # noqa: E731
    size = (16, 16) if name == CS336 else (problem.block_q, problem.block_k)
    bad = [at for at in right if at not in wrong or not all(map(near, right[at], wrong[at]))]
    for i in {i for i, _ in right} - {i for i, _ in bad}:  # what is stored, after the last tile
        rows = slice(i * size[0], (i + 1) * size[0])
        end = (rows.start // problem.block_q + 1) * problem.block_q
        if not (near(O[rows], O_wrong[rows]) and near(lse[rows], lse_wrong[rows])):
            keys = (j for x, j in right if x == i and (j * size[1] < end or not problem.is_causal))
            bad.append((i, max(keys)))
    told = problem.block_q, problem.block_k
    return min(((i * size[0] // told[0], j * size[1] // told[1]) for i, j in bad), default=None)


@of_each_problem
@pytest.mark.parametrize("key", [key for key in PLANTED if NUMPY in PLANTED[key]])
def test_a_reported_mistake_is_found_in_its_first_tile(key, problem, tmp_path):
    expected = first_wrong_state(key, problem, tmp_path)
    found = examine(load(plant(key, NUMPY), tmp_path), "mine.py", first=problem)
    if expected and not (MISTAKES[key].warning and found.cases[0].right):
        assert (found.first["problem"], found.first["i"], found.first["j"]) == ("tiles", *expected)
    else:
        assert found.first["problem"] != "tiles"
    assert found.cause == key, found.sentence


@pytest.mark.parametrize(
    ("key", "name", "n"),
    [
        pytest.param(key, name, n, marks=[pytest.mark.full] if n else [])
        for key, name in CASES
        if name != NUMPY
        for n in range(len(PROBLEMS))
    ],
)
def test_a_mistake_is_found_from_outside(key, name, n, tmp_path):
    is_whole = name == CS336 or (name == TRITON and torch.cuda.is_available())  # tl.dot of a GPU
    problem = (WHOLE if is_whole else PROBLEMS)[n]
    found = examine(load(plant(key, name), tmp_path), "mine.py", first=problem)
    assert found.cause == key, found.sentence
    assert not found.right
    assert n or found.first["problem"] == TABLE["elsewhere"].get(key, found.first["problem"])
    by_hand = NUMPY if name == TRITON else name  # which visit the same tiles
    if found.first["problem"] == "tiles" and found.tile and by_hand in PLANTED[key]:
        # From outside O is divided: what is wrong only before the division shows in a later tile.
        expected = LATE.get((key, name, n)) or first_wrong_state(key, problem, tmp_path, by_hand)
        assert (found.first["i"], found.first["j"]) == expected


@of_each_problem
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
        true, part = true_gradients(case, do), case.part()
        made = loop.backward(loop.Loop(), q, k, v, part.O, part.lse, do[0, 0], **case.rules)
        for mine, theirs in zip(made, true.truth, strict=True):
            assert np.allclose(mine, theirs, rtol=1e-9, atol=1e-9)
        if case.problem and case.scale is None:
            traced = trace_backward(case.problem)
            parts = zip(made, (traced.dQ, traced.dK, traced.dV), strict=True)
            assert case.name == "large_scores" or all(np.allclose(*x, atol=1e-5) for x in parts)
