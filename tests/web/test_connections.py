"""Requests that never end are ended; a port that cannot be had is said in one sentence."""

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import uvicorn

from explainer.web import connections, gradio_internals
from explainer.web.connections import MAX_HEAD_BYTES, BoundedProtocol, bind_port
from explainer.web.page_cache import PageCache

HALVES = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: x\r\n",
    "half a body": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
    "half a second request": b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT",
}


async def app(scope, receive, send) -> None:
    assert scope["type"] == "http"
    while (await receive()).get("more_body"):
        pass
    length = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def address(request, monkeypatch) -> Iterator[tuple[str, int]]:
    """Of a server whose patience is the test's parameter."""
    monkeypatch.setattr(connections, "REQUEST_S", request.param)
    with served(app) as place:
        yield place


@contextmanager
def served(app) -> Iterator[tuple[str, int]]:
    config = uvicorn.Config(
        app, http=BoundedProtocol, lifespan="off", log_level="critical", timeout_keep_alive=10**6
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()
        server.should_exit = True
        thread.join()


def everything(connection: socket.socket) -> bytes:
    """Until the other side ends it."""
    found = b""
    try:
        while part := connection.recv(1 << 16):
            found += part
    except ConnectionResetError:
        pass
    return found


@pytest.mark.parametrize("address", [0.05], indirect=True)
@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_what_is_half_sent_is_ended(address, half):
    with socket.create_connection(address) as connection:
        connection.sendall(half)
        assert everything(connection).count(b"200 OK") == half.count(b"\r\n\r\nGET")


@pytest.mark.parametrize("address", [1e6], indirect=True)
def test_a_whole_request_is_answered_and_a_head_without_end_is_not(address):
    for body in (b"", b"x" * 2 * MAX_HEAD_BYTES):  # a body may be as long as the door allows
        head = f"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(address) as connection:
            connection.sendall(head.encode() + body)
            assert everything(connection).startswith(b"HTTP/1.1 200")
    with socket.create_connection(address) as connection:
        try:
            for _ in range(1000):
                connection.sendall(b"x: y\r\n" * 1000 if _ else b"GET / HTTP/1.1\r\n")
        except OSError:
            pass
        else:
            assert everything(connection) == b""


def refusal(caplog, name: str, port: str) -> str:
    with pytest.raises(SystemExit) as ended, bind_port(name, port):
        pass
    assert ended.value.code == 1
    (record,) = caplog.records
    return record.getMessage()


def skip_without_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")


@pytest.mark.parametrize("family, host", [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_port_that_is_taken_is_said_in_one_sentence(caplog, family, host, monkeypatch):
    monkeypatch.setattr(gradio_internals.http_server, "LOCALHOST_NAME", "")
    if family == socket.AF_INET6:
        skip_without_ipv6()
    with socket.create_server((host, 0), family=family) as other:
        port = str(other.getsockname()[1])
        sentence = refusal(caplog, host, port)
    assert sentence.startswith(f"Port {port} of {host} cannot be had: Address already in use.")


@pytest.mark.parametrize("port", ["x", "70000", "-1"])
def test_what_is_no_port(caplog, port):
    assert f"Port {port} of 127.0.0.1 cannot be had: " in refusal(caplog, "", port)


def test_somebody_was_quicker(caplog):
    with pytest.raises(SystemExit), bind_port("", "0"):
        raise OSError("Cannot find empty port in range")  # as Gradio says it
    assert "it is in use" in caplog.text


def test_another_error_of_the_system_is_not_about_the_port():
    with pytest.raises(OSError, match="full"), bind_port("", "0"):
        raise OSError(28, "full")


@pytest.mark.parametrize("name", ["::1", "[::1]", "::"])
def test_an_address_of_ipv6_is_given_as_gradio_takes_it(monkeypatch, name):
    monkeypatch.setattr(gradio_internals.http_server, "LOCALHOST_NAME", name)
    skip_without_ipv6()
    with bind_port(name, "0") as (host, port):
        assert host == f"[{name.strip('[]')}]" and port > 0
    assert gradio_internals.http_server.LOCALHOST_NAME == "127.0.0.1", (
        "Gradio's check knows IPv4 alone"
    )


def test_a_kept_file_is_answered_at_once_and_nothing_else_is():
    """By bytes: a kept file, one that the app makes, a part of one, several on one line."""
    computed: list[str] = []

    async def inner(scope, receive, send) -> None:
        computed.append(scope["path"])
        headers = [(b"content-type", b"text/javascript"), (b"content-length", b"600")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"x" * 600})

    cache = PageCache(inner)

    class App:
        state = SimpleNamespace(page_cache=cache)

        async def __call__(self, scope, receive, send) -> None:
            await cache(scope, receive, send)

    def head(path: str, more: str = "") -> bytes:
        return f"GET {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n".encode()

    with served(App()) as place, socket.create_connection(place) as connection:
        answers = connection.makefile("rb")

        def ask(*heads: bytes) -> list[tuple[bytes, dict[bytes, bytes], bytes]]:
            connection.sendall(b"".join(heads))
            return [answer(answers) for _ in heads]

        [first] = ask(head("/assets/a.js"))  # computed by the app, and kept
        again = ask(head("/assets/a.js?v=1"), head("/assets/a.js"), head("/assets/b.js"))
        assert [x[0] for x in again] == [b"HTTP/1.1 200 OK"] * 3
        assert [x[2] for x in again] == [first[2]] * 3 == [b"x" * 600] * 3
        assert again[0][1] == first[1] and computed == ["/assets/a.js", "/assets/b.js"]
        tag = first[1][b"etag"].decode()
        [known] = ask(head("/assets/a.js", f"If-None-Match: {tag}\r\n"))
        assert known[0] == b"HTTP/1.1 304 Not Modified" and known[2] == b""
        [packed] = ask(head("/assets/a.js", "Accept-Encoding: gzip\r\n"))
        assert gzip.decompress(packed[2]) == b"x" * 600
        assert len(computed) == 2
        ask(head("/assets/a.js", "Range: bytes=0-9\r\n"), head("/fa/trace"))
        assert computed[2:] == ["/assets/a.js", "/fa/trace"]
        connection.sendall(head("/assets/a.js", "Connection: close\r\n"))
        assert answer(answers)[2] == b"x" * 600 and answers.read() == b""


def answer(stream) -> tuple[bytes, dict[bytes, bytes], bytes]:
    """Status line, headers but for the date, body."""
    status, headers = stream.readline().strip(), {}
    while line := stream.readline().strip():
        name, _, value = line.partition(b": ")
        headers[name.lower()] = value
    headers.pop(b"date", None)
    return status, headers, stream.read(int(headers.get(b"content-length", 0)))
