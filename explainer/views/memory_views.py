"""The views of the Memory page by name: a workload → (HTML above, figures, HTML below)."""

from __future__ import annotations

import plotly.graph_objects as go

from explainer.base.texts import Texts
from explainer.memory import traffic_series
from explainer.memory.workload import Workload
from explainer.views import charts, html, levels_report, memory_report, tiles_report, work_report

say = Texts("memory")
VIEWS = say.named("views")
PASSED = ("traffic", "capacity", "work")  # the views that show either pass
METRICS = say.named("metrics")
PLAIN = {
    "view": "levels",
    "show": "tflops",
    "pass": "forward",
    "card": "h200",
    "n": "4096",
    "d": "64",
    "br": "64",
    "bc": "64",
    "b": "1",
    "h": "16",
    "mask": "full",
    "dtype": "fp16",
}


def made(
    view: str, w: Workload, metric: str, pass_: str = "forward"
) -> tuple[str, list[go.Figure], str]:
    """The view of this name, the first for another one; ``metric`` of the tiles; ``pass_`` of those
    that show either, forward for another one."""
    pass_ = pass_ if pass_ in html.PASSES else PLAIN["pass"]
    if view == "trips":
        return memory_report.trips(w), [], ""
    if view == "work":
        return work_report.render_work(w, pass_), [], ""
    if view == "tiles":
        return tiles_report.tiles(w, metric if metric in METRICS else PLAIN["show"]), [], ""
    if view == "traffic":
        by_n, by_side = (f(w, pass_) for f in (traffic_series.by_n, traffic_series.by_side))
        kind, rows = memory_report.traffic_kind, [*by_n, *by_side]
        tile = say("traffic.by_n_remark", br=w.block_q, bc=w.block_k)
        left = charts.traffic(by_n, "n", say("traffic.by_n"), kind(by_n), tile, w.n)
        right = charts.traffic(
            by_side,
            "side",
            say("traffic.by_side"),
            kind(by_side),
            say("traffic.by_side_remark", n=w.n),
            w.block_q,
        )
        tail = memory_report.traffic_tail(w, rows, pass_)
        return memory_report.traffic_head(w, rows, pass_), [left, right], tail
    if view == "capacity":
        rows = memory_report.capacity_rows(w, pass_)
        chart = charts.capacity(rows, w.card, memory_report.capacity_kind(rows), w.n, pass_)
        head = memory_report.capacity_head(w, pass_)
        return head, [chart], memory_report.capacity_tail(w, rows, pass_)
    return levels_report.levels(w), [], ""
