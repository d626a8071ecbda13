"""Between the network and Gradio: an address key it must not see, errors in one sentence."""

from __future__ import annotations

import logging
from urllib.parse import parse_qsl, urlencode

from gradio.route_utils import FnIndexInferError
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

NO_SUCH = "There is no such endpoint: the app's API page lists those that there are."
BROKEN = "The server could not answer this request; the page itself goes on working."


class HidePage:
    """Takes ``page=…`` out of the query of ``/``.

    There the key is ours (which tab is shown) and read in the browser. Gradio would look up a page
    of its own by that name and answer 500.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/" and b"page=" in scope["query_string"]:
            query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            kept = urlencode([(k, v) for k, v in query if k != "page"])
            scope = {**scope, "query_string": kept.encode("latin-1", "replace")}
        await self.app(scope, receive, send)


async def no_such_endpoint(request: Request, error: Exception) -> JSONResponse:
    """A raw post that names no function of ours."""
    return JSONResponse({"error": NO_SUCH}, status_code=404)


async def broken(request: Request, error: Exception) -> JSONResponse:
    """Whatever nobody foresaw: the log keeps the cause, the answer is one sentence."""
    logging.getLogger("explainer").error("%s %s failed", request.method, request.url.path)
    return JSONResponse({"error": BROKEN}, status_code=500)


def app_kwargs() -> dict:
    """For ``launch(app_kwargs=…)``."""
    return {
        "middleware": [Middleware(HidePage)],
        "exception_handlers": {FnIndexInferError: no_such_endpoint, Exception: broken},
    }
