"""The pages of figures in a copy of the lesson without a server.

The app's own functions make their views beforehand, for a few workloads each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import plotly.graph_objects as go

from explainer.base.kinds import recorded as from_record
from explainer.base.texts import Texts
from explainer.engine import recorded
from explainer.engine.requests import AUTO, RunRequest, Sweep
from explainer.views import (
    downloads,
    figures,
    run_details,
    run_report,
    sweep_report,
)
from explainer.views.charts import enlarge

t = Texts("web")
METHODS = ("naive", "fa2", "hopper", "sdpa_flash", "sdpa_cudnn", "fa4")
# {charts in a view: height in px and characters of a heading in presentation mode}; three charts
# stand one above the other.
PRESENT = {0: (0, 0), 1: (460, 84), 2: (460, 42), 3: (460, 84)}
View = tuple[str, Sequence[go.Figure | None], str]  # HTML above, figures, HTML below
Query = Mapping[str, str]


def _to_json(charts: list[go.Figure]) -> list[object]:
    return [json.loads(str(chart.to_json())) for chart in charts]


@dataclass(frozen=True)
class StaticPage:
    """A page of figures: its views, and the workloads for which each is made."""

    name: str
    title: str
    prefix: str  # of its keys in the address
    defaults: Query  # of the keys that an address leaves out
    views: Query
    workloads: tuple[tuple[str, Query], ...]  # label, what differs from the defaults
    make: Callable[[Query], View]
    lacks: str  # what only the app can do here

    def queries(self) -> list[dict[str, str]]:
        """Return a query with view and workload for each view that is made."""
        return [{"view": view} | dict(load) for view in self.views for _, load in self.workloads]

    def views_by_query(self) -> dict[str, object]:
        """Return {query, as assets/js/offline/static_pages.js writes it: its view}."""
        views = {}
        for query in self.queries():
            head, found, tail = self.make({**self.defaults, **query})
            charts = [chart for chart in found if chart is not None]
            size = PRESENT[min(len(charts), 3)]
            views["&".join(f"{key}={query[key]}" for key in sorted(query))] = {
                "head": str(head),
                "tail": str(tail),
                "charts": _to_json(charts),
                "present": _to_json([enlarge(go.Figure(chart), *size) for chart in charts]),
            }
        return views

    def to_json(self) -> dict[str, object]:
        """Return what the browser needs to form a query."""
        return {
            "name": self.name,
            "prefix": self.prefix,
            "plain": dict(self.defaults),
            "workloads": [dict(load) for _, load in self.workloads],
        }


@cache
def _sweep(d: int) -> View:
    """Return the recorded sweep, which has every length and both masks."""
    near, rows = recorded.swept(Sweep(d=d, methods=METHODS))
    text = t("sweep", d=near.d, dtype=near.dtype, recorded=recorded.about())
    note, table = sweep_report.render_recorded(text, near, rows)
    return note, list(figures.plot_sweep(rows, from_record())), table


def _run(query: Query) -> View:
    if query["view"] == "sweep":
        return _sweep(int(query["d"]))
    mine = {key: query[key] for key in ("n", "d", "mask", "dtype")}
    request = {"br": AUTO, "bc": AUTO, "data": "random", "methods": ",".join(METHODS)}
    old = recorded.nearest(recorded.measured_like(RunRequest.from_query(mine | request)))
    assert old is not None  # the workloads of the copy are all recorded
    roof = figures.plot_roofline(old, downloads.kind_of(old))
    return run_report.render_recorded(old), [roof], run_details.render_details(old)


CAUSAL = (t("causal"), {"mask": "causal"})
LONG = ("N = 16,384", {"n": "16384"})
WIDE = ("d = 128", {"d": "128"})

STATIC_PAGES = (
    StaticPage(
        "run",
        "Run",
        "run-",
        {"view": "run", "n": "4096", "d": "64", "mask": "full", "dtype": "bf16"},
        t.named("run.views"),
        ((t("load"), {}), CAUSAL, WIDE, LONG),
        _run,
        t("run.lacks"),
    ),
)
