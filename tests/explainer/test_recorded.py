"""Recorded figures are shown as recorded, and are the file's own."""

from __future__ import annotations

import pytest

from explainer import recorded, report
from explainer.problem import Problem


@pytest.mark.parametrize(
    ("problem", "n", "d"),
    [
        (Problem(), 256, 64),
        (Problem(n=5000, d=120, block_q=64, block_k=64, dtype="fp16"), 4096, 128),
        (Problem(n=16384, d=64, block_q=64, block_k=64, causal=False, order="fa1"), 16384, 64),
    ],
)
def test_nearest(problem, n, d):
    rows, record = recorded.nearest(problem)
    assert problem.order in rows and "hopper" in rows
    for name, row in rows.items():
        assert row in record["rows"] and row["contender"] == name
        assert (row["n"], row["d"]) == (n, d)
        assert row["mask"] == ("causal" if problem.causal else "full")
        assert row["p20_ms"] <= row["median_ms"] <= row["p80_ms"]


def test_the_twelve_points_meet_the_aim():
    points = recorded.load()["twelve_points"]
    assert len(points["points"]) == 12
    assert points["least_to_flash"] >= 1.30
    assert points["geomean_to_cudnn"] >= 0.92 and points["least_to_cudnn"] >= 0.80


def test_the_page_says_recorded_and_where():
    text = report._fast(
        {
            "query": Problem().to_query(),
            "fast": {"interpreter_s": 0.5},
            "tiles": 10,
            "machine": {"device": "CPU, Triton interpreter"},
        }
    )
    assert "Recorded on NVIDIA H200, 2026-" in text and "torch 2.11" in text
    assert "not a speed: interpreter" in text
