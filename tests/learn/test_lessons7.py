"""Group 7: where it does not help, which backend, a profile, other answers."""

from __future__ import annotations

import numpy as np
import pytest

from explainer.algorithms import traffic
from explainer.base.cards import CARDS
from explainer.base.records import load
from explainer.learn import backend_choice, ecosystem, limits, others, profiling
from explainer.learn.backend_choice import Input
from explainer.learn.registry import widgets
from explainer.problem import Problem
from tests.learn.scenes import LESSONS, asked, cases, default_hides_the_answer, words


def test_speeds_are_the_records():
    rate = {
        (r["method"], r["n"]): r["tflops"]
        for r in load()["rows"]
        if (r["d"], r["mask"], r["dtype"]) == (64, "full", "fp16")
        and "tflops" in r
        and r.get("pass", "forward") == "forward"
    }
    for n, gain in limits.faster().items():
        assert gain == pytest.approx(rate["fa2", n] / rate["naive", n], rel=0.02)
        assert gain > 3, "never slower, as the words say"
    weights = 24 * 4096**2 * 32 * 256 / 761.7e12  # 64 sequences of 32 heads of 64 are 32 of 4,096
    for method, ms in (("naive", 0.456), ("fa2", 0.1353)):
        share = 1e-3 * ms / (1e-3 * ms + weights)
        assert limits.time_share(method, 256) == pytest.approx(share, rel=1e-3)
        assert f"{share:.0%}" in LESSONS["when_not"].more
    tiles = {
        r["block_m"]: r["tflops"]
        for r in load("tiles_nvidia_h200")["rows"]
        if r["d"] == 64 and not r["causal"] and r["block_m"] == r["block_n"]
    }
    assert limits.speeds() == tiles


def test_the_least_of_cross_attention_is_that_of_the_loops():
    p = Problem(n=4096, d=64, block_q=64, block_k=64, mask="full", dtype="fp16", inputs="random")
    whole, once = limits.least(4096, 4096)
    assert once == traffic.compulsory_bytes(4096, 64, "fp16", "fa2") == 4 * 4096 * 64 * 2 + 4096 * 4
    assert whole == traffic.compulsory_bytes(p.n, p.d, "fp16", "standard")
    apart, fused = limits.least(4096, 77)
    assert apart - fused == 4 * 4096 * 77 * 2 - 4096 * 4  # S and P, out and back; no lse
    figures = limits._figures()
    few = asked("when_not")[1]
    assert few.options[few.answer][0] == f"About {apart / fused:.1f}" == "About 3.3"
    assert figures["self"] > 60


def test_scattered_scores_touch_the_tiles():
    rng = np.random.default_rng(0)
    for share in (0.0001, 0.0005, 0.05):
        keep = rng.random((1024, 1024)) < share
        found = keep.reshape(16, 64, 16, 64).any(axis=(1, 3)).mean()
        assert found == pytest.approx(limits.touched(share), abs=0.08)
    first = asked("when_not")[0]
    assert first.options[first.answer][0] == "Hardly any" and 1 - limits.touched(0.05) < 1e-9


def test_the_share_of_a_layer_by_counting_flops():
    n, h = 4096, limits.HIDDEN
    attention, projections, feed_forward = 4 * n * n * h, 4 * 2 * n * h * h, 2 * 2 * n * h * 4 * h
    share = attention / (attention + projections + feed_forward)
    assert limits.layer_share(n) == pytest.approx(share)


INPUT = Input(90, "bf16", 64, "none", False)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({}, "cudnn"),
        ({"sm": 80}, "flash"),
        ({"sm": 75}, "math"),
        ({"dtype": "fp32"}, "efficient"),
        ({"sm": 75, "dtype": "fp16"}, "efficient"),
        ({"d": 50, "dtype": "fp32"}, "math"),
        ({"sm": 80, "mask": "any"}, "efficient"),
        ({"mask": "any"}, "cudnn"),
        ({"dtype": "fp32", "shared": True}, "math"),
        ({"sm": 80, "d": 50}, "flash"),
        ({"d": 256}, "cudnn"),
        ({"sm": 80, "mask": "any", "shared": True}, "math"),
    ],
)
def test_the_backend_is_what_the_sourced_table_says(change, wanted):
    x = Input(**vars(INPUT) | change)
    assert backend_choice.chosen(x) == wanted
    (picture, _) = widgets()["backends"].compute(**vars(x))
    assert f"{backend_choice.NAMES[wanted]} runs." in picture["words"]


