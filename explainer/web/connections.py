"""Requests that never come to their end are ended; where the app listens, said in one sentence.

uvicorn waits for a request's head and body for ever, and its C parser takes a head of any length. A
middleware would be too late: it is called once the head is there.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gradio import http_server
from uvicorn import config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LOG = logging.getLogger("explainer")
WHOLE_S = 15.0  # for a request of at most 64 kB, from the connection's beginning or its first byte
MOST_HEAD = 64_000  # bytes, or as many more as come at once; a visitor's data travel in an address
LOOPBACK = "127.0.0.1"


@contextmanager
def held(name: str, port: str) -> Iterator[tuple[str, int]]:
    """Holds the port while the server is built, and gives host and port as Gradio takes them; where
    that port cannot be had it says so and ends the process.

    Port 0 is one that is free. Gradio's own search would check a port, let it go, and without a
    word take the next one if somebody was quicker; its check knows IPv4 alone.
    """
    host = name.strip("[]") or LOOPBACK
    refused = (
        f"Port {port} of {host} cannot be had: %s. GRADIO_SERVER_PORT names another one, or 0 "
    )
    refused += "for one that is free; GRADIO_SERVER_NAME the address."
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as ours:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # to be listened on by another
        if ":" in host:
            ours.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            http_server.LOCALHOST_NAME = LOOPBACK  # where Gradio looks whether the port is free
        try:
            ours.bind((host, int(port)))
        except (OSError, ValueError, OverflowError) as error:
            LOG.critical(refused, getattr(error, "strerror", None) or error)
            sys.exit(1)
        try:
            yield f"[{host}]" if ":" in host else host, ours.getsockname()[1]
        except OSError as error:
            if error.errno:
                raise
            LOG.critical(refused, "it is in use")  # Gradio's: somebody was quicker
            sys.exit(1)


def harden() -> None:
    """To be called before uvicorn is configured: its connections are ours, its log goes where all
    goes."""
    config.HTTP_PROTOCOLS["auto"] = f"{__name__}:{Bounded.__name__}"
    config.LOGGING_CONFIG["loggers"] = {}


class Bounded(HttpToolsProtocol):
    """uvicorn's protocol with an end of its patience."""

    _waits: asyncio.TimerHandle | None = None
    _head, _in_head = 0, True
    _answered = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > MOST_HEAD:
            self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True
        if self._waits is None:
            self._begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._answered = self._at_once()
        if not self._answered:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._answered:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._done()
        self._head = 0
        if not self._answered:
            super().on_message_complete()

    def _at_once(self) -> bool:
        """Whether this was for a file that the app keeps, which then is on its way."""
        kept = getattr(getattr(self.config.app, "state", None), "kept", None)
        first = self.cycle is None or self.cycle.response_complete  # of what came on this line
        plain = self.parser.get_method() == b"GET" and self.parser.should_keep_alive()
        if kept is None or not (first and plain) or self.flow.write_paused or self.root_path:
            return False
        answer = kept.at_once(self.url.partition(b"?")[0].decode("latin-1"), self.headers)
        if answer is None:
            return False
        status, lines, body = answer
        always = [b"%s: %s\r\n" % header for header in self.server_state.default_headers]
        self.transport.write(b"".join([status, *always, lines, b"\r\n", body]))
        self.on_response_complete()
        return True

    def _begin(self) -> None:
        self._waits = self.loop.call_later(WHOLE_S, self._end)

    def _done(self) -> None:
        if self._waits:
            self._waits.cancel()
        self._waits = None

    def _end(self) -> None:
        """Nobody who is slower than this reads an answer that says so."""
        self._waits = None
        self.transport.abort()
