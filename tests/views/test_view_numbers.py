"""What the Memory and Parallel pages show are the functions' own numbers: in sentences, tables,
downloads and charts."""

from __future__ import annotations

import json
from html import unescape

import numpy as np
import pytest

from explainer.algorithms import traffic
from explainer.algorithms.algorithm import CONVENTIONS
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.memory import capacity, levels, tile_choices, traffic_series
from explainer.memory.workload import Workload
from explainer.pages import memory, parallel
from explainer.parallel import durations, real_schedules
from tests.views.test_views import Strict


def listed(html: str) -> list[dict]:
    """The rows that a view offers for download."""
    (data,) = (given["data-rows"] for _, given in Strict(html).tags if "data-rows" in given)
    return json.loads(data)["rows"]


def text_of(html: str) -> str:
    return " ".join(Strict(html).words)


def test_levels_are_the_functions_numbers():
    w = Workload(card="a100", n=5000, batch=2)
    head, *_ = memory.render({"view": "levels", "card": "a100", "n": "5000", "b": "2"})
    for row, level in zip(listed(head), levels.levels(w), strict=True):
        assert row["bytes"] == level.size_bytes and row["kept"] == level.held_bytes
        rate = level.bytes_per_s
        assert row["bytes_per_s"] == (None if rate is None else round(rate))
        assert f"{amount(level.size_bytes)}" in text_of(head)


def test_round_trips_are_the_functions_numbers():
    head, *_ = memory.render({"view": "trips", "n": "4096", "dtype": "fp32", "h": "1"})
    w = Workload(n=4096, dtype="fp32", heads=1)
    sums = dict.fromkeys(traffic_series.ORDERS, 0)
    for row in listed(head):
        sums[row["order"]] += row["read"] + row["written"]
        assert row["kind"].startswith("computed") and row["origin"] == "least"
    for order in traffic_series.ORDERS:
        assert sums[order] == traffic.least(4096, 64, "fp32", order)
        assert amount(traffic.total(w.problem(order))) in text_of(head)
        if order != "fa1":
            assert f"least {amount(sums[order])}" in text_of(head)
    assert "S alone is 64 MiB per head" in unescape(head)  # FACTS.md


def test_traffic_points_and_tables_are_the_same_rows():
    w = Workload(n=4096, d=64)
    _, left, right, tail = memory.render({"view": "traffic"})
    rows = [*traffic_series.by_n(w), *traffic_series.by_side(w)]
    known = [{k: v for k, v in r.items() if k != "source"} | {"kind": r["source"]} for r in rows]
    assert listed(tail) == known
    drawn = sorted(y for plot in (left, right) for trace in plot["value"].data for y in trace.y)
    assert drawn == sorted(r["bytes"] for r in rows)
    for d in traffic_series.distances(w):
        for size in (d.asked, d.l2, d.least, d.dram):
            assert amount(size) in text_of(tail)
        assert d.why_dram in unescape(tail)
    for what in CONVENTIONS.values():
        assert what in text_of(tail)
    gains = traffic_series.gains(w)
    head, *_, bare = memory.render({"view": "traffic", "mask": "causal"})
    assert "Nothing was measured" in text_of(bare) and "Measured" not in text_of(head)
    said = text_of(memory.render({"view": "traffic"})[0])
    assert f"{gains[traffic_series.DRAM]:.3g} times at DRAM" in said
    br, bc = tile_choices.paper_rule(w)
    assert f"{br} × {bc}" in text_of(tail)


def test_capacity_is_the_functions_numbers():
    w = Workload(card="t4", d=128, batch=4)
    query = {"view": "capacity", "card": "t4", "d": "128", "b": "4"}
    head, left, _, tail = memory.render(query)
    for key in CARDS:
        for form in capacity.SHORT:
            assert f"{capacity.rounded(capacity.longest(w, form, key)):,}" in text_of(tail)
    far = capacity.rounded(capacity.longest(w, "standard", "t4"))
    assert f"N = {far:,}" in text_of(head)
    rows = listed(tail)
    assert [r["bytes"] for r in rows if not r["measured"]] == [
        size for form in capacity.FORMS for _, size in capacity.curve(w, form)
    ]
    measured = capacity.measured(w)
    assert measured and [r["bytes"] for r in rows if r["measured"]] == [m[2] for m in measured]
    drawn = sorted(y for trace in left["value"].data for y in trace.y)
    assert drawn == sorted(r["bytes"] for r in rows)


