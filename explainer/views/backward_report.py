"""The recorded times of the backward pass, our kernels beside PyTorch's and FA-4, as HTML."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.base import kinds
from explainer.base.amounts import milliseconds
from explainer.base.records import load
from explainer.views.html import card, div, table, words

NAME = "backward_nvidia_h200"
METHODS = {
    "hopper": "FA-2 Hopper",
    "hopper_deterministic": "in turns",
    "readable": "FA-2 readable",
    "readable_deterministic": "two passes",
    "sdpa_flash": "SDPA flash",
    "sdpa_cudnn": "SDPA cuDNN",
    "fa4": "FA-4",
}
BESIDE = {"sdpa_flash": "× flash", "sdpa_cudnn": "× cuDNN", "fa4": "× FA-4"}


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
    head = ("d, N, mask", *METHODS.values(), *BESIDE.values())
    one = rows[0]
    note = (
        f"The backward pass alone, {one['dtype']}, 16 k tokens, hidden 2048: the median of "
        f"{one['runs']} runs by CUDA events, all in turns, L2 emptied before each. In turns and in "
        "two passes the bits of dQ are the same at each call."
    )
    return div(
        "fa-run",
        card(
            "backward-recorded", "The backward pass on record", kinds.recorded(NAME), "",
            table(head, lines, "Times of the backward pass by d, N and mask"),
            words(note, "fa-fine"),
        ),
        data_testid="backward-recorded",
    )  # fmt: skip


def _times(point: Mapping[str, Mapping], name: str) -> str:
    return f"{point[name]['median_ms'] / point['hopper']['median_ms']:.2f}"
