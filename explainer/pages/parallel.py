"""The Parallel page: which program runs where and when, and how warps share a tile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.base.kinds import measured
from explainer.engine.engine import Engine
from explainer.engine.requests import Placed
from explainer.engine.results import has_gpu
from explainer.memory.workload import Workload
from explainer.pages.components import block, picker, shell
from explainer.pages.figure_page import FigurePage
from explainer.pages.plots import HALF, plot, shown
from explainer.pages.visitors import client_of
from explainer.pages.workload import controls, parse, query_of
from explainer.pages.workload import shown as shown_controls
from explainer.parallel import durations, launch, real_schedules
from explainer.views import charts, parallel_report
from explainer.views.html import awaited

PREFIX = "par-"
POLL_S = 0.15
VIEWS = {
    "grid": "Grid to multiprocessors",
    "real": "The real schedule",
    "warps": "Warps",
    "decode": "Decoding",
}
CASES = {
    "fa2-full": "FA-2, full",
    "fa2-causal": "FA-2, causal",
    "fa1-full": "FA-1, full",
    "fa1-causal": "FA-1, causal",
}
PLAIN = {
    "view": "grid", "case": "fa2-full", "card": "h200", "n": "4096", "d": "64", "br": "128",
    "bc": "64", "b": "1", "h": "16", "mask": "full", "dtype": "fp16", "sliders": "1",
}  # fmt: skip
FAR_APART = 6  # from this ratio on each timeline has a scale of its own


def _grid(w: Workload, hall: bool) -> tuple:
    both = {order: durations.schedule(w, order) for order in ("fa1", "fa2")}
    other = (
        {o: durations.schedule(w, "fa2", o) for o in (launch.PLAIN, launch.HEAD)}
        if w.causal
        else None
    )
    unit = durations.pace(w, "fa2").unit
    longest = max(s.makespan for s in both.values())
    figures = []
    for order, s in both.items():
        name = {"fa1": "FA-1: a program per head", "fa2": "FA-2: a program per row block"}[order]
        name += f", {parallel_report.time(s.makespan, unit)}"
        kind = parallel_report.simulation(w)
        told = parallel_report.told(s, launch.programs(w, order), unit, kind)
        remark = f"{s.waves:.2f} waves"
        end = longest if longest < FAR_APART * s.makespan else s.makespan
        remark += "" if end == longest else ", a scale of its own"
        chart = charts.timeline(s, told, name, kind, remark, unit, end)
        figures.append(shown(chart, hall, HALF))
    head = parallel_report.grid_head(w, both)
    return head, *figures, parallel_report.grid_tail(w, both, other)


def _real(compared: real_schedules.Compared, hall: bool = False) -> tuple:
    longest = max(compared.real.makespan, compared.simulated.makespan)
    figures = []
    model = parallel_report.simulation(compared.workload)
    for s, name, kind in (
        (compared.simulated, "Simulated", model),
        (compared.real, "Real", compared.kind),
    ):
        name += f", {parallel_report.time(s.makespan, 'µs')}"
        told = parallel_report.told(s, compared.launch, "µs", kind)
        chart = charts.timeline(s, told, name, kind, "", "µs", longest)
        figures.append(shown(chart, hall, HALF))
    return parallel_report.real_head(compared), *figures, parallel_report.real_tail(compared)


def render(query: Mapping[str, str]) -> tuple:
    """The view that the query asks for: (head, first plot, second plot, tail)."""
    view, hall = query.get("view", "grid"), query.get("mode") == "present"
    try:
        if view == "real":
            case = query.get("case", "")
            return _real(real_schedules.of_case(case if case in CASES else PLAIN["case"]), hall)
        w = parse(query, PLAIN)
        if view == "grid":
            return _grid(w, hall)
        if view == "decode":
            rows = parallel_report.decode_rows(w)
            remark = f"N = {w.n:,} keys, B × H = {w.batch * w.heads}"
            tail = parallel_report.decode_tail(w, rows)
            head = parallel_report.decode_head(w, rows)
            kind = parallel_report.decode_kind(rows)
            return head, shown(charts.decode(rows, kind, remark), hall), shown(None), tail
    except ProblemError as error:
        return parallel_report.failure(str(error)), shown(None), shown(None), ""
    return parallel_report.warps_head(), shown(None), shown(None), ""


def _visible(view: str, live: bool) -> tuple:
    """Updates of what only some views show: the cases, the live run, the warps, the controls."""
    real = view == "real"
    return (
        gr.update(visible=real),
        gr.update(visible=real and live),
        gr.update(visible=view == "warps"),
        gr.update(visible=view in ("grid", "decode") or (real and live)),
    )


def _all(engine: Engine, query: Mapping[str, str]) -> tuple:
    return *_visible(query["view"], bool(has_gpu(engine.machine()))), *render(query)


def build(engine: Engine) -> tuple[FigurePage, gr.Button]:
    """Lays the page out inside the caller's tab; returns what ``wire`` needs."""
    with gr.Row(elem_classes=["fa-page", "fa-run-page", "fa-figure-page"]):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=232) as column:
            sizes = controls(shown_controls({}, PLAIN), sliders=True)
        with gr.Column(elem_classes="fa-main"):
            with gr.Row(elem_classes="fa-views"):
                names = [(label, key) for key, label in VIEWS.items()]
                view = gr.Radio(names, value="grid", label="View", show_label=False)
                cases = [(label, key) for key, label in CASES.items()]
                case = gr.Radio(
                    cases, value="fa2-full", label="Recorded case", show_label=False, visible=False
                )
                live = gr.Button(
                    "Record this launch here", elem_classes="fa-secondary", visible=False
                )
            head = block(awaited())
            with gr.Row(elem_classes=["fa-plots", "fa-stacked"]):
                plots = [plot(), plot()]
            with gr.Column(visible=False, elem_classes="fa-warps-place") as warps:
                shell("warps", elem_id="warps")
            tail = block()
            chosen = {"view": view, "case": case, **sizes}
            outputs = [case, live, warps, column, head, *plots, tail]
            more = (picker(), outputs, {"view": VIEWS, "case": CASES}, partial(_all, engine))
            page = FigurePage("parallel", PREFIX, PLAIN, chosen, *more)
    return page, live


