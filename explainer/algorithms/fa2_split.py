"""FlashAttention-2 with split keys (Flash-Decoding, Dao et al., 2023): several programs share a row
block, each has a part of the keys, and a second kernel combines the parts by their lse, exactly in
real arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import SKIPS, Line, Size, Stage
from explainer.algorithms.fa2 import ALGORITHM as FA2
from explainer.algorithms.numbers import NEG_INF, Run, Visit, exp_difference, rescale, visit_of
from explainer.algorithms.transfers import Moved, Mover, Step, computed
from explainer.base.texts import Texts
from explainer.problem import Problem
from kernels.spec.algorithms import SPLITS, part_of
from kernels.spec.formats import ITEMSIZE, round_to

COMBINE = ("load", "max", "exp", "sum", "output", "store")
t = Texts("algorithms")


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
            Q = move.read("Q", i)
            stored = (move.write("O′", (i, lane), fp32=True), move.write("lse′", (i, lane)))
            mine = [j for j in visible if start <= j < stop]
            if not mine:
                yield Step(i, None, "skipped", None, ("load", "store"), (Q, *stored), True, lane)
            for j in mine:
                first, last, kind = j == mine[0], j == mine[-1], move.kind(i, j)
                transfers = (*((Q,) if first else ()), *of_keys[j], *(stored if last else ()))
                yield Step(i, j, kind, None, computed(kind, store=last), transfers, first, lane)
    for i in range(problem.Tr):
        reads = [move.read(name, (i, lane)) for name in ("O′", "lse′") for lane in range(SPLITS)]
        moves = (*reads, move.write("O", i), move.write("lse", i))
        yield Step(i, None, "full", "combine", COMBINE, moves, True)


def compute(run: Run, steps: tuple[Step, ...]) -> Iterator[Visit]:
    """FlashAttention-2 on each part of the keys; a sink belongs to the first part alone."""
    p, nothing = run.p, (NEG_INF, np.float32(0))
    O_hbm = np.zeros((SPLITS, p.n, p.d), np.float32)
    lse_hbm = np.full((p.n, SPLITS), NEG_INF)
    for step in steps:
        r = tiling.rows(p, step.i)
        if step.stage == "combine":
            # phase: load
            parts, lse = O_hbm[:, r], lse_hbm[r].copy()
            # phase: max
            m = lse.max(axis=1)
            # phase: exp
            weights = exp_difference(lse, m[:, None])
            # phase: sum
            l = weights.sum(axis=1)
            # phase: output
            O = np.einsum("rp,prd->rd", weights, parts) / np.where(l > 0, l, 1)[:, None]
            # phase: store
            run.O[r], run.lse[r] = round_to(O, p.dtype), m + np.log(l)
            # phases end
            numbers = {"row_max": m.copy(), "m_new": m, "row_sum": l.copy(), "l_new": l}
            yield visit_of(step, **numbers, S=lse, P=weights, O=O)
            continue
        # phase: load
        if step.first:
            start = nothing if step.lane else run.start
            m, l = (np.full(r.stop - r.start, x, np.float32) for x in start)
            O = np.zeros((len(m), p.d), np.float32)
        if step.j is None:  # no key of the part is visible
            # phases end: O stays as it is
            lse_hbm[r, step.lane] = m + np.log(l)
            yield visit_of(step, m_old=m, m_new=m, l_old=l, l_new=l, O=O)
            continue
        # phase: load
        c = tiling.cols(p, step.j)
        Q, K, V = run.Q[r], run.K[c], run.V[c]
        # phase: scores
        scores = run.score((Q @ K.T) * np.float32(p.scale), r, c)
        # phase: mask
        S = run.mask(scores, r, c)
        # phase: max
        row_max = S.max(axis=1)
        m_new = np.maximum(m, row_max)
        # phase: exp
        P = exp_difference(S, m_new[:, None])
        alpha = rescale(m, m_new)
        # phase: sum
        row_sum = P.sum(axis=1)
        l_new = alpha * l + row_sum
        # phase: output
        P = run.drop(P, r, c)
        O = alpha[:, None] * O + round_to(P, p.dtype) @ V
        if "store" in step.phases:
            # phase: store
            O_hbm[step.lane, r] = O / np.where(l_new > 0, l_new, 1)[:, None]
            lse_hbm[r, step.lane] = m_new + np.log(l_new)
        # phases end: what follows is for the picture
        run.S[r, c] = S
        numbers = {"row_max": row_max, "row_sum": row_sum, "alpha": alpha}
        numbers |= {"scores": scores, "S": S, "P": P, "O": O}
        yield visit_of(step, m_old=m, m_new=m_new, l_old=l, l_new=l_new, **numbers)
        m, l = m_new, l_new


def _moved(p: Problem, keys: int, parts: int) -> Moved:
    """Count Q once a part; K and V of so many keys; O′ and lse′ out and in again; O and lse out."""
    size, matrix = ITEMSIZE[p.dtype], p.n * p.d
    read = {"Q": (parts * matrix * size, 0)} | dict.fromkeys("KV", (keys * p.d * size, 0))
    O_bytes, lse_bytes = parts * matrix * 4, parts * p.n * 4
    partial = {"O′": (O_bytes, O_bytes), "lse′": (lse_bytes, lse_bytes)}
    return read | partial | {"O": (0, matrix * size), "lse": (0, p.n * 4)}


def requested(p: Problem) -> Moved:
    """Count what every part of every row block loads and stores, and the second kernel."""
    return _moved(p, int(tiling.visited(p).keys.sum()), SPLITS)


def compulsory(p: Problem) -> Moved:
    """Count each matrix once a kernel: Q once, though every part reads it."""
    moved = _moved(p, tiling.seeing(p.mask, p.n)[1], SPLITS)
    return moved | {"Q": (p.n * p.d * ITEMSIZE[p.dtype], 0)}


def size(p: Problem) -> Size:
    """Count FA-2's tiles; a visit of each part that has none; the combine, with its parts' lse and
    weights, four statistics and O."""
    tiles, empty = p.Tr * p.Tc, p.Tr * max(0, SPLITS - p.Tc)
    visits = tiles + empty + p.Tr
    moves = 2 * tiles + SPLITS * p.Tr * 3 + p.Tr * (2 * SPLITS + 2)
    numbers = p.n * (p.Tc + max(0, SPLITS - p.Tc)) * (p.d + 7)
    return Size(visits, moves, 2, numbers + p.n * (2 * SPLITS + 4 + p.d))


ALGORITHM = replace(
    FA2,
    key="fa2_split",
    label="FA-2 split keys",
    colour="#7a5cc4",
    hue="var(--fa-m)",
    dash="dashdot",
    sign="╌",
    symbol="diamond",
    program=None,
    kernel="fa2_split",
    pseudocode=(
        Line("for i in 0 … Tr−1, part of the keys:", note="one thread block each"),
        Line("  load Qᵢ;  m = {m}, ℓ = {l}, O = 0", "load", "1st part; others −∞, 0", first=True),
        Line("  for j in the part:", note="causal: stop at the diagonal", general=SKIPS),
        Line("    load Kⱼ, Vⱼ", "load"),
        Line("    S = Qᵢ Kⱼᵀ / √d{score}", "scores"),
        Line("    S = −∞ where {hidden}", "mask", "partial tiles only"),
        Line("    m_new = max(m, rowmax S)", "max"),
        Line("    P = exp(S − m_new);  α = exp(m − m_new)", "exp"),
        Line("    ℓ = α ℓ + rowsum P", "sum"),
        Line("    O = α O + P Vⱼ;  m = m_new", "output"),
        Line("  write O′ = O / ℓ,  lse′ = m + log ℓ", "store", "fp32"),
        Line("load O′ᵢ, lse′ᵢ of all parts", "load", "2nd kernel", "combine"),
        Line("m = max lse′", "max", stage="combine"),
        Line("weights = exp(lse′ − m)", "exp", stage="combine"),
        Line("ℓ = sum of the weights", "sum", stage="combine"),
        Line("O = Σ weights · O′ / ℓ", "output", stage="combine"),
        Line("write O,  lse = m + log ℓ", "store", stage="combine"),
    ),
    closed_form={
        "requested": "2·Q + Tr · (K + V) + 4·O′ + 4·lse′ + O + lse",
        "compulsory": "Q + K + V + 4·O′ + 4·lse′ + O + lse",
    },
    steps=steps,
    compute=compute,
    requested=requested,
    compulsory=compulsory,
    size=size,
    texts=t.named("fa2_split"),
    launches={
        "tiles": (("Q", "K", "V"), ("O′", "lse′")),
        "combine": (("O′", "lse′"), ("O", "lse")),
    },
    lanes=SPLITS,
    strips={"right": ("O′", "O")},
    stages={"combine": Stage("SOml", columns="lanes")},
    variant_of="fa2",
)
