"""Of what kind a figure is stands beside it: on every page that the server makes, in every view and
mode, in every chart, table and file. None can be made without."""

from __future__ import annotations

import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest

from explainer.base.kinds import WORDS, computed
from explainer.base.paths import ASSETS
from explainer.engine import recorded
from explainer.engine.requests import RunRequest, Sweep
from explainer.pages import memory, parallel
from explainer.pages.plots import ALONE, HALF, HALL, PAIRED, update_plot
from explainer.problem import Problem
from explainer.views import downloads, figures, run_details, run_report, sweep_report
from explainer.views.templates import ENVIRONMENT
from tests.strict_html import Strict
from tests.views.test_run_report import KIND, interpreted, live
from tests.views.test_views import PAGES, VIEWS

SHOWN = [(*place, "forward") for place in VIEWS]
SHOWN += [(name, v, "backward") for name, page in PAGES.items() for v in page.PASSED]
WORKLOADS = {
    "defaults": {},
    "Turing": {"card": "t4"},
    "shortest": {"n": "16"},
    "longest and widest": {"n": "65536", "d": "256", "br": "256", "bc": "256", "card": "a100"},
    "fp32": {"dtype": "fp32", "card": "rtxpro6000", "n": "512"},
    "ragged": {"n": "1000", "d": "80", "br": "100", "bc": "33", "mask": "causal"},
    "many heads": {"b": "16", "h": "64", "n": "1024"},
    "thin": {"d": "1", "br": "16", "bc": "256", "h": "1", "card": "rtx4090"},
    "unmeasured": {"card": "t4", "dtype": "fp32", "mask": "causal"},
    "not compiled": {"card": "b200"},
    "presentation": {"mode": "present"},
}
CASES = [(*place, changed) for place in SHOWN for changed in WORKLOADS.values()]
CASES += [("memory", "tiles", "forward", {"show": metric}) for metric in memory.METRICS]
CASES += [("parallel", "real", "forward", {"case": case}) for case in parallel.CASES]
ORIGIN = re.compile(r"\b(computed|counted|measured|simulated|recorded|peak)\b")


class Shown(Strict):
    """Of every card and headline the text of its badges; what stands outside of any."""

    def __init__(self, text: str) -> None:
        self.kinds: list[list[str]] = []  # of each card and headline, in order
        self.tables: list[list[str]] = []  # of each table, the badges of the card around it
        self.files: list[dict] = []
        super().__init__(text)

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        given = dict(attrs)
        kind = given.get("class", "")
        if tag == "section" or "fa-finding" in kind:
            self.kinds.append([])
        if tag == "table" or "fa-run-bar" in kind:
            assert any(name == "section" for name, _ in self.open), "no card around a figure"
            self.tables.append(self.kinds[-1])
        if "data-rows" in given:
            self.files.append(json.loads(given["data-rows"]))

    def handle_data(self, data):
        super().handle_data(data)
        if self.open and "fa-kind" in self.open[-1][1].get("class", ""):
            self.kinds[-1].append(data)


def shared(source: str, **values: object) -> str:
    """What the macros of the shared template make."""
    macros = '{% from "shared.html" import badge, card, figures, finding %}'
    return ENVIRONMENT.from_string(macros + source).render(values)


def is_said(text: str) -> bool:
    return text.startswith(WORDS)


def check(text: str) -> Shown:
    """Every card, headline, table and file of this HTML says of what kind its figures are."""
    found = Shown(text)
    assert all(kinds and all(map(is_said, kinds)) for kinds in found.kinds), found.kinds
    assert all(found.tables)
    for data in found.files:
        for row in data.get("table", data["rows"]):
            assert is_said(row["kind"]), row
    return found


def check_chart(figure: go.Figure) -> None:
    meta, title = figure.layout.meta, figure.layout.title.text
    assert is_said(meta["kind"])
    assert meta["kind"] in title.replace("<br>", " ")
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        if axis.type == "log":
            assert "log scale" in axis.title.text, "a logarithmic axis says so"


