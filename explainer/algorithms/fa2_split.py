"""FlashAttention-2 with split keys (Flash-Decoding, Dao et al., 2023): several programs share a row
block, each has a part of the keys, and a second kernel combines the parts by their lse, exactly in
real arithmetic."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

import numpy as np

from explainer.algorithms import fa2, tiling
from explainer.algorithms.algorithm import Size, Stage
from explainer.algorithms.numbers import NEG_INF, Run, Visit, exp_difference, visit_of
from explainer.algorithms.transfers import Moved, Mover, Step, moved_rows
from explainer.problem import Problem
from kernels.spec.algorithms import SPLITS, part_of
from kernels.spec.formats import round_to

COMBINE = ("load", "max", "exp", "sum", "output", "store")


def steps(problem: Problem) -> Iterator[Step]:
    """List the visits: each part of each row block visits its key blocks that the mask leaves, and
    stores what it has; then each row block combines its parts. A part without a tile still stores
    O′ = 0."""
    move = Mover(problem)
    of_keys = [(move.read("K", j), move.read("V", j)) for j in range(problem.Tc)]
    parts = [part_of(problem.Tc, lane) for lane in range(SPLITS)]
    for i in range(problem.Tr):
        visible = np.flatnonzero(move.kinds[i] != tiling.SKIPPED).tolist()
        for lane, (start, stop) in enumerate(parts):
            mine = [j for j in visible if start <= j < stop]
            stored = (move.write("O′", (i, lane), fp32=True), move.write("lse′", (i, lane)))
            yield from fa2.program(move, i, mine, of_keys, stored, lane)
    for i in range(problem.Tr):
        reads = [move.read(name, (i, lane)) for name in ("O′", "lse′") for lane in range(SPLITS)]
        moves = (*reads, move.write("O", i), move.write("lse", i))
        yield Step(i, None, "full", "combine", COMBINE, moves, True)


# loop: begin
# loop: fa2.compute


def compute(run: Run, steps: tuple[Step, ...]) -> Iterator[Visit]:
    """FlashAttention-2 on each part of the keys; then each row block combines its parts."""
    p = run.p
    parts = [_part(run, lane) for lane in range(SPLITS)]
    for (stage, lane), program in groupby(steps, key=attrgetter("stage", "lane")):
        if stage is None:
            yield from fa2.compute(parts[lane], program)
        elif stage == "combine":
            for step in program:
                # phase: load
                r = tiling.rows(p, step.i)
                O = np.stack([part.O[r] for part in parts])
                lse = np.stack([part.lse[r] for part in parts], axis=1)
                # phase: max
                m = lse.max(axis=1)
                # phase: exp
                weights = exp_difference(lse, m[:, None])
                # phase: sum
                l = weights.sum(axis=1)
                # phase: output
                O = np.einsum("rp,prd->rd", weights, O) / np.where(l > 0, l, 1)[:, None]
                # phase: store
                run.O[r], run.lse[r] = round_to(O, p.stored_dtype), m + np.log(l)
                # phases end
                numbers = {"row_max": m.copy(), "m_new": m, "row_sum": l.copy(), "l_new": l}
                yield visit_of(step, **numbers, S=lse, P=weights, O=O)


# loop: end


def _part(run: Run, lane: int) -> Run:
    """Return a run over one part of the keys, which stores its O′ and lse′ in fp32. A sink belongs
    to the first part alone."""
    part = copy(run)
    if lane:
        part.start = NEG_INF, np.float32(0)
    part.make_outputs("fp32")
    return part


def moved(p: Problem, once: bool) -> Moved:
    """Count Q for each part, or once; K and V as FA-2 does; O′ and lse′ of all parts out and in
    again; O and lse out."""
    parts, keys = 1 if once else SPLITS, tiling.counted(p, once).keys
    of_parts = dict.fromkeys(("O′", "lse′"), (SPLITS * p.n, SPLITS * p.n))
    read = {"Q": (parts * p.n, 0)} | dict.fromkeys("KV", (keys, 0))
    return moved_rows(p, read | of_parts | dict.fromkeys(("O", "lse"), (0, p.n)))


def size(p: Problem) -> Size:
    """Count FA-2's tiles; a visit of each part that has none; the combine, with its parts' lse and
    weights, four statistics and O."""
    tiles, empty = p.Tr * p.Tc, p.Tr * max(0, SPLITS - p.Tc)
    visits = tiles + empty + p.Tr
    moves = 2 * tiles + SPLITS * p.Tr * 3 + p.Tr * (2 * SPLITS + 2)
    numbers = p.n * (p.Tc + max(0, SPLITS - p.Tc)) * (p.d + 7)
    return Size(visits, moves, 2, numbers + p.n * (2 * SPLITS + 4 + p.d))


ALGORITHM = replace(
    fa2.ALGORITHM,
    key="fa2_split",
    label="FA-2 split keys",
    hue="var(--fa-m)",
    program=None,
    steps=steps,
    compute=compute,
    moved=moved,
    size=size,
    launches={
        "tiles": (("Q", "K", "V"), ("O′", "lse′")),
        "combine": (("O′", "lse′"), ("O", "lse")),
    },
    lanes=SPLITS,
    strips={"right": ("O′", "O")},
    stages={"combine": Stage("SOml", columns="lanes")},
    variant_of="fa2",
)
