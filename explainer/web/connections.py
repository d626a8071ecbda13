"""Bind the app's port, and end requests that do not arrive completely.

uvicorn waits for a request's head and body for ever, and its C parser takes a head of any length. A
middleware would be too late, because it is called once the head is there. All private parts of
uvicorn that the app uses are in this file; requirements.txt pins its minor version, and
tests/web/test_connections.py runs them.
"""

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from uvicorn import config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from explainer.web.gradio_internals import check_ports_by_ipv4

LOG = logging.getLogger("explainer")
REQUEST_S = 15.0  # from the beginning of the connection, or from the first byte of the request
MAX_HEAD_BYTES = 64_000  # and as many more as arrive at once; an address holds a visitor's data
LOOPBACK = "127.0.0.1"


@contextmanager
def bind_port(name: str, port: str) -> Iterator[tuple[str, int]]:
    """Bind the port while the server is built; yield host and port in the form that Gradio takes.

    Logs one sentence and ends the process if the port is not available. Port 0 means any free port.
    Gradio's own search checks a port, releases it, and silently takes the next one if another
    program was quicker.
    """
    host = name.strip("[]") or LOOPBACK
    sentence = f"Port {port} of {host} cannot be had: %s. --port names another one, or 0 for one "
    sentence += "that is free; --host the address."
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as socket_:
        socket_.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # Gradio listens on it too
        if ":" in host:
            socket_.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            check_ports_by_ipv4()
        try:
            socket_.bind((host, int(port)))
        except (OSError, ValueError, OverflowError) as error:
            why = error.strerror if isinstance(error, OSError) else "it must be 0 to 65,535"
            LOG.critical(sentence, why)
            sys.exit(1)
        number = socket_.getsockname()[1]
        if os.name == "nt":
            socket_.close()  # Windows binds no second socket to the port, for Gradio
        try:
            yield f"[{host}]" if ":" in host else host, number
        except OSError as error:
            if error.errno:
                raise
            LOG.critical(sentence, "it is in use")  # Gradio's error: another program was quicker
            sys.exit(1)


def use_bounded_protocol() -> None:
    """Replace uvicorn's protocol and loggers. Call it before uvicorn is configured."""
    config.HTTP_PROTOCOLS["auto"] = f"{__name__}:{BoundedProtocol.__name__}"
    config.LOGGING_CONFIG["loggers"] = {}


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits on the time and the size of a request."""

    _deadline: asyncio.TimerHandle | None = None
    _head_bytes, _is_in_head = 0, True
    _is_answered = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clear_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._is_in_head and self._head_bytes > MAX_HEAD_BYTES:
            self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True
        if self._deadline is None:
            self._start_deadline()

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._is_answered = self._answer_from_cache()
        if not self._is_answered:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._is_answered:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._clear_deadline()
        self._head_bytes = 0
        if not self._is_answered:
            super().on_message_complete()

    def _answer_from_cache(self) -> bool:
        """Return True if the request is for a cached file, whose response is then written."""
        cache = getattr(getattr(self.config.app, "state", None), "page_cache", None)
        is_first = self.cycle is None or self.cycle.response_complete  # on this connection
        parser: Any = self.parser  # uvicorn's annotation says that it may be None
        is_plain = parser.get_method() == b"GET" and parser.should_keep_alive()
        if cache is None or not (is_first and is_plain) or self.flow.write_paused or self.root_path:
            return False
        answer = cache.find_response(self.url.partition(b"?")[0].decode("latin-1"), self.headers)
        if answer is None:
            return False
        status, lines, body = answer
        default = [b"%s: %s\r\n" % header for header in self.server_state.default_headers]
        self.transport.write(b"".join([status, *default, lines, b"\r\n", body]))
        self.on_response_complete()
        return True

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_S, self._abort)

    def _clear_deadline(self) -> None:
        if self._deadline:
            self._deadline.cancel()
        self._deadline = None

    def _abort(self) -> None:
        """Close the connection without a response: a client this slow does not read one."""
        self._deadline = None
        self.transport.abort()
