"""Logs are JSON lines with times, and hold nothing about who asked what."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from explainer.web.logs import ACCESS, AccessLog, JsonLines


async def answer(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 201, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def logged(path: str, query: bytes = b"text=my+secret", kind: str = "http") -> list[dict]:
    lines: list[dict] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(json.loads(JsonLines().format(record)))

    async def send(message) -> None:
        pass

    handler = Keep()
    ACCESS.addHandler(handler)
    ACCESS.setLevel(logging.INFO)
    scope = {"type": kind, "method": "GET", "path": path, "query_string": query}
    scope |= {"client": ("203.0.113.9", 4711), "headers": [(b"cookie", b"who=me")]}
    try:
        asyncio.run(AccessLog(answer)(scope, None, send))
    finally:
        ACCESS.removeHandler(handler)
    return lines


def test_method_route_status_and_time():
    (line,) = logged("/fa/trace")
    assert (line["method"], line["route"], line["status"]) == ("GET", "/fa/trace", 201)
    assert line["ms"] >= 0 and line["level"] == "info" and line["at"].endswith("Z")


@pytest.mark.parametrize(
    "path", ["/gradio_api/call/run/0a1b2c3d4e5f60718293", "/gradio_api/file=/home/me/secret.csv"]
)
def test_no_personal_data(path):
    (line,) = logged(path)
    text = json.dumps(line)
    for secret in ("secret", "0a1b2c3d", "203.0.113.9", "who=me", "home"):
        assert secret not in text


def test_files_and_other_protocols_are_not_logged():
    assert logged("/assets/index-1.js") == logged("/fa/static/x/site.js") == []
