"""Requests that no page makes: the named endpoints, as a program calls them."""

import json
from dataclasses import replace

import pytest

from explainer.engine import recorded
from explainer.engine.requests import RunRequest, Sweep
from explainer.engine.results import with_older_names
from explainer.pages.answers import RunAnswer, SweepRow, TraceAnswer
from explainer.problem import Problem
from explainer.web.files import as_json
from tests.browser.site.hostile import send
from tests.schema import misfit
from tests.tables import table

RUN, TRACE, SWEEP, REFUSED, BODIES = table(__file__).values()


def call(server, arguments: dict, name: str = "run") -> str:
    """The last event of a named endpoint for these arguments."""
    body = json.dumps({"data": [*arguments.values()]})
    status, text = send(server, "POST", f"/gradio_api/call/{name}", body)
    assert status == 200
    _, events = send(server, "GET", f"/gradio_api/call/{name}/{json.loads(text)['event_id']}")
    return "event: " + events.split("event: ")[-1]


def answer(server, arguments: dict, name: str = "run"):
    """What a named endpoint gives for these arguments."""
    event = call(server, arguments, name)
    assert event.startswith("event: complete"), event
    (given,) = json.loads(event.split("data: ", 1)[1])
    return given


@pytest.mark.parametrize("changes", [{"n": "9" * 5000}, *REFUSED], ids=lambda d: str(d)[:24])
def test_raw_post_is_refused_in_one_sentence(server, changes):
    event = call(server, RUN | changes)
    assert event.startswith("event: error")
    sentence = json.loads(event.split("data: ", 1)[1])["error"]
    assert sentence.endswith(".") and len(sentence) < 240 and "Traceback" not in sentence


@pytest.mark.parametrize("body", BODIES)
def test_raw_post_of_another_shape_is_refused_in_one_sentence(server, body):
    status, text = send(server, "POST", "/gradio_api/call/run", body)
    assert status == 422
    sentence = json.loads(text)["error"]
    assert sentence.endswith(".") and "n, d, br, bc" in sentence


def test_endless_post_is_refused(server):
    body = json.dumps({"data": ["9" * 100_000]})
    status, text = send(server, "POST", "/gradio_api/call/run", body)
    assert status == 422 and "too long" in json.loads(text)["error"]


def test_named_endpoint_runs_the_kernel(server):
    result = answer(server, RUN | {"methods": "naive, fa2"})
    assert not misfit(result, RunAnswer)
    assert all(row["right"] for row in result["rows"]) and result["rows"][1]["same"]["agrees"]
    assert result["query"] == RunRequest(Problem()).to_query() and "measured" in result["kind"]


def test_named_endpoint_runs_the_heads_that_it_is_asked_for(server):
    heads = {"h": 6, "hk": 2, "head": 4, "dropout": 0.3, "rope": 100, "sink": 1}
    methods = "standard,fa1,fa2"
    result = answer(server, RUN | heads | {"methods": methods, "score": "alibi"})
    assert all(row["right"] and row["same"]["agrees"] for row in result["rows"])
    assert result["query"].items() >= {key: str(value) for key, value in heads.items()}.items()


def test_named_endpoint_trace_is_the_export(server):
    arguments = TRACE | {"n": 12, "d": 4, "br": 5, "bc": 3, "dtype": "fp16", "seed": 3}
    arguments |= {"h": 6, "hk": 2, "head": 4, "rope": 100}
    heads = {"q_heads": 6, "kv_heads": 2, "head": 4, "rope": 100}
    problem = Problem(12, 4, 5, 3, "causal", "fa1", "fp16", "random", 3, **heads)
    for pass_ in ("forward", "backward"):
        found = answer(server, arguments | {"pass": pass_}, "trace")
        assert found == json.loads(as_json(problem, pass_))
        typed = TraceAnswer.model_validate_json(json.dumps(found)).model_dump(exclude_unset=True)
        assert json.loads(json.dumps(typed)) == found, "every key has its type"
    assert "n = 129 is not allowed" in call(server, arguments | {"n": 129}, "trace")
    found = answer(server, arguments | {"dtype": "e4m3"}, "trace")
    assert found == json.loads(as_json(replace(problem, dtype="e4m3")))
    assert "dtype = e4m3 is not allowed" in call(server, RUN | {"dtype": "e4m3"}, "run")


def test_named_endpoint_sweep_is_bounded_and_without_a_gpu_the_record(server):
    assert "d = 0 is not allowed" in call(server, SWEEP | {"d": 0}, "sweep")
    assert "hk = 5 is not allowed" in call(server, SWEEP | {"hk": 5}, "sweep")
    rows = answer(server, SWEEP, "sweep")
    assert not misfit(rows, list[SweepRow])
    assert [row["n"] for row in rows] == [256, 256]
    if "recorded" in rows[0]:
        assert all(row.pop("kind").startswith("recorded on") for row in rows)
        told = with_older_names(recorded.labelled_rows(Sweep(64, "bf16", ("fa2",), 256)))
        assert rows == json.loads(json.dumps(told))


def test_named_endpoint_run_answers_from_the_record_what_it_cannot_run(server):
    """Of RP 1 and 8: records were denied, or answered for another N and other methods unsaid."""
    large = {"n": 4096, "d": 64, "br": "auto", "bc": "auto", "dtype": "bf16", "seed": 0}
    found = answer(server, RUN | large | {"b": 4, "h": 32, "methods": "fa2"})
    if "recorded" in found:
        assert "2,080 are run on this CPU" in found["refused"]
        assert "recorded on" in found["kind"] and not misfit(found, RunAnswer)
        assert [row["method"] for row in found["rows"]] == ["fa2"], "only what was requested"
        assert all("median_ms" in row for row in found["rows"])
        longer = answer(server, RUN | large | {"n": 3000, "b": 4, "h": 32, "methods": "fa2"})
        assert longer["query"]["n"] != "3000" and "n" in longer["differs"]
    assert "record" not in answer(server, RUN), "nothing comparable was measured"


def test_view_api_says_what_each_endpoint_gives(server):
    """Of RP 8: it said “Any”."""
    _, text = send(server, "GET", "/gradio_api/info")
    for endpoint in ("/run", "/trace", "/sweep"):
        (given,) = json.loads(text)["named_endpoints"][endpoint]["returns"]
        assert "kind: str" in given["python_type"]["type"]
        assert not given["python_type"]["type"].startswith(("Any", "dict(str, Any"))
