"""The recorded times of masks and scores, our Hopper kernel beside FlexAttention, as HTML."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.base import kinds
from explainer.base.amounts import milliseconds
from explainer.base.records import load
from explainer.views.html import card, div, table, words
from explainer.views.work_report import short

NAME = "masks_nvidia_h200"
LONGEST = 22  # characters of a mask in the table


def recorded() -> str:
    """Each case in time and how many times as fast; then a window at growing N."""
    record = load(NAME)
    cases: dict[str, dict[str, Mapping]] = {}
    for row in record["rows"]:
        cases.setdefault(row["case"], {})[row["method"]] = row
    pairs = [(case["hopper"], case["flex"]) for case in cases.values() if len(case) > 1]
    lines = [
        (_asked(ours), _time(ours), _time(flex), f"{flex['median_ms'] / ours['median_ms']:.2f} ×")
        for ours, flex in pairs
    ]
    head = ("Mask and score", "FA-2 Hopper", "FlexAttention, compiled", "times as fast")
    one = pairs[0][0]
    shape = (
        f"N = {one['n']:,}, d = {one['d']}, {one['dtype']}, B × H = {one['batch']} × {one['heads']}"
    )
    lengths = ", ".join(
        f"{milliseconds(row['median_ms'])} at N = {row['n']:,}" for row in record["lengths"]
    )
    note = (
        f"The median of {one['runs']} runs and, in ms, the 20th to 80th percentile, by CUDA "
        "events; both kernels in turns, L2 emptied before each run."
    )
    grown = f"The window at growing N, by the Hopper kernel: {lengths}." if lengths else ""
    return div(
        "fa-run",
        card(
            "masks-recorded", "Masks and scores on record", kinds.recorded(NAME), shape,
            table(head, lines, "The Hopper kernel beside FlexAttention by mask and score"),
            *([words(grown)] if grown else []), words(note, "fa-fine"),
        ),
        data_testid="masks-recorded",
    )  # fmt: skip


def _asked(row: Mapping) -> str:
    mask = short(row["mask"], LONGEST)
    return mask if row["score"] == "none" else f"{mask}, {row['score']}"


def _time(row: Mapping) -> str:
    spread = f"{row['p20_ms']:.3g}–{row['p80_ms']:.3g}"
    return f"{milliseconds(row['median_ms'])} ({spread})"
