"""A class opens the page at once and steps while the kernels are busy:

    python -m tests.load.classroom [--clients 300] [--seconds 600] [--url http://127.0.0.1:7860]

A real browser loads the page once, and its requests are what every client then makes, six at a time
as browsers do. Prints percentiles, errors and memory beside the aims; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import sync_playwright

from tests.browser.harness import Server, launch, settled
from tests.load.wire import Connection, Tally

AT_ONCE = 6  # connections of one browser
THINK_S = (2.0, 8.0)
NEW = 0.3  # of the traces asked for, this share nobody has asked for before
SAMPLE_S = 10.0
STEPS = [
    f"/fa/trace?n={n}&d={d}&br={b}&bc={b}&order={order}&mask={mask}"
    for n, d, b in ((16, 8, 4), (24, 8, 4), (32, 16, 8), (64, 16, 16), (48, 32, 8))
    for order in ("fa1", "fa2", "standard")
    for mask in ("causal", "full")
]


def requests_of_a_page(url: str) -> list[tuple[str, str, bytes]]:
    """(method, path, body) of one page load in Chromium, in its order."""
    seen: list[tuple[str, str, bytes]] = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()

        def note(request) -> None:
            parts = urlsplit(request.url)
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            seen.append((request.method, path, (request.post_data or "").encode()))

        page.on("request", note)
        page.goto(url)
        page.wait_for_selector('[data-testid="player"][aria-busy="false"]')
        settled(page)
        browser.close()
    return seen


class Class:
    """All the clients, and what they met."""

    def __init__(self, url: str, seen: list[tuple[str, str, bytes]], until: float) -> None:
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port
        self.seen, self.until = seen, until
        self.tally = Tally()
        self.pages: list[float] = []
        self.traces: list[float] = []
        self.runs: dict[str, int] = {}

    def connection(self) -> Connection:
        return Connection(self.host, self.port, self.tally)

    async def client(self) -> None:
        """Opens the page, then steps with pauses for thought."""
        connections = [self.connection() for _ in range(AT_ONCE)]
        began = time.perf_counter()
        await connections[0].ask(*self.seen[0])
        rest = iter(self.seen[1:])

        async def lane(connection: Connection) -> None:
            for request in rest:
                await connection.ask(*request)

        wrong = self.tally.broken + self.tally.server_errors
        await asyncio.gather(*map(lane, connections))
        if self.tally.broken + self.tally.server_errors == wrong:  # else it is not complete
            self.pages.append(time.perf_counter() - began)
        for spare in connections[1:]:
            spare.close()
        while time.monotonic() < self.until:
            await asyncio.sleep(random.uniform(*THINK_S))
            began = time.perf_counter()
            own = f"&data=random&seed={random.randrange(10**6)}" * (random.random() < NEW)
            await connections[0].ask("GET", random.choice(STEPS) + own)
            self.traces.append(time.perf_counter() - began)
        connections[0].close()

    async def saturate(self, number: int, stop: asyncio.Event) -> None:
        """Keeps a run in the queue, always another one."""
        connection, seed = self.connection(), number * 1_000_000
        while not stop.is_set():
            seed += 1
            data = [32, 8, "8", "8", "causal", "fp32", "random", seed, "", 1.0, 1, 1, "naive,fa2"]
            body = json.dumps({"data": data}).encode()
            status, text = await connection.ask("POST", "/gradio_api/call/run", body)
            if status == 200:
                event = json.loads(text)["event_id"]
                _, text = await connection.ask("GET", f"/gradio_api/call/run/{event}")
                outcome = "done" if b"event: complete" in text else "refused"
            else:
                outcome = f"status {status}"
            self.runs[outcome] = self.runs.get(outcome, 0) + 1
            await asyncio.sleep(0.05)


def processes(root: int) -> dict[str, list[int]]:
    """{"web": pids, "worker": pids} of the app's process tree."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rsplit(")", 1)[1].split()
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    below, todo = [], [root]
    while todo:
        found = children.get(todo.pop(), [])
        below += found
        todo += found
    return {"web": [root], "worker": below}


def resident(pids: list[int]) -> float:
    """MiB of these processes together."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    return total / 2**20


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


async def run(url: str, pid: int | None, clients: int, seconds: float, seen: list) -> None:
    """The lesson, and what it was like."""
    room = Class(url, seen, time.monotonic() + seconds)
    stop = asyncio.Event()
    busy = [asyncio.create_task(room.saturate(k, stop)) for k in range(16)]
    await asyncio.sleep(5)  # the worker is at it before anybody comes
    memory: list[tuple[float, float, float]] = []
    began = time.monotonic()

    async def watch() -> None:
        while pid:
            trees = processes(pid)
            web, worker = resident(trees["web"]), resident(trees["worker"])
            memory.append((time.monotonic() - began, web, worker))
            await asyncio.sleep(SAMPLE_S)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(room.client() for _ in range(clients)))
    stop.set()
    watching.cancel()
    for task in busy:
        task.cancel()
    report(room, memory, clients)


def report(room: Class, memory: list[tuple[float, float, float]], clients: int) -> None:
    """Figures beside the aims."""
    pages, traces = room.pages, [1000 * x for x in room.traces]
    print(f"{clients} clients, {len(room.seen)} requests a page, {room.tally.requests:,} in all")
    p50, p95 = percentile(pages, 0.5), percentile(pages, 0.95)
    print(f"page complete: p50 {p50:.2f} s, p95 {p95:.2f} s (aim 6)")
    p50, p95 = percentile(traces, 0.5), percentile(traces, 0.95)
    print(f"trace route: p50 {p50:.1f} ms, p95 {p95:.1f} ms (aim 300), {len(traces):,} of them")
    print(
        f"5xx: {room.tally.server_errors} (aim 0), broken connections: {room.tally.broken}, "
        f"statuses: {room.tally.statuses}"
    )
    print(f"runs meanwhile: {room.runs}")
    if memory:
        settled = [m for m in memory if m[0] >= 60] or memory
        for name, column in (("web", 1), ("worker", 2)):
            values = [m[column] for m in settled]
            print(
                f"memory of {name}: {memory[0][column]:.0f} MiB at the start, then "
                f"{values[0]:.0f} → {values[-1]:.0f}, most {max(values):.0f} (aim: flat)"
            )


@contextlib.contextmanager
def app(url: str | None) -> Iterator[tuple[str, int | None]]:
    """The app at this address, or one of our own."""
    if url:
        yield url, None
        return
    with Server() as server:
        yield server.url, server._process.pid


def main() -> None:
    parser = argparse.ArgumentParser(description="A class opens the page and steps.")
    parser.add_argument("--clients", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--url")
    wanted = parser.parse_args()
    with app(wanted.url) as (url, pid):
        seen = requests_of_a_page(url)
        asyncio.run(run(url, pid, wanted.clients, wanted.seconds, seen))


if __name__ == "__main__":
    main()
