"""What the Memory and Parallel pages show are the functions' own numbers: in sentences, tables,
downloads and charts."""

from __future__ import annotations

import json
from html import unescape

import numpy as np
import pytest

from explainer.algorithms import traffic
from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.schedule import schedule
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.memory import capacity, levels, tile_choices, traffic_series
from explainer.memory.workload import Workload
from explainer.pages import memory, parallel
from explainer.parallel import durations, real_schedules
from kernels.spec.fields import PASSES
from tests import by_hand
from tests.strict_html import Strict


def listed(html: str) -> list[dict]:
    """The rows that a view offers for download."""
    (data,) = (given["data-rows"] for _, given in Strict(html).tags if "data-rows" in given)
    return json.loads(data)["rows"]


def text_of(html: str) -> str:
    return " ".join(Strict(html).words)


def points(*plots: dict) -> list:
    return sorted(y for plot in plots if plot["value"] for t in plot["value"].data for y in t.y)


def test_levels_are_the_functions_numbers():
    w = Workload(card="a100", n=5000, batch=2)
    head, *_ = memory.render({"view": "levels", "card": "a100", "n": "5000", "b": "2"})
    for row, level in zip(listed(head), levels.levels_of(w), strict=True):
        rate = level.bytes_per_s and round(level.bytes_per_s)
        found = (row["bytes"], row["used"], row["bytes_per_s"])
        assert found == (level.size_bytes, level.used_bytes, rate)
        assert amount(level.size_bytes) in text_of(head)


def test_round_trips_are_the_functions_numbers():
    head, *_ = memory.render({"view": "trips", "n": "4096", "dtype": "fp32", "h": "1"})
    w = Workload(n=4096, dtype="fp32", heads=1)
    for order in traffic_series.ORDERS:
        moved = sum(r["read"] + r["written"] for r in listed(head) if r["order"] == order)
        assert moved == traffic.compulsory_bytes(4096, 64, "fp32", order)
        assert amount(traffic.total(w.problem(order))) in text_of(head)
        if order != "fa1":
            assert f"launch{'es' * (order == 'standard')}, {amount(moved)}" in text_of(head)
    assert "S alone is 64 MiB per head" in unescape(head)  # 4,096² scores of 4 bytes


@pytest.mark.parametrize("pass_", PASSES)
def test_points_of_traffic_tables_and_downloads_are_the_same_rows(pass_):
    w = Workload(n=4096, d=64)
    head, left, right, tail = memory.render({"view": "traffic", "pass": pass_})
    rows = [*traffic_series.by_n(w, pass_), *traffic_series.by_side(w, pass_)]
    known = [{k: v for k, v in r.items() if k != "source"} | {"kind": r["source"]} for r in rows]
    assert listed(tail) == known and points(left, right) == sorted(r["bytes"] for r in rows)
    assert ("backward pass" in text_of(head)) == (pass_ == "backward") != ("easured:" in head)


def test_what_ncu_measured_stands_beside_what_is_computed():
    w = Workload(n=4096, d=64)
    head, *_, tail = memory.render({"view": "traffic"})
    for d in traffic_series.distances(w):
        for size in (d.requested, d.l2, d.compulsory, d.dram):
            assert amount(size) in text_of(tail)
        assert d.why_dram in unescape(tail)
    gain = traffic_series.gains(w)[traffic_series.DRAM]
    assert f"{gain:.3g} times fewer at DRAM" in text_of(head)
    assert "{} × {}".format(*tile_choices.paper_rule(w)) in text_of(tail)
    assert all(what in text_of(tail) for what in CONVENTIONS.values())


def test_a_legend_names_what_is_drawn_and_no_more():
    nothing = {"view": "traffic", "card": "t4", "mask": "causal", "dtype": "fp32"}
    for query, is_measured in (({"view": "traffic"}, True), (nothing, False)):
        head, left, right, tail = memory.render(query)
        words = text_of(head + tail)
        charts = [update["value"].layout.meta["kind"] for update in (left, right)]
        assert "thick: requested, computed" in words and "thin: once per kernel, computed" in words
        assert ("Nothing was measured" in words) != is_measured
        for origin in ("L2, measured", "DRAM, measured", "requested, counted", "at DRAM:"):
            assert (origin in words) == is_measured, origin
        assert all(("recorded on" in kind) == is_measured for kind in charts)


