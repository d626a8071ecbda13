"""The recorded times of the backward pass, our kernels beside PyTorch's and FA-4, as HTML."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.base import kinds
from explainer.base.amounts import milliseconds
from explainer.base.records import load
from explainer.base.texts import Texts
from explainer.views.html import card, div, table, words

NAME = "backward_nvidia_h200"
say = Texts("run")
METHODS = say.named("backward.methods")
BESIDE = say.named("backward.times")


def recorded() -> str:
    """GPU time of the backward pass alone at the twelve points, and how many times as long
    PyTorch's two backends and FA-4 take as the Hopper kernel."""
    points: dict[tuple, dict[str, Mapping]] = {}
    rows = load(NAME)["rows"]
    for row in rows:
        if "median_ms" in row:
            points.setdefault((row["d"], row["n"], row["mask"]), {})[row["method"]] = row
    lines = [
        (
            f"{d}, {n:,}, {mask}",
            *(milliseconds(point[name]["median_ms"]) for name in METHODS),
            *(_times(point, name) for name in BESIDE),
        )
        for (d, n, mask), point in sorted(points.items())
    ]
    head = (say("backward.first"), *METHODS.values(), *BESIDE.values())
    note = say("backward.note", dtype=rows[0]["dtype"], runs=rows[0]["runs"])
    return div(
        "fa-run",
        card(
            "backward-recorded",
            say("backward"),
            kinds.recorded(NAME),
            "",
            table(head, lines, say("backward.caption")),
            words(note, "fa-fine"),
        ),
        data_testid="backward-recorded",
    )


def _times(point: Mapping[str, Mapping], name: str) -> str:
    return f"{point[name]['median_ms'] / point['hopper']['median_ms']:.2f}"
