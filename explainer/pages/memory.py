"""The Memory page: where the bytes live, how often they travel, when they no longer fit."""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.memory import traffic_series
from explainer.pages.picker import Picker
from explainer.pages.plots import plot, shown
from explainer.pages.workload import (
    KEYS,
    QUICK,
    answer,
    controls,
    opened,
    parse,
    query_of,
    remember,
    said_by,
    settling,
    taken,
)
from explainer.pages.workload import shown as shown_controls
from explainer.views import charts, levels_report, memory_report, parallel_report, tiles_report

PREFIX = "mem-"
VIEWS = {"levels": "Levels", "trips": "Round trips", "traffic": "Traffic", "capacity": "Capacity",
         "tiles": "Tiles"}  # fmt: skip
EXTRA = ("view", "show")
PLAIN = {
    "view": "levels", "show": "tflops", "card": "h200", "n": "4096", "d": "64", "br": "64",
    "bc": "64", "b": "1", "h": "16", "mask": "full", "dtype": "fp16",
}  # fmt: skip

# A tile of the map goes into the controls at once, and from there to the server.
TILE = """
(text, ...now) => ["br", "bc"].map((key, k) => new URLSearchParams(text).get(key) ?? now[k])
"""
# The Step page's Problem goes to the server, and after the controls whether this is a lecture hall.
TAKE = """
(text, ...given) => {
  window.faSite.asks(1);
  return [window.faSite.query(), ...given.slice(0, -1), window.faSite.hall()];
}
"""


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
        metric = metric if metric in tiles_report.METRICS else "tflops"
        return tiles_report.tiles(w, metric), shown(None), shown(None), ""
    if view == "traffic":
        by_n, by_side = traffic_series.by_n(w), traffic_series.by_side(w)
        tile = f"tiles of {w.block_q} × {w.block_k}"
        left = charts.traffic(by_n, "n", "Traffic against N", f"one head, {tile}", w.n)
        right = charts.traffic(
            by_side, "side", "Traffic against the tile", f"one head, N = {w.n:,}", w.block_q
        )
        tail = memory_report.traffic_tail(w, [*by_n, *by_side])
        return memory_report.traffic_head(w), shown(left, hall), shown(right, hall), tail
    if view == "capacity":
        rows = memory_report.capacity_rows(w)
        chart = charts.capacity(rows, w.card, w.n)
        tail = memory_report.capacity_tail(w, rows)
        return memory_report.capacity_head(w), shown(chart, hall), shown(None), tail
    return levels_report.levels(w), shown(None), shown(None), ""


def _extra(query: Mapping[str, str]) -> list[str]:
    view, show = query.get("view"), query.get("show")
    return [
        view if view in VIEWS else PLAIN["view"],
        show if show in tiles_report.METRICS else PLAIN["show"],
    ]


def _all(query: Mapping[str, str], given: tuple) -> tuple:
    """What the controls are to show, and the view; ``given`` is what they showed when asked."""
    extra, now = _extra(query), given[:-1]
    said = [*extra, *shown_controls(query, PLAIN, now[len(EXTRA) :])]
    return answer(now, said), gr.update(visible=extra[0] == "tiles"), *render(query)


def build() -> dict:
    """Lays the page out inside the caller's tab; returns what ``wire`` needs."""
    with gr.Row(elem_classes=["fa-page", "fa-run-page", "fa-figure-page"]):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=232):
            sizes = controls(shown_controls({}, PLAIN), sliders=False)
            take = gr.Button("Take the Step page's Problem", elem_classes="fa-secondary")
        with gr.Column(elem_classes="fa-main"):
            with gr.Row(elem_classes="fa-views"):
                names = [(label, key) for key, label in VIEWS.items()]
                view = gr.Radio(names, value="levels", label="View", show_label=False)
                metrics = [(name, key) for key, (name, _, _) in tiles_report.METRICS.items()]
                metric = gr.Radio(
                    metrics, value="tflops", label="Shown", show_label=False, visible=False
                )
            head = gr.HTML("", apply_default_css=False, elem_classes="fa-run-block")
            with gr.Row(elem_classes="fa-plots"):
                plots = [plot(), plot()]
            tail = gr.HTML("", apply_default_css=False, elem_classes="fa-run-block")
            picker = Picker()
    return {"inputs": [view, metric, *sizes, picker], "outputs": [head, *plots, tail],
            "picker": picker, "take": take}  # fmt: skip


def wire(page: dict, tab: gr.Tab) -> None:
    """Every change of a control shows the view anew; the address holds what is shown."""
    inputs, outputs, picker = page["inputs"], page["outputs"], page["picker"]
    *chosen, _ = inputs
    told = (PREFIX, (*EXTRA, *KEYS), PLAIN)
    js = remember(*told, asks=True)

    def changed(*given: object) -> tuple:
        return _all(query_of(EXTRA, given), given)

    def asked(text: str, *given: object) -> tuple:
        return _all(said_by(text), given)

    def took(text: str, *given: object) -> tuple:
        return _all(query_of(EXTRA, given) | taken(text), given)

    blocks = [chosen[len(EXTRA) + KEYS.index(key)] for key in ("br", "bc")]
    now = [chosen[1], *outputs]
    said, follow = settling(chosen)
    how = {"fn": changed, "inputs": inputs, "outputs": [said, *now], "js": js, **QUICK}
    how["trigger_mode"] = "always_last"
    gr.on([control.input for control in chosen], **how).then(**follow)
    pick = picker.picked(None, [picker, *blocks], blocks, js=TILE)
    pick.then(**how).then(**follow)
    opening = opened("memory", PREFIX, [*_extra({}), *shown_controls({}, PLAIN)])
    said, follow = settling(chosen)
    opens = tab.select(asked, [picker, *inputs], [said, *now], js=opening, **QUICK)
    opens.then(**follow)
    said, follow = settling(chosen)
    take = page["take"].click(took, [picker, *inputs], [said, *now], js=TAKE, **QUICK)
    take.then(**follow).then(None, inputs, None, js=remember(*told, asks=False))
