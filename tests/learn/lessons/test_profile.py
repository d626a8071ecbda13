"""The lesson: the profile is the record, and the question's rates are its own numbers'."""

import pytest

from explainer.base.records import load
from explainer.learn.lessons.profile import lesson
from tests.learn.scenes import asked, block, cases, find_mark


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
    assert lesson.totals(0) == tuple(dram)
    assert f"{dram[0] / dram[1]:.0f} times" in block("profile", step=2)["words"]
    bounds = lesson.bounds()
    assert bounds["standard"][0] > bounds["standard"][1], "memory-bound"
    assert bounds["fa2"][0] < bounds["fa2"][1], "not memory-bound"
    for order, row in rows.items():
        took = sum(row["measured_ns"].values()) / 1e3
        assert took > 3 * max(bounds[order])
        lanes = find_mark("profile", "timeline")["lanes"]
        _, lane = lanes[order == "fa2"]
        assert sum(s["end"] - s.get("start", 0) for s in lane) == pytest.approx(took, abs=1e-3)
    scores = rows["standard"]["measured_bytes"]["scores_kernel"]
    assert scores["dram_write"] < 4096**2 * 2 / 2, "most of S is still in L2 when its kernel ends"


def test_the_rates_asked_for_are_the_records():
    for question, (method, n) in zip(asked("profile"), cases("profile"), strict=True):
        row = lesson.timed(method, n)
        assert question.answer == pytest.approx(row["tflops"], rel=0.01)
        assert f"{row['median_ms']:.3f} ms" in question.words
        by_words = 4 * row["batch"] * row["heads"] * n * n * 64 / 1e12
        typed = by_words / (round(row["median_ms"], 3) / 1000)
        assert question.answer == float(f"{typed:.3g}"), "what the slide's own numbers give"
        shares = [value / typed for value, _ in question.mistakes]
        assert shares == pytest.approx([1 / row["batch"] / row["heads"], 1 / 2, 1 / 4], rel=0.01)
