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
PASSED = ("traffic", "capacity", "work")  # the views that show either pass
PLAIN = {
    "view": "levels",
    "show": "tflops",
    "pass": "forward",
    "card": "h200",
    "n": "4096",
    "d": "64",
    "br": "64",
    "bc": "64",
    "b": "1",
    "h": "16",
    "mask": "full",
    "dtype": "fp16",
}
RENDERERS = {
    "levels": render_levels,
    "trips": render_trips,
    "traffic": render_traffic,
    "capacity": render_capacity,
    "tiles": render_tiles,
    "work": render_work,
}


def render_view(view: str, w: Workload, metric: str, pass_: str = "forward") -> View:
    """Render the view of this name, the first for another one; ``metric`` of the tiles; ``pass_``
    of the views that show either, forward for another one."""
    pass_ = pass_ if pass_ in PASSES else PLAIN["pass"]
    return RENDERERS.get(view, render_levels)(w, metric, pass_)
