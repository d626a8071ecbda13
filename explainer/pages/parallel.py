"""The Parallel page: which program runs where and when, and how warps and parts share a row."""

import asyncio
import json
from collections.abc import AsyncIterator

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.base.kinds import measured
from explainer.base.texts import Texts
from explainer.engine.engine import Engine
from explainer.engine.requests import PlacementRequest
from explainer.pages.address import parse_address
from explainer.pages.components import shell
from explainer.pages.sweep import live_device
from explainer.pages.visitors import client_of
from explainer.parallel import launch
from explainer.views.stories import parallel_schedule
from explainer.views.stories.pages import page_values, parse_workload

t = Texts("parallel")
POLL_S = 0.15


def build(engine: Engine) -> None:
    """Lay the page out inside the caller's tab. Its chapters are cacheable GETs; only a schedule
    that is recorded now, on a GPU, is an event: the story's value is the query, then the answer."""
    story = shell("parallel", "record", elem_id="parallel")
    story.record(
        _recorder(engine),
        story,
        story,
        show_progress="hidden",
        concurrency_limit=None,
        api_visibility="private",
    )


def _recorder(engine: Engine):
    """Build the event that records a real schedule of the launch on screen."""

    async def record(address: str, request: gr.Request) -> AsyncIterator[str]:
        """Yield as JSON that it runs, then the ``chapter`` of the recorded launch, or the
        ``error``, one sentence."""
        query = parse_address(address)
        session = request.session_hash or ""
        try:
            workload = parse_workload("parallel", query)
            placement = PlacementRequest(*parallel_schedule.parse_launch(workload, query))
            launch.programs(placement.workload, placement.order)
        except ProblemError as error:
            yield json.dumps({"error": str(error)})
            return
        job = engine.submit(placement, session, client_of(request))
        yield json.dumps({"running": t("running")})
        try:
            while not job.finished.is_set():
                await asyncio.sleep(POLL_S)
        finally:
            engine.leave(job, session)
        if job.result is None:
            yield json.dumps({"error": job.error})
            return
        kind = measured(live_device(engine))
        chapter = parallel_schedule.chapter(workload, query, job.result, kind)
        yield json.dumps({"chapter": {**chapter, **page_values("parallel", workload)}})

    return record
