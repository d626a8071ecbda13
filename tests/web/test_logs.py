"""The access log has method, route, status and time, and nothing about who asked what."""

import asyncio
import json
import logging

import pytest
from starlette.routing import Mount, Route

from explainer.base.logs import JsonLines
from explainer.web.logs import ACCESS, AccessLog, match_prefix, route_prefixes

ROUTES = (Route("/", print), Route("/fa/trace", print), Route("/assets/{path:path}", print))
ROUTES += (Route("/gradio_api/call/{name}/{event}", print), Mount("/fa/static", print))
KNOWN = route_prefixes((*ROUTES, Route("/{page}", print)))


async def answer(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 201, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def logged(caplog):
    """logged(path, kind) → the lines of the access log that a request of this path leaves."""

    async def send(message) -> None:
        pass

    def ask(path: str, kind: str = "http") -> list[dict]:
        scope = {"type": kind, "method": "GET", "path": path, "query_string": b"text=my+secret"}
        scope |= {"client": ("203.0.113.9", 4711), "headers": [(b"cookie", b"who=me")]}
        with caplog.at_level(logging.INFO, ACCESS.name):
            asyncio.run(AccessLog(answer, KNOWN)(scope, None, send))
        return [json.loads(JsonLines().format(record)) for record in caplog.records]

    return ask


def test_method_route_status_and_time(logged):
    (line,) = logged("/fa/trace")
    assert (line["method"], line["route"], line["status"]) == ("GET", "/fa/trace", 201)
    assert line["ms"] >= 0 and line["level"] == "info" and line["at"].endswith("Z")


def test_a_path_is_named_by_the_route_that_the_app_has():
    named = {
        path: match_prefix(path, KNOWN)
        for path in ("/", "/x", "/fa/trace/", "/fa", "/assets/a/b.js")
    }
    assert list(named.values()) == ["/", "other", "/fa/trace", "other", "/assets"]
    assert match_prefix("/gradio_api/call/run/0a", KNOWN) == "/gradio_api/call"


def test_files_and_other_protocols_are_not_logged(logged):
    assert logged("/assets/index-1.js") == logged("/fa/static/x/site.js") == []
    assert logged("/fa/trace", kind="lifespan") == []
