"""One visit computed alone, as it is sent for a long sequence, is that of the whole trace."""

import numpy as np
import pytest

from explainer.algorithms.schedule import schedule
from explainer.problem import Problem
from explainer.trace import one_visit, trace, trace_backward
from explainer.web.wire import pack_visit_backward
from tests.web.test_wire import decode


@pytest.mark.parametrize("order", ["fa2", "fa1", "standard", "fa2_split"])
@pytest.mark.parametrize(
    "rules", [{}, {"mask": "causal&window:4,0", "sink": 0.5}], ids=["causal", "window"]
)
def test_one_visit_is_that_of_the_whole_trace(order, rules):
    given = {"n": 37, "d": 5, "block_q": 6, "block_k": 7, "inputs": "random", "dtype": "bf16"}
    problem = Problem(order=order, **given, **rules)
    whole = trace(problem).visits
    for step, expected in enumerate(whole):
        found, before = one_visit(problem, step)
        for name in ("m_old", "m_new", "l_old", "l_new", "alpha", "S", "P", "O"):
            value = getattr(expected, name)
            assert (getattr(found, name) is None) == (value is None)
            if value is not None:
                np.testing.assert_array_equal(getattr(found, name), value)
        if order.startswith("fa2"):  # each part of the keys begins anew
            begins = schedule(problem)[step].first
            assert (before is None) == begins
            if not begins:
                np.testing.assert_array_equal(before.m_new, expected.m_old)


@pytest.mark.parametrize("order", ["fa2", "fa1", "standard"])
@pytest.mark.parametrize(
    "given",
    [
        {"n": 37, "d": 5, "block_q": 6, "block_k": 7, "dtype": "bf16"},
        {"n": 23, "block_q": 5, "block_k": 3, "mask": "full", "score": "softcap:2", "sink": 1.5},
        {"n": 20, "d": 4, "mask": "block:4x4,0.0,2.1,4.1"},  # keys that no row sees
    ],
    ids=["ragged", "sink", "unseen"],
)
def test_one_visit_of_the_backward_is_that_of_the_whole_trace(order, given):
    """All that the wire says of a visit, against the whole trace's own visits and gradients."""
    problem = Problem(order=order, inputs="random", **given)
    t = trace_backward(problem)
    sums: dict = {}
    for step, v in enumerate(t.visits):
        got = decode(pack_visit_backward(problem, step))[1]
        r = slice(0) if v.i is None else slice(v.i * problem.block_q, (v.i + 1) * problem.block_q)
        c = slice(None)
        if v.j is not None:
            c = slice(v.j * problem.block_k, (v.j + 1) * problem.block_k)
        true = {"D": v.D, "S": v.scores, "slope": v.slope, "P": v.P, "dP": v.dP, "dS": v.dS}
        true |= {"part_dQ": v.part_dQ, "acc_dQ": v.dQ, "acc_dK": v.dK, "acc_dV": v.dV}
        true |= {name: getattr(t, name)[r] for name in ("Q", "dO")}
        true |= {name: getattr(t, name)[c] for name in "KV"}
        blocks = {"dQ": ("i", v.i), "dK": ("j", v.j), "dV": ("j", v.j)}
        if v.kind != "skipped":
            own = [
                x for x in blocks if getattr(v, x) is not None or (v.stage, x) == ("scale", "dQ")
            ]
            true |= {f"before_{x}": sums.get((x, *blocks[x])) for x in own}
            if v.stage not in ("dV", "dP"):
                true["O"] = t.O[r]
        written = {x.tensor for x in v.transfers if x.op == "write"} if v.stage != "D" else set()
        for name, block in {"dQ": r, "dK": c, "dV": c}.items():
            whole = order == "fa1" and name == "dQ"  # which is written back at every visit
            if name in written and not whole:
                true[name] = getattr(t, name)[block]
        for name, expected in true.items():
            assert (name in got) == (expected is not None), (step, name)
            if expected is not None:
                np.testing.assert_array_equal(got[name], expected, f"{step} {name}")
        for x, at in blocks.items():
            if getattr(v, x) is not None:
                sums[(x, *at)] = getattr(v, x)
