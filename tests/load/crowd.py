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
- A visitor presses Run for N = 16 every few seconds, never for the same numbers.

All of them and the app share the machine. Prints each figure beside its aim, and ends with 1 where
one is missed; memory is that of all the app's processes, before and up to ``rest`` seconds after.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import random
import sys
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from playwright.sync_api import sync_playwright

from tests.browser.harness import Server, launch, settled
from tests.load.wire import Connection, Tally

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
    "warps?n=16384&d=256&br=64&bc=64&i=200&j=100",
)


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


class Crowd:
    """Everybody in it, and what they met."""

    def __init__(self, url: str, seen: list[tuple[str, str, bytes]]) -> None:
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port
        self.seen = seen
        self.over = asyncio.Event()
        self.tallies = {name: Tally() for name in ("class", "dear", "flood", "visitor")}
        self.pages: list[float] = []
        self.traces: list[float] = []
        self.waits: list[float] = []
        self.flooded: Counter[str] = Counter()
        self.hung_up = self.wrong = 0

    def connection(self, who: str) -> Connection:
        return Connection(self.host, self.port, self.tallies[who])

    async def pause(self, seconds: float) -> bool:
        """Whether it goes on after this time."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.over.wait(), seconds)
        return not self.over.is_set()

    async def client(self) -> None:
        """Opens the page, then changes its Problem with pauses for thought."""
        connections = [self.connection("class") for _ in range(AT_ONCE)]
        began = time.perf_counter()
        await connections[0].ask(*self.seen[0])
        rest = iter(self.seen[1:])

        async def lane(connection: Connection) -> None:
            for request in rest:
                await connection.ask(*request)

        await asyncio.gather(*map(lane, connections))
        self.pages.append(time.perf_counter() - began)
        for spare in connections[1:]:
            spare.close()
        while await self.pause(random.uniform(*THINK_S)):
            own = f"&data=random&seed={random.randrange(10**6)}" * (random.random() < NEW)
            began = time.perf_counter()
            await connections[0].ask("GET", random.choice(STEPS) + own)
            self.traces.append(1000 * (time.perf_counter() - began))
        connections[0].close()

    async def ask_much(self) -> None:
        connection = self.connection("dear")
        while await self.pause(AGAIN_S * random.uniform(0.5, 1.5)):
            address = f"/fa/{random.choice(DEAR)}&seed={random.randrange(10**6)}"
            try:
                await asyncio.wait_for(connection.ask("GET", address), random.uniform(*PATIENCE_S))
            except asyncio.TimeoutError:
                self.hung_up += 1
                connection.close()
        connection.close()

    async def flood(self, number: int) -> None:
        """Keeps one run asked for, always another one."""
        connection, seed = self.connection("flood"), number * 1_000_000
        going = True
        while going:
            seed += 1
            sizes = {"n": 32, "d": 8, "br": 8, "bc": 8, "methods": ["naive", "fa2"]}
            body = json.dumps(sizes | {"data": "random", "seed": seed}).encode()
            status, text = await connection.ask("POST", "/gradio_api/call/v2/run", body)
            if status == 200:
                event = json.loads(text)["event_id"]
                _, text = await connection.ask("GET", f"/gradio_api/call/run/{event}")
                self.flooded["done" if b"event: complete" in text else "refused"] += 1
            else:
                self.flooded[f"status {status}"] += 1
            going = await self.pause(AGAIN_S)
        connection.close()

    async def visitor(self) -> None:
        """Presses Run, as the page does, and waits for the result."""
        connection = self.connection("visitor")
        with urlopen(f"http://{self.host}:{self.port}/config") as answer:
            config = json.load(answer)
        shown = {c["id"]: c["props"] for c in config["components"]}
        function = next(f for f in config["dependencies"] if 'call("writeRun"' in str(f["js"]))
        fields = [shown[k] for k in function["inputs"]]
        going = True
        while going:
            values = [
                random.randrange(10**6) if f.get("label") == "Seed" else f.get("value")
                for f in fields
            ]
            session = f"visitor{random.randrange(10**9)}"
            asked = {"data": values, "fn_index": function["id"], "session_hash": session}
            began = time.perf_counter()
            await connection.ask("POST", "/gradio_api/queue/join", json.dumps(asked).encode())
            path = f"/gradio_api/queue/data?session_hash={session}"
            _, text = await connection.ask("GET", path)
            self.waits.append(time.perf_counter() - began)
            self.wrong += rb"data-right=\"true\"" not in text
            going = await self.pause(RUN_S)
        connection.close()


def children(root: int) -> list[int]:
    """The processes below this one."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            parents.setdefault(parent, []).append(int(stat.parent.name))
    below, todo = [], [root]
    while todo:
        found = parents.get(todo.pop(), [])
        below += found
        todo += found
    return below


