"""What rounding to e4m3 and the tensor cores' sums cost O, by torch's own e4m3 and by float64."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from explainer.algorithms import quantized
from explainer.algorithms.inputs import make_inputs
from explainer.base.fields import ProblemError
from explainer.engine.requests import RunRequest, Sweep
from explainer.memory.workload import Workload
from explainer.problem import Problem
from explainer.trace import one_visit, trace, trace_backward

SHOWN = Problem(n=48, d=16, block_q=8, block_k=8, dtype="e4m3", inputs="outlier")


def exact(problem: Problem) -> np.ndarray:
    """O in float64 of the inputs before rounding."""
    q, k, v = (x.astype(np.float64) for x in make_inputs(replace(problem, dtype="fp32")))
    S = np.where(problem.mask.keep(problem.n, problem.n), q @ k.T * problem.scale, -np.inf)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return P @ v / P.sum(axis=1, keepdims=True)


def by_torch(problem: Problem, *, scaled: bool) -> np.ndarray:
    """O of a problem of one key block, all in PyTorch, with sums in fp32."""
    q, k, v = (torch.from_numpy(x.copy()) for x in make_inputs(replace(problem, dtype="fp32")))

    def rounded(x: torch.Tensor, most: torch.Tensor) -> torch.Tensor:
        scale = most / 448 if scaled else torch.ones(())
        return (x / scale).clamp(-448, 448).to(torch.float8_e4m3fn).float() * scale

    q = torch.cat([rounded(x, x.abs().max()) for x in q.split(problem.block_q)])
    k, v = rounded(k, k.abs().max()), rounded(v, v.abs().amax(0, keepdim=True))
    S = q @ k.T * problem.scale
    P = torch.exp(S - S.amax(1, keepdim=True))
    factor = 256 if scaled else 1
    return ((P * factor).to(torch.float8_e4m3fn).float() / factor @ v / P.sum(1, True)).numpy()


def error(found: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.linalg.norm(found - right, axis=1) / np.linalg.norm(right, axis=1)


@pytest.mark.parametrize("inputs", ["random", "outlier"])
def test_rounding_costs_what_torch_says(inputs):
    problem = replace(SHOWN, mask="full", block_k=48, inputs=inputs)
    found = quantized.row_errors(problem, trace(problem).visits)
    for name, scaled in (("plain", False), ("scaled", True)):
        want = error(by_torch(problem, scaled=scaled), exact(problem))
        np.testing.assert_allclose(np.concatenate(found[name]), want, rtol=0.05, atol=1e-4)


def last_visits(problem: Problem, errors: list) -> np.ndarray:
    """The errors of each row after its last key block."""
    visits = trace(problem).visits
    final = {visit.i: part for visit, part in zip(visits, errors, strict=True) if part is not None}
    return np.concatenate([final[i] for i in range(problem.Tr)])


@pytest.mark.parametrize("order", ["fa1", "fa2"])
def test_what_is_shown_adds_up_to_the_trace(order):
    problem = replace(SHOWN, order=order)
    found = quantized.row_errors(problem, trace(problem).visits)
    whole = error(trace(problem).O, exact(problem))
    rounding, sums = (last_visits(problem, found[x]) for x in ("scaled", "two_levels"))
    stored = 2.0**-8 * (1 if order == "fa2" else problem.Tc)  # O is bf16 in HBM, FA-1's each time
    assert (whole <= rounding + sums + stored).all()


def test_what_the_page_says_of_scales_and_levels():
    problem = Problem(n=256, d=16, block_q=16, block_k=16, dtype="e4m3", inputs="outlier")
    found = quantized.row_errors(problem, trace(problem).visits)
    end = {name: last_visits(problem, parts)[128:].mean() for name, parts in found.items()}
    assert end["plain"] > 20 * end["scaled"], "a channel beyond 448 is lost without a scale"
    assert end["one_level"] > 5 * end["two_levels"], "a long sum of one sign loses digits"


@pytest.mark.parametrize(
    "fields",
    [
        {"mask": "window:1,0", "block_k": 1, "inputs": "random"},  # rows that see no key of a tile
        {"inputs": "rising", "block_k": 2},
        {"inputs": "spike", "gain": 30, "block_q": 1, "block_k": 1},
        {"inputs": "random", "gain": 10_000, "block_k": 1},
    ],
)
def test_products_of_zeros_are_no_nan(fields):
    problem = replace(SHOWN, **fields)
    run = trace(problem)
    assert np.isfinite(run.O).all()
    for parts in quantized.row_errors(problem, run.visits).values():
        assert all(np.isfinite(x).all() for x in parts if x is not None)


def test_dropout_does_not_take_p_beyond_the_range():
    """What it keeps is 1/(1 − p) times as large; P is multiplied by that much less."""
    kept = quantized.QuantizedRun(replace(SHOWN, dropout=0.8))
    P = np.array([[0.0, 1 / (1 - 0.8), 0.5 / (1 - 0.8)]], np.float32)
    found = kept.add_product(np.zeros((1, 16), np.float32), P, kept.V[:3])
    np.testing.assert_allclose(found, P @ (kept.V[:3] * kept.v_scales), rtol=2e-3)


@pytest.mark.parametrize("order", ["standard", "fa2_split"])
def test_other_loops_round_alike_and_show_no_costs(order):
    problem = replace(SHOWN, order=order)
    assert quantized.row_errors(problem, trace(problem).visits) == {}
    assert error(trace(problem).O, exact(problem)).mean() < 0.02


def test_one_visit_has_the_numbers_of_the_whole_trace():
    visits = trace(SHOWN).visits
    for step in (0, 7, len(visits) - 1):
        visit, _ = one_visit(SHOWN, step)
        np.testing.assert_array_equal(visit.O, visits[step].O)
        np.testing.assert_array_equal(visit.scores, visits[step].scores)


@pytest.mark.parametrize(
    "make",
    [
        lambda: trace_backward(SHOWN),
        lambda: trace(replace(SHOWN, n=4096, block_q=64, block_k=64)),
        lambda: RunRequest(SHOWN),
        lambda: Sweep(dtype="e4m3"),
        lambda: Workload(dtype="e4m3"),
        lambda: Problem(dtype="e5m2"),
    ],
)
def test_what_e4m3_is_not_for_is_refused_in_one_sentence(make):
    with pytest.raises(ProblemError, match=r"^dtype = e[45]m[32] (is|are) not allowed.*\.$"):
        make()
