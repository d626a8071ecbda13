"""Admit to Gradio only those requests that this app's pages and programs make.

Gradio serves uploads, proxies, recordings and more that no page of ours uses, and answers some
malformed posts with 500. The patterns below list what is admitted; the rest gets one sentence.

By hand, since slowapi and the like limit how often a client makes requests, not which; and no
library knows which of Gradio's addresses and messages this app needs.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx  # Gradio's own
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explainer.base.texts import Texts

RETRY_S = 5  # after a refusal for lack of room
MAX_BODY_BYTES = 64_000
MAX_ID = 64  # characters
MAX_HOST = 260  # characters, with the port
MAX_PATH, MAX_NAME = 512, 255  # characters of a path, and of a name in a file system
READ = re.compile(
    r"/(?:$|assets/|static/|fa/|gradio_api/mcp(?:/|$)|(?:config|healthz)/?$"
    r"|(?:theme\.css|favicon\.ico|manifest\.json|robots\.txt)$"
    r"|gradio_api/(?:info/?|openapi\.json|app_id/?|startup-events|queue/data|theme\.css"
    r"|heartbeat/[\w-]{1,64}|call/\w{1,32}/\w{1,64})$)"
)
BY_NUMBER = re.compile(r"/gradio_api/queue/join/?$")
BY_NAME = re.compile(r"/gradio_api/call/(v2/)?(\w{1,32})/?$")
SESSION = re.compile(r"/gradio_api/(?:cancel|reset)/?$")
MCP = re.compile(r"/gradio_api/mcp(?:/|$)")

t = Texts("web")
NO_SUCH = t("no_such")
# Gradio builds the page's own address from it, and the page is cached for the next visitor.
REMOVED_HEADERS = (b"x-gradio-server",)
HOSTS = (b"host", b"x-forwarded-host")


class Refused(Exception):
    """The reason why a request is not admitted: one sentence and its HTTP ``status``."""

    def __init__(self, sentence: str, status: int = 422) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = {"Retry-After": str(RETRY_S)} if status == 503 else None


class RequestFilter:
    """Middleware that refuses what the app does not serve before Gradio sees it.

    ``endpoints``: {name: its arguments}; ``functions``: {number of a function that runs on the
    server: its number of inputs}; ``crowded``: {endpoint: request → why it takes nothing more of
    this client now, or None}, which costs a tenth here of what Gradio needs to reach it.
    """

    def __init__(
        self,
        app: ASGIApp,
        endpoints: Mapping[str, tuple[str, ...]],
        functions: Mapping[int, int],
        crowded: Mapping[str, Callable[[Any], str | None]] | None = None,
    ) -> None:
        self.app, self.endpoints, self.functions = app, endpoints, functions
        self.crowded = crowded or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = [(k, v) for k, v in scope["headers"] if k not in REMOVED_HEADERS]
        headers = [(k, v) for k, v in headers if k not in HOSTS or _is_host(v)]
        scope = {**scope, "headers": headers}
        if scope["path"] == "/":
            scope["query_string"] = _without_page(scope["query_string"])
        try:
            if self._is_read(scope["method"], scope["path"]) or MCP.match(scope["path"]):
                await self.app(scope, receive, send)
                return
            body = await _read_body(receive)
            self._check(scope["path"], body)
            named = BY_NAME.match(scope["path"])
            crowded = self.crowded.get(named[2]) if named else None
            if crowded and (sentence := crowded(Request(scope))):
                raise Refused(sentence, 503)
        except Refused as why:
            answer = JSONResponse({"error": str(why)}, why.status, why.headers)
            await answer(scope, receive, send)
            return
        await self.app(scope, _replay(body, receive), send)

    def _is_read(self, method: str, path: str) -> bool:
        """Return True for a read, False for a known post. Raises Refused for anything else."""
        if len(path) > MAX_PATH or "\0" in path or any(len(p) > MAX_NAME for p in path.split("/")):
            raise Refused(NO_SUCH, 404)
        if method == "OPTIONS" or (method in ("GET", "HEAD") and READ.match(path)):
            return True
        if method != "POST" or not any(p.match(path) for p in (BY_NUMBER, BY_NAME, SESSION, MCP)):
            raise Refused(NO_SUCH, 404)
        return False

    def _check(self, path: str, body: bytes) -> None:
        named = BY_NAME.match(path)
        names = self.endpoints.get(named[2]) if named else None
        if named and names is None:
            raise Refused(NO_SUCH, 404)
        names = names or ()
        expected = f'{{"data": [{", ".join(names)}]}}' if names else t("form.known")
        if named and named[1]:
            expected = t("form.keys", keys=", ".join(names))
        message = _parse_json(body, expected)
        _check_text(message, "session_hash")
        if named and named[1]:
            if unknown := [key for key in message if key not in names]:
                raise Refused(t("unknown", key=str(unknown[0])[:40], keys=", ".join(names)))
        elif named:
            _check_count(message, len(names), expected)
        elif BY_NUMBER.match(path):
            self._check_numbered(message)
        else:
            _check_text(message, "event_id")
            _check_number(message, "fn_index")

    def _check_numbered(self, message: dict) -> None:
        number = _check_number(message, "fn_index")
        if number is None or number not in self.functions:
            raise Refused(NO_SUCH, 404)
        _check_number(message, "trigger_id")
        if not isinstance(message.get("event_data"), (dict, type(None))):
            raise Refused(t("event"))
        _check_count(message, self.functions[number], '{"data": […]}')


def _without_page(query: bytes) -> bytes:
    """Remove ``page=…``: the key names the tab to show and is read in the browser. Gradio would
    look up a page of its own by that name and answer 500."""
    others = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    return urlencode([(k, v) for k, v in others if k != "page"]).encode()


@lru_cache(256)  # all 77 requests of a page have the same
def _is_host(value: bytes) -> bool:
    """Return True if Gradio can build an address from it, or from the first of a proxy's list."""
    if len(value) > MAX_HOST:
        return False
    try:
        host = value.decode("ascii").partition(",")[0].strip()
        return bool(re.fullmatch(r"[\w.:\[\]-]+", host) and httpx.URL(f"http://{host}").host)
    except (UnicodeError, httpx.InvalidURL):
        return False


async def _read_body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MAX_BODY_BYTES:
            raise Refused(t("too_long", most=MAX_BODY_BYTES))
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that gives the body again, then what the connection sends."""
    rest = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return rest.pop() if rest else await receive()

    return receive_again


def _parse_json(body: bytes, expected: str) -> dict:
    """Parse an object of strict JSON, which has neither NaN nor half a character."""

    def refuse(constant: str) -> None:
        raise Refused(t("no_number", constant=constant))

    try:
        value = json.loads(body, parse_constant=refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # UnicodeError is a ValueError
        raise Refused(t("form", wanted=expected)) from None
    if not isinstance(value, dict):
        raise Refused(t("form", wanted=expected))
    return value


def _check_count(message: dict, count: int, expected: str) -> None:
    data = message.get("data")
    if not isinstance(data, list):
        raise Refused(t("form", wanted=expected))
    if len(data) != count:
        raise Refused(t("count", given=len(data), count=count, wanted=expected))


def _check_text(message: dict, key: str) -> None:
    value = message.get(key)
    if value is not None and not (isinstance(value, str) and len(value) <= MAX_ID):
        raise Refused(t("text", key=key, most=MAX_ID))


def _check_number(message: dict, key: str) -> int | None:
    value = message.get(key)
    known = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31
    if value is not None and not known:
        raise Refused(t("whole", key=key))
    return value
