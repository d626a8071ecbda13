"""The pages of figures in a copy of the lesson without a server: their views, made beforehand for
a few workloads each, by the same functions as the app's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import plotly.graph_objects as go

from explainer.base.kinds import recorded as from_record
from explainer.base.texts import Texts
from explainer.engine import recorded
from explainer.engine.requests import AUTO, RunRequest, Sweep
from explainer.memory.workload import KEYS, Workload
from explainer.views import (
    downloads,
    figures,
    memory_views,
    parallel_views,
    run_details,
    run_report,
    sweep_report,
)
from explainer.views.charts import large

say = Texts("web")
METHODS = ("naive", "fa2", "hopper", "sdpa_flash", "sdpa_cudnn", "fa4")
# So many charts in a lecture hall → px of height, characters of a heading; three stand one above
# the other.
HALL = {0: (0, 0), 1: (460, 84), 2: (460, 42), 3: (460, 84)}
View = tuple[str, list[go.Figure], str]  # HTML above, figures, HTML below
Query = Mapping[str, str]


def _drawn(charts: list[go.Figure]) -> list[object]:
    return [json.loads(chart.to_json()) for chart in charts]


@dataclass(frozen=True)
class StaticPage:
    """A page of figures. ``shown`` says of which views a second row of choices, of this key, is."""

    name: str
    title: str
    prefix: str  # of its keys in the address
    plain: Query  # what is not said in an address
    views: Query
    workloads: tuple[tuple[str, Query], ...]  # label, what of it is not plain
    made: Callable[[Query], View]
    lacks: str  # what only the app can do here
    key: str = ""
    shown: tuple[str, ...] = ()
    choices: Query | None = None
    alone: tuple[str, ...] = ()  # the views that know no workload

    def asked(self) -> list[dict[str, str]]:
        """The queries whose views are held; each says the view, the choice and the workload."""
        found = []
        for view in self.views:
            more = [{self.key: choice} for choice in self.choices] if view in self.shown else [{}]
            held = self.workloads[:1] if view in self.alone else self.workloads
            found += [{"view": view} | one | dict(load) for one in more for _, load in held]
        return found

    def held(self) -> dict[str, object]:
        """{what is asked, as assets/js/offline/static_pages.js writes it: the view}."""
        answers = {}
        for query in self.asked():
            head, charts, tail = self.made({**self.plain, **query})
            charts = [chart for chart in charts if chart is not None]
            found = {"head": str(head), "tail": str(tail), "charts": _drawn(charts)}
            size = HALL[min(len(charts), 3)]
            found["hall"] = _drawn([large(go.Figure(chart), *size) for chart in charts])
            answers["&".join(f"{key}={query[key]}" for key in sorted(query))] = found
        return answers

    def told(self) -> dict[str, object]:
        """What the browser must know to ask."""
        return {
            "name": self.name,
            "prefix": self.prefix,
            "plain": dict(self.plain),
            "key": self.key,
            "shown": self.shown,
            "alone": self.alone,
            "workloads": [dict(load) for _, load in self.workloads],
        }


def _workload(query: Query) -> Workload:
    return Workload.from_query({key: query[key] for key in KEYS})


def _memory(query: Query) -> View:
    return memory_views.render_view(query["view"], _workload(query), query["show"])


def _parallel(query: Query) -> View:
    if query["view"] == "real":
        return parallel_views.render_case(query["case"])
    return parallel_views.render_view(query["view"], _workload(query))


@cache
def _sweep(d: int) -> View:
    """It has every length and both masks in it."""
    near, rows = recorded.swept(Sweep(d=d, methods=METHODS))
    record, kind = recorded.load(), from_record()
    about = {"source": "recorded", "when": record["date"]}
    about |= {key: record[key] for key in ("device", "versions")}
    text = say("sweep", d=near.d, dtype=near.dtype, recorded=recorded.about())
    line = sweep_report.note(text, rows=rows, sweep=near, clocks=recorded.clocks_of(rows))
    return line, list(figures.sweep(rows, kind)), sweep_report.figures(rows, near, kind, about)


def _run(query: Query) -> View:
    if query["view"] == "sweep":
        return _sweep(int(query["d"]))
    mine = {key: query[key] for key in ("n", "d", "mask", "dtype")}
    asked = {"br": AUTO, "bc": AUTO, "data": "random", "methods": ",".join(METHODS)}
    old = recorded.nearest(recorded.measured_like(RunRequest.from_query(mine | asked)))
    roof = figures.roofline(old, downloads.kind(old))
    return run_report.recorded(old), [roof], run_details.details(old)


CAUSAL = (say("causal"), {"mask": "causal"})
LONG = ("N = 16,384", {"n": "16384"})
WIDE = ("d = 128", {"d": "128"})

STATIC_PAGES = (
    StaticPage(
        "run",
        "Run",
        "run-",
        {"view": "run", "n": "4096", "d": "64", "mask": "full", "dtype": "bf16"},
        say.named("run.views"),
        ((say("load"), {}), CAUSAL, WIDE, LONG),
        _run,
        say("run.lacks"),
    ),
    StaticPage(
        "memory",
        "Memory",
        "mem-",
        memory_views.PLAIN,
        memory_views.VIEWS,
        ((say("load.on"), {}), CAUSAL, LONG, WIDE, ("A100", {"card": "a100"})),
        _memory,
        say("memory.lacks"),
        "show",
        ("tiles",),
        memory_views.METRICS,
    ),
    StaticPage(
        "parallel",
        "Parallel",
        "par-",
        parallel_views.PLAIN,
        parallel_views.VIEWS,
        ((say("load.on"), {}), CAUSAL, WIDE, (say("heads", n=4), {"h": "4"})),
        _parallel,
        say("parallel.lacks"),
        "case",
        ("real",),
        parallel_views.CASES,
        ("real", "warps"),
    ),
)
