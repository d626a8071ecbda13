"""The Memory page: where the bytes live, how often they travel, when they no longer fit."""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.memory import traffic_series
from explainer.pages.browser import call
from explainer.pages.components import block, picker
from explainer.pages.figure_page import FigurePage
from explainer.pages.plots import PAIRED, plot, shown
from explainer.pages.workload import controls, parse, query_of, taken
from explainer.pages.workload import shown as shown_controls
from explainer.views import charts, levels_report, memory_report, parallel_report, tiles_report
from explainer.views.html import awaited

PREFIX = "mem-"
VIEWS = {"levels": "Levels", "trips": "Round trips", "traffic": "Traffic", "capacity": "Capacity",
         "tiles": "Tiles"}  # fmt: skip
METRICS = {key: name for key, (name, *_) in tiles_report.METRICS.items()}
PLAIN = {
    "view": "levels", "show": "tflops", "card": "h200", "n": "4096", "d": "64", "br": "64",
    "bc": "64", "b": "1", "h": "16", "mask": "full", "dtype": "fp16",
}  # fmt: skip


def render(query: Mapping[str, str]) -> tuple:
    """The view that the query asks for: (head, first plot, second plot, tail)."""
    view, hall = query.get("view", "levels"), query.get("mode") == "present"
    try:
        w = parse(query, PLAIN)
    except ProblemError as error:
        return parallel_report.failure(str(error)), shown(None), shown(None), ""
    if view == "trips":
        return memory_report.trips(w), shown(None), shown(None), ""
    if view == "tiles":
        metric = query.get("show", "tflops")
        metric = metric if metric in METRICS else "tflops"
        return tiles_report.tiles(w, metric), shown(None), shown(None), ""
    if view == "traffic":
        by_n, by_side = traffic_series.by_n(w), traffic_series.by_side(w)
        tile = f"tiles of {w.block_q} × {w.block_k}"
        kind, rows = memory_report.traffic_kind, [*by_n, *by_side]
        left = charts.traffic(by_n, "n", "Traffic against N", kind(by_n), f"one head, {tile}", w.n)
        right = charts.traffic(
            by_side, "side", "Traffic against the tile", kind(by_side), f"one head, N = {w.n:,}",
            w.block_q,
        )  # fmt: skip
        plots = (shown(figure, hall, wide=PAIRED) for figure in (left, right))
        return memory_report.traffic_head(w, rows), *plots, memory_report.traffic_tail(w, rows)
    if view == "capacity":
        rows = memory_report.capacity_rows(w)
        chart = charts.capacity(rows, w.card, memory_report.capacity_kind(rows), w.n)
        tail = memory_report.capacity_tail(w, rows)
        return memory_report.capacity_head(w), shown(chart, hall), shown(None), tail
    return levels_report.levels(w), shown(None), shown(None), ""


def _all(query: Mapping[str, str]) -> tuple:
    return gr.update(visible=query["view"] == "tiles"), *render(query)


def build() -> tuple[FigurePage, gr.Button]:
    """Lays the page out inside the caller's tab; returns what ``wire`` needs."""
    with gr.Row(elem_classes=["fa-page", "fa-run-page", "fa-figure-page"]):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=232):
            sizes = controls(shown_controls({}, PLAIN), sliders=False)
            take = gr.Button("Take the Step page's Problem", elem_classes="fa-secondary")
        with gr.Column(elem_classes="fa-main"):
            with gr.Row(elem_classes="fa-views"):
                names = [(label, key) for key, label in VIEWS.items()]
                view = gr.Radio(names, value="levels", label="View", show_label=False)
                metrics = [(name, key) for key, name in METRICS.items()]
                metric = gr.Radio(
                    metrics, value="tflops", label="Shown", show_label=False, visible=False
                )
            head = block(awaited())
            with gr.Row(elem_classes="fa-plots"):
                plots = [plot(), plot()]
            tail = block()
            chosen = {"view": view, "show": metric, **sizes}
            outputs, choices = [metric, head, *plots, tail], {"view": VIEWS, "show": METRICS}
            page = FigurePage("memory", PREFIX, PLAIN, chosen, picker(), outputs, choices, _all)
    return page, take


def wire(page: FigurePage, take: gr.Button, tab: gr.Tab) -> None:
    """Every change of a control shows the view anew; the address holds what is shown."""
    page.wire(tab)
    took = page.shows(
        take.click,
        page.picked,
        call("takeProblem", page.picked, page.picked),
        lambda values: query_of(values) | taken(values["picked"]),
    )
    took.then(None, [*page.inputs.values()], None, js=page.remember(asks=False))
