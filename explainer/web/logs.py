"""The access log: method, route, status and time of each request, and not who asked what.

Of a path only the route is kept that the app itself has: a path is typed by a visitor too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explainer.base.logs import configure as configure
from explainer.web.metrics import Meters

ACCESS = logging.getLogger("explainer.access")
QUIET = ("/assets", "/static", "/fa/static", "/gradio_api/heartbeat")
METHODS = ("GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH")
OTHER = "other"


def fixed(routes: Iterable[BaseRoute]) -> set[str]:
    """What routes begin with before anything that varies: "/gradio_api/call" of
    "/gradio_api/call/{api_name}". FastAPI keeps an included router as one route."""
    found = set()
    for one in routes:
        found |= fixed(one.original_router.routes) if hasattr(one, "original_router") else set()
        path = getattr(one, "path", "/{")
        found |= set() if path.startswith("/{") else {path.partition("{")[0].rstrip("/") or "/"}
    return found


def route(path: str, known: Collection[str]) -> str:
    """The longest known beginning of a path."""
    path = path[:512].rstrip("/") or "/"
    while path and path not in known:
        path = path.rpartition("/")[0]
    return path or OTHER


class AccessLog:
    """Middleware: notes every request that is not a file. ``known``: the app's routes."""

    def __init__(self, app: ASGIApp, known: Collection[str], meters: Meters | None = None) -> None:
        self.app, self.known, self.meters = app, known, meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        named = route(scope["path"], self.known)
        method = scope["method"] if scope["method"] in METHODS else OTHER
        began, first, status = time.perf_counter(), None, 0

        async def note(message: Message) -> None:
            nonlocal first, status
            if message["type"] == "http.response.start":
                first, status = time.perf_counter() - began, message["status"]
            await send(message)

        try:
            await self.app(scope, receive, note)
        finally:
            seconds = time.perf_counter() - began
            if self.meters:
                self.meters.note(named, status, seconds if first is None else first)
            if named not in QUIET:
                fields = {
                    "method": method,
                    "route": named,
                    "status": status,
                    "ms": round(1e3 * seconds, 1),
                }
                ACCESS.info("request", extra={"fields": fields})
