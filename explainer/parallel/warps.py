"""The warps of one tile, checked: split-K (FA-1) beside split-Q (FA-2).

What is computed, what is counted and how it is said: :mod:`explainer.parallel.warp_loops`.
"""

from __future__ import annotations

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.schedule import check_size
from explainer.base.fields import parse_choice, parse_whole, refuse
from explainer.base.texts import Texts
from explainer.parallel.warp_loops import WarpTrace
from explainer.problem import Problem
from kernels.spec.fields import Field

t = Texts("parallel")
MAX_SIDE = 128  # Br and Bc that kernels have


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
