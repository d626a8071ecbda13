"""Static files are made once, kept, and answered as browsers ask for them."""

import asyncio
import gzip

import brotli
import pytest

from explainer.web.page_cache import PageCache

pytestmark = pytest.mark.anyio
TEXT = b"const answer = 42;\n" * 200


class Inner:
    """An app that counts what it is asked, and lets others come between."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    async def __call__(self, scope, receive, send) -> None:
        self.requests.append(scope["path"])
        await asyncio.sleep(0)  # all that were asked at once have come
        kind = b"image/png" if scope["path"].endswith(".png") else b"text/javascript"
        status = 404 if "missing" in scope["path"] else 200
        headers = [(b"content-type", kind), (b"x-content-type-options", b"nosniff")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": TEXT[:100], "more_body": True})
        await send({"type": "http.response.body", "body": TEXT[100:]})


async def ask(
    app, path: str, query: bytes = b"", **headers: str
) -> tuple[int, dict[bytes, bytes], bytes]:
    raw = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": raw, "query_string": query}
    sent = []

    async def send(message) -> None:
        sent.append(message)

    await app(scope, None, send)
    body = b"".join(m.get("body", b"") for m in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), body


async def test_one_makes_it_and_all_get_it():
    inner = Inner()
    app = PageCache(inner)
    requests = [ask(app, "/assets/a.js", accept_encoding="gzip, br") for _ in range(50)]
    answers = await asyncio.gather(*requests)
    assert inner.requests == ["/assets/a.js"]
    for status, headers, body in answers:
        assert status == 200 and headers[b"content-encoding"] == b"br"
        assert brotli.decompress(body) == TEXT
        assert headers[b"content-length"] == str(len(body)).encode()
        assert b"immutable" in headers[b"cache-control"]
        assert headers[b"x-content-type-options"] == b"nosniff"
    etag = headers[b"etag"].decode()
    status, headers, body = await ask(app, "/assets/a.js", if_none_match=etag)
    assert (status, body) == (304, b"") and b"content-length" not in headers
    _, headers, body = await ask(app, "/assets/a.js", accept_encoding="gzip")
    assert headers[b"content-encoding"] == b"gzip" and gzip.decompress(body) == TEXT
    _, headers, body = await ask(app, "/assets/a.js")
    assert b"content-encoding" not in headers and body == TEXT
    assert len(inner.requests) == 1


async def test_pictures_are_kept_as_they_are_and_what_is_missing_is_not_kept():
    inner = Inner()
    app = PageCache(inner)
    _, headers, body = await ask(app, "/static/a.png", accept_encoding="br")
    assert b"content-encoding" not in headers and body == TEXT
    assert b"immutable" not in headers[b"cache-control"]
    for _ in range(2):
        status, _, _ = await ask(app, "/assets/missing.js", accept_encoding="br")
        assert status == 404
    assert inner.requests.count("/assets/missing.js") == 2 and not app._locks


async def test_the_page_is_kept_for_each_address_it_is_reached_by():
    inner = Inner()
    app = PageCache(inner)
    for host in ("a.example", "b.example", "a.example"):
        _, headers, body = await ask(app, "/", accept_encoding="gzip", host=host)
        assert headers[b"content-encoding"] == b"gzip" and gzip.decompress(body) == TEXT
        assert headers[b"cache-control"] == b"no-cache"
    assert inner.requests == ["/", "/"]
    await ask(app, "/", host="a.example", x_forwarded_proto="https")
    await ask(app, "/", query=b"deep_link=1", host="a.example")
    await ask(app, "/", query=b"n=8&step=2", host="a.example")
    assert inner.requests == ["/"] * 4
    _, headers, body = await ask(app, "/fa/trace", accept_encoding="gzip")
    assert body == TEXT and b"content-encoding" not in headers


async def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr("explainer.web.page_cache.MAX_BYTES", 20_000)
    app = PageCache(Inner())
    for k in range(30):
        await ask(app, f"/assets/{k}.js")
    assert 10_000 < sum(file.size for file in app._files.values()) <= 20_000
    for k in range(30):
        await ask(app, "/", host=f"{k}.example")
    assert len(app._pages) == 24 and "/assets/29.js" in app._files


async def test_who_leaves_meanwhile_cuts_no_file_short_for_the_others():
    class Middleware(Inner):
        """As Starlette's: it watches for a client that leaves, and then ends the response."""

        async def __call__(self, scope, receive, send) -> None:
            async def until_left() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass

            left = asyncio.ensure_future(until_left())
            for _ in range(3):
                await asyncio.sleep(0)
            headers = [(b"content-type", b"text/javascript")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": TEXT[:100], "more_body": True})
            if not left.done():
                await send({"type": "http.response.body", "body": TEXT[100:]})
            left.cancel()

    async def leave() -> dict:
        return {"type": "http.disconnect"}

    async def ignore(message) -> None:
        pass

    app = PageCache(Middleware())
    scope = {"type": "http", "method": "GET", "path": "/assets/a.js", "headers": []}
    await app(scope | {"query_string": b""}, leave, ignore)
    assert (await ask(app, "/assets/a.js"))[2] == TEXT
