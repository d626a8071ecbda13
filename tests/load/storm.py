"""Some ask for the dearest answers there are while others step through small traces:

    python -m tests.load.storm [--dear 40] [--cheap 10] [--seconds 25] [--rest 60] [--url …]

Prints what the cheap ones waited, the statuses, and the memory of the web process and of what it
started, before, at the most and after a rest; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from urllib.parse import urlsplit

from tests.load.classroom import app, percentile, processes, resident
from tests.load.wire import Connection, Tally

DEAR = (
    "trace?n=16384&d=256&br=64&bc=64&data=random&order=standard",
    "trace?n=16384&d=256&br=64&bc=64&data=random",
    "export.json?n=128&d=256&br=1&bc=1",
    "export.html?n=16384&d=256&br=64&bc=64",
    "export.npz?n=1024&d=64&br=64&bc=64",
    "visit?n=16384&d=256&br=64&bc=64&at=30000",
    "warps?n=16384&d=256&br=64&bc=64&i=200&j=100",
)
CHEAP = "trace?n=16&d=8&br=4&bc=4"


async def storm(url: str, pid: int | None, wanted: argparse.Namespace) -> None:
    """The storm, and what it was like."""
    host, port = urlsplit(url).hostname, urlsplit(url).port
    cheap, dear = Tally(), Tally()
    waited: list[float] = []

    def memory() -> list[float]:
        return [resident(pids) for pids in processes(pid).values()] if pid else [float("nan")] * 2

    async def step() -> None:
        connection = Connection(host, port, cheap)
        while time.monotonic() < until:
            began = time.perf_counter()
            await connection.ask("GET", f"/fa/{CHEAP}&seed={random.randrange(10**6)}")
            waited.append(1000 * (time.perf_counter() - began))
            await asyncio.sleep(0.2)

    async def ask_much() -> None:
        connection = Connection(host, port, dear)
        while time.monotonic() < until:
            address = f"/fa/{random.choice(DEAR)}&seed={random.randrange(10**6)}"
            try:
                await asyncio.wait_for(connection.ask("GET", address), random.uniform(1, 20))
            except asyncio.TimeoutError:
                dear.broken += 1  # it hung up itself
                connection.close()

    async def watch() -> None:
        nonlocal most
        while True:
            most = [*map(max, most, memory())]
            await asyncio.sleep(0.5)

    await asyncio.sleep(wanted.settle)  # the kernels' process starts
    until = time.monotonic() + 5
    await asyncio.gather(*(step() for _ in range(wanted.cheap)))  # before it
    report("before", waited)
    waited.clear()
    before = most = memory()
    until = time.monotonic() + wanted.seconds
    watching = asyncio.create_task(watch())
    crowd = [step() for _ in range(wanted.cheap)] + [ask_much() for _ in range(wanted.dear)]
    await asyncio.gather(*crowd)
    report("during", waited)
    print(f"cheap {cheap.statuses}; dear {dear.statuses}, {dear.broken} hung up or broken")
    await asyncio.sleep(wanted.rest)
    watching.cancel()
    for name, *values in zip(("web", "the others"), before, most, memory(), strict=True):
        print("memory of {}: {:.0f} MiB before, {:.0f} at most, {:.0f} after".format(name, *values))


def report(when: str, waited: list[float]) -> None:
    p50, p95, most = (percentile(waited, share) for share in (0.5, 0.95, 1))
    print(f"{when}: {len(waited)} cheap, p50 {p50:.0f}, p95 {p95:.0f}, most {most:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description="Dear answers beside cheap ones.")
    parser.add_argument("--dear", type=int, default=40)
    parser.add_argument("--cheap", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--rest", type=float, default=60)
    parser.add_argument("--settle", type=float, default=20)
    parser.add_argument("--url")
    wanted = parser.parse_args()
    with app(wanted.url) as (url, pid):
        asyncio.run(storm(url, pid, wanted))


if __name__ == "__main__":
    main()
