"""A class steps while others ask for the dearest answers and a program floods the kernel:

    python -m tests.load.crowd [--clients 300] [--dear 40] [--flood 60] [--seconds 120] [--rest 300]

Who is in it, as assumed:
- ``clients`` open the page at once. A real browser loads it first, and its requests are what every
  client makes, six at a time as browsers do, and no file twice. Stepping asks the server nothing,
  so afterwards a client asks for a trace each 10 to 20 s, as a lecture changes its Problem; three
  of ten are for traces that nobody has asked for before.
- ``dear`` others ask for the dearest valid addresses, each anew; a second after an answer or a
  refusal they ask again, whatever it said, and after 1 to 20 s of waiting they hang up.
- One program keeps ``flood`` runs asked for, in the app's line or on the way to it; a second after
  an answer or a refusal it asks again.
- A visitor at another address asks for a run every few seconds, never for the same numbers.

All of them and the app share the machine. Prints each figure beside its aim, and ends with 1 where
one is missed; memory is that of all the app's processes, before and up to ``rest`` seconds after.
"""

import argparse
import asyncio
import contextlib
import json
import math
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from playwright.sync_api import sync_playwright

from tests.browser.harness import Server, launch, settled
from tests.load.wire import Connection
from tests.workers import below

AT_ONCE = 6  # connections of one browser
THINK_S = (10.0, 20.0)
PATIENCE_S = (1.0, 20.0)
AGAIN_S = 1.0
RUN_S = 5.0  # between two runs of the visitor
NEW = 0.3  # of the traces asked for, this share nobody has asked for before
STEPS = [
    f"/fa/trace?n={n}&d={d}&br={b}&bc={b}&order={order}&mask={mask}"
    for n, d, b in ((16, 8, 4), (24, 8, 4), (32, 16, 8), (64, 16, 16), (48, 32, 8))
    for order in ("fa1", "fa2", "standard")
    for mask in ("causal", "full")
]
DEAR = (
    "trace?n=16384&d=256&br=64&bc=64&data=random&order=standard",
    "trace?n=16384&d=256&br=64&bc=64&data=random",
    "export.json?n=128&d=256&br=1&bc=1&order=fa1&mask=full",
    "export.html?n=16384&d=256&br=64&bc=64&mask=full",
    "export.npz?n=1024&d=64&br=64&bc=64",
    "visit?n=16384&d=256&br=64&bc=64&at=30000",
)


def requests_of_a_page(url: str) -> list[tuple[str, str, bytes]]:
    """(method, path, body) of one page load in Chromium, in its order."""
    seen: list[tuple[str, str, bytes]] = []

    def note(request) -> None:
        path = request.url.removeprefix(url)
        seen.append((request.method, path, (request.post_data or "").encode()))

    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        page.on("request", note)
        page.goto(url)
        page.wait_for_selector('[data-testid="player"][aria-busy="false"]')
        settled(page)
        browser.close()
    return seen


