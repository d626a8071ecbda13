"""The types of a trace, written in the comments of the scripts, name what Python writes."""

from __future__ import annotations

import re

import pytest

from explainer.problem import Problem
from explainer.web.wire import has_numbers, pack
from tests.js.fixtures import header
from tests.js.problems import LONG
from tests.js.test_model import HERE

TYPES = (HERE / "../../assets/js/model/types.js").resolve()


# What only an algorithm with several lanes has.
LANES = {"v_lane?", "lane_S?", "lane_P?"}


def keys(name: str) -> set[str]:
    """The fields of the object type ``name``."""
    text = TYPES.read_text(encoding="utf-8")
    body = re.search(rf"@typedef \{{\{{([^{{}}]*)\}}\}} {name}\b", text)[1]
    return set(re.findall(r"(\w+\??): ", body)) - LANES


SEVERAL = Problem(q_heads=2)
SPLIT = Problem(order="fa2_split")


@pytest.mark.parametrize("problem", [Problem(), LONG[0], SEVERAL, SPLIT], ids=str)
def test_the_types_name_what_python_writes(problem):
    found = header(pack(problem))
    assert keys("Header") == set(found) | {"dsink?"}
    several = found["problem"].pop("heads", None)  # where there are several
    assert bool(several) == (problem.q_heads > 1)
    assert keys("Problem") == set(found["problem"]) | {"heads?", "dropout?", "rope?"}
    assert not several or keys("Heads") == set(several)
    assert keys("Sram") | keys("Card") == {
        *found["sram"],
        *(key for card in found["sram"]["cards"].values() for key in card),
    }
    values = keys("Values") if has_numbers(problem) else set()
    lanes = {name.rstrip("?") for name in LANES} if problem is SPLIT else set()
    assert keys("Skeleton") | values | lanes == set(found["arrays"])
    assert all(keys("Directory") == set(entry) for entry in found["arrays"].values())


@pytest.mark.parametrize("score", ["none", "softcap:3"])
def test_the_types_name_what_python_writes_of_a_backward_pass(score):
    found = header(pack(Problem(score=score, sink=1), "backward"))
    assert {name.rstrip("?") for name in keys("Header")} == set(found)
    slope = {"slope"} if score != "none" else set()
    values = (keys("BackwardValues") - {"slope?"}) | slope
    assert keys("Skeleton") | values == set(found["arrays"])