@pytest.mark.parametrize(("page", "view", "pass_", "changed"), CASES)
def test_every_view_renders_any_workload(page, view, pass_, changed):
    """And every mark of a chart says where it is from."""
    head, left, right, tail = PAGES[page].render({"view": view, "pass": pass_} | changed)
    found = check(head + tail)
    assert (f'data-testid="{page}"' in head + tail) or "fa-run-refused" in head
    assert found.kinds or "fa-run-refused" in head or "fa-finding" in head
    assert not {"script", "iframe", "object"} & {tag for tag, _ in found.tags}
    words = " ".join(found.words)
    assert not re.search(r"\b(nan|inf|None|True|False)\b", words), words
    for update in (left, right):
        figure = update["value"]
        assert update["visible"] == (figure is not None)
        if figure is None:
            continue
        check_chart(figure)
        for trace in figure.data:
            assert trace.hoverinfo == "text" and len(trace.hovertext) == len(trace.y)
            assert all(ORIGIN.search(t) and "nan" not in t for t in trace.hovertext), trace.name
            is_span = trace.type == "bar" and trace.base is not None
            values = np.array(trace.x if is_span else trace.y, float)
            assert np.isfinite(values).all() and (values >= 0).all()


def test_a_chart_of_any_height_has_a_place_in_the_stylesheet():
    sheet = (ASSETS / "css" / "run.css").read_text(encoding="utf-8")
    (curve, *_) = figures.plot_sweep(recorded.load()["rows"], KIND)
    updates = [update_plot(curve)]
    updates += [update_plot(go.Figure(curve), "present", height) for height in (HALL, HALF, ALONE)]
    updates += parallel.render({"view": "grid"})[1:3]
    for update in updates:
        _, place = update["elem_classes"]
        height = update["value"].layout.height
        assert f".fa-plot.{place} {{ --fa-tall: {height}px; }}" in sheet


RUNS = {
    "live": live(),
    "interpreted": interpreted("naive", "fa2", refused=("hopper",)),
    "recorded": recorded.nearest(
        RunRequest(
            Problem(n=1024, d=64, block_q=64, block_k=64, dtype="bf16", inputs="random"),
            batch=16,
            heads=32,
        )
    ),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("mode", ["", "present"])
def test_run(name, mode):
    result = RUNS[name]
    show = run_report.render_recorded if name == "recorded" else run_report.render_report
    check(show(result) + run_details.render_details(result))
    kind = downloads.kind_of(result)
    assert kind.text.startswith("recorded on" if name == "recorded" else "measured on")
    for figure in (figures.plot_errors(result["rows"], kind), figures.plot_roofline(result, kind)):
        if figure is not None:
            check_chart(update_plot(figure, mode)["value"])


@pytest.mark.parametrize("mode", ["", "present"])
def test_sweep(mode):
    wanted, rows = recorded.swept(Sweep(64, "bf16", ("naive", "fa2")))
    found = check(sweep_report.render_table(rows, wanted, KIND, {"source": "recorded"}))
    assert found.files[0]["table"][0]["kind"] == str(KIND)
    for figure in figures.plot_sweep(rows, KIND):
        check_chart(update_plot(figure, mode, wide=PAIRED)["value"])


@pytest.mark.parametrize(
    "made",
    [
        lambda kind: shared("{{ badge(kind) }}", kind=kind),
        lambda kind: shared(
            '{% call card("x", "title", kind, "remark") %}{% endcall %}', kind=kind
        ),
        lambda kind: shared('{{ finding("1 GiB.", kind) }}', kind=kind),
        lambda kind: shared('{{ figures("x", kind, ("a",), [{"a": 1}], "") }}', kind=kind),
        lambda kind: shared('{{ figures("x", [kind], ("a",), [{"a": 1}], "") }}', kind=kind),
        lambda kind: figures.apply_style(go.Figure(), 320, "title", kind, "remark"),
        lambda kind: downloads.sweep_rows(
            [{"method": "fa2"} | dict.fromkeys(("n", "d", "batch", "heads", "mask", "dtype"))],
            kind,
            {},
        ),
    ],
)
def test_nothing_is_made_without_a_kind(made):
    assert "computed" in str(made(computed()))
    for remark in ("", "computed", None):
        with pytest.raises(TypeError):
            made(remark)
