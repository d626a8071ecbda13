"""Tiles too large for a trace: the kernel's m and l are compared with their definition."""

from dataclasses import replace

import pytest
import torch

from explainer.algorithms.inputs import make_inputs
from explainer.base.fields import ProblemError
from explainer.engine import agreement, judging
from explainer.engine.jobs import device
from explainer.problem import Problem


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("order", ["fa1", "fa2"])
def test_without_a_trace_the_definition_is_compared(monkeypatch, order, causal):
    problem = Problem(n=37, d=12, block_q=16, block_k=5, causal=causal, inputs="random")
    problem = replace(problem, order=order)
    kept = agreement.traced_states(problem)

    def too_large(problem: Problem):
        raise ProblemError("too large to hold")

    monkeypatch.setattr(agreement, "traced_states", too_large)
    q, k, v = (torch.tensor(x, device=device())[None, None] for x in make_inputs(problem))
    found = judging.agreement(problem, order, q, k, v, v, lambda function, stage: function())
    assert (found["against"], found["agrees"]) == ("float64", True)
    there = torch.from_numpy(kept[0]).isfinite()
    assert found["values"] == 2 * int(there.sum())
    assert found["tiles"] == int(there.any(dim=2).sum())


@pytest.mark.parametrize(
    ("of_m", "of_l", "agrees"),
    [(2**-22, 2**-16, True), (2**-19, 0.0, False), (0.0, 2**-14, False)],
)
def test_a_difference_that_no_rounding_makes_is_found(of_m, of_l, agrees):
    """Off by so much of themselves, where a score is as large as the norms of its vectors allow."""
    problem = Problem(n=40, d=64, block_q=8, block_k=8, mask="full", inputs="spike")
    m, l = agreement.traced_states(problem)
    found = agreement.compare(problem, m * (1 + of_m), l * (1 + of_l), lambda: (m, l))
    assert found["agrees"] == agrees


def test_what_the_kernel_reported_stands_beside_the_trace():
    """Of every tile that it visits, where they are few; rows of m and l by their own place."""
    problem = Problem(n=14, d=4, block_q=4, block_k=4)
    m, l = agreement.traced_states(problem)
    found = agreement.compare(problem, m + 1, l * 2, lambda: (m, l))["seen"]
    assert len(found) == 10
    for x in found:
        at = x["i"], x["j"], x["row"] - 4 * x["i"]
        assert (x["m"], x["m_expected"]) == (m[at] + 1, m[at])
        assert (x["l"], x["l_expected"]) == (2 * l[at], l[at])


def test_a_wrong_tile_is_where_the_map_says():
    problem = Problem(n=40 * 4, d=4, block_q=4, block_k=2)  # 40 × 80 tiles: cells of 2 × 3
    m, l = agreement.traced_states(problem)
    right = agreement.compare(problem, m, l, lambda: (m, l))["map"]
    assert (right["rows"], right["columns"], right["first"]) == (20, 27, None)
    assert set(right["cells"]) == {"=", "."} and max(x or 0 for x in right["m"] + right["l"]) == 0
    l = l.copy()
    l[21, 10, 3] *= 1.5
    wrong = agreement.compare(problem, m, l, lambda: (m, l))
    found, at = wrong["map"], 10 * 27 + 3
    assert not wrong["agrees"] and found["first"] == (21, 10)
    assert [k for k, cell in enumerate(found["cells"]) if cell == "x"] == [at]
    assert found["l"][at] == pytest.approx(0.5, rel=1e-3)
    worst = [x for x in wrong["seen"] if (x["i"], x["j"]) == (21, 10)]
    assert [x["row"] for x in worst] == [21 * 4 + 3] and len(wrong["seen"]) == 16
    assert worst[0]["l"] == pytest.approx(1.5 * worst[0]["l_expected"])
    m = m.copy()
    m[0, 5] = 1.0  # a skipped tile was computed
    found = agreement.compare(problem, m, l, lambda: agreement.traced_states(problem))
    assert found["m_error"] is None and found["map"]["first"] == (0, 5)
