"""Render the recorded times of masks and scores, our Hopper kernel beside FlexAttention."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from explainer.base import kinds
from explainer.base.amounts import milliseconds
from explainer.base.records import load
from explainer.base.texts import Texts
from explainer.views.templates import render

t = Texts("run")
NAME = "masks_nvidia_h200"


def render_recorded() -> Markup:
    """Render each case's time and how many times as fast it is; then a window at growing N."""
    record = load(NAME)
    cases: dict[str, dict[str, Mapping]] = {}
    for row in record["rows"]:
        cases.setdefault(row["case"], {})[row["method"]] = row
    return render(
        "run/masks",
        kind=kinds.recorded(NAME),
        pairs=[(case["hopper"], case["flex"]) for case in cases.values() if len(case) > 1],
        lengths=", ".join(
            t("masks.length", time=milliseconds(row["median_ms"]), n=row["n"])
            for row in record["lengths"]
        ),
    )
