"""The warps of one tile, asked for and packed: split-K (FA-1) beside split-Q (FA-2).

What is computed, what is counted and how it is said: :mod:`explainer.parallel.warp_loops`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.schedule import check_size
from explainer.base.fields import parse_choice, parse_whole, refuse
from explainer.base.texts import Texts
from explainer.parallel.warp_loops import ORDERS, WarpStep, WarpTrace
from explainer.problem import Problem
from kernels.spec.fields import Field
from kernels.spec.formats import ITEMSIZE

t = Texts("parallel")
MAX_SIDE = 128  # Br and Bc that kernels have
MAX_CELLS = 256  # a matrix of more elements travels without its numbers
START = {"n": 16, "d": 8, "br": 8, "bc": 8, "mask": "full", "data": "random", "i": 1, "j": 1}


def _checked(problem: Problem, i: object, j: object, count: object) -> tuple[int, int, int]:
    """Tile and number of warps, if there is such a tile and it is not too large."""
    check_size(problem)
    for field in ("block_q", "block_k"):
        if getattr(problem, field) > MAX_SIDE:
            raise refuse(field, getattr(problem, field), t("warps.side", most=MAX_SIDE))
    count = int(parse_choice("warps", str(count)))
    i = parse_whole(Field("i", "i", title=t("warps.i")), i, (0, problem.Tr - 1, ""))
    seen = int(np.count_nonzero(tiling.kinds(problem)[i] != tiling.KINDS.index("skipped")))
    what = t("warps.j") if seen == problem.Tc else t("warps.j_seen", i=i)
    return i, parse_whole(Field("j", "j", title=what), j, (0, seen - 1, "")), count


def warps(problem: Problem, i: object, j: object, split: str, count: object = 4) -> WarpTrace:
    """Tile (i, j) among ``count`` warps (2, 4 or 8): ``split`` "k" as FA-1 works, "q" as FA-2.

    The order of the Problem does not matter: each split comes with its own loop, so O is normalised
    in "k" and not in "q". Raises ProblemError for a tile that is not there or that the mask skips,
    for another number of warps, and for Br or Bc above 128.
    """
    i, j, count = _checked(problem, i, j, count)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # as in the trace
        return WarpTrace(problem, i, j, split, count)


def _plain(x: np.ndarray) -> list | float | str:
    """Numbers in the fewest digits that give the float32 back; what JSON has no number for as
    inf, -inf, nan."""
    if x.ndim:
        return [_plain(part) for part in x]
    return float(str(x)) if np.isfinite(x) else str(x)


def _packed_step(step: WarpStep) -> dict:
    pieces = [
        [*piece[:4], None if piece.values.size > MAX_CELLS else _plain(piece.values)]
        for piece in step.pieces
    ]
    return step._asdict() | {"pieces": pieces}


def packed(problem: Problem, i: object, j: object, count: object = 4) -> dict:
    """Both splits as plain JSON values: ``pieces`` [tensor, warps, rows, keys, values or None where
    there are more than 256], ``exchanges`` [tensor, warp, op, nbytes], ``operands`` [tensor,
    nbytes] that the copy to shared memory brings. Raises ProblemError as ``warps`` does."""
    both = {split: warps(problem, i, j, split, count) for split in ORDERS}
    t = both["q"]
    return {
        "i": t.i,
        "j": t.j,
        "kind": t.visit.kind,
        "warps": len(t.every),
        "d": problem.d,
        "rows": t.rows,
        "keys": t.keys,
        "row_slices": t.row_slices,
        "key_slices": t.key_slices,
        "operands": [[x, getattr(t, x).size * ITEMSIZE[problem.dtype]] for x in "QKV"],
    } | {split: [_packed_step(step) for step in w.steps] for split, w in both.items()}


def from_query(query: Mapping[str, object]) -> tuple[Problem, Any, Any, Any]:
    """Problem, i, j and number of warps of an address, as ``packed`` takes and checks them; without
    ``n`` what is missing comes from ``START``, else the tile is the first. Raises ProblemError."""
    query = {"i": 0, "j": 0, "warps": 4} | ({} if "n" in query else START) | dict(query)
    return Problem.from_query(query), query["i"], query["j"], query["warps"]
