"""Compute expensive responses in a few processes, so that a cheap one never waits for them.

Cheap responses are computed by the web process' threads. Threads share one interpreter lock, so an
expensive computation in a thread would slow every response; and a process can be ended as soon as
no client waits for it. By hand, since anyio's to_process and pebble import the app with Gradio into
every worker, leave alive what a worker has started, and end no idle one while nothing is requested.
"""

import asyncio
import atexit
import json
import math
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress

import cachetools

from explainer.base.fields import ProblemError
from explainer.base.lines import to_line
from explainer.base.paths import ROOT
from explainer.base.texts import Texts

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
WORKERS = max(1, min(4, CORES - 1))  # each may take half a gigabyte for a moment
MAX_WAITING = 8  # requests, besides those that run
CACHE_BYTES = 16 << 20  # of responses
MAX_RESPONSES = 40  # of a process, which is then replaced
READ_BYTES = 1 << 20  # of a response, before the process waits
IDLE_S = 20.0  # after which a process ends and returns its memory
COMMAND = (sys.executable, "-m", "explainer.web.responses")
t = Texts("shared")


class Busy(Exception):
    """No response now: one sentence, and the seconds ``after`` which to try again."""

    def __init__(self, sentence: str, after: int) -> None:
        super().__init__(sentence)
        self.after = after


class ClientDisconnected(Exception):
    """The client has closed its connection."""


class Worker:
    """A process that computes one response at a time; it starts with the first."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self.command, self.responses = command, 0
        self.process: asyncio.subprocess.Process | None = None
        self.idle: asyncio.TimerHandle | None = None

    async def request(self, request: Hashable) -> tuple[str, bytes]:
        """Return why the request is refused, or "" and its response. Raises EOFError when the
        process ends first."""
        if self.process is None:
            self.process = await asyncio.create_subprocess_exec(
                *self.command,
                cwd=ROOT,
                env=os.environ | {"FA_CACHE_SCALE": "8"},  # a response uses results several times
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=READ_BYTES,
                start_new_session=True,
            )
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin and stdout, "both are pipes"
        self.responses += 1
        try:
            stdin.write(to_line(request).encode() + b"\n")
            await stdin.drain()
            head = json.loads(await stdout.readuntil(b"\n"))
            return head["refused"], await stdout.readexactly(head["bytes"])
        except (OSError, ValueError) as error:
            raise EOFError from error

    def end(self) -> None:
        """End the process and those that it started.

        Never raises, and does not wait, because a process with large arrays takes a second to end.
        """
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                if os.name == "posix":
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()


class _Computation:
    """A response that is being computed, and the number of clients that wait for it."""

    def __init__(self, task: asyncio.Task, seconds: float) -> None:
        self.task, self.seconds, self.waiting = task, seconds, 0


class WorkerPool:
    """A few workers and a short queue; identical requests share a response. For one event loop."""

    def __init__(
        self,
        size: int = WORKERS,
        max_waiting: int = MAX_WAITING,
        command: tuple[str, ...] = COMMAND,
    ) -> None:
        self.size, self.max_waiting, self.command = size, max_waiting, command
        self.cache: cachetools.LRUCache[Hashable, bytes]
        self.cache = cachetools.LRUCache(CACHE_BYTES, getsizeof=len)
        self.jobs: dict[Hashable, _Computation] = {}
        self.workers: set[Worker] = set()
        self._idle: list[Worker] = []
        self._free_workers = asyncio.Semaphore(size)
        atexit.register(self.close)

    async def compute(
        self, request: Hashable, seconds: float, gone: Callable[[], Awaitable]
    ) -> bytes:
        """Compute a response in about ``seconds``; ``gone()`` ends when the client disconnects.

        Raises Busy when the queue is full or the process died, ClientDisconnected, ProblemError.
        """
        found = self.cache.get(request)
        if found is not None:
            return found
        job = self.jobs.get(request)
        if job is None:
            if len(self.jobs) >= self.size + self.max_waiting:
                after = self._estimate_wait()
                raise Busy(t("busy", seconds=after), after)
            task = asyncio.ensure_future(self._compute(request))
            job = self.jobs[request] = _Computation(task, seconds)
            task.add_done_callback(lambda _: self._forget(request, job))
        job.waiting += 1
        disconnected = asyncio.ensure_future(gone())
        try:
            await asyncio.wait({job.task, disconnected}, return_when=asyncio.FIRST_COMPLETED)
            if not job.task.done():
                raise ClientDisconnected
            return job.task.result()
        finally:
            disconnected.cancel()
            job.waiting -= 1
            if not job.waiting:
                job.task.cancel()
                self._forget(request, job)  # its place in the queue is free at once

    async def _compute(self, request: Hashable) -> bytes:
        async with self._free_workers:
            worker = self._idle.pop() if self._idle else Worker(self.command)
            self.workers.add(worker)
            if worker.idle:
                worker.idle.cancel()
            try:
                refusal, body = await worker.request(request)
            except EOFError:
                self._end(worker)
                raise Busy(t("ended", seconds=2), 2) from None
            except BaseException:  # no client waits any more
                self._end(worker)
                raise
            self._release(worker)
        if refusal:
            raise ProblemError(refusal)
        with suppress(ValueError):  # larger than the whole cache
            self.cache[request] = body
        return body

    def _forget(self, request: Hashable, job: _Computation) -> None:
        if self.jobs.get(request) is job:
            del self.jobs[request]
        if job.task.done() and not job.task.cancelled():
            job.task.exception()  # retrieved, also if no client waited for it

    def _estimate_wait(self) -> int:
        """Return the seconds after which a place in the queue should be free."""
        total = sum(job.seconds for job in self.jobs.values())
        return min(60, math.ceil(1 + total / self.size))

    def _release(self, worker: Worker) -> None:
        if worker.responses >= MAX_RESPONSES:
            self._end(worker)
            return
        self._idle.append(worker)
        worker.idle = asyncio.get_running_loop().call_later(IDLE_S, self._end, worker)

    def _end(self, worker: Worker) -> None:
        self.workers.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        worker.end()

    def close(self) -> None:
        """End every process of the pool."""
        for worker in [*self.workers]:
            self._end(worker)
