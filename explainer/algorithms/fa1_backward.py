"""FlashAttention's backward pass (arXiv 2205.14135, Algorithm 4): keys outside, rows inside."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import Size
from explainer.algorithms.backward_numbers import BackwardRun, BackwardVisit, backward_visit
from explainer.algorithms.fa1 import ALGORITHM as FORWARD
from explainer.algorithms.numbers import exp_difference
from explainer.algorithms.transfers import Moved, Mover, Step, moved_rows, tile_phases
from explainer.problem import Problem
from kernels.spec.formats import round_to

ROW = ("Q", "O", "dO", "dQ", "l", "m")  # what every tile loads of its rows


def steps(problem: Problem) -> Iterator[Step]:
    """List the visits: each key block passes every row block; dQ is read from HBM and written back
    each time."""
    move = Mover(problem)
    of_row = [
        (*(move.read(t, i) for t in ROW), move.write("dQ", i, "dQ")) for i in range(problem.Tr)
    ]
    for j in range(problem.Tc):
        keys = tuple(move.read(t, j) for t in ("K", "V"))
        stored = tuple(move.write(t, j) for t in ("dK", "dV"))
        seen = np.flatnonzero(move.kinds[:, j] != tiling.SKIPPED)
        for i in range(problem.Tr):
            kind = move.kind(i, j)
            if kind == "skipped":
                yield Step(i, j, kind, None, (), ())
                continue
            first, last = i == seen[0], i == seen[-1]
            transfers = (*(keys if first else ()), *of_row[i], *(stored if last else ()))
            phases = tile_phases("backward", kind, D=True, store=last)
            yield Step(i, j, kind, None, phases, transfers, first)


# loop: begin


def compute(run: BackwardRun, steps: tuple[Step, ...]) -> Iterator[BackwardVisit]:
    """FlashAttention, Algorithm 4: dK_j and dV_j stay on chip, dQ lives in HBM as O did."""
    p = run.p
    m_hbm, l_hbm = run.statistics
    run.dQ[:] = run.dK[:] = run.dV[:] = 0
    for step in steps:
        if step.kind == "skipped":
            yield backward_visit(step)
            continue
        r, c = tiling.rows(p, step.i), tiling.cols(p, step.j)
        # phase: load
        if step.first:
            dK, dV = np.zeros((2, c.stop - c.start, p.d), np.float32)
        K, V = run.K[c], run.V[c]
        Q, O, dO, dQ = run.Q[r], run.O[r], run.dO[r], run.dQ[r]
        m, l = m_hbm[r], l_hbm[r]
        # phase: scores
        scores, slope = run.scored((Q @ K.T) * np.float32(p.scale), r, c)
        # phase: mask
        S = run.mask(scores, r, c)
        # phase: exp
        P = exp_difference(S, m[:, None]) / np.where(l > 0, l, 1)[:, None]
        # phase: dV
        dV = dV + round_to(P, p.dtype).T @ dO
        # phase: dP
        dP = dO @ V.T
        # phase: D
        D = (dO * O).sum(axis=1)
        # phase: dS
        dS = P * (dP - D[:, None])
        if slope is not None:
            dS = dS * slope
        # phase: dQ
        part_dQ = np.float32(p.scale) * (round_to(dS, p.dtype) @ K)
        run.dQ[r] = dQ = round_to(dQ + part_dQ, p.dtype)
        # phase: dK
        dK = dK + round_to(dS, p.dtype).T @ Q
        if "store" in step.phases:
            # phase: store
            run.dK[c] = round_to(dK * np.float32(p.scale), p.dtype)
            run.dV[c] = round_to(dV, p.dtype)
        # phases end: what follows is for the picture
        run.D[r] = D
        numbers = {"D": D, "scores": scores, "slope": slope, "P": P, "dP": dP, "dS": dS}
        yield backward_visit(step, **numbers, part_dQ=part_dQ, dQ=dQ, dK=dK, dV=dV)


# loop: end


def moved(p: Problem, once: bool) -> Moved:
    """Count K, V, dK and dV of the keys that a row sees; the rest once per key block that visits a
    row, or once; dQ out, and where a row is visited again in."""
    counted = tiling.counted(p, once)
    keys, rows = counted.loaded, counted.rows
    counts = dict.fromkeys("KV", (keys, 0)) | dict.fromkeys(("dK", "dV"), (0, keys))
    counts |= dict.fromkeys(("Q", "O", "dO"), (rows, 0)) | {"dQ": (0 if once else rows, rows)}
    return moved_rows(p, counts | dict.fromkeys("lm", (rows, 0)))


def size(p: Problem) -> Size:
    """Count S, P, dP and dS of each tile, D of its rows, and the sums after it."""
    tiles, sums = p.Tr * p.Tc, 2 * p.n * p.d * (p.Tr + p.Tc)
    return Size(tiles, 7 * tiles + 4 * p.Tc, 4 + p.score.changes, p.n * p.Tc + sums)


ALGORITHM = replace(
    FORWARD,
    pass_="backward",
    opens="K",
    outer="keys",
    running=False,
    scales_dQ=True,
    saved_for_backward=(),
    steps=steps,
    compute=compute,
    moved=moved,
    size=size,
)
