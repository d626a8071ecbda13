"""Middleware between the network and Gradio, and the sentences that answer errors."""

import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.web import metrics
from explainer.web.gradio_internals import UnknownFunction, wrap_app
from explainer.web.logs import AccessLog, route_prefixes
from explainer.web.page_cache import PageCache
from explainer.web.request_filter import NO_SUCH, RequestFilter

LOG = logging.getLogger("explainer")
LOCAL = ("127.0.0.1", "localhost", "[::1]")
t = Texts("shared")
BROKEN = t("broken")


class SecurityHeaders:
    """Forbid the browser what this app never needs: other hosts, plug-ins, sniffed types, devices.

    Gradio runs its events from strings, hence 'unsafe-eval'. Framing is allowed: a Space is shown
    in a frame, and lecturers embed the page.
    """

    POLICY = (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
        "connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; "
        "form-action 'self'"
    )
    HEADERS = (
        (b"content-security-policy", POLICY.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    )

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *self.HEADERS]}
            await send(message)

        await self.app(scope, receive, add if scope["type"] == "http" else send)


async def answer_error(request: Request, error: Exception) -> JSONResponse:
    """Answer an error with one sentence: for a value that is not allowed its own, which says what
    is; 404 for a raw post that names no function of the app; of any other the log has the cause."""
    if isinstance(error, ProblemError):
        return JSONResponse({"error": str(error)}, 400)
    if isinstance(error, UnknownFunction):
        return JSONResponse({"error": NO_SUCH}, 404)
    LOG.error("a request failed", exc_info=error)
    return JSONResponse({"error": BROKEN}, 500)


def app_kwargs(
    endpoints: Mapping[str, tuple[str, ...]],
    functions: Mapping[int, int],
    state: Callable[[], dict],
    host: str = "",
    crowded: Mapping[str, Callable[[Any], str | None]] | None = None,
) -> dict:
    """Return what ``launch(app_kwargs=…)`` takes.

    ``endpoints``, ``functions`` and ``crowded`` are those of :class:`RequestFilter`, ``state`` is
    the engine's. ALLOWED_HOSTS lists, with commas, the host names that are answered, besides those
    of this machine and ``host``, which Gradio requests as it starts."""
    hosts = [name.strip() for name in os.environ.get("ALLOWED_HOSTS", "").split(",")]
    hosts = [*filter(None, hosts)]
    meters = metrics.Meters(state) if metrics.is_enabled() else None

    @asynccontextmanager
    async def add_outermost(app: Starlette) -> AsyncIterator[None]:
        """Put the filter and the cache outside of Gradio's layers, which cost thrice as much."""

        def wrap(inner: ASGIApp) -> ASGIApp:
            cache = PageCache(inner)
            if not hosts and not meters:  # these two must see every request
                app.state.page_cache = cache
            prefixes = route_prefixes(app.routes)
            prefixes |= {f"/gradio_api/call/{name}" for name in endpoints}
            stack: ASGIApp = RequestFilter(cache, endpoints, functions, crowded)
            stack = AccessLog(stack, prefixes, meters)
            if meters:
                stack = metrics.MetricsPage(stack, meters)
            if hosts:
                stack = TrustedHostMiddleware(stack, [*hosts, *LOCAL, host], www_redirect=False)
            return stack

        wrap_app(app, wrap)
        yield

    return {
        "middleware": [Middleware(SecurityHeaders)],
        "lifespan": add_outermost,
        "exception_handlers": dict.fromkeys(
            (UnknownFunction, ProblemError, Exception), answer_error
        ),
    }
