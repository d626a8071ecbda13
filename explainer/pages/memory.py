"""The Memory page: where the bytes live, how often they travel, when they no longer fit."""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.pages.browser import call
from explainer.pages.components import PASS_LABELS, block, picker, switch
from explainer.pages.figure_page import FigurePage
from explainer.pages.plots import PAIRED, WIDE, padded, plot, update_plot
from explainer.pages.workload import control_values, controls, parse, query_of, sizes_of_step
from explainer.views.bar import render_placeholder
from explainer.views.memory_views import METRICS, PASSED, PLAIN, VIEWS, render_view
from explainer.views.run_report import render_refusal

say, shared = Texts("memory"), Texts("shared")
PREFIX = "mem-"


def render(query: Mapping[str, str]) -> tuple:
    """The view that the query asks for: (head, first plot, second plot, tail)."""
    hall = query.get("mode") == "present"
    try:
        w = parse(query, PLAIN)
    except ProblemError as error:
        return render_refusal(str(error)), update_plot(None), update_plot(None), ""
    metric, pass_ = (query.get(key, "") for key in ("show", "pass"))
    view = render_view(query.get("view", ""), w, metric, pass_)
    wide = PAIRED if len(view.figures) > 1 else WIDE
    plots = (update_plot(figure, hall, wide=wide) for figure in padded(view.figures))
    return view.head, *plots, view.tail


def _all(query: Mapping[str, str]) -> tuple:
    view = query["view"]
    places = (gr.update(visible=view == "tiles"), gr.update(visible=view in PASSED))
    return *places, *render(query)


def build() -> tuple[FigurePage, gr.Button]:
    """Lays the page out inside the caller's tab; returns what ``wire`` needs."""
    with gr.Row(elem_classes=["fa-page", "fa-run-page", "fa-figure-page"]):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=232):
            sizes = controls(control_values({}, PLAIN), sliders=False)
            take = gr.Button(say("take"), elem_classes="fa-secondary")
        with gr.Column(elem_classes="fa-main"):
            with gr.Row(elem_classes="fa-views"):
                names = [(label, key) for key, label in VIEWS.items()]
                view = gr.Radio(names, value="levels", label=shared("view"), show_label=False)
                metrics = [(name, key) for key, name in METRICS.items()]
                metric = gr.Radio(
                    metrics, value="tflops", label=say("shown"), show_label=False, visible=False
                )
                pass_ = switch()
            head = block(render_placeholder())
            with gr.Row(elem_classes="fa-plots"):
                plots = [plot(), plot()]
            tail = block()
            chosen = {"view": view, "show": metric, "pass": pass_, **sizes}
            outputs = [metric, pass_, head, *plots, tail]
            choices = {"view": VIEWS, "show": METRICS, "pass": PASS_LABELS}
            page = FigurePage("memory", PREFIX, PLAIN, chosen, picker(), outputs, choices, _all)
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
