"""The recorded times of the backward pass: the record's twelve points, and what is said of them."""

from __future__ import annotations

import itertools
import math

from explainer.base.records import load
from explainer.views import backward_report
from kernels.measure.twelve_points import DIMENSIONS, LENGTHS, MASKS

RECORD = load(backward_report.NAME)
POINTS = set(itertools.product(DIMENSIONS, LENGTHS, MASKS))
BY = {(r["method"], r["d"], r["n"], r["mask"]): r for r in RECORD["rows"] if "median_ms" in r}


def test_every_method_has_the_twelve_points_and_is_right():
    for name in backward_report.METHODS:
        assert {key[1:] for key in BY if key[0] == name} == POINTS
    for row in BY.values():
        assert row["p20_ms"] <= row["median_ms"] <= row["p80_ms"]
        flops = 10 * row["batch"] * row["heads"] * row["n"] ** 2 * row["d"]
        flops /= 2 if row["mask"] == "causal" else 1
        assert math.isclose(row["tflops"], flops / row["median_ms"] / 1e9, rel_tol=0.01)
        for key, error in row["error"].items():
            assert error <= 2 * row["naive_error"][key]


def test_the_card_says_times_and_ratios():
    text = backward_report.render_recorded()
    for d, n, mask in POINTS:
        ours, cudnn = BY["hopper", d, n, mask], BY["sdpa_cudnn", d, n, mask]
        assert f"{d}, {n:,}, {mask}" in text
        assert f"<td>{cudnn['median_ms'] / ours['median_ms']:.2f}</td>" in text
    assert f"recorded on {RECORD['device']}, {RECORD['date']}" in text
