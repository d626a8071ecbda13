"""The door: which requests reach Gradio at all, and in what form.

Gradio serves uploads, proxies, recordings and more that no page of ours uses, and answers some
malformed posts with 500. What is let in is listed here; the rest gets one sentence.

By hand, since slowapi and the like limit how often somebody asks, not what; and which of Gradio's
own addresses and messages this app needs, no library knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

import httpx  # Gradio's own
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explainer.base.texts import Texts

AGAIN_S = 5  # until one who was not taken may ask again
MOST_BYTES = 64_000
MOST_TEXT = 64  # characters of an id
MOST_HOST = 260  # characters, its port with it
MOST_PATH = 512  # characters of a path; file systems stop at 255 a name
READ = re.compile(
    r"/(?:$|assets/|static/|fa/|gradio_api/mcp(?:/|$)|(?:config|healthz)/?$"
    r"|(?:theme\.css|favicon\.ico|manifest\.json|robots\.txt)$"
    r"|gradio_api/(?:info/?|openapi\.json|app_id/?|startup-events|queue/data|theme\.css"
    r"|heartbeat/[\w-]{1,64}|call/\w{1,32}/\w{1,64})$)"
)
BY_NUMBER = re.compile(r"/gradio_api/(?:queue/join|run/predict|api/predict)/?$")
BY_NAME = re.compile(r"/gradio_api/call/(v2/)?(\w{1,32})/?$")
SESSION = re.compile(r"/gradio_api/(?:cancel|reset)/?$")
MCP = re.compile(r"/gradio_api/mcp(?:/|$)")

say = Texts("web")
NO_SUCH, NOT_FITTING = say("no_such"), say("not_fitting")
# Gradio builds the page's own address from it, and keeps the page for whoever comes next.
LEFT_OUT = (b"x-gradio-server",)
HOSTS = (b"host", b"x-forwarded-host")


class Refused(Exception):
    """Why a request is not let in; ``status`` goes with the sentence."""

    def __init__(self, sentence: str, status: int = 422) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = {"Retry-After": str(AGAIN_S)} if status == 503 else None


class RequestFilter:
    """Middleware. ``endpoints``: the values that each named endpoint takes; ``functions``: how many
    each of Gradio's numbered functions takes that run on the server; ``crowded``: why an endpoint
    takes nothing of this visitor now, which here costs a tenth of what Gradio's way to it does."""

    def __init__(
        self,
        app: ASGIApp,
        endpoints: Mapping[str, tuple[str, ...]],
        functions: Mapping[int, int],
        crowded: Mapping[str, Callable[[Request], str | None]] | None = None,
    ) -> None:
        self.app, self.endpoints, self.functions = app, endpoints, functions
        self.crowded = crowded or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = [(k, v) for k, v in scope["headers"] if k not in LEFT_OUT]
        headers = [(k, v) for k, v in headers if k not in HOSTS or _is_host(v)]
        scope = {**scope, "headers": headers}
        try:
            if self._is_read(scope["method"], scope["path"]) or MCP.match(scope["path"]):
                await self.app(scope, receive, send)
                return
            body = await _whole(receive)
            self._check(scope["path"], body)
            named = BY_NAME.match(scope["path"])
            crowded = self.crowded.get(named[2]) if named else None
            if crowded and (sentence := crowded(Request(scope))):
                raise Refused(sentence, 503)
        except Refused as why:
            answer = JSONResponse({"error": str(why)}, why.status, why.headers)
            await answer(scope, receive, send)
            return
        mended = _Mended(send) if BY_NUMBER.match(scope["path"]) else send
        await self.app(scope, _again(body, receive), mended)

    def _is_read(self, method: str, path: str) -> bool:
        """Whether this only reads. Raises Refused for what is neither that nor a known post."""
        if len(path) > MOST_PATH or "\0" in path or any(len(p) > 255 for p in path.split("/")):
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
        wanted = f'{{"data": [{", ".join(names)}]}}' if names else say("form.known")
        if named and named[1]:
            wanted = say("form.keys", keys=", ".join(names))
        asked = _strict(body, wanted)
        _check_text(asked, "session_hash")
        if named and named[1]:
            if unknown := [key for key in asked if key not in names]:
                raise Refused(say("unknown", key=str(unknown[0])[:40], keys=", ".join(names)))
        elif named:
            _check_count(asked, len(names), wanted)
        elif BY_NUMBER.match(path):
            self._check_numbered(asked)
        else:
            _check_text(asked, "event_id")
            _check_number(asked, "fn_index")

    def _check_numbered(self, asked: dict) -> None:
        number = _check_number(asked, "fn_index")
        if number not in self.functions:
            raise Refused(NO_SUCH, 404)
        _check_number(asked, "trigger_id")
        if not isinstance(asked.get("event_data"), (dict, type(None))):
            raise Refused(say("event"))
        _check_count(asked, self.functions[number], '{"data": […]}')


@lru_cache(256)  # each of a page's 77 requests says the same
def _is_host(value: bytes) -> bool:
    """Whether Gradio can build an address from it; from the first, where proxies left more."""
    if len(value) > MOST_HOST:
        return False
    try:
        host = value.decode("ascii").partition(",")[0].strip()
        return bool(re.fullmatch(r"[\w.:\[\]-]+", host) and httpx.URL(f"http://{host}").host)
    except (UnicodeError, httpx.InvalidURL):
        return False


async def _whole(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BYTES:
            raise Refused(say("too_long", most=MOST_BYTES))
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives the body once more, then what the connection really says."""
    rest = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return rest.pop() if rest else await receive()

    return again


def _strict(body: bytes, wanted: str) -> dict:
    """JSON as its standard has it: neither NaN nor half a character."""

    def refuse(constant: str) -> None:
        raise Refused(say("no_number", constant=constant))

    try:
        value = json.loads(body, parse_constant=refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # UnicodeError is a ValueError
        raise Refused(say("form", wanted=wanted)) from None
    if not isinstance(value, dict):
        raise Refused(say("form", wanted=wanted))
    return value


def _check_count(asked: dict, count: int, wanted: str) -> None:
    data = asked.get("data")
    if not isinstance(data, list):
        raise Refused(say("form", wanted=wanted))
    if len(data) != count:
        raise Refused(say("count", given=len(data), count=count, wanted=wanted))


def _check_text(asked: dict, key: str) -> None:
    value = asked.get(key)
    if value is not None and not (isinstance(value, str) and len(value) <= MOST_TEXT):
        raise Refused(say("text", key=key, most=MOST_TEXT))


def _check_number(asked: dict, key: str) -> int | None:
    value = asked.get(key)
    known = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31
    if value is not None and not known:
        raise Refused(say("whole", key=key))
    return value


class _Mended:
    """Gradio answers 500 to values that a function refuses: 422 and a sentence instead."""

    def __init__(self, send: Send) -> None:
        self._send, self._start, self._body = send, None, b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 500:
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._finish()

    async def _finish(self) -> None:
        try:
            error = json.loads(self._body)["error"] or NOT_FITTING
        except (ValueError, KeyError, TypeError):
            error = NOT_FITTING
        body = json.dumps({"error": str(error)[:400]}).encode()
        headers = [(b"content-type", b"application/json")]
        headers.append((b"content-length", str(len(body)).encode()))
        await self._send({"type": "http.response.start", "status": 422, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})
