"""Render the levels of a card's memory: sizes and rates to scale."""

from __future__ import annotations

from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory.levels import NO_RATE, Level, hbm_tensors, levels_of
from explainer.memory.workload import Workload
from explainer.views.drawings import square_side
from explainer.views.templates import render
from explainer.views.view import View

t = Texts("memory")


def render_levels(w: Workload) -> View:
    """Render each level as an area, its rate as a bar, both to scale, and what FA-2 uses of it."""
    levels = levels_of(w)
    hbm, kind = levels[-1].size_bytes, computed(t("levels.keeps"))
    standard = sum(n for _, n in hbm_tensors(w, "standard"))
    rows = [
        {
            "level": level.name,
            "bytes": level.size_bytes,
            "bytes_per_sm": level.per_sm_bytes,
            "bytes_per_s": None if level.bytes_per_s is None else round(level.bytes_per_s),
            "used": level.used_bytes,
            "size_kind": str(level.size_kind),
            "rate_kind": str(level.rate_kind or NO_RATE),
        }
        for level in levels
    ]
    return View(
        render(
            "memory/levels",
            w=w,
            levels=levels,
            kind=kind,
            hbm=hbm,
            standard=standard,
            fastest=max(level.bytes_per_s or 0 for level in levels),
            drawings={level.key: _drawing(level, hbm, standard) for level in levels},
            kinds=[
                level.size_kind + (level.rate_kind or level.size_kind) + kind for level in levels
            ],
            rows=rows,
        )
    )


def _drawing(level: Level, hbm: int, standard: int) -> dict:
    """Lay out a level as a square, with what is in all of it: (class, side) of each area."""
    side = square_side(level.size_bytes, hbm)
    areas = [] if level.per_sm_bytes else [("fa-used", level.used_bytes)]
    if level.key == "hbm":
        areas.insert(0, ("fa-ghost", standard))
    sides = [(style, min(side, square_side(n_bytes, hbm))) for style, n_bytes in areas]
    return {"side": side, "areas": sides}
