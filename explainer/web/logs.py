"""Structured logs: one JSON object a line, with request times and without personal data.

Neither addresses of visitors nor queries nor bodies are logged, and of a path only what names the
route: identifiers of sessions and events are left out.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

ACCESS = logging.getLogger("explainer.access")
QUIET = ("/assets/", "/static/", "/fa/static/", "/gradio_api/heartbeat/")
_IDENTIFIER = re.compile(r"/[0-9a-z]{10,}(?=/|$)|/file=.*$")


class JsonLines(logging.Formatter):
    """Time (UTC), level, logger, message; and the fields of an access record."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line)


def configure() -> None:
    """Sends the app's own loggers to stderr; called once, by app.py."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    ours = logging.getLogger("explainer")
    ours.handlers, ours.propagate = [handler], False
    ours.setLevel(logging.INFO)


class AccessLog:
    """Middleware: method, route, status and milliseconds of every request that is not a file."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or path.startswith(QUIET):
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, note)
        finally:
            fields = {
                "method": scope["method"],
                "route": _IDENTIFIER.sub("/…", path)[:80],
                "status": status,
                "ms": round(1e3 * (time.perf_counter() - began), 1),
            }
            ACCESS.info("request", extra={"fields": fields})
