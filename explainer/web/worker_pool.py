"""Two lanes for what is computed from an address, so that a cheap answer never waits for a dear
one: cheap ones on the web process' threads, dear ones in few processes of lower priority.

Threads share one interpreter lock, so dear work on a thread would slow every answer; and a process
can be ended when nobody waits for its answer any more. By hand, since an executor of the standard
library can neither end a task that runs nor say that its line is full.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from explainer.base.cache import ByteCache
from explainer.base.fields import ProblemError
from explainer.base.lines import to_line
from explainer.base.paths import ROOT
from explainer.base.texts import Texts

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
PLACES = max(1, min(4, CORES - 1))  # each may take half a gigabyte for a moment
LINE = 8  # who may wait beside those
KEPT_BYTES = 16 << 20  # of dear answers, ready to be sent
LIFE = 40  # answers of a process before another takes its place
IDLE_S = 20.0  # then it ends, and its memory is the machine's again
COMMAND = (sys.executable, "-m", "explainer.web.responses")
say = Texts("shared")


class Busy(Exception):
    """No answer now: ``str`` is one sentence, ``after`` the seconds after which to ask again."""

    def __init__(self, sentence: str, after: int) -> None:
        super().__init__(sentence)
        self.after = after


class ClientDisconnected(Exception):
    """Who asked has hung up."""


class Worker:
    """A process that computes one answer at a time; it starts with the first."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self.command, self.process, self.answers = command, None, 0
        self._ended = self._is_reading = False
        self.idle: asyncio.TimerHandle | None = None

    def ask(self, request: Hashable) -> bytes:
        """Wait for an answer. Raises EOFError when the process ends first, ProblemError."""
        self._is_reading = True
        try:
            return self._ask(request)
        finally:
            self._is_reading = False
            if self._ended:
                self._close()

    def _ask(self, request: Hashable) -> bytes:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            if self._ended:  # while it was starting
                self.end()
        self.answers += 1
        try:
            self.process.stdin.write(to_line(request).encode() + b"\n")
            self.process.stdin.flush()
            header = json.loads(self.process.stdout.readline() or "null")
            body = header and self.process.stdout.read(header["bytes"])
        except (OSError, ValueError) as error:
            raise EOFError from error
        if not header or len(body) < header["bytes"]:
            raise EOFError
        if "refused" in header:
            raise ProblemError(header["refused"])
        return body

    def end(self) -> None:
        """Ends it at once, and what it started with it. Never raises, and does not wait: a process
        of large arrays takes a second to go."""
        self._ended = True
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            threading.Thread(target=self.process.wait, name="ended").start()
        if not self._is_reading:  # else the thread that reads closes it
            self._close()

    def _close(self) -> None:
        if self.process is not None:
            for pipe in (self.process.stdin, self.process.stdout):
                with suppress(OSError):  # what was not sent yet
                    pipe.close()


class _Job:
    """One answer under way, and how many wait for it."""

    def __init__(self, task: asyncio.Task, seconds: float) -> None:
        self.task, self.seconds, self.waiting = task, seconds, 0


class WorkerPool:
    """Few places, a short line, and those who ask the same share one answer. Of one event loop."""

    def __init__(
        self, places: int = PLACES, line: int = LINE, command: tuple[str, ...] = COMMAND
    ) -> None:
        self.places, self.line, self.command = places, line, command
        self.kept = ByteCache(KEPT_BYTES)
        self.jobs: dict[Hashable, _Job] = {}
        self.workers: set[Worker] = set()
        self._free: list[Worker] = []
        self._turn = asyncio.Semaphore(places)
        self._threads = ThreadPoolExecutor(places, "dear")  # they only wait
        atexit.register(self.close)

    async def answer(
        self, request: Hashable, seconds: float, gone: Callable[[], Awaitable]
    ) -> bytes:
        """Compute an answer in about ``seconds``; ``gone()`` ends when the visitor hangs up.

        Raises Busy when the queue is full or the process died, ClientDisconnected, ProblemError.
        """
        found = self.kept.get(request)
        if found is not None:
            return found
        job = self.jobs.get(request)
        if job is None:
            if len(self.jobs) >= self.places + self.line:
                after = self._after()
                raise Busy(say("busy", seconds=after), after)
            task = asyncio.ensure_future(self._compute(request))
            job = self.jobs[request] = _Job(task, seconds)
            task.add_done_callback(lambda _: self._done(request, job))
        job.waiting += 1
        hung_up = asyncio.ensure_future(gone())
        try:
            await asyncio.wait({job.task, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            if not job.task.done():
                raise ClientDisconnected
            return job.task.result()
        finally:
            hung_up.cancel()
            job.waiting -= 1
            if not job.waiting:
                job.task.cancel()
                self._done(request, job)  # its place in the line is free now, not when it has ended

    async def _compute(self, request: Hashable) -> bytes:
        async with self._turn:
            worker = self._free.pop() if self._free else Worker(self.command)
            self.workers.add(worker)
            if worker.idle:
                worker.idle.cancel()
            loop = asyncio.get_running_loop()
            try:
                body = await loop.run_in_executor(self._threads, worker.ask, request)
            except ProblemError:
                self._rest(worker)
                raise
            except EOFError:
                self._end(worker)
                raise Busy(say("ended", seconds=2), 2) from None
            except BaseException:  # nobody waits any more
                self._end(worker)
                raise
            self._rest(worker)
        self.kept.put(request, body, len(body))
        return body

    def _done(self, request: Hashable, job: _Job) -> None:
        if self.jobs.get(request) is job:
            del self.jobs[request]
        if job.task.done() and not job.task.cancelled():
            job.task.exception()  # seen, also where nobody waited for it

    def _after(self) -> int:
        """Seconds until the line has moved on, nearly."""
        all_of_them = sum(job.seconds for job in self.jobs.values())
        return min(60, math.ceil(1 + all_of_them / self.places))

    def _rest(self, worker: Worker) -> None:
        if worker.answers >= LIFE:
            self._end(worker)
            return
        self._free.append(worker)
        worker.idle = asyncio.get_running_loop().call_later(IDLE_S, self._end, worker)

    def _end(self, worker: Worker) -> None:
        self.workers.discard(worker)
        if worker in self._free:
            self._free.remove(worker)
        worker.end()

    def close(self) -> None:
        """Ends every process of it."""
        for worker in [*self.workers]:
            self._end(worker)
