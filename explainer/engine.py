"""Kernel jobs for many visitors: one child process does them, this side decides, waits and heals.

The web process never touches CUDA. Identical Problems share one run, results are kept, a session's
new request replaces its old one, and a worker that dies, hangs or faults is replaced.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from explainer import admission
from explainer.problem import Problem, ProblemError

ROOT = Path(__file__).resolve().parent.parent
WORKER = (sys.executable, "-m", "explainer.worker")
START_S = 120.0  # importing torch on a cold disk
DEADLINE_S = 90.0
MAX_WAITING = 32
KEPT = 128
FAULTS_IN_A_ROW = 3
REST_S = 60.0  # after that many faults nothing is started for a while

LOG = logging.getLogger("explainer.engine")


@dataclass(eq=False)
class Job:
    """One Problem on its way: queued → running → done, failed or dropped. Read-only outside."""

    problem: Problem
    state: str = "queued"
    stage: str = ""
    done: int = 0
    total: int = 1
    result: dict | None = None
    error: str | None = None
    sessions: set[str] = field(default_factory=set)
    finished: threading.Event = field(default_factory=threading.Event)

    def _end(self, state: str, *, result: dict | None = None, error: str | None = None) -> None:
        self.state, self.result, self.error = state, result, error
        self.finished.set()


class WorkerLost(Exception):
    """The child died, faulted or hung; ``str`` says which, for the log."""


class _Child:
    """One life of the worker process."""

    def __init__(self, command: Sequence[str], start_s: float) -> None:
        env = os.environ | {"PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self.machine: dict = self.next(time.monotonic() + start_s)["machine"]
        except TimeoutError:
            self.kill()
            raise WorkerLost(f"worker did not start within {start_s:.0f} s") from None
        except BaseException:
            self.kill()
            raise

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def next(self, deadline: float) -> dict:
        """The worker's next message. Raises WorkerLost at its end and at the deadline."""
        try:
            line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None
        if line is None:
            raise WorkerLost(f"worker ended with status {self.process.wait()}")
        try:
            return json.loads(line)
        except ValueError:
            raise WorkerLost(f"worker said {line[:80]!r}") from None

    def ask(self, request: dict) -> None:
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise WorkerLost(f"worker closed its pipe: {error}") from error

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Engine:
    """Takes Problems from any thread; a single thread of its own talks to the worker."""

    def __init__(
        self,
        command: Sequence[str] = WORKER,
        *,
        deadline_s: float = DEADLINE_S,
        start_s: float = START_S,
        max_waiting: int = MAX_WAITING,
        rest_s: float = REST_S,
    ) -> None:
        self._command, self._deadline_s, self._start_s = command, deadline_s, start_s
        self._max_waiting, self._rest_s = max_waiting, rest_s
        self._change = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._in_flight: dict[Problem, Job] = {}
        self._kept: OrderedDict[Problem, dict] = OrderedDict()
        self._child: _Child | None = None
        self._machine: dict | None = None
        self._faults, self._rest_until = 0, 0.0
        self._closed = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Starts the worker in the background, so that the first visitor does not wait for it."""
        with self._change:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._serve, daemon=True, name="engine")
                self._thread.start()
                atexit.register(self.close)

    def close(self) -> None:
        """Ends the worker; jobs not yet done fail."""
        with self._change:
            self._closed = True
            child = self._child
            self._change.notify_all()
        if child:
            child.process.kill()

    def machine(self) -> dict | None:
        """What the worker said of its machine; None while it is still starting."""
        return self._machine

    def state(self) -> dict:
        """For a health check: is there a worker, how many wait, how often did it break."""
        with self._change:
            alive = self._child is not None and self._child.process.poll() is None
            return {"worker": alive, "waiting": len(self._waiting), "faults": self._faults}

    def position(self, job: Job) -> int:
        """How many jobs are before this one."""
        with self._change:
            return self._waiting.index(job) + 1 if job in self._waiting else 0

    def submit(self, problem: Problem, session: str = "") -> Job:
        """A job for this Problem: a finished one if it ran before, a shared one if it runs now.

        A ``session``'s newer request replaces its older one: nobody is left waiting for that.
        Never blocks and never raises; a refusal is a failed job with one sentence.
        """
        self.start()
        with self._change:
            self._forget(session, but=problem)
            if problem in self._kept:
                self._kept.move_to_end(problem)
                job = Job(problem)
                job._end("done", result=self._kept[problem])
                return job
            job = self._in_flight.get(problem)
            if job is None:
                job = Job(problem)
                refusal = self._refusal(problem)
                if refusal:
                    job._end("failed", error=refusal)
                    return job
                self._in_flight[problem] = job
                self._waiting.append(job)
                self._change.notify_all()
            if session:
                job.sessions.add(session)
            return job

    def _refusal(self, problem: Problem) -> str | None:
        if self._closed:
            return "The kernel's process has been shut down."
        if len(self._waiting) >= self._max_waiting:
            return (
                f"{len(self._waiting)} runs are waiting already, which is all that this server "
                "takes: try again in a minute."
            )
        if time.monotonic() < self._rest_until:
            return (
                "The kernel's process broke several times in a row and rests for a minute; "
                "everything else on the page works."
            )
        try:
            return admission.refuse(problem, self._machine) if self._machine else None
        except ProblemError as error:
            return str(error)

    def _forget(self, session: str, but: Problem) -> None:
        for job in list(self._in_flight.values()):
            if session and session in job.sessions and job.problem != but:
                job.sessions.discard(session)
                if not job.sessions and job in self._waiting:
                    self._waiting.remove(job)
                    self._settle(job, "dropped", error="A newer request took its place.")

    def _settle(self, job: Job, state: str, **outcome) -> None:
        self._in_flight.pop(job.problem, None)
        if state == "done":
            self._kept[job.problem] = outcome["result"]
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        job._end(state, **outcome)

    def _serve(self) -> None:
        self._try_to_start()
        while True:
            with self._change:
                while not self._waiting and not self._closed:
                    self._change.wait()
                if self._closed:
                    for job in list(self._in_flight.values()):
                        self._settle(job, "failed", error="The kernel's process was shut down.")
                    self._waiting.clear()
                    return
                job = self._waiting.popleft()
                job.state = "running"
            outcome = self._run(job)
            with self._change:
                self._settle(job, **outcome)

    def _try_to_start(self) -> None:
        try:
            self._ready()
        except (WorkerLost, OSError) as error:
            LOG.error("worker did not start: %s", error)

    def _ready(self) -> _Child:
        if self._child is None or self._child.process.poll() is not None:
            self._child = None
            self._child = _Child(self._command, self._start_s)
            self._machine = self._child.machine
        return self._child

    def _replace(self) -> None:
        if self._child:
            self._child.kill()
        self._child = None

    def _run(self, job: Job) -> dict:
        """Outcome of one job: two tries if the worker breaks, one if it only takes too long."""
        for attempt in (1, 2):
            try:
                outcome = self._attempt(job)
                self._faults = 0
                return outcome
            except TimeoutError:
                LOG.error("deadline passed: %s", job.problem)
                self._replace()
                text = f"This run took longer than {self._deadline_s:.0f} s and was stopped."
                return {"state": "failed", "error": text}
            except (WorkerLost, OSError) as error:
                LOG.error("attempt %d of %s: %s", attempt, job.problem, error)
                self._replace()
                self._faults += 1
                if self._faults >= FAULTS_IN_A_ROW:
                    self._faults, self._rest_until = 0, time.monotonic() + self._rest_s
                    break
                if self._closed:
                    break
        text = "The kernel's process broke on this Problem; it was replaced, and the page goes on."
        return {"state": "failed", "error": text}

    def _attempt(self, job: Job) -> dict:
        child = self._ready()
        try:  # what was admitted before the machine was known is judged now
            refusal = admission.refuse(job.problem, child.machine)
        except ProblemError as error:
            refusal = str(error)
        if refusal:
            return {"state": "failed", "error": refusal}
        child.ask({"run": job.problem.to_query()})
        deadline = time.monotonic() + self._deadline_s
        while True:
            message = child.next(deadline)
            if "progress" in message:
                job.stage, job.done, job.total = message["progress"]
            elif "result" in message:
                return {"state": "done", "result": message["result"]}
            elif "refused" in message:
                return {"state": "failed", "error": message["refused"]}
            else:
                raise WorkerLost(f"fault: {message.get('fault', message)}")
