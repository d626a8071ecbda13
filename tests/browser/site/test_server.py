"""Requests that no page of ours makes: bad traces, paths that climb, raw posts to Gradio."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys

import pytest

from tests.browser.harness import ROOT

# One that a field refuses, one that is too many tiles, one that names a field twice; every other
# is refused in tests/test_problem.py.
TRACES = [
    "n=%EF%BC%91%EF%BC%96",
    "n=16384&br=1&bc=1",
    "n=16&n=0",
]
CLIMBS = [
    "../../app.py",
    "%2e%2e/%2e%2e/app.py",
    "x/../../app.py",
    "x/..%2f..%2fapp.py",
    "x//etc/passwd",
    "x/%2fetc%2fpasswd",
    "x/player",
    "x/",
    "x",
    "",
]


def ask(server, method: str, path: str, body: str | None = None) -> tuple[int, dict, str]:
    """Status, headers and text of one request whose path is sent exactly as written."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=240)
    headers = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer.status, dict(answer.getheaders()), text


@pytest.mark.parametrize("query", TRACES)
def test_bad_trace_is_400_with_one_sentence(server, query):
    status, _, text = ask(server, "GET", f"/fa/trace?{query}")
    assert status == 400
    answer = json.loads(text)
    assert list(answer) == ["error"]
    assert answer["error"].endswith(".") and len(answer["error"]) < 240


def test_good_trace_is_cached_and_compressed(server):
    status, headers, _ = ask(server, "GET", "/fa/trace")
    assert status == 200
    headers = {k.lower(): v for k, v in headers.items()}
    assert headers["content-encoding"] == "gzip"
    assert "immutable" in headers["cache-control"]
    assert int(headers["content-length"]) <= 30_000


def test_health_says_what_there_is(server):
    status, headers, text = ask(server, "GET", "/healthz")
    assert status == 200 and headers["cache-control"] == "no-store"
    assert set(json.loads(text)) == {
        *("healthy", "why", "worker", "running", "waiting", "faults", "replaced", "resting_s"),
        *("device", "interpreted"),
    }


@pytest.mark.parametrize("path", CLIMBS)
def test_static_files_stay_inside_assets(server, path):
    status, _, text = ask(server, "GET", f"/fa/static/{path}")
    assert status == 404
    assert "import" not in text and "root:" not in text


@pytest.mark.parametrize("query", ["page=step", "page=run&n=8", "page=%00", "__theme=dark"])
def test_an_address_with_page_answers(server, query):
    assert ask(server, "GET", f"/?{query}")[0] == 200


def test_a_port_that_is_taken_is_an_error_and_not_another_port(server):
    env = os.environ | {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(server.port)}
    second = subprocess.run([sys.executable, "app.py"], cwd=ROOT, env=env, capture_output=True)
    assert second.returncode and b"serving" not in second.stdout
    assert f"{server.port}".encode() in second.stderr
