"""Run kernel jobs for many visitors in one child process, which is replaced when it breaks.

The web process never touches CUDA. Identical requests share one run, results are cached, a
session's new request replaces its old one, and a worker that dies, hangs or faults is replaced.

By hand: celery and rq want a broker beside the one process that a Space has; concurrent.futures has
a single worker but breaks the whole pool when it dies, and can neither kill a run that hangs,
report its progress, share it nor drop it. The same jobs must also run as ZeroGPU's own fork.
"""

import atexit
import logging
import threading
import time
from collections.abc import Callable
from itertools import takewhile

import cachetools

from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.engine import admission
from explainer.engine.child import Child, NoGpu, ProcessChild, WorkerLost
from explainer.engine.fair_queue import Client, FairQueue
from explainer.engine.job import BROKE, BUSY, GONE, REFUSED, RESTS, Job, Request
from explainer.engine.requests import YOURS
from explainer.engine.results import Machine
from explainer.engine.runtime_estimate import RuntimeEstimate

DEADLINE_S = 90.0  # nine methods at N = 65,536 take 18 s on an H200, compiling included
SPARE_S, SPARE = 15.0, 4.0  # a run may take this long, and so many times what is expected of it
MAX_WAITING = 32  # of pages and programs; of programs half as many
MAX_RESULTS = 128
FAULTS_IN_A_ROW = 3
REST_S = 60.0  # after that many faults nothing is started for a while

t = Texts("engine")
LOG = logging.getLogger("explainer.engine")


