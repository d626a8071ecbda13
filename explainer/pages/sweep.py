"""The sweep on the Run page: points appear as they are measured, and it can be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.base.kinds import measured
from explainer.base.kinds import recorded as from_record
from explainer.base.texts import Texts
from explainer.engine import recorded
from explainer.engine.engine import Engine
from explainer.engine.fair_queue import Client
from explainer.engine.requests import RunRequest, Sweep
from explainer.engine.results import PointRow, has_gpu
from explainer.pages import masks
from explainer.pages.browser import QUICK, Fields, call, here
from explainer.pages.components import CONTROLS, block, shell
from explainer.pages.plots import plot, update_view
from explainer.pages.visitors import client_of
from explainer.views import figures, sweep_report

t, shared = Texts("run"), Texts("shared")
POLL_S = 0.2
LENGTHS = CONTROLS["sweep"]["longest"]


def live_device(engine: Engine) -> str:
    """The device's name, or “this GPU” while the worker still starts."""
    machine = engine.machine()
    return machine["device"] if machine else shared("this_gpu")


def longest() -> gr.Dropdown:
    """How far."""
    return gr.Dropdown(
        [(f"{n:,}", n) for n in LENGTHS],
        value=LENGTHS[-1],
        label=t("control.longest"),
        filterable=False,
        elem_classes="fa-select",
    )


class SweepProgress(NamedTuple):
    """The ``rows`` so far, of so many points ``done``; the ``position`` in the queue, and the
    sentence of an ``error`` that ends the sweep."""

    rows: list[PointRow]
    done: int
    position: int = 0
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
            last = None
            while not job.finished.is_set():
                if is_stopped():
                    return
                if (position := engine.position(job)) != last:
                    yield SweepProgress(rows, done, position)
                    last = position
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


def build(
    engine: Engine, begin: gr.Button, inputs: Fields, parse: Callable[[str], RunRequest]
) -> None:
    """The place for the curves, and the events. ``inputs``: the Run page's, how far ("longest"),
    and the page's mode ("mode"). ``parse`` reads the request of an address of the Run page; raises
    ProblemError."""
    running: dict[str, bool] = {}  # session of a sweep on its way → whether it is to stop

    def halt(request: gr.Request) -> None:
        if (session := request.session_hash or "") in running:
            running[session] = True

    async def stream(request: gr.Request, *given: object) -> AsyncIterator[SweepView]:
        values: dict[str, Any] = dict(zip(inputs, given, strict=True))
        mode = values["mode"]
        try:
            mask = masks.preset_text(values["mask"], values["n"])
            wanted = Sweep.from_query(values | {"mask": mask})
        except ProblemError as error:
            yield _refusal(error).updates()
            return
        if has_gpu(engine.machine()) is False:
            yield _recorded_view(t("sweep.no_gpu"), wanted).updates(mode)
            return
        points, rows, done = wanted.points(), [], 0
        session = request.session_hash or ""
        running[session] = False
        try:
            async for rows, done, position, error in measure_sweep(
                engine, wanted, session, client_of(request), lambda: running.get(session, True)
            ):
                if error:
                    yield _recorded_view(t("sweep.broke", error=error), wanted).updates(mode)
                    return
                if done < len(points):
                    line = sweep_report.render_progress(done, wanted, position, rows)
                    view = _live_view(engine, line, rows, wanted, is_running=True)
                    yield view.updates(mode)
        finally:
            running.pop(session, None)
        if done < len(points):
            text = t("sweep.stopped", done=done, points=len(points))
        else:
            device = live_device(engine)
            text = t("sweep.measured", points=len(points), device=device)
        line = sweep_report.render_note(text, rows=rows, sweep=wanted, clocks=_clocks(rows))
        yield _live_view(engine, line, rows, wanted).updates(mode)

    def on_record(address: str, mode: str) -> SweepView:
        """The recorded points of what the address asks for; nothing is measured."""
        try:
            wanted = Sweep.from_query({"longest": LENGTHS[-1]} | parse(address).to_query())
            view = _recorded_view(t("sweep.on_record"), wanted)
        except ProblemError as error:
            view = _refusal(error)
        return view.updates(mode)._replace(stop=gr.skip())  # a sweep may still run

    note = block(elem_id="sweep-note")
    stop = gr.Button(t("button.stop"), visible=False, elem_classes=["fa-secondary", "fa-stop"])
    with gr.Row(elem_classes="fa-plots"):
        curves = [plot() for _ in figures.SWEPT]
    table = block()
    times, speeds, memory = curves
    outputs = [*SweepView(note, times, speeds, memory, table, stop)]
    private: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    how = {"inputs": [*inputs.values()], "js": call("showSweep", inputs, inputs), **private}
    read = here("announceFirst", place="#sweep-note")
    begin.click(**here("onceOpened", part="run")).then(
        stream, outputs=outputs, concurrency_limit=None, **how
    ).then(**read)
    stop.click(halt, None, None, queue=False, **private)  # the sweep itself then says how far it is
    linked = shell("linked", "linked", template="<i hidden></i>", elem_classes="fa-run-block")
    given = {"linked": linked, "mode": inputs["mode"]}
    linked.linked(
        on_record,
        [*given.values()],
        outputs,
        js=call("showSweep", given, given),
        **QUICK,
    ).then(**read)


class SweepView(NamedTuple):
    """What a sweep's event gives to each of its outputs: HTML, figures, and whether the sweep can
    be stopped; also those outputs themselves."""

    note: Any
    times: Any = None
    speeds: Any = None
    memory: Any = None
    table: Any = ""
    stop: Any = False

    def updates(self, mode: str = "") -> SweepView:
        """Make the updates of the outputs, in this mode of the page."""
        return update_view(self, ("times", "speeds", "memory"), mode)


def _refusal(error: ProblemError) -> SweepView:
    return SweepView(sweep_report.render_note(str(error), "is-bad"))


def _live_view(
    engine: Engine, note: str, rows: list[PointRow], sweep: Sweep, is_running: bool = False
) -> SweepView:
    """Render the points that have been measured so far."""
    machine, kind = engine.machine(), measured(live_device(engine))
    table = ""
    if rows and machine:
        about = {key: machine[key] for key in ("device", "versions")} | {"source": "live"}
        table = sweep_report.render_table(rows, sweep, kind, about)
    times, speeds, memory = figures.plot_sweep(rows, kind)
    return SweepView(note, times, speeds, memory, table, is_running)


def _recorded_view(why: str, sweep: Sweep) -> SweepView:
    """Render the nearest recorded sweep, and ``why`` it is that one."""
    near, rows = recorded.swept(sweep)
    values = {"why": why, "near": near.name, "about": recorded.about()}
    if near == sweep:
        text = t("sweep.as_asked", **values)
    else:
        text = t("sweep.instead", **values, asked=sweep.name, what=recorded.what())
    style = "" if near == sweep else "is-other"
    note, table = sweep_report.render_recorded(text, near, rows, style)
    times, speeds, memory = figures.plot_sweep(rows, from_record())
    return SweepView(note, times, speeds, memory, table)


def _clocks(rows: list[PointRow]) -> list[str]:
    """Collect the output of nvidia-smi after each live point."""
    return [row["after_timing"] for row in rows if "after_timing" in row]
