"""Static files compressed once and kept: Gradio compresses every one of them for every request.

Gradio's own compression lies outside and leaves an answer alone that has an encoding already.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections import OrderedDict
from dataclasses import dataclass

import brotli  # Gradio brings it
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STATIC = ("/assets/", "/static/", "/fa/static/")
PAGES = ("/", "/config", "/theme.css")  # made anew for every request
TEXT = ("text/", "application/javascript", "application/json", "image/svg+xml")
KEPT_BYTES = 64 << 20
FOREVER = "public, max-age=31536000, immutable"  # of files whose names hold a fingerprint
A_WHILE = "public, max-age=3600"
SMALL = 500  # bytes below which nothing is gained


@dataclass(frozen=True)
class _File:
    """One static file, as it is sent: encoding → body."""

    headers: dict[str, str]
    bodies: dict[str, bytes]

    @property
    def size(self) -> int:
        return sum(map(len, self.bodies.values()))


class Compressed:
    """Middleware: answers static files from memory, and compresses the page itself on the fly."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._files: OrderedDict[str, _File] = OrderedDict()
        self._making: dict[str, asyncio.Lock] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        headers = Headers(scope=scope) if scope["type"] == "http" else None
        plain = headers is None or scope["method"] != "GET" or "range" in headers
        if not plain and path.startswith(STATIC):
            await self._static(path, headers, scope, receive, send)
        elif not plain and path in PAGES and "gzip" in headers.get("accept-encoding", ""):
            await self._page(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _static(self, path, headers, scope, receive, send) -> None:
        if path not in self._files:
            async with self._making.setdefault(path, asyncio.Lock()):  # one makes it, all wait
                if path not in self._files:
                    start, body = await self._whole(scope, receive)
                    if start["status"] != 200:
                        await send(start)
                        await send({"type": "http.response.body", "body": body})
                        return
                    await asyncio.to_thread(self._keep, path, start, body)
            self._making.pop(path, None)
        file = self._files.get(path)
        if file is None:  # pushed out meanwhile
            await self.app(scope, receive, send)
            return
        if headers.get("if-none-match") == file.headers["etag"]:
            await Response(status_code=304, headers=file.headers)(scope, receive, send)
            return
        accepted = headers.get("accept-encoding", "")
        encoding = next((e for e in ("br", "gzip") if e in accepted and e in file.bodies), "")
        more = {"content-encoding": encoding} if encoding else {}
        response = Response(file.bodies[encoding], headers=file.headers | more)
        await response(scope, receive, send)

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

    def _keep(self, path: str, start: Message, body: bytes) -> None:
        given = Headers(raw=start["headers"])
        kind = given.get("content-type", "application/octet-stream")
        tag = hashlib.sha256(body).hexdigest()[:20]
        headers = {"content-type": kind, "etag": f'"{tag}"', "vary": "Accept-Encoding"}
        lasting = FOREVER if path.startswith("/assets/") else A_WHILE
        headers["cache-control"] = given.get("cache-control", lasting)
        bodies = {"": body}
        if kind.startswith(TEXT) and len(body) > SMALL:
            bodies["br"] = brotli.compress(body, quality=7)
            bodies["gzip"] = gzip.compress(body, 6, mtime=0)
        self._files[path] = _File(headers, bodies)
        while sum(file.size for file in self._files.values()) > KEPT_BYTES:
            self._files.popitem(last=False)

    async def _page(self, scope, receive, send) -> None:
        start, body = await self._whole(scope, receive)
        headers = [(k, v) for k, v in start["headers"] if k.lower() != b"content-length"]
        if start["status"] == 200 and len(body) > SMALL:
            body = gzip.compress(body, 1, mtime=0)
            headers += [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
        headers.append((b"content-length", str(len(body)).encode()))
        await send({**start, "headers": headers})
        await send({"type": "http.response.body", "body": body})
