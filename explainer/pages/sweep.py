"""A sweep over N on this machine: its points appear as they are measured, and it can be stopped."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from explainer.base.texts import Texts
from explainer.engine.engine import Engine
from explainer.engine.fair_queue import Client
from explainer.engine.requests import Sweep
from explainer.engine.results import PointRow

shared = Texts("shared")
POLL_S = 0.2


def live_device(engine: Engine) -> str:
    """The device's name, or “this GPU” while the worker still starts."""
    machine = engine.machine()
    return machine["device"] if machine else shared("this_gpu")


class SweepProgress(NamedTuple):
    """The ``rows`` so far, of so many points ``done``, and the sentence of an ``error`` that
    ends the sweep."""

    rows: list[PointRow]
    done: int
    error: str | None = None


async def measure_sweep(
    engine: Engine,
    wanted: Sweep,
    session: str,
    client: Client,
    is_stopped: Callable[[], bool],
) -> AsyncIterator[SweepProgress]:
    """Measure the points of a sweep, each a job of its own: between two points others have their
    turn, and a class with the same sweep shares them all. Ends early once ``is_stopped()``."""
    rows: list[PointRow] = []
    for done, point in enumerate(wanted.points()):
        job = engine.submit(point, session, client)
        try:
            if not job.finished.is_set():
                yield SweepProgress(rows, done)
            while not job.finished.is_set():
                if is_stopped():
                    return
                await asyncio.sleep(POLL_S)
        finally:
            engine.leave(job, session)
        if is_stopped():
            return
        if job.result is None:
            yield SweepProgress(rows, done, error=job.error)
            return
        rows = rows + job.result
    yield SweepProgress(rows, len(wanted.points()))
