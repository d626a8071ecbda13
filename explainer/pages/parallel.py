"""The Parallel page: which program runs where and when, and how warps share a tile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.base.kinds import measured
from explainer.base.texts import Texts
from explainer.engine.engine import Engine
from explainer.engine.requests import PlacementRequest
from explainer.engine.results import has_gpu
from explainer.pages.components import block, picker, shell
from explainer.pages.figure_page import PASS_LABELS, FigurePage, Places, radios, show, show_error
from explainer.pages.plots import HALF, HALL, plot
from explainer.pages.sweep import live_device
from explainer.pages.visitors import client_of
from explainer.pages.workload import control_values, controls, parse, query_of
from explainer.parallel import launch, real_schedules
from explainer.views.parallel_report import render_comparison
from explainer.views.parallel_views import CASES, PASSED, PLAIN, VIEWS, render_case, render_view
from explainer.views.templates import render as render_template
from explainer.views.view import View

t = Texts("parallel")
PREFIX = "par-"
CHOICES = {"view": VIEWS, "case": CASES, "pass": PASS_LABELS}
POLL_S = 0.15


def render(query: Mapping[str, str]) -> Places:
    """Render the view that the query asks for."""
    view = query.get("view", "grid")
    try:
        if view == "real":
            return show(render_case(query.get("case", "")), query, HALF)
        rendered = render_view(view, parse(query, PLAIN), query.get("pass", ""))
    except ProblemError as error:
        return show_error(error)
    return show(rendered, query, HALF if view == "grid" else HALL)


def build(engine: Engine) -> tuple[FigurePage, gr.Button]:
    """Lay the page out inside the caller's tab; return what ``wire`` needs."""

    def can_record(view: str) -> bool:
        return view == "real" and bool(has_gpu(engine.machine()))

    with gr.Row(elem_classes=["fa-page", "fa-run-page", "fa-figure-page"]):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=232) as column:
            sizes = controls(control_values({}, PLAIN), sliders=True)
        with gr.Column(elem_classes="fa-main"):
            with gr.Row(elem_classes="fa-views"):
                chosen = radios(CHOICES, PLAIN, case=t("case"))
                live = gr.Button(t("record"), elem_classes="fa-secondary", visible=False)
            head = block(render_template("site/waiting"))
            with gr.Row(elem_classes=["fa-plots", "fa-stacked"]):
                left, right = plot(), plot()
            with gr.Column(visible=False, elem_classes="fa-warps-place") as warps:
                shell("warps", elem_id="warps")
            places = Places(head, left, right, block())
            visible = {
                chosen["case"]: lambda view: view == "real",
                chosen["pass"]: lambda view: view in PASSED,
                live: can_record,
                warps: lambda view: view == "warps",
                column: lambda view: view in ("grid", "decode") or can_record(view),
            }
            more = (picker(), places, visible, render)
            page = FigurePage("parallel", PREFIX, PLAIN, CHOICES, chosen | sizes, *more)
    return page, live


def _recorder(engine: Engine, page: FigurePage):
    """The event that records a real schedule of the launch on screen."""

    async def record(request: gr.Request, *given: object) -> AsyncIterator[Places]:
        query = query_of(dict(zip(page.inputs, given, strict=True)))
        session = request.session_hash or ""
        order = query["case"].partition("-")[0]
        try:
            placement = PlacementRequest(parse(query, PLAIN), order)
            launch.programs(placement.workload, order)
        except ProblemError as error:
            yield show_error(error)
            return
        job = engine.submit(placement, session, client_of(request))
        yield show(View(render_template("parallel/running")), {})
        try:
            while not job.finished.is_set():
                await asyncio.sleep(POLL_S)
        finally:
            engine.leave(job, session)
        if job.result is None:
            yield show_error(job.error)
            return
        kind = measured(live_device(engine))
        ran = placement.workload.with_tile(job.result)
        yield show(render_comparison(real_schedules.compare(ran, order, job.result, kind)), {})

    return record


def wire(page: FigurePage, live: gr.Button, tab: gr.Tab, engine: Engine) -> None:
    """Every change of a control shows the view anew; the address follows."""
    page.wire(tab)
    live.click(
        _recorder(engine, page),
        [*page.inputs.values()],
        [*page.places],
        show_progress="hidden",
        concurrency_limit=None,
        api_visibility="private",
    )
