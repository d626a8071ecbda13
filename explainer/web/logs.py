"""Log method, route, status and time of each request, but neither the client nor the query.

Of a path only the app's own route is logged, because a visitor types paths too.
"""

import logging
import time
from collections.abc import Collection, Iterable

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explainer.base.logs import configure as configure
from explainer.web.gradio_internals import list_routes
from explainer.web.metrics import Meters

ACCESS = logging.getLogger("explainer.access")
QUIET = ("/assets", "/static", "/fa/static", "/gradio_api/heartbeat")
METHODS = ("GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH")
OTHER = "other"


def route_prefixes(routes: Iterable[BaseRoute]) -> set[str]:
    """Return the constant beginning of each route: "/gradio_api/call" of
    "/gradio_api/call/{api_name}"."""
    paths = (getattr(route, "path", "/{") for route in list_routes(routes))
    return {p.partition("{")[0].rstrip("/") or "/" for p in paths if not p.startswith("/{")}


def match_prefix(path: str, prefixes: Collection[str]) -> str:
    """Return the longest of the prefixes that a path begins with, "other" if there is none."""
    path = path[:512].rstrip("/") or "/"
    while path and path not in prefixes:
        path = path.rpartition("/")[0]
    return path or OTHER


class AccessLog:
    """Middleware that logs every request that is not for a file.

    ``prefixes``: those of the app's routes.
    """

    def __init__(
        self, app: ASGIApp, prefixes: Collection[str], meters: Meters | None = None
    ) -> None:
        self.app, self.prefixes, self.meters = app, prefixes, meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        route = match_prefix(scope["path"], self.prefixes)
        method = scope["method"] if scope["method"] in METHODS else OTHER
        began, first, status = time.perf_counter(), None, 0

        async def watch(message: Message) -> None:
            nonlocal first, status
            if message["type"] == "http.response.start":
                first, status = time.perf_counter() - began, message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watch)
        finally:
            seconds = time.perf_counter() - began
            if self.meters:
                self.meters.count(route, status, seconds if first is None else first)
            if route not in QUIET:
                fields = {
                    "method": method,
                    "route": route,
                    "status": status,
                    "ms": round(1e3 * seconds, 1),
                }
                ACCESS.info("request", extra={"fields": fields})
