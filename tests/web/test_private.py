"""The app as a process: nothing that a visitor types is in any line of the log, whatever breaks;
each line is JSON; its end in the middle of a run leaves nothing behind."""

import json
import socket
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.harness import Server
from tests.browser.site.hostile import DATA, posted, send
from tests.web.faulty_app import ENDLESS, SEED
from tests.workers import below

PLANTED = "Pl4nted"
KEYS = (
    "n",
    "d",
    "br",
    "mask",
    "order",
    "dtype",
    "data",
    "seed",
    "text",
    "gain",
    "at",
    "w",
    PLANTED,
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server("tests/web/faulty_app.py") as running:
        yield running


def ask(server: Server, *call) -> int:
    """The status; 0 where an event that nobody began breaks off its stream."""
    try:
        status, text = send(server, *call)
        event = json.loads(text).get("event_id") if status == 200 and text[:1] == "{" else None
        if event and call[1].startswith("/gradio_api/call/"):  # its function ends when this has
            send(server, "GET", f"{call[1].replace('/v2/', '/')}/{event}")
        elif event:
            send(server, "GET", f"/gradio_api/queue/data?session_hash={PLANTED}")
        return status
    except HTTPException:
        return 0


def test_what_is_typed_is_in_no_line(server):
    info = json.loads(send(server, "GET", "/gradio_api/info")[1])["named_endpoints"]
    calls = [("GET", f"/{PLANTED}"), (PLANTED, "/"), ("GET", f"/gradio_api/call/{PLANTED}/x")]
    calls += [("GET", f"/fa/{PLANTED}"), ("GET", f"/gradio_api/file={PLANTED}")]
    calls += [("GET", "/", None, {name: PLANTED}) for name in ("Host", "Cookie", "User-Agent")]
    calls += [("GET", f"/gradio_api/heartbeat/%ff{PLANTED}")]
    for path in (
        "/",
        "/healthz",
        *(f"/fa/{name}" for name in (*DATA["ours"], "parallel", "learn", "code")),
    ):
        calls += [("GET", f"{path}?{key}={PLANTED}") for key in KEYS]
        calls += [("GET", f"{path}?seed={SEED}&data=sentence&text={PLANTED}")]
    for name, about in info.items():
        given = [p.get("parameter_default") for p in about["parameters"]]
        keys = [p["parameter_name"] for p in about["parameters"]]
        bodies = [[*given[:k], PLANTED, *given[k + 1 :]] for k in range(len(given))]
        if "seed" in keys:
            broken = dict(zip(keys, given, strict=True))
            broken |= {"seed": 666, "text": PLANTED, "data": "sentence"}
            bodies += [list(broken.values())]
        for data in bodies:
            call = posted(f"/gradio_api/call{name}", {"data": data, "session_hash": PLANTED})
            calls += [(call.method, call.path, call.body, call.headers)]
    # First, while the worker is not yet suspect: it repeats what it is asked, and breaks.
    asked = posted("/gradio_api/call/v2/run", {"data": "sentence", "text": PLANTED})
    calls = [("POST", asked.path, asked.body, asked.headers), *calls]
    config = json.loads(send(server, "GET", "/config")[1])
    for function in config["dependencies"]:
        if function["backend_fn"]:
            data = [PLANTED for _ in function["inputs"]]
            body = {"data": data, "fn_index": function["id"], "session_hash": PLANTED}
            calls += [("POST", "/gradio_api/queue/join", json.dumps(body).encode(), {})]
    statuses = [
        ask(server, *(quote(x, "/?&=%") if k == 1 else x for k, x in enumerate(c))) for c in calls
    ]
    assert 500 in statuses, "a fault was forced"
    lines = server.log(10_000_000).splitlines()
    found = [json.loads(line) for line in lines]
    assert not [line for line in lines if PLANTED in line or "127.0.0.1" in line]
    errors = {line.get("error") for line in found}
    assert {"RuntimeError", "ValueError"} <= errors, "its class is there"
    said = {line["message"].split(":")[0] for line in found}
    assert {
        "the worker writes",
        "an error that nobody caught",
        "request",
        "a request failed",
    } <= said
    assert any("faulty_app.py" in "".join(line.get("trace", "")) for line in found)


def test_sigterm_in_a_run_ends_the_worker_and_frees_the_port():
    with Server("tests/web/faulty_app.py") as server:
        call = posted("/gradio_api/call/v2/run", {"seed": int(ENDLESS)})
        assert send(server, call.method, call.path, call.body, call.headers)[0] == 200
        state = {"running": 0}
        while not (state["running"] and state["worker"]):
            state = json.loads(send(server, "GET", "/healthz")[1])
        workers = below(server._process.pid)
        server._process.terminate()
        assert server._process.wait() == 0
        assert workers and not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
        socket.create_server(("127.0.0.1", server.port)).close()
