"""A cheap answer never waits for an expensive one; the pool is small, shared, and can be left."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from anyio import fail_after
from starlette.testclient import TestClient

from explainer.base.cache import cached
from explainer.base.fields import ProblemError
from explainer.web import cost
from explainer.web.requests import parse_request
from explainer.web.responses import NICE, make
from explainer.web.worker_pool import COMMAND, Busy, ClientDisconnected, Worker, WorkerPool
from tests.web.conftest import end

pytestmark = pytest.mark.anyio
# A stand-in for the process: answers with its id; by the request it dies, waits for ever, refuses.
STAND_IN = (
    sys.executable,
    "-c",
    """
import json, os, sys, time
from explainer.base.lines import from_line
for line in sys.stdin:
    text = from_line(line)
    if text == "die":
        os._exit(3)
    if text == "wait":
        time.sleep(3600)
    head = {"refused": "n = 0 is not allowed." if text == "refuse" else ""}
    body = b"" if head["refused"] else f"{os.getpid()} {text}".encode()
    sys.stdout.write(json.dumps(head | {"bytes": len(body)}) + "\\n" + body.decode())
    sys.stdout.flush()
""",
)


@pytest.fixture
async def pool(processes) -> AsyncIterator[WorkerPool]:
    yield WorkerPool(size=1, max_waiting=1, command=STAND_IN)
    await end(processes)


def ask(pool: WorkerPool, text: str, gone: asyncio.Event | None = None) -> asyncio.Task:
    gone = gone or asyncio.Event()
    return asyncio.ensure_future(pool.compute(text, 2.0, gone.wait))


async def until(true) -> None:
    """Wait for what happens at once, or never: pytest's own timeout cannot end an event loop."""
    with fail_after(30):
        while not true():
            await asyncio.sleep(0.001)


def running(pool: WorkerPool) -> list[int]:
    """Ids of its processes."""
    return [w.process.pid for w in pool.workers if w.process is not None]


async def test_a_line_that_is_full_says_when_to_ask_again(pool):
    leave = asyncio.Event()
    requests = [ask(pool, "wait", leave), ask(pool, "next")]
    await until(lambda: running(pool))
    with pytest.raises(Busy, match=r"try again in 5 s\.") as busy:
        await ask(pool, "third")
    assert busy.value.after == 5  # 1 + two answers of 2 s each, in one place
    leave.set()
    with pytest.raises(ClientDisconnected):
        await requests[0]
    assert (await requests[1]).endswith(b"next")


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_who_hangs_up_leaves_the_line_and_the_work_stops(pool):
    leave = asyncio.Event()
    first = ask(pool, "wait", leave)
    await until(lambda: running(pool))
    [pid] = running(pool)
    behind = asyncio.Event()
    second = ask(pool, "never", behind)
    await until(lambda: len(pool.jobs) == 2)
    behind.set()
    with pytest.raises(ClientDisconnected):
        await second
    assert len(pool.jobs) == 1 and running(pool) == [pid]
    leave.set()
    with pytest.raises(ClientDisconnected):
        await first
    assert not pool.jobs
    await until(lambda: not pool.workers)
    await until(lambda: not is_there(pid))


async def test_those_who_ask_the_same_share_an_answer_and_one_may_leave(pool):
    pool.max_waiting = 0
    leave = asyncio.Event()
    both = [ask(pool, "same", leave), ask(pool, "same")]
    leave.set()
    done = await asyncio.gather(*both, return_exceptions=True)
    assert isinstance(done[0], ClientDisconnected) and done[1].endswith(b"same")
    assert await ask(pool, "same") == done[1]  # kept
    assert pool.cache.currsize == len(done[1])


async def test_a_process_that_dies_is_replaced_and_its_visitor_gets_a_sentence(pool):
    before = await ask(pool, "before")
    with pytest.raises(Busy, match="ended before it was done: try again in 2 s"):
        await ask(pool, "die")
    with pytest.raises(ProblemError, match="n = 0 is not allowed"):
        await ask(pool, "refuse")
    after = await ask(pool, "after")
    assert before.split()[0] != after.split()[0]


async def test_a_process_is_used_again_but_not_for_ever(pool, monkeypatch):
    monkeypatch.setattr("explainer.web.worker_pool.MAX_RESPONSES", 2)
    first, second, third = [(await ask(pool, f"{k}")).split()[0] for k in range(3)]
    assert first == second != third
    assert len(pool.workers) == 1


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="no groups of sessions")
async def test_expensive_answers_come_behind_the_web_process():
    worker = Worker(COMMAND)
    try:
        await worker.request(parse_request("trace", {"n": "4"}))
        group = Path(f"/proc/{worker.process.pid}/autogroup").read_text()
        assert group.split()[-2:] == ["nice", str(NICE)]
        assert os.getpriority(os.PRIO_PROCESS, worker.process.pid) >= NICE
    finally:
        worker.end()
        await worker.process.wait()


async def test_an_idle_process_ends(pool, monkeypatch):
    monkeypatch.setattr("explainer.web.worker_pool.IDLE_S", 0.0)
    await ask(pool, "once")
    await until(lambda: not pool.workers)


def test_cheap_requests_are_answered_while_the_pool_is_full(client, monkeypatch):
    kinds = []

    async def full(self, request, seconds, gone):
        kinds.append(request.kind)
        raise Busy("Try again in 7 s.", 7)

    monkeypatch.setattr(WorkerPool, "compute", full)
    cheap = ("trace?", "visit?at=1", "learn?w=dot", "mask?", "presets?", "export.npz?")
    for address in cheap:
        assert client.get(f"/fa/{address}").status_code == 200
    assert not kinds
    for kind in ("trace", "visit", "export.html"):
        answer = client.get(f"/fa/{kind}?n=16384&d=256&br=64&bc=64")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
        assert answer.json() == {"error": "Try again in 7 s."}
        assert answer.headers["cache-control"] == "no-store"
    assert len(kinds) == 3


def test_an_expensive_answer_is_the_same_bytes(client):
    query = {"n": "4096", "d": "8", "br": "32", "bc": "32", "seed": "4"}
    request = parse_request("trace", query)
    assert request == parse_request("trace", query | {"made": "up", "phase": "max"})
    assert cost.seconds(request) > cost.CHEAP_S
    answer = client.get("/fa/trace", params=query)
    assert answer.status_code == 200 and answer.headers["content-encoding"] == "gzip"
    with TestClient(client.app).stream("GET", "/fa/trace", params=query) as raw:
        assert b"".join(raw.iter_raw()) == make(request)


def test_an_expensive_refusal_is_400(client):
    answer = client.get("/fa/export.json?n=4096&br=64&bc=64")
    assert answer.status_code == 400
    assert json.loads(answer.text)["error"].startswith("n = 4096 is not allowed in a file")


def test_a_cache_is_bounded_in_bytes_and_a_default_is_no_key_of_its_own():
    @cached(100, len)
    def made(k: int, size: int = 60) -> bytes:
        return bytes([k]) * size

    assert made(1) is made(1, size=60)
    assert len(made(2, 101)) == 101 and made.cache.currsize == 60
