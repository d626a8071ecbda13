"""Of what kind a figure is stands beside it: on every page that the server makes, in every view and
mode, in every chart, table and file. None can be made without."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import pytest

from explainer.base.kinds import WORDS, computed
from explainer.base.paths import ASSETS
from explainer.engine import recorded
from explainer.engine.requests import RunRequest, Sweep
from explainer.pages.plots import ALONE, HALF, HALL, PAIRED, update_plot
from explainer.problem import Problem
from explainer.views import downloads, figures, run_details, run_report, sweep_report
from explainer.views.templates import ENVIRONMENT
from tests.strict_html import Strict
from tests.views.test_run_report import KIND, interpreted, live


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


def test_a_chart_of_any_height_has_a_place_in_the_stylesheet():
    sheet = (ASSETS / "css" / "run.css").read_text(encoding="utf-8")
    (curve, *_) = figures.plot_sweep(recorded.load()["rows"], KIND)
    updates = [update_plot(curve)]
    updates += [update_plot(go.Figure(curve), "present", height) for height in (HALL, HALF, ALONE)]
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