def test_the_checks_are_the_rows_of_the_table():
    rows = {row[0]: row for row in ecosystem.BACKENDS["rows"]}
    assert rows["fp32"][1:5] == ["no", "no", "yes", "yes"]
    assert rows["any other attn_mask"][1:5] == ["no", "yes", "yes", "yes"]
    assert rows["fewer heads in K and V (GQA)"][3].startswith("no")
    for name, column in (("flash", 1), ("cudnn", 2), ("efficient", 3)):
        no_fp32 = bool(backend_choice.refusal(name, Input(90, "fp32", 64, "none", False)))
        assert no_fp32 == (rows["fp32"][column] == "no")
        no_mask = bool(backend_choice.refusal(name, Input(90, "bf16", 64, "any", False)))
        assert no_mask == (rows["any other attn_mask"][column] == "no")


def test_the_profile_is_the_record():
    rows = {
        r["order"]: r
        for r in load("traffic_nvidia_h200")["rows"]
        if (r["n"], r["d"], r["side"]) == (4096, 64, 64) and r["order"] != "fa1"
    }
    dram = [
        sum(c["dram_read"] + c["dram_write"] for c in rows[order]["measured_bytes"].values())
        for order in ("standard", "fa2")
    ]
    assert profiling.totals(0) == tuple(dram) and f"{dram[0] / dram[1]:.0f} times" in words(
        "profile", step=2
    )
    bounds, last = profiling.bounds(), words("profile", step=4)
    assert bounds["standard"][0] > bounds["standard"][1], "bound by memory"
    assert bounds["fa2"][0] < bounds["fa2"][1], "not bound by memory"
    assert CARDS["h200"].sms > 4096 // 64, "too few programs to be bound by products"
    for order, row in rows.items():
        took = sum(row["measured_ns"].values()) / 1e3
        assert took > 3 * max(bounds[order]) and f"took {took:.0f}" in last
    scores = rows["standard"]["measured_bytes"]["scores_kernel"]
    assert scores["dram_write"] < 4096**2 * 2 / 2, "most of S is still in L2 when its kernel ends"
    many = profiling.timed("fa2", 4096)["median_ms"]
    assert f"{many:.2f} ms" in last and many * 1e3 > 128 * bounds["fa2"][1]
    assert bounds["fa2"][1] == pytest.approx(4 * 4096**2 * 64 / 761.7e12 * 1e6, rel=1e-3)


def test_the_rates_asked_for_are_the_records():
    for question, (method, n) in zip(asked("profile"), cases("profile"), strict=True):
        row = profiling.timed(method, n)
        assert question.answer == pytest.approx(row["tflops"], rel=0.01)
        assert f"{row['median_ms']:.3f} ms" in question.words
        by_words = 4 * row["batch"] * row["heads"] * n * n * 64 / 1e12
        typed = by_words / (round(row["median_ms"], 3) / 1000)
        assert question.answer == float(f"{typed:.3g}"), "what the slide's own numbers give"
        careless = by_words / (round(row["median_ms"], 2) / 1000)
        assert abs(careless - question.answer) <= question.tolerance
    default_hides_the_answer("profile")


@pytest.mark.parametrize("layout", others.LAYOUTS)
def test_the_ring_computes_each_causal_tile_once(layout):
    tiles = [t for step in range(4) for found in others.work(layout, step) for t in found]
    assert sorted(tiles) == [(i, j) for i in range(8) for j in range(i + 1)]
    assert sorted(b for found in others.blocks_of_gpus(layout) for b in found) == [*range(8)]


def test_pairing_early_and_late_blocks_evens_the_ring():
    assert others.longest("zigzag") == others.total() / 4 < others.longest("rows")


def test_the_backend_asked_for_differs_each_time():
    right = [q.options[q.answer][0] for q in asked("backends")]
    assert right == ["memory-efficient", "flash (FA-2)", "math"]
    for q in asked("backends"):
        why = [why for _, why in q.options]
        assert [k for k, x in enumerate(why) if "next in line" in x or "first" in x] == [q.answer]
        assert ("first" in why[q.answer]) == (q.answer == 0)
