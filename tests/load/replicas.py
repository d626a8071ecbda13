"""Three replicas behind one proxy, one of them killed under load:

    python -m tests.load.replicas [--replicas 3] [--clients 30] [--seconds 20]

Each client opens the page, as a browser asks for it, and then steps, over and over. Prints what the
clients met; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.browser.harness import Server
from tests.load.crowd import STEPS, percentile, requests_of_a_page
from tests.load.proxy import COOKIE, Proxy
from tests.load.wire import Connection, Tally


@dataclass
class Met:
    """What the clients met."""

    tally: Tally = field(default_factory=Tally)
    pages: list[float] = field(default_factory=list)
    traces: list[float] = field(default_factory=list)


async def client(port: int, k: int, seen: Sequence[tuple], until: float, met: Met) -> None:
    """Opens the page and steps ten times, until the end; it stays with one replica, as its cookie
    says, also when that is dead."""
    connection = Connection("127.0.0.1", port, met.tally, f"Cookie: {COOKIE}={k}")
    while time.monotonic() < until:
        began = time.perf_counter()
        for request in seen:
            await connection.ask(*request)
        met.pages.append(time.perf_counter() - began)
        for _ in range(10):
            began = time.perf_counter()
            new = f"&data=random&seed={random.randrange(10**6)}"
            await connection.ask("GET", random.choice(STEPS) + new)
            met.traces.append(time.perf_counter() - began)
    connection.close()


async def load(
    servers: Sequence[Server], seen: Sequence[tuple], clients: int, seconds: float
) -> tuple[Met, Proxy]:
    """The load, the first replica killed when a third of the time is over."""
    met = Met()
    async with Proxy([server.port for server in servers]) as proxy:
        until = time.monotonic() + seconds
        asking = [
            asyncio.create_task(client(proxy.port, k % len(servers), seen, until, met))
            for k in range(clients)
        ]
        await asyncio.sleep(seconds / 3)
        servers[0]._process.kill()
        await asyncio.gather(*asking)
    return met, proxy


def report(met: Met, proxy: Proxy, clients: int) -> None:
    """Figures."""
    tally = met.tally
    print(f"{clients} clients, {tally.requests:,} requests, statuses {tally.statuses}")
    print(f"5xx: {tally.server_errors} (aim 0), broken connections: {tally.broken} (aim 0)")
    print(
        f"answered by: {proxy.answered}; by another replica than the first asked: {proxy.retried}"
    )
    print(f"cut in the middle of an answer: {proxy.cut}; nobody answered: {proxy.refused}")
    for name, values in (("page", met.pages), ("trace", met.traces)):
        p50, p95 = percentile(values, 0.5), percentile(values, 0.95)
        print(f"{name}: p50 {1000 * p50:.0f} ms, p95 {1000 * p95:.0f} ms, {len(values):,} of them")


def main() -> None:
    parser = argparse.ArgumentParser(description="Replicas behind a proxy, one killed under load.")
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--clients", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=20)
    wanted = parser.parse_args()
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server()) for _ in range(wanted.replicas)]
        seen = [one for one in requests_of_a_page(servers[0].url) if one[0] == "GET"]
        met, proxy = asyncio.run(load(servers, seen, wanted.clients, wanted.seconds))
        report(met, proxy, wanted.clients)


if __name__ == "__main__":
    main()
