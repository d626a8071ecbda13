"""The registry feeds the pages; what the browser has of it is what Python says."""

from explainer.algorithms.registry import ALGORITHMS, BACKWARD, DECLARED, OF_PASS, declared
from explainer.algorithms.schedule import schedule
from explainer.problem import Problem
from kernels.spec.fields import ORDERS


def test_a_problem_may_ask_for_every_algorithm_and_no_other():
    assert set(ALGORITHMS) == set(ORDERS)
    assert [a.key for a in ALGORITHMS.values()] == list(ALGORITHMS) == list(BACKWARD)


def test_the_browsers_module_is_made_from_the_registry():
    assert DECLARED.read_text(encoding="utf-8") == declared(), (
        "run `python -m explainer.algorithms.registry`"
    )


def test_what_an_algorithm_says_of_itself_is_what_its_loop_does():
    for pass_, algorithms in OF_PASS.items():
        for a in algorithms.values():
            steps = schedule(Problem(n=20, block_q=8, block_k=6, order=a.key), pass_)
            tiles = [s for s in steps if s.stage is None] or steps
            assert tiles[0].transfers[0].tensor == a.opens
            lit = {(x.get("stage"), x.get("phase")) for x in a.texts["pseudocode"]}
            happens = {(s.stage, p) for s in steps for p in s.phases}
            assert happens <= lit
            assert {x for x in lit if x[1] not in (None, "skip")} == happens
            if pass_ == "forward":
                assert {s.stage or "tiles" for s in steps} == set(a.launches or {"tiles"})
