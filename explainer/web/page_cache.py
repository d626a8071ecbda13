"""Cache files and the page itself, compressed once; Gradio makes and compresses them per request.

By hand, since starlette-compress and brotli-asgi compress each response anew, which is the very
cost, and the caches for ASGI that we know store neither variants by encoding nor a bound in bytes.
Gradio's own compression lies outside, and leaves a response alone that has an encoding already.
"""

import asyncio
import gzip
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import brotli
import cachetools
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explainer.web.gradio_internals import inner_path, layer_styles

FILES = ("/assets/", "/static/", "/fa/static/")
# The rest of what depends on the build alone: routes.CONSTANT and the screens of Learn
STATIC = (
    *(*FILES, "/fa/course", "/fa/glossary", "/fa/learn/", "/fa/listing", "/fa/record_masks"),
    *("/fa/records", "/fa/tour", "/fa/words"),
)
# Gradio makes these anew for every request, at 6 ms each for "/", although they depend only on the
# address that the visitor used.
PAGES = ("/", "/config", "/theme.css")
ORIGIN = (b"host", b"x-forwarded-host", b"x-forwarded-proto")
TEXT = (b"text/", b"application/javascript", b"application/json", b"image/svg+xml")
MAX_BYTES = 64 << 20
MAX_PAGES = 24  # of all origins and all three pages together
FOREVER = b"public, max-age=31536000, immutable"  # of files whose names hold a fingerprint
ONE_HOUR = b"public, max-age=3600"
NO_CACHE = b"no-cache"
NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\n"
MIN_COMPRESSED_BYTES = 500  # nothing is gained below

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class _CachedFile:
    """One response, ready to be sent: {encoding: (raw headers, body)}."""

    etag: bytes
    variants: dict[bytes, tuple[Headers, bytes]]

    def select(self, request_headers: Mapping[bytes, bytes]) -> tuple[int, Headers, bytes]:
        """Return status, headers and body for a request with these headers."""
        accepted = request_headers.get(b"accept-encoding", b"")
        encoding = next((e for e in (b"br", b"gzip") if e in accepted and e in self.variants), b"")
        headers, body = self.variants[encoding]
        if request_headers.get(b"if-none-match") != self.etag:
            return 200, headers, body
        return 304, [(k, v) for k, v in headers if k != b"content-length"], b""

    @property
    def size(self) -> int:
        return sum(len(body) for _, body in self.variants.values())


class PageCache:
    """Middleware that responds from memory with what does not change while the app runs."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._files: cachetools.Cache[str, _CachedFile]
        self._files = cachetools.LRUCache(MAX_BYTES, getsizeof=lambda file: file.size)
        # Apart, so that requests under many host names do not evict the files.
        self._pages: cachetools.Cache[str, _CachedFile] = cachetools.LRUCache(MAX_PAGES)
        self._locks: dict[str, asyncio.Lock] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        headers, path = dict(scope["headers"]), scope["path"]
        if path.startswith(STATIC):
            await self._respond(self._files, path, headers, scope, receive, send)
        elif path in PAGES and b"deep_link" not in scope["query_string"]:
            key = repr([path, scope.get("scheme"), *(headers.get(name) for name in ORIGIN)])
            await self._respond(self._pages, key, headers, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def find_response(self, path: str, headers: Headers) -> list[bytes] | None:
        """Return status line, header lines and body of a cached file, None of any other.

        For the HTTP protocol itself (connections.py): the seventy files of each visitor cost ten
        times as much as tasks and messages of ASGI.
        """
        file = self._files.get(path) if path.startswith(FILES) else None
        request_headers = dict(headers) if file else {}
        if file is None or b"range" in request_headers:
            return None
        status, response_headers, body = file.select(request_headers)
        lines = b"".join(b"%s: %s\r\n" % header for header in response_headers)
        return [b"HTTP/1.1 200 OK\r\n" if status == 200 else NOT_MODIFIED, lines, body]

    async def _respond(
        self,
        cache: cachetools.Cache[str, _CachedFile],
        key: str,
        request_headers: Mapping[bytes, bytes],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        path = scope["path"]
        scope = {**scope, "path": inner_path(path)}
        file = cache.get(key)
        if file is None:
            async with self._locks.setdefault(key, asyncio.Lock()):  # others wait for the first
                start, body = {}, b""
                if key not in cache:
                    start, body = await self._fetch(scope)
                if start.get("status") == 200:
                    file = await asyncio.to_thread(_encode, path, start, body)
                    with suppress(ValueError):  # larger than the whole cache
                        cache[key] = file  # in the event loop's thread, like every change
                self._locks.pop(key, None)
            if start and start["status"] != 200:
                await send(start)
                await send({"type": "http.response.body", "body": body})
                return
            file = file or cache.get(key)
        if file is None or b"range" in request_headers:  # evicted meanwhile, or a part is wanted
            await self.app(scope, receive, send)
            return
        status, headers, body = file.select(request_headers)
        # A copy, because outer layers add headers to it.
        await send({"type": "http.response.start", "status": status, "headers": [*headers]})
        await send({"type": "http.response.body", "body": body})

    async def _fetch(self, scope: Scope) -> tuple[Message, bytes]:
        """Return the inner app's whole response to an unconditional request for plain bytes.

        The client may leave meanwhile, and the app would end the response where it is; it is for
        all others too, so the app is not told: nothing follows its one message.
        """
        removed = (b"accept-encoding", b"if-none-match", b"if-modified-since")
        headers = [(k, v) for k, v in scope["headers"] if k not in removed]
        start: Message = {}
        parts: list[bytes] = []

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                parts.append(message.get("body", b""))

        messages: asyncio.Queue[Message] = asyncio.Queue()
        messages.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        await self.app({**scope, "headers": headers}, messages.get, collect)
        return start, b"".join(parts)


def _encode(path: str, start: Message, body: bytes) -> _CachedFile:
    """Compress a response in every encoding. Slow for a large one, so it runs in a thread."""
    common = dict(start["headers"])
    media_type = common.get(b"content-type", b"")
    body = layer_styles(path, media_type, body)
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'.encode()
    lifetime = NO_CACHE if path in PAGES else ONE_HOUR
    common.setdefault(b"cache-control", FOREVER if path.startswith("/assets/") else lifetime)
    common |= {b"etag": etag, b"vary": b"Accept-Encoding"}
    bodies = {b"": body}
    if media_type.startswith(TEXT) and len(body) > MIN_COMPRESSED_BYTES:
        quality = 11 if path.startswith("/fa/") else 7  # ours are few: a tenth of a second each
        bodies[b"br"] = brotli.compress(body, quality=quality)
        bodies[b"gzip"] = gzip.compress(body, 6, mtime=0)
    variants = {}
    for encoding, content in bodies.items():
        own = {b"content-length": str(len(content)).encode()}
        own |= {b"content-encoding": encoding} if encoding else {}
        variants[encoding] = list((common | own).items()), content
    return _CachedFile(etag, variants)
