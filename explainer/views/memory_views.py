"""The views of the Memory page by name."""

from __future__ import annotations

from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.views.levels_report import render_levels
from explainer.views.memory_report import render_capacity, render_traffic, render_trips
from explainer.views.tiles_report import render_tiles
from explainer.views.view import View
from explainer.views.work_report import render_work
from kernels.spec.fields import PASSES

t = Texts("memory")
VIEWS = t.named("views")
METRICS = t.named("metrics")
PASSED = {"traffic": render_traffic, "capacity": render_capacity, "work": render_work}
PLAIN = {"view": "levels", "show": "tflops", "pass": PASSES[0]} | Workload().to_query()


def render_view(view: str, w: Workload, metric: str, pass_: str = PASSES[0]) -> View:
    """Render the view of this name, the first for another one; ``metric`` of the tiles; ``pass_``
    of those that show either (PASSED), forward for another one."""
    if view in PASSED:
        return PASSED[view](w, pass_ if pass_ in PASSES else PLAIN["pass"])
    if view == "tiles":
        return render_tiles(w, metric)
    return render_trips(w) if view == "trips" else render_levels(w)
