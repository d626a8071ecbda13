"""A run on its way: a lane for each method with the tiles that its kernel has finished."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.tiling import SKIPPED
from explainer.base.texts import Texts
from explainer.engine.job import Lane
from explainer.engine.requests import METHODS, ORDERS, RunRequest
from explainer.engine.results import MOST_CELLS
from explainer.problem import Problem
from kernels.spec.formats import ITEMSIZE
from kernels.spec.launches import section

t = Texts("run_result")
PENDING, DONE, NOW, ABSENT = "o", "d", "n", "."  # of a cell of a map
MOST_TILES = 1 << 20  # of a map: a millisecond
DRAWN = 6  # lanes at most; those of the methods without tiles come last


@dataclass(frozen=True)
class Work:
    """How far a kernel is: its map's ``cells`` row by row, tiles ``done`` of ``all`` in all heads,
    the ``row`` of the map being worked on, and what it is called."""

    cells: str
    done: int
    all: int
    row: int | None = None
    label: str = ""


@lru_cache(maxsize=32)
def _shape(problem: Problem) -> tuple[np.ndarray, np.ndarray, int]:
    """Return which cells of the map have work, (rows, columns) bool, the tiles that each row block
    visits, (Tr,), and how many row blocks a cell stands for."""
    fine = tiling.kinds(problem) != SKIPPED
    down, across = (-(-size // MOST_CELLS) for size in fine.shape)
    return tiling.shrink(fine, down, across), fine.sum(axis=1), down


def work_of(request: RunRequest, method: str, lane: Lane | None) -> Work:
    """How far a kernel with tiles is, by what the worker has reported of it, nothing at first."""
    p, heads = request.problem, request.batch * request.heads
    cells, visits, down = _shape(p)
    algorithm = ALGORITHMS[method]
    if algorithm.stores_scores:  # it skips no tile
        cells, visits = np.ones_like(cells), np.full(p.Tr, p.Tc)
    state = np.where(cells, PENDING, ABSENT)
    if lane is None:
        return Work(_joined(state), 0, 0)
    tiles = int(visits.sum()) * heads
    done, total = lane.done, lane.total
    if lane.ended is not None:
        return Work(_joined(np.where(cells, DONE, state)), tiles, tiles)
    if algorithm.stores_scores:
        computed = min(done, p.Tr * p.Tc * heads)
        here = computed % (p.Tr * p.Tc) if computed < p.Tr * p.Tc * heads else p.Tr * p.Tc
        at = here / (p.Tr * p.Tc) * cells.size
        state = np.where(np.arange(cells.size).reshape(cells.shape) < at, DONE, state)
        return Work(_joined(state), computed, tiles)
    if algorithm.program != "block" or algorithm.variant_of or request.pass_ == "backward":
        share = int(tiles * done / max(1, total)) if heads > 1 and total > 1 else 0
        return Work(_joined(np.where(cells, NOW, state)), share, tiles)
    # A program has a row block of a head: under a causal mask the last rows first, of several heads
    order = np.arange(p.Tr)
    side = 1
    if p.mask.text == "causal":
        order, side = order[::-1], section(p.n, p.d, ITEMSIZE[p.dtype])
    first = done // (side * p.Tr) * side
    beside = max(1, min(side, heads - first))
    place = done - first * p.Tr
    over, rest = divmod(place, beside)
    finished = first * int(visits.sum()) + beside * int(visits[order[:over]].sum())
    if over >= p.Tr:
        return Work(_joined(np.where(cells, DONE, state)), finished, tiles)
    row = int(order[over])
    finished += rest * int(visits[row])
    whole = np.zeros(p.Tr, bool)
    whole[order[:over]] = True
    rows = np.minimum.reduceat(whole, np.arange(0, p.Tr, down))
    state = np.where(cells & rows[:, None], DONE, state)
    now = row // down
    state[now] = np.where(cells[now], NOW, ABSENT)
    start = row * p.block_q
    label = t("lane.rows", first=start, last=min(p.n, start + p.block_q) - 1)
    return Work(_joined(state), finished, tiles, now, label)


def _joined(state: np.ndarray) -> str:
    return "".join(state.ravel())


def make_lanes(
    request: RunRequest,
    lanes: Mapping[str, Lane],
    seconds: Mapping[str, float],
    is_gpu: bool,
) -> list[dict[str, Any]]:
    """Make the lanes of a run, with what the worker has reported of each method.

    ``state``: "waiting", "running", "done" or "refused"; ``status``: at the right above its map;
    ``cells``, row by row in ``columns`` columns: "o" to do, "d" done, "n" now, "." skipped;
    ``cells`` "" for a method without tiles; ``row``: that being worked on, called ``label``;
    ``arrow``: "rows", "rows up" or "keys", how the loop goes; ``notes``: below the map.
    """
    names = sorted(request.methods, key=lambda name: name not in ORDERS and name != "naive")
    return [
        _lane(request, name, lanes.get(name), seconds.get(name, 0.0), is_gpu)
        for name in names[:DRAWN]
    ]


def _lane(
    request: RunRequest, name: str, lane: Lane | None, seconds: float, is_gpu: bool
) -> dict[str, Any]:
    tiled = name in ORDERS and request.problem.Tr * request.problem.Tc <= MOST_TILES
    is_over = bool(lane and lane.ended is not None)
    state = "waiting" if not lane else "done" if is_over else "running"
    found: dict[str, Any] = {"name": METHODS[name], "state": state, "status": "", "cells": ""}
    found |= {"columns": 1, "row": None, "label": "", "arrow": "", "notes": [t("lane.whole")]}
    if lane and lane.is_refused:
        return found | {"state": "refused", "notes": [t("lane.refused")]}
    if is_over:
        is_short = is_gpu or name not in ORDERS
        found["status"] = t("lane.done") if is_short else t("lane.seconds", seconds=seconds)
    elif lane:
        found["status"] = t("lane.running")
    if not tiled:
        return found
    work = work_of(request, name, lane)
    if state == "running":
        found["status"] = t("lane.tiles", done=work.done, all=work.all)
    arrow = _arrow(request, name)
    found |= {"cells": work.cells, "row": work.row, "label": work.label, "arrow": arrow}
    notes = t.named("lane.notes")
    key = "all" if ALGORITHMS[name].stores_scores else arrow or "parts"
    found["notes"] = notes["backward" if request.pass_ == "backward" else key].split("\n")
    return found | {"columns": _shape(request.problem)[0].shape[1]}


def _arrow(request: RunRequest, name: str) -> str:
    algorithm = ALGORITHMS[name]
    if algorithm.stores_scores or algorithm.variant_of or request.pass_ == "backward":
        return ""
    if algorithm.program == "head":
        return "keys"
    return "rows up" if request.problem.mask.text == "causal" else "rows"
