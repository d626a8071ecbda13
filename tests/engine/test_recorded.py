"""Recorded figures are shown as recorded, and are the file's own."""

from __future__ import annotations

from html import unescape

import pytest

from explainer.engine import recorded
from explainer.engine.requests import METHODS, RunRequest, Sweep
from explainer.problem import Problem
from explainer.views import run_details, run_report


@pytest.mark.parametrize(
    ("problem", "n", "d"),
    [
        (Problem(), 256, 64),
        (Problem(n=5000, d=120, block_q=64, block_k=64, dtype="fp16"), 4096, 128),
        (Problem(n=16384, d=64, block_q=64, block_k=64, causal=False, order="fa1"), 16384, 64),
    ],
)
def test_nearest(problem, n, d):
    found = recorded.nearest(RunRequest(problem, ("naive", problem.order)))
    assert {"naive", problem.order, "hopper"} <= {row["method"] for row in found["rows"]}
    mask = "causal" if problem.causal else "full"
    file = {
        row["method"]: row
        for row in recorded.load()["rows"]
        if (row["n"], row["d"], row["mask"], row["dtype"]) == (n, d, mask, found["query"]["dtype"])
    }
    for row in found["rows"]:
        theirs = file[row["method"]]
        if "refused" in row:
            assert row["refused"] == theirs["refused"]
            continue
        for key in ("median_ms", "p20_ms", "p80_ms", "tflops", "peak_bytes", "error"):
            assert row[key] == theirs[key]
        assert row["p20_ms"] <= row["median_ms"] <= row["p80_ms"]


def test_the_twelve_points_meet_the_aim():
    points = recorded.load()["twelve_points"]
    assert len(points["points"]) == 12
    assert points["least_to_flash"] >= 1.30
    assert points["geomean_to_cudnn"] >= 0.92 and points["least_to_cudnn"] >= 0.80


def test_the_page_says_recorded_and_where():
    found = recorded.nearest(RunRequest(Problem()))
    for text in (run_report.recorded(found), run_details.details(found)):
        assert "ecorded on NVIDIA H200, 2026-" in text and "torch 2.11" in text


def test_what_was_asked_stands_beside_what_is_shown():
    text = unescape(run_report.recorded(recorded.nearest(RunRequest(Problem()))))
    assert "You asked for N = 16, d = 8, causal, fp32, B × H = 1 × 1." in text
    assert "nearest problem measured there: N = 256, d = 64, causal, bf16," in text
    same = Problem(n=4096, d=64, block_q=64, block_k=64, dtype="bf16", inputs="random")
    found = recorded.nearest(RunRequest(same, ("naive",), 4, 32))
    assert "What you asked for was measured there" in run_report.recorded(found)


def test_a_recorded_sweep_is_the_files_rows():
    near, rows = recorded.swept(Sweep(100, "fp32", ("naive", "hopper"), 4096))
    assert (near.d, near.dtype) == (128, "bf16")
    lengths = {row["n"] for row in rows}
    assert lengths == {256, 512, 1024, 2048, 4096}
    assert {row["method"] for row in rows} == {"naive", "hopper"}
    assert len(rows) == 2 * 2 * len(lengths)
    assert all(row in recorded.load()["rows"] for row in rows)


def test_refusals_were_recorded_too():
    _, rows = recorded.swept(Sweep(64, "bf16", tuple(METHODS)))
    refused = [row for row in rows if "refused" in row]
    assert {row["method"] for row in refused} >= {"naive", "standard"}
    assert all("median_ms" not in row for row in refused)
