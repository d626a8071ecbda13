"""Render what the order of additions does to dQ."""

from __future__ import annotations

from markupsafe import Markup

from explainer.base.kinds import simulated
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel.additions import compare_orders, of_workload
from explainer.views.templates import render

t = Texts("parallel")
MATTERS = 3  # parts from which the order matters: a + b = b + a in fp32 as well


def render_additions(w: Workload) -> Markup:
    """Render the same gradient in several orders of its additions: how many of its bits differ."""
    found = compare_orders(of_workload(w))
    kind = simulated(t("additions.kind"))
    return render("parallel/additions", found=found, kind=kind, is_few=found.most < MATTERS)