@pytest.mark.parametrize("pass_", PASSES)
def test_capacity_is_the_functions_numbers(pass_):
    w = Workload(card="t4", d=128, batch=4)
    query = {"view": "capacity", "card": "t4", "d": "128", "b": "4", "pass": pass_}
    head, left, _, tail = memory.render(query)
    at_work = {"forward": ("standard", "fused"), "backward": ("standard_back", "fused_back")}
    longest = {
        (card, form): f"{capacity.round_down(capacity.longest(w, form, card)):,}"
        for card in CARDS
        for form in at_work[pass_]
    }
    assert all(n in text_of(tail) for n in longest.values())
    assert f"N = {longest['t4', at_work[pass_][0]]}" in text_of(head)
    rows = [r["bytes"] for r in capacity.rows(w, pass_)]
    assert [r["bytes"] for r in listed(tail)] == rows and points(left) == sorted(rows)
    assert ("Kept between the passes" in text_of(tail)) == (pass_ == "backward")


def test_the_backward_passs_bytes_are_the_sums_of_its_loops():
    """Every transfer of every visit, added up here; and the forward pass's beside them."""
    query = {"view": "traffic", "pass": "backward", "n": "512", "br": "64", "bc": "32"}
    *_, tail = memory.render(query | {"mask": "causal"})
    w = Workload(n=512, block_q=64, block_k=32, causal=True)
    for order in traffic_series.ORDERS:
        for pass_ in PASSES:
            visits = schedule(w.problem(order), pass_)
            requested = sum(t.nbytes for visit in visits for t in visit.transfers)
            assert amount(requested) in text_of(tail), (order, pass_)
        own = {"side": None, "n": 512, "order": order, "origin": "requested", "bytes": requested}
        assert [r for r in listed(tail) if own.items() <= r.items()]


def test_the_work_of_the_backward_pass_is_five_products():
    query = {"view": "work", "n": "1000", "mask": "causal&window:99,0"}
    heads = [memory.render(query | {"pass": p})[0] for p in ("backward", "forward")]
    for b, f in zip(*map(listed, heads), strict=True):
        assert b["flops"] == 2.5 * f["flops"] and b["bytes"] > f["bytes"]
        assert (b["scores"], b["tiles"]) == (f["scores"], f["tiles"])
    w = Workload(n=1000, mask="causal&window:99,0")
    assert listed(heads[0])[0]["flops"] == 5 * 2 * w.d * by_hand.seen(w.problem("fa2")).sum()
    words = text_of(heads[0])
    assert all(f" {product} " in words for product in ("dO Vᵀ", "dSᵀ Q", "dS K", "Pᵀ dO"))


@pytest.mark.parametrize("metric", memory.METRICS)
def test_tiles_are_the_functions_numbers(metric):
    w = Workload(d=128, block_q=128, causal=True)
    query = {"view": "tiles", "show": metric, "d": "128", "br": "128", "mask": "causal"}
    head, *_ = memory.render(query)
    for row, cell in zip(listed(head), tile_choices.cells(w), strict=True):
        for key in ("block_m", "block_n", "registers", "shared_bytes", "textbook_bytes", "tflops"):
            assert row[key] == cell.get(key)
    chosen = [given for tag, given in Strict(head).tags if given.get("aria-pressed") == "true"]
    assert [given["data-pick"] for given in chosen] == ["br=128&bc=64"]
    best = tile_choices.best(w)
    assert f"{best['block_m']} × {best['block_n']} with {best['tflops']:.0f} TFLOP/s" in head
    launches = text_of(head).count("N = 4,096, B × H = 4 × 16, fp16")
    assert launches == 1 + (metric == "tflops"), "headline and map"


def test_a_card_that_was_not_compiled_for_says_so():
    head, *_ = memory.render({"view": "tiles", "card": "b200"})
    assert "B200 SXM (sm_100) is not among the cards" in text_of(head)


@pytest.mark.parametrize("mask", ["full", "causal"])
def test_the_grids_timelines_are_the_simulated_schedules(mask):
    head, left, right, tail = parallel.render({"view": "grid", "n": "2048", "mask": mask})
    w = Workload(n=2048, block_q=128, mask=mask)
    for plot, order in ((left, "fa1"), (right, "fa2")):
        s = durations.schedule(w, order)
        bars = sorted(
            (b, b + x, y)
            for t in plot["value"].data
            for b, x, y in zip(t.base, t.x, t.y, strict=True)
        )
        place = s.sm * s.slots + s.slot
        np.testing.assert_allclose(bars, sorted(zip(s.start, s.end, place, strict=True)))
        assert f"{100 * s.busy:.0f} %" in text_of(head) and f"{s.waves:.2f}" in text_of(head)
        ends = [r["end"] for r in listed(tail) if r["order"] == order]
        assert max(ends) == pytest.approx(s.makespan, abs=1e-3)
    assert ("the longest first" in text_of(tail)) == (mask == "causal")


@pytest.mark.parametrize("case", [*real_schedules.CASES, "<b>"])
def test_the_real_schedule_says_its_disagreement(case):
    head, left, right, _ = parallel.render({"view": "real", "case": case})
    found = real_schedules.of_case(case if case in real_schedules.CASES else "fa2-full")
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
