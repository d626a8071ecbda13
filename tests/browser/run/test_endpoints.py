"""Requests that no page makes: the named endpoints, as a program calls them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from explainer.engine import recorded
from explainer.engine.requests import RunRequest, Sweep
from explainer.engine.results import with_older_names
from explainer.problem import Problem
from explainer.web.files import as_json
from tests.browser.site.test_server import ask

GOOD = [
    *(16, 8, 4, "4", "causal", "fp32", "random", 9, "", 1.0, 1, 1, "naive,fa2", "none", ""),
    *("", 0, 0, 0, "forward"),  # key heads, the head shown, dropout, RoPE, the pass
]
POSTS = [
    [0, *GOOD[1:]],
    [16, 7.5, *GOOD[2:]],
    [16, 8, 99, *GOOD[3:]],
    ["<b>", *GOOD[1:]],
    [None, *GOOD[1:]],
    [[16], {"d": 8}, *GOOD[2:]],
    ["9" * 5000, *GOOD[1:]],
    [*GOOD[:4], "xyz", *GOOD[5:]],
    [*GOOD[:6], "../../etc", *GOOD[7:]],
    [*GOOD[:9], "nan", *GOOD[10:]],
    [*GOOD[:6], "own", 0, "=cmd()|'/C calc'", *GOOD[9:]],
    [16384, 64, "1", "1", *GOOD[4:]],
    [*GOOD[:10], 65, 1, "fa2", *GOOD[13:]],
    [*GOOD[:12], "fa2,__import__('os')", *GOOD[13:]],
    [*GOOD[:13], "softcap:x", "nan", *GOOD[15:]],
    [*GOOD[:11], 6, *GOOD[12:15], 4, *GOOD[16:]],
    [*GOOD[:11], 6, *GOOD[12:15], 3, 6, *GOOD[17:]],
    [*GOOD[:17], 1, *GOOD[18:]],
    [*GOOD[:18], 0.5, GOOD[19]],
    [*GOOD[:19], "sideways"],
    [8192, *GOOD[1:17], 0.1, *GOOD[18:]],
]


def call(server, data: list, name: str = "run") -> str:
    """The last event of a named endpoint for this body."""
    status, _, text = ask(server, "POST", f"/gradio_api/call/{name}", json.dumps({"data": data}))
    assert status == 200
    events = ask(server, "GET", f"/gradio_api/call/{name}/{json.loads(text)['event_id']}")[2]
    return "event: " + events.split("event: ")[-1]


@pytest.mark.parametrize("data", POSTS, ids=lambda d: str(d)[:24])
def test_raw_post_is_refused_in_one_sentence(server, data):
    event = call(server, data)
    assert event.startswith("event: error")
    sentence = json.loads(event.split("data: ", 1)[1])["error"]
    assert sentence.endswith(".") and len(sentence) < 240 and "Traceback" not in sentence


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "{}", '{"data": 1}', '{"data": [1, 2]}', json.dumps({"data": GOOD * 2})]
)
def test_raw_post_of_another_shape_is_refused_in_one_sentence(server, body):
    status, _, text = ask(server, "POST", "/gradio_api/call/run", body)
    assert status == 422
    sentence = json.loads(text)["error"]
    assert sentence.endswith(".") and "n, d, br, bc" in sentence


def test_endless_post_is_refused(server):
    body = json.dumps({"data": ["9" * 100_000, *GOOD[1:]]})
    status, _, text = ask(server, "POST", "/gradio_api/call/run", body)
    assert status == 422 and "too long" in json.loads(text)["error"]


def test_named_endpoint_runs_the_kernel(server):
    event = call(server, GOOD)
    assert event.startswith("event: complete"), event
    (result,) = json.loads(event.split("data: ", 1)[1])
    assert all(row["right"] for row in result["rows"]) and result["rows"][1]["same"]["agrees"]
    assert result["query"] == RunRequest(Problem()).to_query() and "measured" in result["kind"]


def test_named_endpoint_runs_the_heads_that_it_is_asked_for(server):
    data = [*GOOD[:11], 6, "standard,fa1,fa2", "alibi", 1, 2, 4, 0.3, 100, "forward"]
    (result,) = json.loads(call(server, data).split("data: ", 1)[1])
    assert all(row["right"] and row["same"]["agrees"] for row in result["rows"])
    said = {"h": "6", "hk": "2", "head": "4", "dropout": "0.3", "rope": "100", "sink": "1"}
    assert result["query"].items() >= said.items()


def test_named_endpoint_trace_is_the_export(server):
    data = [12, 4, 5, 3, "causal", "fp16", "random", 3, "", 1.0, "fa1", "none", ""]
    data += [6, 2, 4, 0.25, 100, "forward"]
    (found,) = json.loads(call(server, data, "trace").split("data: ", 1)[1])
    heads = {"q_heads": 6, "kv_heads": 2, "head": 4, "dropout": 0.25, "rope": 100}
    problem = Problem(12, 4, 5, 3, "causal", "fa1", "fp16", "random", 3, **heads)
    assert found == json.loads(as_json(problem))
    data = [*data[:16], 0, 100, "backward"]  # gradients are computed without dropout
    (found,) = json.loads(call(server, data, "trace").split("data: ", 1)[1])
    assert found == json.loads(as_json(replace(problem, dropout=0), "backward"))
    for n in (129, 0):
        assert f"n = {n} is not allowed" in call(server, [n, *data[1:]], "trace")


def test_named_endpoint_sweep_is_bounded_and_without_a_gpu_the_record(server):
    data = [64, "bf16", ["fa2"], 256, "causal", "none", "", "", 0]
    assert "d = 0 is not allowed" in call(server, [0, *data[1:]], "sweep")
    assert "hk = 5 is not allowed" in call(server, [*data[:7], 5, 0], "sweep")
    event = call(server, data, "sweep")
    (rows,) = json.loads(event.split("data: ", 1)[1])
    assert [row["n"] for row in rows] == [256, 256]
    if "recorded" in rows[0]:
        assert all(row.pop("kind").startswith("recorded on") for row in rows)
        told = with_older_names(recorded.labelled_rows(Sweep(64, "bf16", ("fa2",), 256)))
        assert rows == json.loads(json.dumps(told))


def test_named_endpoint_run_answers_from_the_record_what_it_cannot_run(server):
    data = [4096, 64, "auto", "auto", "causal", "bf16", "random", 0, "", 1.0, 4, 32, "fa2"]
    (found,) = json.loads(call(server, data + GOOD[13:]).split("data: ", 1)[1])
    if "recorded" in found:
        assert "2,000 are run on this CPU" in found["refused"]
        assert "recorded on" in found["kind"] and all("median_ms" in row for row in found["rows"])
    small = json.loads(call(server, GOOD).split("data: ", 1)[1])[0]
    assert "record" not in small, "nothing comparable was measured"
