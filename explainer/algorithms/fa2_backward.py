"""FlashAttention-2's backward pass (arXiv 2307.08691, Algorithm 2): keys outside, rows inside."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import Size
from explainer.algorithms.backward_numbers import BackwardRun, BackwardVisit, backward_visit
from explainer.algorithms.fa2 import ALGORITHM as FORWARD
from explainer.algorithms.transfers import Moved, Mover, Step, moved_rows, row_bytes, tile_phases
from explainer.problem import Problem
from kernels.spec.formats import round_to


def steps(problem: Problem) -> Iterator[Step]:
    """List the visits: D and a dQ of zeros, row block by row block; then each key block passes the
    row blocks in which its mask leaves a score; then dQ is scaled. A key block that no row sees has
    one visit of no tile."""
    move = Mover(problem)
    rows = range(problem.Tr)
    for i in rows:
        moves = (*(move.read(t, i) for t in ("O", "dO")), move.write("D", i))
        phases = ("load", "D", "store")
        yield Step(i, None, "full", "D", phases, (*moves, move.write("dQ", i, fp32=True)))
    of_row = [
        (*(move.read(t, i) for t in ("Q", "dO", "lse", "D")), move.add("dQ", i)) for i in rows
    ]
    for j in range(problem.Tc):
        keys = tuple(move.read(t, j) for t in ("K", "V"))
        stored = tuple(move.write(t, j) for t in ("dK", "dV"))
        seen = np.flatnonzero(move.kinds[:, j] != tiling.SKIPPED).tolist()
        if not seen:  # its program still writes zeros
            yield Step(None, j, "skipped", None, ("load", "store"), (*keys, *stored), True)
        for i in seen:
            first, last, kind = i == seen[0], i == seen[-1], move.kind(i, j)
            transfers = (*(keys if first else ()), *of_row[i], *(stored if last else ()))
            yield Step(
                i, j, kind, None, tile_phases("backward", kind, store=last), transfers, first
            )
    for i in rows:
        moves = (move.read("dQ", i, fp32=True), move.write("dQ", i))
        yield Step(i, None, "full", "scale", ("load", "scale", "store"), moves)


# loop: begin


def compute(run: BackwardRun, steps: tuple[Step, ...]) -> Iterator[BackwardVisit]:
    """FlashAttention-2, Algorithm 2: dK_j and dV_j stay on chip, dQ is added up in HBM."""
    p = run.p
    for step in steps:
        if step.i is not None:
            r = tiling.rows(p, step.i)
        if step.stage == "D":
            # phase: load
            O, dO = run.O[r], run.dO[r]
            # phase: D
            D = (dO * O).sum(axis=1)
            # phase: store
            run.D[r], run.dQ[r] = D, 0
            # phases end
            yield backward_visit(step, D=D)
            continue
        if step.stage == "scale":
            # phase: load
            dQ = run.dQ[r]
            # phase: scale
            dQ = dQ * np.float32(p.scale)
            # phase: store
            run.dQ[r] = round_to(dQ, p.dtype)
            # phases end
            yield backward_visit(step)
            continue
        # phase: load
        c = tiling.cols(p, step.j)
        if step.first:
            dK, dV = np.zeros((2, c.stop - c.start, p.d), np.float32)
        if step.i is None:  # no row sees a key of it
            # phases end
            run.dK[c], run.dV[c] = dK, dV
            yield backward_visit(step, dK=dK, dV=dV)
            continue
        # phase: load
        K, V = run.K[c], run.V[c]
        Q, dO, D = run.Q[r], run.dO[r], run.D[r]
        lse = np.where(np.isneginf(run.lse[r]), np.inf, run.lse[r])  # no key: P = 0, not NaN
        # phase: scores
        scores, slope = run.scored((Q @ K.T) * np.float32(p.scale), r, c)
        # phase: mask
        S = run.mask(scores, r, c)
        # phase: exp
        P = np.exp(S - lse[:, None])
        # phase: dV
        dV = dV + round_to(P, p.dtype).T @ dO
        # phase: dP
        dP = dO @ V.T
        # phase: dS
        dS = P * (dP - D[:, None])
        if slope is not None:
            dS = dS * slope
        # phase: dQ
        part_dQ = round_to(dS, p.dtype) @ K
        run.dQ[r] += part_dQ
        # phase: dK
        dK = dK + round_to(dS, p.dtype).T @ Q
        if "store" in step.phases:
            # phase: store
            run.dK[c] = round_to(dK * np.float32(p.scale), p.dtype)
            run.dV[c] = round_to(dV, p.dtype)
        # phases end: what follows is for the picture
        numbers = {"D": D.copy(), "scores": scores, "slope": slope, "P": P, "dP": dP, "dS": dS}
        sums = {"part_dQ": part_dQ, "dQ": run.dQ[r].copy(), "dK": dK, "dV": dV}
        yield backward_visit(step, **numbers, **sums)


# loop: end


def moved(p: Problem, once: bool) -> Moved:
    """Count K, V and their gradients once; what a tile takes of a row and adds to dQ once per key
    block that visits the row, or once; of all rows what the two small kernels move."""
    n, rows, fp32 = p.n, tiling.counted(p, once).rows, 4 * p.d
    counts = dict.fromkeys("KV", (n, 0)) | {"Q": (rows, 0)}
    counts |= dict.fromkeys(("dK", "dV"), (0, n)) | {"O": (n, 0)}
    counts |= {"dO": (n + rows, 0), "lse": (rows, 0), "D": (rows, n)}
    dQ_written = (n + rows) * fp32 + n * row_bytes(p, "dQ")
    return moved_rows(p, counts) | {"dQ": (n * fp32, dQ_written)}


def size(p: Problem) -> Size:
    """Count S, P, dP and dS of each tile, D of its rows, and the sums after it; D once before."""
    tiles, sums = p.Tr * p.Tc, 2 * p.n * p.d * (p.Tr + p.Tc)
    moves = 5 * tiles + 6 * p.Tr + 4 * p.Tc
    return Size(tiles + 2 * p.Tr, moves, 4 + p.score.changes, p.n * (p.Tc + 1) + sums)


ALGORITHM = replace(
    FORWARD,
    pass_="backward",
    kernel="readable",
    opens="K",
    outer="keys",
    running=False,
    saved_for_backward=(),
    steps=steps,
    compute=compute,
    moved=moved,
    size=size,
)
