"""The recorded times of masks and scores: the shape of the record, and what is said of it."""

from __future__ import annotations

import pytest

from explainer.base.records import load
from explainer.views import masks_report
from kernels.spec.masks import parse
from kernels.spec.scores import parse as parse_score

RECORD = load(masks_report.NAME)
CASES = ("causal", "window", "prefix", "documents", "softcap", "alibi")


def test_every_case_has_both_contenders_on_one_problem():
    assert RECORD["device"] and RECORD["date"] and RECORD["versions"]["triton"]
    rows = {(row["case"], row["method"]): row for row in RECORD["rows"]}
    assert set(rows) == {(case, method) for case in CASES for method in ("hopper", "flex")}
    for case in CASES:
        ours, flex = rows[case, "hopper"], rows[case, "flex"]
        for key in ("n", "d", "mask", "score", "dtype", "batch", "heads"):
            assert ours[key] == flex[key]
        assert parse(ours["mask"]) and parse_score(ours["score"]).text == ours["score"]
        assert ours["p20_ms"] <= ours["median_ms"] <= ours["p80_ms"]


@pytest.mark.parametrize("case", CASES)
def test_the_card_says_time_and_ratio_of_each(case):
    ours, flex = (
        next(r for r in RECORD["rows"] if (r["case"], r["method"]) == (case, method))
        for method in ("hopper", "flex")
    )
    text = masks_report.render_recorded()
    assert f"{flex['median_ms'] / ours['median_ms']:.2f} ×" in text
    assert f"({ours['p20_ms']:.3g}–{ours['p80_ms']:.3g})" in text
    assert f"recorded on {RECORD['device']}, {RECORD['date']}" in text
    assert all(f"at N = {row['n']:,}" in text for row in RECORD["lengths"])
