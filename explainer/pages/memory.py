"""The Memory page: where the bytes live, how often they travel, when they no longer fit."""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.pages.browser import call
from explainer.pages.components import block, picker
from explainer.pages.figure_page import PASS_LABELS, FigurePage, Places, radios, show, show_error
from explainer.pages.plots import PAIRED, WIDE, plot
from explainer.pages.workload import control_values, controls, parse, query_of, sizes_of_step
from explainer.views.memory_views import METRICS, PASSED, PLAIN, VIEWS, render_view
from explainer.views.templates import render as render_template

t = Texts("memory")
PREFIX = "mem-"
CHOICES = {"view": VIEWS, "show": METRICS, "pass": PASS_LABELS}


def render(query: Mapping[str, str]) -> Places:
    """Render the view that the query asks for."""
    try:
        w = parse(query, PLAIN)
    except ProblemError as error:
        return show_error(error)
    view, metric, pass_ = (query.get(key, "") for key in CHOICES)
    rendered = render_view(view, w, metric, pass_)
    return show(rendered, query, wide=PAIRED if len(rendered.figures) > 1 else WIDE)


def build() -> tuple[FigurePage, gr.Button]:
    """Lay the page out inside the caller's tab; return what ``wire`` needs."""
    with gr.Row(elem_classes=["fa-page", "fa-run-page", "fa-figure-page"]):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=232):
            sizes = controls(control_values({}, PLAIN), sliders=False)
            take = gr.Button(t("take"), elem_classes="fa-secondary")
        with gr.Column(elem_classes="fa-main"):
            with gr.Row(elem_classes="fa-views"):
                chosen = radios(CHOICES, PLAIN, show=t("shown"))
            head = block(render_template("site/waiting"))
            with gr.Row(elem_classes="fa-plots"):
                left, right = plot(), plot()
            places = Places(head, left, right, block())
            visible = {
                chosen["show"]: lambda view: view == "tiles",
                chosen["pass"]: lambda view: view in PASSED,
            }
            more = (picker(), places, visible, render)
            page = FigurePage("memory", PREFIX, PLAIN, CHOICES, chosen | sizes, *more)
    return page, take


def wire(page: FigurePage, take: gr.Button, tab: gr.Tab) -> None:
    """Every change of a control shows the view anew; the address follows."""
    page.wire(tab)
    took = page.shows(
        take.click,
        page.picked,
        call("takeProblem", page.picked, page.picked),
        lambda values: query_of(values) | sizes_of_step(values["picked"]),
    )
    took.then(None, [*page.inputs.values()], None, js=page.remember(asks=False))
