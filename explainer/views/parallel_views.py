"""The views of the Parallel page by name."""

from __future__ import annotations

from explainer.algorithms.registry import LABELS
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import real_schedules
from explainer.views.decode_report import render_decode
from explainer.views.parallel_report import render_grid, render_recorded, render_warps
from explainer.views.view import View
from kernels.spec.fields import PASSES

t = Texts("parallel")
VIEWS = t.named("views")
CASES = {
    case: t("case.name", order=LABELS[order], mask="causal" if causal else "full")
    for case, (order, causal) in real_schedules.CASES.items()
}
PLAIN = {"view": "grid", "case": next(iter(CASES)), "pass": PASSES[0]}
PLAIN |= Workload(block_q=128).to_query() | {"sliders": "1"}
PASSED = ("grid",)  # the views that show either pass


def render_case(case: str) -> View:
    """Render one of ``CASES``, the first for another name."""
    return render_recorded(case if case in CASES else PLAIN["case"])


def render_view(view: str, w: Workload, pass_: str = "forward") -> View:
    """Render the view of this name; the warps', which has a player of its own, for another one.
    ``pass_`` of the grid, forward for another one. Raises ProblemError for a launch that cannot be
    shown."""
    if view == "grid":
        return render_grid(w, pass_ if pass_ in PASSES else PLAIN["pass"])
    return render_decode(w) if view == "decode" else render_warps()
