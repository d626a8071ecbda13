"""The Run page: every method on the Problem of the Step page, or on a larger one; the sweep.

What is recorded comes by plain GETs; a run, and a sweep on a GPU, are events whose answers are
JSON, which ``assets/js/run`` draws.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.engine import admission, recorded
from explainer.engine.engine import Engine
from explainer.engine.job import BROKE, REFUSED, Job
from explainer.engine.record_rows import COLUMNS, rows_of
from explainer.engine.requests import RunRequest, Sweep
from explainer.engine.results import has_gpu
from explainer.learn.presets import preset_text
from explainer.pages.address import parse_address
from explainer.pages.browser import here
from explainer.pages.components import shell
from explainer.pages.step import StepPage
from explainer.pages.sweep import live_device, measure_sweep
from explainer.pages.visitors import client_of
from explainer.problem import Problem
from explainer.views import run_result, run_state
from explainer.views.run_values import KEYS, NOTHING_KNOWN, run_values
from kernels.spec.fields import STORED

LOG = logging.getLogger("explainer")
POLL_S = 0.15
PREFIX = run_state.PREFIX
Event = Callable[["RunEvents", str, gr.Request], AsyncGenerator[str]]


def _named(query: Mapping[str, Any]) -> dict[str, Any]:
    """The same, its mask a text where it is the title of a preset."""
    found = dict(query)
    if "mask" in found:
        found["mask"] = preset_text(found["mask"], found.get("n", Problem.n))
    return found


def parse_request(query: Mapping[str, str]) -> RunRequest:
    """Parse the ``run-…`` keys of an address, else its Step page's Problem, one in e4m3 in what its
    O is stored in. Raises ProblemError."""
    own = {key: query[PREFIX + key] for key in KEYS if PREFIX + key in query}
    if not own and query.get("dtype") in STORED:
        query = {**query, "dtype": STORED[query["dtype"]]}
    return RunRequest.from_query(_named(own or query))


def prefill(engine: Engine, query: Mapping[str, str]) -> dict[str, Any]:
    """Return for an address the ``values`` of its request, or where it is refused those of the
    page's own and the ``error``; and what ``_note`` says of the request."""
    error = None
    try:
        request = parse_request(query)
    except ProblemError as refusal:
        request, error = RunRequest.from_query({}), str(refusal)
    return {"values": run_values(request), "error": error, **_note(engine, request)}


def _note(engine: Engine, request: RunRequest) -> dict[str, Any]:
    """Return ``device`` and ``gpu`` (None while the kernel's process still starts), ``expected_s``
    where it can be said, as ``refused`` the sentence why the request is not run, and as ``link``
    (text, address) of the nearest one that is."""
    machine = engine.machine()
    if machine is None:
        return NOTHING_KNOWN
    refused = admission.refuse(request, machine)
    return {
        "gpu": has_gpu(machine),
        "device": machine["device"],
        "expected_s": None if has_gpu(machine) or refused else engine.expected_s(request),
        "refused": refused,
        "link": run_state.refused(refused, request, machine)["link"] if refused else None,
    }


def _ends_in_words(event: str) -> Callable[[Event], Event]:
    """Decorate an event so that an exception in it ends what the page waits for, with a sentence;
    without it the page would stay at the last state."""

    def decorate(answer: Event) -> Event:
        @functools.wraps(answer)
        async def guarded(
            self: RunEvents, address: str, visitor: gr.Request
        ) -> AsyncGenerator[str]:
            states = answer(self, address, visitor)
            try:
                async with contextlib.aclosing(states):
                    async for state in states:
                        yield state
            except Exception:
                LOG.exception("the event %s of the Run page broke", event)
                refused = run_state.refused(BROKE, None, None)
                yield _answer(**{event: refused if event == "run" else {"error": BROKE}})

        return guarded

    return decorate


