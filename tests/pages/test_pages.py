"""Names and orders that several places share."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

from explainer.engine.requests import RunRequest
from explainer.pages import api, run, step
from explainer.problem import NAMES, Problem
from explainer.web.routes import ASSETS

FUNCTIONS = {"run": api.run(None), "trace": api.trace, "sweep": api.sweep(None)}


@pytest.mark.parametrize("name", api.ENDPOINTS)
def test_endpoint_takes_what_the_gate_counts(name):
    function, names = FUNCTIONS[name], api.ENDPOINTS[name]
    signature = inspect.signature(function)
    assert tuple(signature.parameters) == names
    for parameter in signature.parameters.values():
        assert parameter.annotation != parameter.empty and parameter.default != parameter.empty
    assert len(function.__doc__) > 200


def problem_keys() -> set[str]:
    return {NAMES[f.name][0] for f in fields(Problem)}


def test_every_key_of_a_problem_is_a_control_of_the_step_page():
    assert set(step.values(Problem())) == problem_keys()
    text = (ASSETS / "js" / "model" / "query.js").read_text()
    listed = re.search(r"KEYS = \[([^\]]+)\]", text)[1]
    assert set(re.findall(r'"(\w+)"', listed)) == problem_keys()


def test_every_key_of_a_request_is_a_control_of_the_run_page():
    own = {"text": "the cat", "data": "sentence", "n": "2", "br": "1", "bc": "1", "gain": "2"}
    asked = RunRequest.from_query(own)
    assert set(run.KEYS) == set(asked.to_query()) - {"order"}
    assert tuple(run._shown({})) == run.KEYS