@pytest.mark.parametrize("metric", ["tflops", "shared", "registers", "spills", "blocks"])
def test_tiles_are_the_functions_numbers(metric):
    w = Workload(d=128, block_q=128, causal=True)
    query = {"view": "tiles", "show": metric, "d": "128", "br": "128", "mask": "causal"}
    head, *_ = memory.render(query)
    cells = tile_choices.cells(w)
    for row, cell in zip(listed(head), cells, strict=True):
        for key in ("block_m", "block_n", "registers", "shared_bytes", "textbook_bytes", "tflops"):
            assert row[key] == cell.get(key)
    chosen = [given for tag, given in Strict(head).tags if given.get("aria-pressed") == "true"]
    assert [given["data-pick"] for given in chosen] == ["br=128&bc=64"]
    best = tile_choices.best(w)
    assert f"{best['block_m']} × {best['block_n']} with {best['tflops']:.0f} TFLOP/s" in head


@pytest.mark.parametrize("causal", [False, True])
def test_the_grids_timelines_are_the_simulated_schedules(causal):
    mask = "causal" if causal else "full"
    head, left, right, tail = parallel.render({"view": "grid", "n": "2048", "mask": mask})
    w = Workload(n=2048, block_q=128, causal=causal)
    for plot, order in ((left, "fa1"), (right, "fa2")):
        s = durations.schedule(w, order)
        bars = sorted((b, b + x, y) for t in plot["value"].data
                      for b, x, y in zip(t.base, t.x, t.y, strict=True))  # fmt: skip
        place = s.sm * s.slots + s.slot
        expected = sorted(zip(s.start, s.end, place, strict=True))
        np.testing.assert_allclose(bars, expected)
        assert f"{100 * s.busy:.0f} %" in text_of(head) and f"{s.waves:.2f}" in text_of(head)
        rows = [r for r in listed(tail) if r["order"] == order]
        assert max(r["end"] for r in rows) == pytest.approx(s.makespan, abs=1e-3)
    assert ("the longest first" in text_of(tail)) == causal


@pytest.mark.parametrize("case", real_schedules.CASES)
def test_the_real_schedule_says_its_disagreement(case):
    head, left, right, _ = parallel.render({"view": "real", "case": case})
    found = real_schedules.of_case(case)
    (off,) = (given["data-off"] for _, given in Strict(head).tags if "data-off" in given)
    assert float(off) == pytest.approx(found.makespan, abs=1e-6)
    assert f"{abs(100 * found.makespan):.1f} %" in text_of(head)
    for plot, s, origin in (
        (left, found.simulated, "simulated"),
        (right, found.real, "recorded on NVIDIA H200"),
    ):
        ends = [b + x for t in plot["value"].data for b, x in zip(t.base, t.x, strict=True)]
        assert max(ends) == pytest.approx(s.end.max())
        assert all(origin in text for t in plot["value"].data for text in t.hovertext)


def test_a_bad_case_is_the_default_one():
    assert (
        parallel.render({"view": "real", "case": "<b>"})[0]
        == (parallel.render({"view": "real", "case": "fa2-full"})[0])
    )


def test_a_legend_names_what_is_drawn_and_no_more():
    nothing = {"view": "traffic", "card": "t4", "mask": "causal", "dtype": "fp32"}
    for query, is_measured in (({"view": "traffic"}, True), (nothing, False)):
        head, left, right, tail = memory.render(query)
        words = text_of(head + tail)
        charts = [update["value"].layout.meta["kind"] for update in (left, right)]
        assert "thick: asked, computed" in words and "thin: least, computed" in words
        for said in ("measured at L2", "measured at DRAM", "asked, counted", "at DRAM:"):
            assert (said in words) == is_measured, said
        assert all(("recorded on" in kind) == is_measured for kind in charts)


def test_a_tiles_speed_names_its_launch():
    head, *_ = memory.render({"view": "tiles", "d": "128"})
    assert text_of(head).count("N = 4,096, B × H = 4 × 16, fp16") == 2, "headline and map"


def test_a_card_that_was_not_compiled_for_says_so():
    head, *_ = memory.render({"view": "tiles", "card": "b200"})
    assert "B200 SXM (sm_100) is not among the cards" in text_of(head)
