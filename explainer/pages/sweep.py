"""The sweep on the Run page: points appear as they are measured, and it can be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.base.kinds import Kind, measured
from explainer.base.kinds import recorded as from_record
from explainer.base.texts import Texts
from explainer.engine import recorded
from explainer.engine.engine import Engine
from explainer.engine.fair_queue import Client
from explainer.engine.requests import RunRequest, Sweep
from explainer.engine.results import PointRow, has_gpu
from explainer.pages import masks
from explainer.pages.browser import QUICK, Fields, call, here
from explainer.pages.components import block, shell
from explainer.pages.plots import ALONE, plot, shown
from explainer.pages.visitors import client_of
from explainer.views import figures, sweep_report

say, shared = Texts("run"), Texts("shared")
POLL_S = 0.2
LENGTHS = (4096, 16384, 65536)


def longest() -> gr.Dropdown:
    """How far."""
    return gr.Dropdown(
        [(f"{n:,}", n) for n in LENGTHS],
        value=LENGTHS[-1],
        label=say("control.longest"),
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
    is_stopped: Callable[[], bool] = lambda: False,
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
    engine: Engine, begin: gr.Button, inputs: Fields, asked: Callable[[str], RunRequest]
) -> None:
    """The place for the curves, and the events. ``inputs``: the Run page's, how far ("longest"),
    and whether this is a lecture hall ("mode"). ``asked``: what an address of the Run page asks
    for; raises ProblemError."""
    running: dict[str, bool] = {}  # session of a sweep on its way → whether it is to stop

    async def stream(request: gr.Request, *given: object) -> AsyncIterator[tuple]:
        values = dict(zip(inputs, given, strict=True))
        session = request.session_hash or ""
        running[session], hall = False, values["mode"] == "present"
        try:
            async for shown_now in sweep(session, values, hall, client_of(request)):
                yield shown_now
        finally:
            running.pop(session, None)

    def halt(request: gr.Request) -> None:
        if (session := request.session_hash or "") in running:
            running[session] = True

    async def sweep(session: str, values: dict, hall: bool, client: Client) -> AsyncIterator[tuple]:
        try:
            wanted = Sweep.from_query(values | {"mask": masks.written(values["mask"], values["n"])})
        except ProblemError as error:
            yield *_refused(error), _stop(False)
            return
        points = wanted.points()
        if has_gpu(engine.machine()) is False:
            yield *_old(say("sweep.no_gpu"), wanted, hall), _stop(False)
            return
        rows, done = [], 0
        live = measured((engine.machine() or {}).get("device", shared("this_gpu")))
        async for rows, done, position, error in measure_sweep(
            engine, wanted, session, client, lambda: running.get(session, True)
        ):
            if error:
                yield *_old(say("sweep.broke", error=error), wanted, hall), _stop(False)
                return
            if done < len(points):
                line = sweep_report.render_progress(done, wanted, position, rows)
                yield line, *_curves(rows, live, hall), _live(engine, rows, wanted), _stop(True)
        if done < len(points):
            text = say("sweep.stopped", done=done, points=len(points))
        else:
            device = engine.machine()["device"]
            text = say("sweep.measured", points=len(points), device=device)
        line = sweep_report.render_note(text, rows=rows, sweep=wanted, clocks=_said(rows))
        yield line, *_curves(rows, live, hall), _live(engine, rows, wanted), _stop(False)

    def on_record(address: str, mode: str) -> tuple:
        """The recorded points of what the address asks for; nothing is measured."""
        try:
            wanted = Sweep.from_query({"longest": LENGTHS[-1]} | asked(address).to_query())
        except ProblemError as error:
            return _refused(error)
        return _old(say("sweep.on_record"), wanted, mode == "present")

    note = block(elem_id="sweep-note")
    stop = gr.Button(say("button.stop"), visible=False, elem_classes=["fa-secondary", "fa-stop"])
    with gr.Row(elem_classes="fa-plots"):
        curves = [plot() for _ in figures.SWEPT]
    table = block()
    private = {"show_progress": "hidden", "api_visibility": "private"}
    how = {"inputs": [*inputs.values()], "js": call("showSweep", inputs, inputs), **private}
    read = here("announceFirst", place="#sweep-note")
    begin.click(**here("onceOpened", part="run")).then(
        stream, outputs=[note, *curves, table, stop], concurrency_limit=None, **how
    ).then(**read)
    stop.click(halt, None, None, queue=False, **private)  # the sweep itself then says how far it is
    linked = shell("linked", "linked", template="<i hidden></i>", elem_classes="fa-run-block")
    given = {"linked": linked, "mode": inputs["mode"]}
    linked.linked(
        on_record,
        [*given.values()],
        [note, *curves, table],
        js=call("showSweep", given, given),
        **QUICK,
    ).then(**read)


def _refused(error: ProblemError) -> tuple:
    return sweep_report.render_note(str(error), "is-bad"), *[shown(None)] * len(figures.SWEPT), ""


def _live(engine: Engine, rows: list[PointRow], wanted: Sweep) -> str:
    """The table of what has been measured so far."""
    if not rows:
        return ""
    device, versions = (engine.machine()[key] for key in ("device", "versions"))
    about = {"source": "live", "device": device, "versions": versions}
    return sweep_report.render_table(rows, wanted, measured(device), about)


def _old(why: str, asked: Sweep, hall: bool) -> tuple:
    about, record = recorded.about(), recorded.load()
    near, rows = recorded.swept(asked)
    told = {"why": why, "near": near.name, "about": about}
    if near == asked:
        text = say("sweep.as_asked", **told)
    else:
        text = say("sweep.instead", **told, asked=asked.name, what=recorded.what())
    line = sweep_report.render_note(
        text,
        "" if near == asked else "is-other",
        rows=rows,
        sweep=near,
        clocks=recorded.clocks_of(rows),
    )
    more = {"source": "recorded", "when": record["date"]}
    more |= {key: record[key] for key in ("device", "versions")}
    kind = from_record()
    return line, *_curves(rows, kind, hall), sweep_report.render_table(rows, near, kind, more)


def _said(rows: list[PointRow]) -> list[str]:
    """What nvidia-smi said after each live point."""
    return [row["after_timing"] for row in rows if "after_timing" in row]


def _curves(rows: list[PointRow], kind: Kind, hall: bool = False) -> list[dict]:
    return [shown(figure, hall, ALONE) for figure in figures.plot_sweep(rows, kind)]


def _stop(shown: bool) -> dict:
    return gr.update(visible=shown)