def _recorder(engine: Engine, page: FigurePage):
    """The event that records a real schedule of the launch on screen."""

    async def record(request: gr.Request, *given: object) -> AsyncIterator[tuple]:
        query = query_of(dict(zip(page.inputs, given, strict=True)))
        session = request.session_hash or ""
        order = query["case"].partition("-")[0]
        try:
            asked = Placed(parse(query, PLAIN), order)
            launch.programs(asked.workload, order)
        except ProblemError as error:
            yield parallel_report.failure(str(error)), shown(None), shown(None), ""
            return
        job = engine.submit(asked, session, client_of(request))
        yield parallel_report.progress("Running the kernel."), shown(None), shown(None), ""
        try:
            while not job.finished.is_set():
                await asyncio.sleep(POLL_S)
        finally:
            engine.leave(job, session)
        if job.result is None:
            yield parallel_report.failure(job.error), shown(None), shown(None), ""
            return
        kind = measured((engine.machine() or {}).get("device", "this GPU"))
        ran = asked.workload.with_tile(job.result)
        yield _real(real_schedules.compare(ran, order, job.result, kind))

    return record


def wire(page: FigurePage, live: gr.Button, tab: gr.Tab, engine: Engine) -> None:
    """Every change of a control shows the view anew; the address holds what is shown."""
    page.wire(tab)
    four = page.outputs[-4:]  # as render has them
    live.click(_recorder(engine, page), [*page.inputs.values()], four, show_progress="hidden",
               concurrency_limit=None, api_visibility="private")  # fmt: skip
