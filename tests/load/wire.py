"""A small HTTP/1.1 client on asyncio streams: the load must cost less than what it measures."""

import asyncio

LARGE = 1 << 16


class Connection:
    """One keep-alive connection; of a large body of known length it keeps only the end."""

    def __init__(self, host: str, port: int, header: str = "") -> None:
        self.host, self.port = host, port
        self.header = f"{header}\r\n" if header else ""  # one of its own
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Status and body; 0 where it breaks off, after the connection was opened anew once."""
        kind = "Content-Type: application/json\r\n" if body else ""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n"
            f"Accept-Encoding: gzip, br\r\n{self.header}{kind}Content-Length: {len(body)}\r\n\r\n"
        ).encode()
        for _ in (1, 2):
            try:
                if self._writer is None:
                    streams = asyncio.open_connection(self.host, self.port)
                    self._reader, self._writer = await streams
                self._writer.write(head + body)
                return await self._answer()
            except (OSError, EOFError):  # asyncio.IncompleteReadError is an EOFError
                self.close()
        return 0, b""

    async def _answer(self) -> tuple[int, bytes]:
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head[9:12])
        if b"transfer-encoding: chunked" in head:
            parts = []
            while size := int(await self._reader.readuntil(b"\r\n"), 16):
                parts.append(await self._reader.readexactly(size))
                await self._reader.readexactly(2)
            await self._reader.readexactly(2)
            return status, b"".join(parts)
        at = head.find(b"content-length: ")
        length = int(head[at + 16 : head.index(b"\r\n", at)]) if at >= 0 else 0
        while length > LARGE:  # nobody wants it: as little work as can be
            length -= len(await self._reader.readexactly(LARGE))
        return status, await self._reader.readexactly(length)

    def close(self) -> None:
        if self._writer:
            self._writer.close()
        self._reader = self._writer = None