class Crowd:
    """Everybody in it, and what they met: ``pages``, ``traces`` and ``waits`` in seconds; what came
    of each other kind of request by its outcome."""

    def __init__(self, url: str, seen: list[tuple[str, str, bytes]]) -> None:
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port
        self.seen, self.over = seen, asyncio.Event()
        self.room: Counter[int] = Counter()
        self.pages: list[float] = []
        self.traces: list[float] = []
        self.waits: list[float] = []
        self.dear: Counter[object] = Counter()
        self.flooded: Counter[object] = Counter()
        self.wrong = 0

    def connection(self) -> Connection:
        return Connection(self.host, self.port)

    async def pause(self, seconds: float) -> bool:
        """Whether it goes on after this time."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.over.wait(), seconds)
        return not self.over.is_set()

    async def client(self) -> None:
        """Opens the page, then changes its Problem with pauses for thought."""
        first, *others = [self.connection() for _ in range(AT_ONCE)]
        began = time.perf_counter()
        self.room[(await first.ask(*self.seen[0]))[0]] += 1
        rest = iter(self.seen[1:])

        async def lane(connection: Connection) -> None:
            for request in rest:
                self.room[(await connection.ask(*request))[0]] += 1

        await asyncio.gather(*map(lane, (first, *others)))
        self.pages.append(time.perf_counter() - began)
        for spare in others:
            spare.close()
        while await self.pause(random.uniform(*THINK_S)):
            own = f"&data=random&seed={random.randrange(10**6)}" * (random.random() < NEW)
            began = time.perf_counter()
            self.room[(await first.ask("GET", random.choice(STEPS) + own))[0]] += 1
            self.traces.append(time.perf_counter() - began)
        first.close()

    async def ask_much(self) -> None:
        connection = self.connection()
        while await self.pause(AGAIN_S * random.uniform(0.5, 1.5)):
            address = f"/fa/{random.choice(DEAR)}&seed={random.randrange(10**6)}"
            try:
                asked = connection.ask("GET", address)
                status, _ = await asyncio.wait_for(asked, random.uniform(*PATIENCE_S))
                self.dear[status] += 1
            except asyncio.TimeoutError:
                self.dear["hung up"] += 1
                connection.close()
        connection.close()

    async def run(self, connection: Connection) -> tuple[int, bytes]:
        """A run that nobody has asked for before: the status, and the event that ends it."""
        sizes = {"n": 32, "d": 8, "br": 8, "bc": 8, "methods": ["naive", "fa2"], "data": "random"}
        body = json.dumps(sizes | {"seed": random.randrange(2**31)}).encode()
        status, text = await connection.ask("POST", "/gradio_api/call/v2/run", body)
        if status != 200:
            return status, b""
        return await connection.ask("GET", f"/gradio_api/call/run/{json.loads(text)['event_id']}")

    async def flood(self) -> None:
        """Keeps one run asked for, always another one."""
        connection = self.connection()
        while True:
            status, text = await self.run(connection)
            self.flooded[(b"event: complete" in text and "done") or status] += 1
            if not await self.pause(AGAIN_S):
                return connection.close()

    async def visitor(self) -> None:
        """Asks for a run from another address, and waits for the result."""
        connection = Connection(self.host, self.port, "X-Forwarded-For: 10.0.0.1")
        while True:
            began = time.perf_counter()
            _, text = await self.run(connection)
            self.waits.append(time.perf_counter() - began)
            self.wrong += text.count(b'"right": true') != 2
            if not await self.pause(RUN_S):
                return connection.close()


def memory(pid: int) -> float:
    """MiB of the web process and of all that it started."""
    pages = 0
    for each in (pid, *below(pid)):
        with contextlib.suppress(OSError):
            pages += int(Path(f"/proc/{each}/statm").read_text().split()[1])
    return pages * 4096 / 2**20


async def play(url: str, pid: int, seen: list, wanted: argparse.Namespace) -> bool:
    """Everything, and whether each aim was met."""
    crowd = Crowd(url, seen)
    first = asyncio.create_task(crowd.visitor())
    while not crowd.waits and not first.done():  # until the kernels' process has started
        await asyncio.sleep(0.1)
    crowd.waits.clear()
    before = memory(pid)
    everybody = [
        first,
        *(asyncio.create_task(crowd.flood()) for _ in range(wanted.flood)),
        *(asyncio.create_task(crowd.ask_much()) for _ in range(wanted.dear)),
    ]
    await asyncio.sleep(5)  # they are at it before the class comes
    everybody += [asyncio.create_task(crowd.client()) for _ in range(wanted.clients)]
    await asyncio.sleep(wanted.seconds)
    most = memory(pid)
    crowd.over.set()
    await asyncio.gather(*everybody)
    good = report(crowd)
    ended, after = time.monotonic(), memory(pid)
    while after > 1.2 * before and time.monotonic() - ended < wanted.rest:
        await asyncio.sleep(5)
        after = memory(pid)
    text = f"memory {before:.0f} MiB before, {most:.0f} at the end, {after:.0f} after "
    text += f"{time.monotonic() - ended:.0f} s (aim: within 20 % in {wanted.rest:.0f} s)"
    return verdict(after <= 1.2 * before, text) and good


def report(crowd: Crowd) -> bool:
    """Figures beside the aims."""
    bad = sum(count for status, count in crowd.room.items() if not 0 < status < 500)
    good = verdict(not bad, f"the class: {dict(crowd.room)}, of which {bad} 5xx or broken (aim 0)")
    for name, seconds, aim, share in (
        ("pages complete", crowd.pages, 6, 95),
        ("traces", crowd.traces, 0.3, 95),
        ("runs of a visitor", crowd.waits, 10, 100),
    ):
        p50, most = np.percentile(seconds or [math.nan], (50, share))
        text = f"{len(seconds)} {name}: p50 {p50:.2f} s, p{share} {most:.2f} s (aim {aim})"
        good &= verdict(not most > aim, text)
    print(f"dear: {dict(crowd.dear)}; flood: {dict(crowd.flooded)}")
    return verdict(not crowd.wrong, f"{crowd.wrong} of a visitor's runs not right") and good


def verdict(true: bool, text: str) -> bool:
    print(f"{'pass' if true else 'FAIL'}  {text}", flush=True)
    return true


def main() -> None:
    parser = argparse.ArgumentParser(description="A class among those who ask for much.")
    sizes = {"clients": 300, "dear": 40, "flood": 60, "seconds": 120, "rest": 300}
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    wanted = parser.parse_args()
    print(f"{len(os.sched_getaffinity(0))} cores, load before {os.getloadavg()}", flush=True)
    with Server(worker_nice="10") as server:
        seen = requests_of_a_page(server.url)
        ok = asyncio.run(play(server.url, server._process.pid, seen, wanted))
    sys.exit(not ok)


if __name__ == "__main__":
    main()
