"""Names and orders that several places share."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from dataclasses import fields

import gradio as gr
import pytest

from explainer.base.fields import FIELDS, KEYS, ProblemError
from explainer.base.paths import ROOT
from explainer.engine.requests import RunRequest
from explainer.pages import api, run, step
from explainer.problem import DECLARED, Problem, declared

FUNCTIONS = {"run": api.run(None), "trace": api.trace, "sweep": api.sweep(None)}


@pytest.mark.parametrize("name", api.ENDPOINTS)
def test_endpoint_takes_what_the_gate_counts(name):
    function, names = FUNCTIONS[name], api.ENDPOINTS[name]
    signature = inspect.signature(function)
    assert tuple(key for key in signature.parameters if key != "request") == names
    for parameter in signature.parameters.values():
        assert parameter.annotation != parameter.empty and parameter.default != parameter.empty


# In a process of its own: Gradio leaves an event loop open behind what it builds.
TELL = """
import json, gradio as gr
from gradio.utils import get_function_description
from explainer.engine.engine import Engine
from explainer.pages import api
with gr.Blocks() as demo:
    api.build(Engine())
info = demo.get_api_info()["named_endpoints"]
words = {f.api_name: get_function_description(f.fn)[1] for f in demo.fns.values()}
print(json.dumps([info, words]))
"""


@pytest.fixture(scope="module")
def told() -> dict:
    """Of each endpoint: what a client hears of its arguments, by name, and what an MCP client."""
    command = [sys.executable, "-c", TELL]
    said = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    info, words = json.loads(said.splitlines()[-1])
    return {
        name: {
            p["parameter_name"]: (p, words[name][p["parameter_name"]])
            for p in info[f"/{name}"]["parameters"]
        }
        for name in api.ENDPOINTS
    }


def test_every_key_of_a_problem_is_an_argument_in_the_old_order():
    """Programs pass arguments by position: a new one goes to the end."""
    assert set(api.ENDPOINTS["run"]) >= problem_keys() - {"order", "hq"}
    assert set(api.ENDPOINTS["trace"]) >= problem_keys() - {"hq"}
    first = ("n", "d", "br", "bc", "mask", "dtype", "data", "seed", "text", "gain")
    heads = ("hk", "head", "dropout", "rope", "pass_")
    run = (*first, "b", "h", "methods", "score", "sink", *heads)
    assert api.ENDPOINTS["run"][: len(run)] == run
    trace = (*first, "order", "score", "sink", "h", *heads)
    assert api.ENDPOINTS["trace"][: len(trace)] == trace


@pytest.mark.parametrize("name", api.ENDPOINTS)
def test_a_client_sees_choices_ranges_and_words(told, name):
    for key, (parameter, mcp) in told[name].items():
        kind, words = parameter["type"], parameter["python_type"]["description"]
        assert words == mcp == kind["description"] == parameter["label"] and len(words) > 10
        numbers = kind.get("anyOf", [kind])[0]
        allowed = kind.get("items", kind).get("enum", ())
        bounded = {"minimum", "maximum"} <= set(numbers) or "maxLength" in kind
        assert allowed or bounded, f"{name}: {key}"
        assert all(str(x) in words for x in allowed)
        assert parameter["parameter_default"] == kind["default"]


def test_an_argument_is_called_and_typed_the_same_everywhere(told):
    for key in api.PROBLEM:
        run, trace = (told[name][key][0] for name in ("run", "trace"))
        assert run["python_type"]["type"] == trace["python_type"]["type"]
        assert run["parameter_default"] == trace["parameter_default"]
    for key in ("d", "dtype", "methods"):
        assert told["run"][key][0]["type"].keys() == told["sweep"][key][0]["type"].keys()
        of_run, of_sweep = (told[name][key][0]["python_type"] for name in ("run", "sweep"))
        assert of_run == of_sweep


def test_ranges_are_those_that_are_enforced(told):
    for key, (parameter, _) in told["run"].items():
        numbers = parameter["type"].get("anyOf", [parameter["type"]])[0]
        if "maximum" in numbers:
            for value in (numbers["minimum"] - 1, numbers["maximum"] + 1):
                with pytest.raises(ProblemError, match=rf"^{key} = "):
                    RunRequest.from_query({key: value})


def test_why_a_long_sequence_wants_random_data_is_said(told):
    assert "only with data = random: the others are made from all N²" in told["run"]["n"][1]
    with pytest.raises(ProblemError, match="65,536 with data = random: the others are made from"):
        RunRequest.from_query({"n": 65_536, "br": "auto", "bc": "auto", "data": "rising"})
    RunRequest.from_query({"n": 65_536, "br": "auto", "bc": "auto", "data": "random"})


def problem_keys() -> set[str]:
    return {KEYS[f.name] for f in fields(Problem)}


def test_every_key_of_a_problem_is_a_control_of_the_step_page():
    assert set(step.values(Problem())) == problem_keys()


def test_the_browsers_fields_are_made_from_the_table():
    assert DECLARED.read_text(encoding="utf-8") == declared(), "run `python -m explainer.problem`"


def test_every_key_of_a_request_is_a_control_of_the_run_page():
    own = {"text": "the cat", "data": "sentence", "n": "2", "br": "1", "bc": "1", "gain": "2"}
    own |= {"score": "alibi", "sink": "1", "h": "4", "hk": "2", "head": "3"}
    asked = RunRequest.from_query(own | {"rope": "100", "dropout": "0.5"})
    assert set(run.KEYS) == problem_keys() - {"order", "hq"} | {"b", "h", "methods", "pass"}
    # Every field that an address need not have differs from its default: else it is not compared.
    left_out = {f.key for f in FIELDS.values() if not f.is_written} - {"hq", "pass"}
    assert left_out <= set(asked.to_query())
    assert tuple(run._control_values({})) == run.KEYS
    shown = run._control_values(asked.to_query())
    assert (
        RunRequest.from_query({k: str(x) for k, x in shown.items()} | {"methods": asked.methods})
        == asked
    )
    assert (
        shown["hk"] == "2"
        and run._control_values({"h": "4"})["hk"]
        == run._control_values({"hq": "4", "hk": "4"})["hk"]
        == "each"
    )


# In a process of its own: it looks at what is imported.
LOOK = """
import sys
from explainer.pages.plots import plot
import gradio as gr
from gradio.utils import MatplotlibBackendMananger
class Seen:
    def find_spec(self, name, path=None, target=None):
        print(name)
with gr.Blocks():
    place = plot()
sys.meta_path.insert(0, Seen())
place.get_config()
with MatplotlibBackendMananger():
    pass
"""


def test_an_event_looks_for_no_library_that_no_chart_needs():
    done = subprocess.run([sys.executable, "-c", LOOK], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_a_trace_for_a_program_is_bounded_in_numbers():
    with pytest.raises(gr.Error, match="at most 1,000,000"):
        api.trace(128, 256, 1, 1)
    assert len(api.trace(128, 64, 8, 8)["visits"])
