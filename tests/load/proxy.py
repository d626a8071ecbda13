"""A balancer in front of replicas of the app, as small as can be: what nginx or HAProxy is to do.

A browser stays with its replica by a cookie, anything else by its address: the two halves of a
Gradio event, ``queue/join`` and ``queue/data``, must meet in one process. Where a replica cannot be
reached, or goes before it has answered a byte, the next one is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from zlib import crc32

COOKIE = "replica"
MOST_HEAD = 1 << 16
HOP = re.compile(rb"\r\n(?:connection|keep-alive):[^\r]*", re.I)
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)
STUCK = re.compile(rb"\r\ncookie:[^\r]*\b" + COOKIE.encode() + rb"=(\d+)", re.I)
NONE_LEFT = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


async def ended(writer: asyncio.StreamWriter) -> None:
    """The connection is closed, whatever its other end thinks."""
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


class Proxy:
    """An async context manager; ``url`` is where it listens. ``retried`` counts requests that
    another replica answered, ``cut`` answers that ended in the middle."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.ports = list(ports)
        self.retried = self.cut = self.refused = 0
        self.answered = dict.fromkeys(ports, 0)
        self._clients: set[asyncio.Task] = set()

    async def __aenter__(self) -> Proxy:
        self.server = await asyncio.start_server(self._client, "127.0.0.1", 0, limit=MOST_HEAD)
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.server.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request after the other of one connection, until an end."""
        client = asyncio.current_task()
        self._clients.add(client)
        with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
            while await self._one(reader, writer):
                pass
        await ended(writer)
        self._clients.discard(client)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether the connection can go on."""
        head = await reader.readuntil(b"\r\n\r\n")
        size = LENGTH.search(head)
        body = await reader.readexactly(int(size[1])) if size else b""
        stuck = STUCK.search(head)
        client = writer.get_extra_info("peername")[0]
        first = int(stuck[1]) if stuck else crc32(client.encode())
        sent = HOP.sub(b"", head)[:-2] + b"Connection: close\r\nX-Forwarded-For: "
        sent += client.encode() + b"\r\n\r\n" + body
        for tried in range(len(self.ports)):
            mine = (first + tried) % len(self.ports)
            with contextlib.suppress(OSError, EOFError):
                theirs, ours = await asyncio.open_connection("127.0.0.1", self.ports[mine])
                try:
                    ours.write(sent)
                    answer = await theirs.readuntil(b"\r\n\r\n")
                    self.retried += tried > 0
                    self.answered[self.ports[mine]] += 1
                    return await self._pass_on(answer, theirs, reader, writer, mine)
                finally:
                    await ended(ours)
        self.refused += 1
        writer.write(NONE_LEFT)
        await writer.drain()
        return False

    async def _pass_on(
        self,
        head: bytes,
        theirs: asyncio.StreamReader,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        mine: int,
    ) -> bool:
        """The answer as it comes. What ends early is cut off, so that the client sees it."""
        cookie = f"Set-Cookie: {COOKIE}={mine}; Path=/; HttpOnly; SameSite=Lax\r\n\r\n"
        writer.write(HOP.sub(b"", head)[:-2] + cookie.encode())
        size = LENGTH.search(head)
        left = int(size[1]) if size else 0 if head[9:12] in (b"204", b"304") else None
        chunked = b"transfer-encoding: chunked" in head.lower()
        end = b""
        gone = asyncio.ensure_future(reader.read(1)) if left is None else None  # who hangs up
        try:
            while left is None or left:
                part = asyncio.ensure_future(theirs.read(1 << 16))
                await asyncio.wait({part, gone} - {None}, return_when=asyncio.FIRST_COMPLETED)
                if not part.done():
                    part.cancel()
                    return False
                with contextlib.suppress(OSError):
                    if got := part.result():
                        left = None if left is None else left - len(got)
                        end = (end + got)[-5:]
                        writer.write(got)
                        await writer.drain()
                        continue
                self.cut += left is not None or (chunked and end != b"0\r\n\r\n")
                return False
            await writer.drain()
            return True
        finally:
            if gone:
                gone.cancel()
