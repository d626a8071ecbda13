"""The cost that is estimated from an address, beside the work that is really done; no clock."""

import re
from dataclasses import replace

import numpy as np
import pytest

from explainer.algorithms import inputs
from explainer.algorithms.inputs import make_inputs
from explainer.algorithms.schedule import schedule
from explainer.algorithms.sizes import size_of, trace_numbers
from explainer.base.fields import ProblemError
from explainer.problem import Problem
from explainer.trace import MAX_VISITED, TRACES, array_bytes, one_visit, trace, trace_backward
from explainer.web import cost, wire
from explainer.web.files import STATS, WHOLE, animation
from explainer.web.requests import parse_request
from explainer.web.responses import make
from kernels.spec.fields import ORDERS, PASSES

LARGE = {"n": 16384, "d": 64, "block_q": 128, "block_k": 128}
SHAPES = [
    Problem(),
    Problem(n=37, d=5, block_q=8, block_k=3),
    Problem(n=64, d=16, block_q=16, block_k=16),
    Problem(n=96, d=8, block_q=1, block_k=32),
]
EACH = [
    replace(p, order=order, mask=mask)
    for p in SHAPES
    for order in ORDERS
    for mask in ("full", "causal")
]


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("problem", EACH, ids=lambda p: f"{p.order} {p.mask} {p.n}")
@pytest.mark.parametrize("score", ["none", "softcap:2"])
def test_moves_visits_and_numbers_are_those_counted(problem, score, pass_):
    problem = replace(problem, score=score)
    steps, t = schedule(problem, pass_), TRACES[pass_](problem)
    wholes = numbers(getattr(t, name) for name in WHOLE[pass_])
    of_visits = numbers(getattr(v, name) for v in t.visits for name in STATS[pass_])
    counted = sum(len(step.transfers) for step in steps), len(steps), wholes + of_visits
    size = size_of(problem, pass_)
    most = size.moves, size.visits, trace_numbers(problem, pass_)
    assert all(a <= b for a, b in zip(counted, most, strict=True))
    assert problem.mask.text != "full" or counted == most
    assert array_bytes(t) > 4 * wholes
    assert cost.whole(problem, "backward") > cost.whole(problem)


def numbers(arrays) -> int:
    return sum(x.size for x in arrays if isinstance(x, np.ndarray))


def test_what_is_dear_costs_more_than_the_threshold():
    def dear(kind: str, **query: object) -> bool:
        return (
            cost.seconds(parse_request(kind, {k: str(v) for k, v in query.items()})) > cost.CHEAP_S
        )

    big = {"n": 16384, "d": 256, "br": 64, "bc": 64}
    for kind in ("trace", "visit", "export.html", "export.json", "export.npz"):
        assert dear(kind, **big) and not dear(kind)
    assert dear("export.json", n=128, d=256, br=1, bc=1)
    assert dear("code") and not dear("learn", w="dot")
    assert dear("visit", n=2048, d=64, br=4, bc=64, data="rising")
    assert not dear("visit", n=2048, d=8, br=64, bc=64, data="random")
    assert not dear("trace", n=128, d=64, br=16, bc=16) and not dear("mask", n=128, br=4, bc=4)
    assert dear("mask", n=16384, br=64, bc=64, mask="causal&window:256,0|prefix:2")


def test_inputs_are_made_once_for_all_loop_orders():
    p = Problem(n=40, d=4, block_k=8, inputs="rising")
    assert make_inputs(p)[0] is make_inputs(replace(p, order="fa1", block_q=2, mask="full"))[0]
    assert make_inputs(p)[1] is not make_inputs(replace(p, block_k=4))[1]


@pytest.mark.parametrize(
    ("call", "given", "sentence"),
    [
        (trace, {"n": 256, "d": 1, "block_q": 1, "block_k": 1}, f"at most {MAX_VISITED:,}"),
        (trace, LARGE, "n = 16,384 is not allowed"),
        (trace_backward, LARGE, "n = 16,384 is not allowed"),
        (trace_backward, {"dropout": 0.1}, "dropout = 0.1 is not allowed: the dropout must be 0"),
        (
            trace_backward,
            {"cache": "paged"},
            "kv = paged is not allowed: the cache of K and V must",
        ),
        (
            lambda p: animation(p, {}),
            {"n": 16384, "block_q": 1, "block_k": 1},
            "br = 1 and bc = 1 are not allowed .* 65,536",
        ),
        (
            lambda p: one_visit(p, 0),
            {"n": 16384, "d": 64, "block_q": 16384, "block_k": 64},
            "br = 16384 is not allowed for the numbers of one tile .* from 1 to 240",
        ),
        (
            lambda p: one_visit(p, 0),
            {"n": 16384, "d": 256, "block_q": 64, "block_k": 64, "inputs": "rising"},
            "data = rising is not allowed for the numbers of one tile: .* 17,179,869,184",
        ),
        (
            lambda p: make(parse_request("export.npz", p.to_query())),
            {"n": 64, "d": 8, "block_q": 1, "block_k": 1},
            "br = 1 and bc = 1 are not allowed in a file of arrays .* at most 1,200",
        ),
        (
            lambda p: make(parse_request("export.json", p.to_query())),
            {"n": 2048, "d": 64, "block_q": 64, "block_k": 64},
            "n = 2048 is not allowed in a file .* at most 6,000,000",
        ),
    ],
)
def test_what_cannot_be_made_in_time_is_one_sentence(call, given, sentence):
    with pytest.raises(ProblemError, match=sentence) as refused:
        call(Problem(**given))
    assert re.fullmatch(r"(?:[^.]|\.(?=\d))*\.", str(refused.value))


def test_a_storm_leaves_no_more_than_the_caches_may_hold():
    functions = (trace, schedule, wire.packed_gzip, inputs.made)
    for function in functions:
        function.cache_clear()
    t = trace(Problem(n=256, d=64, block_q=32, block_k=32, seed=1))
    for seed in range(2, 2 + 2 * trace.cache.maxsize // array_bytes(t)):
        wire.packed_gzip(Problem(n=256, d=64, block_q=32, block_k=32, seed=seed))
        assert all(x.cache.currsize <= x.cache.maxsize for x in functions)
    assert trace.cache.currsize > trace.cache.maxsize // 2
