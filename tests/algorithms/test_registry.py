"""The registry feeds the pages; what the browser has of it is what Python says."""

from __future__ import annotations

from explainer.algorithms.registry import ALGORITHMS, SCRIPT, script
from explainer.algorithms.schedule import schedule
from explainer.problem import ORDERS, Problem


def test_a_problem_may_ask_for_every_algorithm_and_no_other():
    assert set(ALGORITHMS) == set(ORDERS)
    assert [a.key for a in ALGORITHMS.values()] == list(ALGORITHMS)


def test_the_browsers_module_is_made_from_the_registry():
    assert SCRIPT.read_text(encoding="utf-8") == script(), (
        "run `python -m explainer.algorithms.registry`"
    )


def test_what_an_algorithm_says_of_itself_is_what_its_loop_does():
    for a in ALGORITHMS.values():
        steps = schedule(Problem(n=20, block_q=8, block_k=6, order=a.key))
        first = next(t for s in steps for t in s.transfers)
        assert first.tensor == a.opens
        lit = {(x.stage, x.phase) for x in a.pseudocode}
        assert {(s.stage, p) for s in steps for p in s.phases} <= lit
        kernels = {s.stage for s in steps}
        assert kernels == (set(a.launches) if a.launches else {None})