class RunEvents:
    """The events of the page; a session that has ``stopped`` waits for none of them any more."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.stopped: set[str] = set()

    def answer_stop(self, visitor: gr.Request) -> None:
        """End what this session waits for; the event itself then says so."""
        self.stopped.add(visitor.session_hash or "")

    @_ends_in_words("run")
    async def answer_run(self, address: str, visitor: gr.Request) -> AsyncGenerator[str]:
        """Yield as JSON, under ``run``, how far the methods are, and what they found."""
        engine = self.engine
        try:
            request = parse_request(parse_address(address))
        except ProblemError as error:
            yield _answer(run=run_state.refused(str(error), None, engine.machine()))
            return
        session = visitor.session_hash or ""
        self.stopped.discard(session)
        job = engine.submit(request, session, client_of(visitor))
        began, last = time.monotonic(), ""
        try:
            while not job.finished.is_set():
                elapsed = time.monotonic() - began
                if session in self.stopped:
                    yield _answer(run=run_state.canceled(elapsed))
                    return
                if (now := _answer(run=self._progress(request, job, elapsed))) != last:
                    yield (last := now)
                await asyncio.sleep(POLL_S)
            if job.result:  # without a GPU its speed is that of the nearest record
                yield _answer(run=run_result.done(job.result, recorded.closest(request)))
                return
            near = request if job.why == REFUSED else None
            yield _answer(run=run_state.refused(job.error or "", near, engine.machine()))
        finally:
            self.stopped.discard(session)
            engine.leave(job, session)  # the tab was closed; other sessions still wait

    def _progress(self, request: RunRequest, job: Job, elapsed: float) -> run_state.State:
        if position := self.engine.position(job):
            return run_state.waiting(position, self.engine.wait_s(job))
        machine = self.engine.machine()
        expected = self.engine.expected_s(request) if machine and machine["interpreted"] else None
        # Whole seconds, so that a state that says the same is not sent again
        seconds = self.engine.seconds_of(job)
        return run_state.running(job, seconds, float(int(elapsed)), expected, machine)

    @_ends_in_words("sweep")
    async def answer_sweep(self, address: str, visitor: gr.Request) -> AsyncGenerator[str]:
        """Yield as JSON, under ``sweep``, the ``rows`` measured so far on this GPU in the order of
        COLUMNS, of so many points ``done``, and ``error``, one sentence, where it ended early."""
        try:
            wanted = Sweep.from_query(parse_address(address))
        except ProblemError as error:
            yield _answer(sweep={"error": str(error)})
            return
        session = visitor.session_hash or ""
        self.stopped.discard(session)
        is_stopped = lambda: session in self.stopped  # noqa: E731
        all_points = len(wanted.points())
        async for step in measure_sweep(
            self.engine, wanted, session, client_of(visitor), is_stopped
        ):
            rows = rows_of(step.rows)
            progress = {"done": step.done, "all": all_points, "error": step.error}
            device = live_device(self.engine)
            yield _answer(sweep={"rows": rows, "columns": COLUMNS, "device": device, **progress})
        if is_stopped():
            self.stopped.discard(session)
            yield _answer(sweep={"error": ""})


def _answer(**what: object) -> str:
    return json.dumps(what)


def opened(engine: Engine) -> dict[str, Any]:
    """The parts of ``/fa/opened`` that depend on the machine."""
    return {"run": lambda query: prefill(engine, query)}


def build(engine: Engine) -> None:
    """Lay the page out inside the caller's tab: one component, whose value is the query of a run,
    then what the server says of it."""
    events = RunEvents(engine)
    page = shell("run", "run", "stop", "sweep", elem_id="run")
    private: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    # The engine itself bounds and orders the runs
    page.run(events.answer_run, page, page, concurrency_limit=None, **private)
    page.sweep(events.answer_sweep, page, page, concurrency_limit=None, **private)
    page.stop(events.answer_stop, None, None, concurrency_limit=None, **private)


def wire(step: StepPage) -> None:
    """The Step page's button runs its Problem on the Run page."""
    step.run.click(**here("runStep"))
