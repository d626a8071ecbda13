"""Render the recorded times of the backward pass, our kernels beside PyTorch's and FA-4."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from explainer.base import kinds
from explainer.base.records import load
from explainer.base.texts import Texts
from explainer.views.templates import render

NAME = "backward_nvidia_h200"
METHODS = Texts("run").named("backward.methods")


def render_recorded() -> Markup:
    """Render the GPU time of the backward pass alone at the twelve points, and how many times as
    long PyTorch's two backends and FA-4 take as the Hopper kernel."""
    points: dict[tuple, dict[str, Mapping]] = {}
    rows = load(NAME)["rows"]
    for row in rows:
        if "median_ms" in row:
            points.setdefault((row["d"], row["n"], row["mask"]), {})[row["method"]] = row
    kind = kinds.recorded(NAME)
    return render("run/backward", kind=kind, points=sorted(points.items()), first=rows[0])