class Engine:
    """Take requests from any thread; a single thread of its own talks to the worker.

    ``spawn`` starts a worker process and may raise :class:`WorkerLost`; ``clock`` in seconds.
    """

    def __init__(
        self,
        spawn: Callable[[], Child] = ProcessChild,
        *,
        max_waiting: int = MAX_WAITING,
        rest_s: float = REST_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spawn, self._deadline_s = spawn, DEADLINE_S
        self._max_waiting, self._rest_s, self._clock = max_waiting, rest_s, clock
        self._change = threading.Condition()
        self._waiting: FairQueue[Job] = FairQueue()
        self._running: Job | None = None
        self._in_flight: dict[Request, Job] = {}
        self._results: cachetools.Cache[Request, dict | list] = cachetools.LRUCache(MAX_RESULTS)
        self._child: Child | None = None
        self._machine: Machine | None = None
        self._faults, self._rest_until = 0, 0.0
        self._estimate = RuntimeEstimate()
        self._lives, self._is_replacing = 0, False
        self._closed = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the worker in the background, so that the first visitor does not wait for it."""
        with self._change:
            if self._closed or self._thread:
                return
            atexit.register(self.close)
            self._thread = threading.Thread(target=self._serve, daemon=True, name="engine")
            self._thread.start()

    def close(self) -> None:
        """End the worker; jobs that are not done fail."""
        with self._change:
            self._closed = True
            child = self._child
            self._change.notify_all()
        if child:
            child.kill()

    def machine(self) -> Machine | None:
        """Return the worker's description of its machine; None while it is starting."""
        return self._machine

    def state(self) -> dict:
        """Return the state for a health check: whether kernels can run, and if not why; how many
        jobs wait, and how often the worker was replaced."""
        with self._change:
            worker = self._child is not None and self._child.alive()
            machine = self._machine or {}
            why = None
            if self._clock() < self._rest_until:
                why = RESTS
            elif machine.get("available") is False:
                why = machine["reason"]
            elif not worker and (self._lives or self._is_replacing):
                why = t("replaced")
            return {
                "healthy": why is None,
                "why": why,
                "worker": worker,
                "running": int(self._running is not None),
                "waiting": len(self._waiting),
                "faults": self._faults,
                "replaced": max(0, self._lives - 1),
                "resting_s": round(max(0.0, self._rest_until - self._clock()), 1),
            }

    def position(self, job: Job) -> int:
        """Return how many jobs are before this one, as the queue is now."""
        with self._change:
            if job not in self._waiting:
                return 0
            return len(self._before(job)) + (self._running is not None)

    def wait_s(self, job: Job) -> float | None:
        """Return the seconds until this job begins, as the queue is now: what is expected of the
        jobs before it, at the rate that runs have had here; None once it has begun."""
        with self._change:
            if job not in self._waiting:
                return None
            seconds = [self.expected_s(x.request) for x in self._before(job)]
            if (now := self._running) and now.began is not None:
                rest = self._estimate.factor * now.expected_s - (self._clock() - now.began)
                seconds.append(max(0.0, rest))
            return sum(seconds)

    def expected_s(self, request: Request) -> float:
        """Return the seconds that a run takes once it has begun, at the rate that runs have had
        here."""
        return self._estimate.factor * self._expected(request)

    def seconds_of(self, job: Job) -> dict[str, float]:
        """Return how long each method of the job has run so far, by name."""
        now = self._clock()
        return {name: (lane.ended or now) - lane.began for name, lane in job.lanes.copy().items()}

    def _before(self, job: Job) -> list[Job]:
        """Return the waiting jobs that come before this one."""
        return list(takewhile(lambda other: other is not job, self._waiting.order()))

    def _expected(self, request: Request) -> float:
        return admission.expected_s(request, self._machine)

    def submit(self, request: Request, session: str = "", client: Client | None = None) -> Job:
        """Return a job for this request: a finished one if it ran before, a shared one if it is
        queued or runs.

        A ``session``'s newer request replaces its older one. ``client``: the client whose share of
        the queue it uses; a page of its own by default. Never blocks and never raises; a refusal is
        a failed job with one sentence.
        """
        client = client or Client(page=session)
        self.start()
        with self._change:
            for job in list(self._in_flight.values()):
                if session in job.sessions and job.request != request:
                    self._leave(job, session)
            if request in self._results:
                job = Job(request)
                job._end("done", result=self._results[request])
                return job
            job = self._in_flight.get(request)
            if job is None:
                job = Job(request)
                why, refusal = self._refusal(job, client)
                if refusal:
                    job._end("failed", error=refusal, why=why)
                    return job
                self._in_flight[request] = job
                self._waiting.add(job, client)
                self._change.notify_all()
            if session:
                job.sessions.add(session)
            return job

    def leave(self, job: Job, session: str) -> None:
        """Note that this session no longer waits for the job. A job without sessions is dropped
        from the queue, or ends early if it runs."""
        with self._change:
            self._leave(job, session)

    def _leave(self, job: Job, session: str) -> None:
        if session not in job.sessions:
            return
        job.sessions.discard(session)
        if job.sessions or job.finished.is_set():
            return
        if job in self._waiting:
            self._waiting.remove(job)
        elif job.is_sent and self._child:
            self._child.cancel()
        self._settle(job, "dropped", error=t("left"), why=REFUSED)

    def _refusal(self, job: Job, client: Client) -> tuple[str | None, str | None]:
        if self._closed:
            return GONE, t("closed")
        if crowded := self._waiting.crowded(client, self._max_waiting):
            return BUSY, crowded
        if self._clock() < self._rest_until:
            return GONE, RESTS
        return REFUSED, self._admit(job, self._machine) if self._machine else None

    def _admit(self, job: Job, machine: Machine) -> str | None:
        """Return why this machine does not take the job, or None. It is decided once, unless the
        machine is another by the time that the job runs."""
        if job.admitted_on is machine:
            return None
        try:
            refusal = admission.refuse(job.request, machine)
        except ProblemError as error:
            refusal = str(error)
        if refusal is None:
            job.admitted_on = machine
        return refusal

    def crowded(self, client: Client) -> str | None:
        """Return why no further job of this client is accepted now, or None."""
        with self._change:
            return self._waiting.crowded(client, self._max_waiting)

    def _settle(self, job: Job, state: str, **outcome) -> None:
        self._in_flight.pop(job.request, None)
        is_fixed = YOURS not in getattr(job.request, "methods", ())  # a learner's file changes
        if state == "done" and is_fixed:
            self._results[job.request] = outcome["result"]
        job._end(state, **outcome)

    def _serve(self) -> None:
        self._try_to_start()
        while True:
            with self._change:
                while not self._waiting and not self._closed:
                    self._change.wait()
                if self._closed:
                    for job in list(self._in_flight.values()):
                        self._settle(job, "failed", error=t("closing"), why=GONE)
                    self._waiting.clear()
                    return
                job = self._running = self._waiting.pop()
                job.state = "running"
            try:
                outcome = self._run(job)
            except BaseException:  # it ends this job, not the thread
                LOG.exception(
                    "a job of kind %s ended in an error of ours", type(job.request).__name__
                )
                outcome = {"state": "failed", "error": BROKE, "why": GONE}
                self._replace()
            with self._change:
                self._running = None
                if not job.finished.is_set():
                    self._settle(job, **outcome)
            if self._child is None and not self._closed and self._clock() >= self._rest_until:
                self._try_to_start()  # before the next visitor has to wait for it

    def _try_to_start(self) -> None:
        try:
            self._ready()
        except Exception as error:
            LOG.error("worker did not start: %s", error)
            self._replace()

    def _ready(self) -> Child:
        """Return a living worker, a new one where there is none."""
        if self._child is None or not self._child.alive():
            self._child = None
            self._child = self._spawn()
            self._lives += 1
            self._machine = self._child.machine
        self._is_replacing = False
        return self._child

    def _replace(self) -> None:
        child, self._child, self._is_replacing = self._child, None, True
        if child:
            child.kill()

    def _run(self, job: Job) -> dict:
        """Return the outcome of one job. A worker that breaks or hangs is replaced, and the job is
        tried once more."""
        text = ""
        for attempt in (1, 2):
            try:
                outcome = self._attempt(job)
                self._faults = 0
                return outcome
            except NoGpu as refusal:  # a quota or a full queue says nothing about the worker
                return {"state": "failed", "error": str(refusal), "why": REFUSED}
            except TimeoutError:
                reason = text = self._too_long(job)
            except Exception as error:
                reason = str(error) if isinstance(error, WorkerLost) else type(error).__name__
                text = BROKE
            LOG.error("attempt %d of a %s: %s", attempt, type(job.request).__name__, reason)
            self._replace()
            self._faults += 1
            if self._faults >= FAULTS_IN_A_ROW:
                self._faults, self._rest_until = 0, self._clock() + self._rest_s
                break
            if self._closed or job.finished.is_set():
                break
        return {"state": "failed", "error": text, "why": GONE}

    def _attempt(self, job: Job) -> dict:
        job.is_sent = False
        job.lanes = {}
        child = self._ready()
        if not child.admits and (refusal := self._admit(job, child.machine)):
            return {"state": "failed", "error": refusal, "why": REFUSED}
        job.began, job.expected_s = self._clock(), self._expected(job.request)
        outcome = self._talk(child, job)
        if outcome["state"] == "done":
            self._estimate.learn(self._lives, self._clock() - job.began, job.expected_s)
        return outcome

    def _too_long(self, job: Job) -> str:
        if job.began is not None and self._clock() >= job.began + self._deadline_s:
            return t("too_long", seconds=self._deadline_s)
        return t("silent", seconds=self._allowed_s(job.request))

    def _allowed_s(self, request: Request) -> float:
        """Return the seconds without progress after which a run counts as hanging: many times what
        the whole run should take. A run that makes progress has until the deadline."""
        expected = self._expected(request) * max(1.0, self._estimate.factor)
        return min(self._deadline_s, SPARE_S + SPARE * expected)

    def _talk(self, child: Child, job: Job) -> dict:
        silent_s = self._allowed_s(job.request)
        with self._change:  # a job is dropped before it is asked, or its child hears of it
            if job.finished.is_set():
                return {"state": job.state}
            child.ask(job.request, job.context)
            job.is_sent = True
        end = self._clock() + self._deadline_s
        while True:
            message = child.next(min(end, self._clock() + silent_s))
            if "progress" in message:
                job._advance(message, self._clock())
            elif "result" in message:
                return {"state": "done", "result": message["result"]}
            elif "refused" in message:
                return {"state": "failed", "error": message["refused"], "why": REFUSED}
            else:
                raise WorkerLost(f"fault: {message.get('fault', 'an answer of no known kind')}")
