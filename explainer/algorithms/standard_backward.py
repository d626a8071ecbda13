"""Standard attention's backward pass: five kernels, with the P that its forward stored; dP and dS
whole in HBM."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import Size
from explainer.algorithms.backward_numbers import BackwardRun, BackwardVisit, backward_visit
from explainer.algorithms.standard import ALGORITHM as FORWARD
from explainer.algorithms.transfers import Moved, Mover, Step, moved_rows
from explainer.problem import Problem
from kernels.spec.formats import round_to


def steps(problem: Problem) -> Iterator[Step]:
    """List the visits: four products over all tiles, and dS by strips of rows; nothing is
    skipped."""
    move = Mover(problem)
    rows, keys = range(problem.Tr), range(problem.Tc)
    down = [(i, j) for j in keys for i in rows]
    along = [(i, j) for i in rows for j in keys]

    def products(stage: str, order, square: str, factor: str) -> Iterator[Step]:
        """List the visits of the stage's sum: over rows for each key block, or over keys for each
        row block."""
        by_keys = order is down
        last = problem.Tr - 1 if by_keys else problem.Tc - 1
        for i, j in order:
            inner, outer = (i, j) if by_keys else (j, i)
            moves = (move.read(square, (i, j)), move.read(factor, inner))
            phases = ("load", stage)
            if inner == last:
                moves, phases = (*moves, move.write(stage, outer)), (*phases, "store")
            yield Step(i, j, _kind(move, i, j), stage, phases, moves, inner == 0)

    yield from products("dV", down, "P", "dO")
    for i, j in along:
        moves = (move.read("dO", i), move.read("V", j), move.write("dP", (i, j)))
        yield Step(i, j, _kind(move, i, j), "dP", ("load", "dP", "store"), moves)
    read = ("P", "dP", "S") if problem.score.bends else ("P", "dP")
    for i in rows:
        moves = [move.read(t, (i, j)) for t in read for j in keys]
        moves += [move.write("dS", (i, j)) for j in keys]
        yield Step(i, None, "full", "dS", ("load", "D", "dS", "store"), tuple(moves))
    yield from products("dQ", along, "dS", "K")
    yield from products("dK", down, "dS", "Q")


def _kind(move: Mover, i: int, j: int) -> str:
    return "full" if move.kind(i, j) == "full" else "partial"


# loop: begin


def compute(run: BackwardRun, steps: tuple[Step, ...]) -> Iterator[BackwardVisit]:
    """Five kernels: P Vᵀ's two gradients, softmax's, Q Kᵀ's two; dP and dS are stored in the
    dtype."""
    p = run.p
    P_hbm = run.P
    dP_hbm, dS_hbm = np.zeros((2, p.n, p.n), np.float32)
    scale = np.float32(p.scale)
    for step in steps:
        r = tiling.rows(p, step.i)
        c = slice(0, p.n) if step.j is None else tiling.cols(p, step.j)
        if step.stage == "dV":
            # phase: load
            P, dO = P_hbm[r, c], run.dO[r]
            if step.first:
                dV = np.zeros((P.shape[1], p.d), np.float32)
            # phase: dV
            dV = dV + P.T @ dO
            if "store" in step.phases:
                # phase: store
                run.dV[c] = round_to(dV, p.dtype)
            # phases end
            yield backward_visit(step, P=P.copy(), dV=dV)
        elif step.stage == "dP":
            # phase: load
            dO, V = run.dO[r], run.V[c]
            # phase: dP
            dP = dO @ V.T
            # phase: store
            dP_hbm[r, c] = dP = round_to(dP, p.dtype)
            # phases end
            yield backward_visit(step, dP=dP)
        elif step.stage == "dS":
            # phase: load
            P, dP = P_hbm[r], dP_hbm[r]
            _, slope = run.scored((run.Q[r] @ run.K.T) * scale, r, c)
            # phase: D
            D = (P * dP).sum(axis=1)
            # phase: dS
            dS = P * (dP - D[:, None])
            if slope is not None:
                dS = dS * slope
            # phase: store
            dS_hbm[r] = dS = round_to(dS, p.dtype)
            # phases end
            run.D[r] = D
            yield backward_visit(step, D=D, slope=slope, P=P.copy(), dP=dP.copy(), dS=dS)
        elif step.stage == "dQ":
            # phase: load
            dS, K = dS_hbm[r, c], run.K[c]
            if step.first:
                dQ = np.zeros((len(dS), p.d), np.float32)
            # phase: dQ
            dQ = dQ + dS @ K
            if "store" in step.phases:
                # phase: store
                run.dQ[r] = round_to(dQ * scale, p.dtype)
            # phases end
            yield backward_visit(step, dS=dS.copy(), dQ=dQ)
        else:
            # phase: load
            dS, Q = dS_hbm[r, c], run.Q[r]
            if step.first:
                dK = np.zeros((dS.shape[1], p.d), np.float32)
            # phase: dK
            dK = dK + dS.T @ Q
            if "store" in step.phases:
                # phase: store
                run.dK[c] = round_to(dK * scale, p.dtype)
            # phases end
            yield backward_visit(step, dS=dS.copy(), dK=dK)


# loop: end


def moved(p: Problem, once: bool) -> Moved:
    """Count P, dP and dS whole, written and read; K and V once a row block, Q and dO once a key
    block, or once, dO for two products."""
    n, (row_blocks, key_blocks) = p.n, (1, 1) if once else (p.Tr, p.Tc)
    counts = {"P": (2 * n, 0), "dP": (n, n), "dS": (2 * n, n)}
    counts |= {"S": (n, 0)} if p.score.bends else {}
    counts |= {"Q": (key_blocks * n, 0), "dO": (2 * key_blocks * n, 0)}
    counts |= dict.fromkeys("KV", (row_blocks * n, 0))
    return moved_rows(p, counts | dict.fromkeys(("dQ", "dK", "dV"), (0, n)))


def size(p: Problem) -> Size:
    """Count seven matrices of N × N in its five kernels, D, and the sums of three products."""
    tiles, sums = p.Tr * p.Tc, p.n * p.d * (2 * p.Tr + p.Tc)
    moves = (12 + p.score.bends) * tiles + p.Tr + 2 * p.Tc
    return Size(4 * tiles + p.Tr, moves, 7 + p.score.changes, p.n + sums)


ALGORITHM = replace(
    FORWARD,
    pass_="backward",
    opens="P",
    outer="rows",
    running=False,
    saved_for_backward=(),
    steps=steps,
    compute=compute,
    moved=moved,
    size=size,
    launches=None,
)
