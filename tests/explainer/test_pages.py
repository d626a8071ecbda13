"""Names and orders that several places share."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

from explainer.gate import CountInputs
from explainer.pages import run, step
from explainer.problem import NAMES, Problem
from explainer.routes import ASSETS


def test_endpoint_takes_what_the_gate_counts():
    function = run.api(None)
    assert tuple(inspect.signature(function).parameters) == run.VALUES
    assert function.__doc__ and "Returns" in function.__doc__
    assert "{" in CountInputs(None, {})._refusal(run.VALUES, b"", 0)


def test_every_key_of_a_problem_is_a_control_everywhere():
    keys = {NAMES[f.name][0] for f in fields(Problem)}
    assert set(run.KEYS) == set(run.VALUES) == keys
    assert len(step.values(Problem())) == len(run.KEYS)
    for name in ("site.js", "player/address.js", "player/offline.js"):
        text = (ASSETS / name).read_text()
        listed = re.search(r"(?:KEYS|RUN_ORDER) = \[([^\]]+)\]", text)[1]
        found = re.findall(r'"(\w+)"', listed)
        assert set(found) == keys, name
        if name == "site.js":
            assert tuple(found) == run.KEYS