def resident(pids: list[int]) -> float:
    """MiB of these processes together."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    return total / 2**20


def memory(pid: int) -> tuple[float, float]:
    """MiB of the web process, and of all it started."""
    return resident([pid]), resident(children(pid))


def computed(pid: int) -> float:
    """Seconds of CPU that this process has taken, its ended children not counted."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def said(mib: tuple[float, float]) -> str:
    return f"{sum(mib):.0f} MiB ({mib[0]:.0f} web + {mib[1]:.0f} what it started)"


async def play(url: str, pid: int, seen: list, wanted: argparse.Namespace) -> bool:
    """Everything, and whether each aim was met."""
    crowd = Crowd(url, seen)
    first = asyncio.create_task(crowd.visitor())  # the kernels' process has started
    while not crowd.waits and not first.done():
        await asyncio.sleep(0.1)
    before = most = memory(pid)

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, memory(pid), key=sum)
            await asyncio.sleep(0.5)

    crowd.waits.clear()
    ours = {"this script": os.getpid(), "the web process": pid}
    took, began = {name: computed(x) for name, x in ours.items()}, time.monotonic()
    everybody = [
        first,
        *(asyncio.create_task(crowd.flood(k)) for k in range(wanted.flood)),
        *(asyncio.create_task(crowd.ask_much()) for _ in range(wanted.dear)),
    ]
    watching = asyncio.create_task(watch())
    await asyncio.sleep(5)  # they are at it before the class comes
    everybody += [asyncio.create_task(crowd.client()) for _ in range(wanted.clients)]
    await asyncio.sleep(wanted.seconds)
    crowd.over.set()
    await asyncio.gather(*everybody)
    watching.cancel()
    print(f"{time.monotonic() - began:.0f} s, of CPU: ", end="")
    print(*(f"{computed(x) - took[name]:.0f} s {name}" for name, x in ours.items()), sep=", ")
    good = report(crowd)
    print(f"memory: {said(before)} before, at most {said(most)}", flush=True)
    ended, after = time.monotonic(), memory(pid)
    while sum(after) > 1.2 * sum(before) and time.monotonic() - ended < wanted.rest:
        await asyncio.sleep(5)
        after = memory(pid)
    text = f"memory {time.monotonic() - ended:.0f} s later: {said(after)}, "
    text += f"{sum(after) / sum(before) - 1:+.0%} (aim: within 20 % in {wanted.rest:.0f} s)"
    return verdict(sum(after) <= 1.2 * sum(before), text) and good


def report(crowd: Crowd) -> bool:
    """Figures beside the aims."""
    room, good = crowd.tallies["class"], True
    if crowd.pages:
        p50, p95 = (percentile(crowd.pages, share) for share in (0.5, 0.95))
        text = f"{len(crowd.pages)} pages of {len(crowd.seen)} requests complete: "
        good &= verdict(p95 <= 6, f"{text}p50 {p50:.2f} s, p95 {p95:.2f} s (aim 6)")
        p50, p95, most = (percentile(crowd.traces, share) for share in (0.5, 0.95, 1))
        text = f"{len(crowd.traces):,} traces: p50 {p50:.0f} ms, p95 {p95:.0f} ms (aim 300), "
        good &= verdict(p95 <= 300, f"{text}most {most:.0f}")
        text = f"the class: 5xx {room.server_errors}, broken {room.broken} of {room.requests:,}"
        good &= verdict(not room.server_errors + room.broken, f"{text} (aim 0) {room.statuses}")
    p50, most = percentile(crowd.waits, 0.5), percentile(crowd.waits, 1)
    text = f"{len(crowd.waits)} runs of a visitor: p50 {p50:.1f} s, most {most:.1f} s (aim 10)"
    text += f", {crowd.wrong} not right"
    good &= verdict(most <= 10 and not crowd.wrong, text)
    dear = crowd.tallies["dear"]
    print(f"dear: {dear.statuses}, {crowd.hung_up} hung up, {dear.broken} broken")
    print(f"flood: {dict(crowd.flooded)}")
    return good


def verdict(true: bool, text: str) -> bool:
    print(f"{'pass' if true else 'FAIL'}  {text}", flush=True)
    return true


def machine() -> str:
    """What all of it ran on, and how busy that was before."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    name = next((x.split(": ")[1] for x in lines if x.startswith("model name")), platform.machine())
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return f"{len(os.sched_getaffinity(0))} cores of {name}, load before {load}"


def main() -> None:
    parser = argparse.ArgumentParser(description="A class among those who ask for much.")
    parser.add_argument("--clients", type=int, default=300)
    parser.add_argument("--dear", type=int, default=40)
    parser.add_argument("--flood", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--rest", type=float, default=300)
    wanted = parser.parse_args()
    print(machine(), flush=True)
    with Server(worker_nice="10") as server:
        seen = requests_of_a_page(server.url)
        ok = asyncio.run(play(server.url, server._process.pid, seen, wanted))
    sys.exit(not ok)


if __name__ == "__main__":
    main()
