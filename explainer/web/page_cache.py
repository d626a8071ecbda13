"""Files and the page itself made once and kept: Gradio makes and compresses them every time.

By hand, since starlette-compress and brotli-asgi compress each answer anew, which is the very cost,
and the caches for ASGI that we know keep neither variants by encoding nor a bound in bytes.
Gradio's own compression lies outside and leaves an answer alone that has an encoding already.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections import OrderedDict
from dataclasses import dataclass

import brotli  # Gradio brings it
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FILES = ("/assets/", "/static/", "/fa/static/")
STATIC = (*FILES, "/fa/listing", "/fa/tour", "/fa/course", "/fa/learn/")
# Gradio makes these anew for every request, at 6 ms each for "/", though they depend on nothing but
# the address that the visitor used.
PAGES = ("/", "/config", "/theme.css")
ORIGIN = (b"host", b"x-forwarded-host", b"x-forwarded-proto")
TEXT = (b"text/", b"application/javascript", b"application/json", b"image/svg+xml")
KEPT_BYTES = 64 << 20
MOST_PAGES = 24  # kept for that many addresses, all three together
FOREVER = b"public, max-age=31536000, immutable"  # of files whose names hold a fingerprint
A_WHILE = b"public, max-age=3600"
ASK_AGAIN = b"no-cache"
NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\n"
SMALL = 500  # bytes below which nothing is gained


@dataclass(frozen=True)
class _File:
    """One answer as it is sent: encoding → (raw headers, body), made once."""

    etag: bytes
    sent: dict[bytes, tuple[list[tuple[bytes, bytes]], bytes]]

    def answer(self, asked: dict[bytes, bytes]) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Status, headers and body for these headers of a request."""
        accepted = asked.get(b"accept-encoding", b"")
        encoding = next((e for e in (b"br", b"gzip") if e in accepted and e in self.sent), b"")
        headers, body = self.sent[encoding]
        if asked.get(b"if-none-match") != self.etag:
            return 200, headers, body
        return 304, [(k, v) for k, v in headers if k != b"content-length"], b""

    @property
    def size(self) -> int:
        return sum(len(body) for _, body in self.sent.values())


class PageCache:
    """Middleware: answers from memory what does not change while the app runs.

    ``at_once`` is for who speaks HTTP itself: each visitor's seventy files cost ten times as much
    as tasks and messages of ASGI."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._files: OrderedDict[str, _File] = OrderedDict()
        self._making: dict[str, asyncio.Lock] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        asked = dict(scope["headers"])
        if scope["path"].startswith(STATIC):
            await self._kept(scope["path"], asked, scope, receive, send)
        elif scope["path"] in PAGES and b"deep_link" not in scope["query_string"]:
            key = repr([scope["path"], scope.get("scheme"), *(asked.get(k) for k in ORIGIN)])
            await self._kept(key, asked, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def at_once(self, path: str, headers: list[tuple[bytes, bytes]]) -> list[bytes] | None:
        """Head, without the lines of every answer, and body of a kept file; None of any other."""
        file = self._files.get(path) if path.startswith(FILES) else None
        asked = dict(headers) if file else {}
        if file is None or b"range" in asked:
            return None
        status, head, body = file.answer(asked)
        lines = b"".join(b"%s: %s\r\n" % header for header in head)
        return [b"HTTP/1.1 200 OK\r\n" if status == 200 else NOT_MODIFIED, lines, body]

    async def _kept(self, key, asked, scope, receive, send) -> None:
        file = self._files.get(key)
        if file is None:
            async with self._making.setdefault(key, asyncio.Lock()):  # one makes it, all wait
                start, body = {}, b""
                if key not in self._files:
                    start, body = await self._whole(scope, receive)
                if start.get("status") == 200:
                    file = await asyncio.to_thread(_made, scope["path"], start, body)
                    self._keep(key, file)  # on the loop's own thread, like everything about it
                self._making.pop(key, None)
            if start and start["status"] != 200:
                await send(start)
                await send({"type": "http.response.body", "body": body})
                return
            file = self._files.get(key)
        if file is None or b"range" in asked:  # pushed out meanwhile, or a part is wanted
            await self.app(scope, receive, send)
            return
        status, headers, body = file.answer(asked)
        # a copy: what lies outside writes into it
        await send({"type": "http.response.start", "status": status, "headers": [*headers]})
        await send({"type": "http.response.body", "body": body})

    async def _whole(self, scope, receive) -> tuple[Message, bytes]:
        """The inner app's answer, complete; asked without conditions and without an encoding."""
        left_out = (b"accept-encoding", b"if-none-match", b"if-modified-since")
        asked = [(k, v) for k, v in scope["headers"] if k not in left_out]
        start: Message = {}
        parts: list[bytes] = []

        async def keep(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                parts.append(message.get("body", b""))

        await self.app({**scope, "headers": asked}, receive, keep)
        return start, b"".join(parts)

    def _keep(self, key: str, file: _File) -> None:
        self._files[key] = file
        pages = [key for key in self._files if key.startswith("[")]
        for old in pages[:-MOST_PAGES]:  # whoever asks under many names does not push out the rest
            del self._files[old]
        while sum(file.size for file in self._files.values()) > KEPT_BYTES:
            self._files.popitem(last=False)


def _made(path: str, start: Message, body: bytes) -> _File:
    """The answer in every encoding; takes a while for a large one, so it is made on a thread."""
    given = dict(start["headers"])
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'.encode()
    lasting = ASK_AGAIN if path in PAGES else A_WHILE
    given.setdefault(b"cache-control", FOREVER if path.startswith("/assets/") else lasting)
    given |= {b"etag": etag, b"vary": b"Accept-Encoding"}
    bodies = {b"": body}
    if given.get(b"content-type", b"").startswith(TEXT) and len(body) > SMALL:
        quality = 11 if path.startswith("/fa/") else 7  # ours are few: a tenth of a second each
        bodies[b"br"] = brotli.compress(body, quality=quality)
        bodies[b"gzip"] = gzip.compress(body, 6, mtime=0)
    sent = {}
    for encoding, content in bodies.items():
        own = {b"content-length": str(len(content)).encode()}
        own |= {b"content-encoding": encoding} if encoding else {}
        sent[encoding] = list((given | own).items()), content
    return _File(etag, sent)
