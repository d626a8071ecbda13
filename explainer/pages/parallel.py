"""The Parallel page: which program runs where and when, and how warps share a tile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.base.kinds import measured
from explainer.base.texts import Texts
from explainer.engine.engine import Engine
from explainer.engine.requests import PlacementRequest
from explainer.engine.results import has_gpu
from explainer.pages.components import PASS_LABELS, block, picker, shell, switch
from explainer.pages.figure_page import FigurePage
from explainer.pages.plots import HALF, HALL, padded, plot, update_plot
from explainer.pages.sweep import live_device
from explainer.pages.visitors import client_of
from explainer.pages.workload import control_values, controls, parse, query_of
from explainer.parallel import launch, real_schedules
from explainer.views.bar import render_placeholder
from explainer.views.parallel_report import render_comparison, render_running
from explainer.views.parallel_views import CASES, PASSED, PLAIN, VIEWS, render_case, render_view
from explainer.views.run_report import render_refusal
from explainer.views.view import View

say, shared = Texts("parallel"), Texts("shared")
PREFIX = "par-"
POLL_S = 0.15


def _placed(view: View, hall: bool, height: int = HALF) -> tuple:
    """A view as (head, first plot, second plot, tail)."""
    plots = (update_plot(figure, hall, height) for figure in padded(view.figures))
    return view.head, *plots, view.tail


def render(query: Mapping[str, str]) -> tuple:
    """The view that the query asks for: (head, first plot, second plot, tail)."""
    view, hall = query.get("view", "grid"), query.get("mode") == "present"
    try:
        if view == "real":
            return _placed(render_case(query.get("case", "")), hall)
        rendered = render_view(view, parse(query, PLAIN), query.get("pass", ""))
        return _placed(rendered, hall, HALF if view == "grid" else HALL)
    except ProblemError as error:
        return render_refusal(str(error)), update_plot(None), update_plot(None), ""


def _visible(view: str, live: bool) -> tuple:
    """Updates of what only some views show: cases, pass, the live run, warps, controls."""
    real = view == "real"
    return (
        gr.update(visible=real),
        gr.update(visible=view in PASSED),
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
            sizes = controls(control_values({}, PLAIN), sliders=True)
        with gr.Column(elem_classes="fa-main"):
            with gr.Row(elem_classes="fa-views"):
                names = [(label, key) for key, label in VIEWS.items()]
                view = gr.Radio(names, value="grid", label=shared("view"), show_label=False)
                cases = [(label, key) for key, label in CASES.items()]
                case = gr.Radio(
                    cases, value=PLAIN["case"], label=say("case"), show_label=False, visible=False
                )
                pass_ = switch()
                live = gr.Button(say("record"), elem_classes="fa-secondary", visible=False)
            head = block(render_placeholder())
            with gr.Row(elem_classes=["fa-plots", "fa-stacked"]):
                plots = [plot(), plot()]
            with gr.Column(visible=False, elem_classes="fa-warps-place") as warps:
                shell("warps", elem_id="warps")
            tail = block()
            chosen = {"view": view, "case": case, "pass": pass_, **sizes}
            outputs = [case, pass_, live, warps, column, head, *plots, tail]
            choices = {"view": VIEWS, "case": CASES, "pass": PASS_LABELS}
            more = (picker(), outputs, choices, partial(_all, engine))
            page = FigurePage("parallel", PREFIX, PLAIN, chosen, *more)
    return page, live


def _recorder(engine: Engine, page: FigurePage):
    """The event that records a real schedule of the launch on screen."""

    async def record(request: gr.Request, *given: object) -> AsyncIterator[tuple]:
        query = query_of(dict(zip(page.inputs, given, strict=True)))
        session = request.session_hash or ""
        order = query["case"].partition("-")[0]
        try:
            placement = PlacementRequest(parse(query, PLAIN), order)
            launch.programs(placement.workload, order)
        except ProblemError as error:
            yield render_refusal(str(error)), update_plot(None), update_plot(None), ""
            return
        job = engine.submit(placement, session, client_of(request))
        yield render_running(), update_plot(None), update_plot(None), ""
        try:
            while not job.finished.is_set():
                await asyncio.sleep(POLL_S)
        finally:
            engine.leave(job, session)
        if job.result is None:
            yield render_refusal(job.error), update_plot(None), update_plot(None), ""
            return
        kind = measured(live_device(engine))
        ran = placement.workload.with_tile(job.result)
        yield _placed(
            render_comparison(real_schedules.compare(ran, order, job.result, kind)), False
        )

    return record


def wire(page: FigurePage, live: gr.Button, tab: gr.Tab, engine: Engine) -> None:
    """Every change of a control shows the view anew; the address follows."""
    page.wire(tab)
    four = page.outputs[-4:]  # as render has them
    live.click(
        _recorder(engine, page),
        [*page.inputs.values()],
        four,
        show_progress="hidden",
        concurrency_limit=None,
        api_visibility="private",
    )
