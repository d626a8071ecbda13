"""Standard attention (FlashAttention's Algorithm 0): three kernels, S and P whole in HBM."""

from collections.abc import Iterator

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import Algorithm, Size, Stage
from explainer.algorithms.numbers import Run, Visit, exp_difference, visit_of
from explainer.algorithms.transfers import Moved, Mover, Step, moved_rows
from explainer.problem import Problem
from kernels.spec.formats import round_to


def steps(problem: Problem) -> Iterator[Step]:
    """List the visits of three kernels over all tiles; on chip, no kernel finds what another
    had."""
    move = Mover(problem)
    everywhere = range(problem.Tc)
    Q = [move.read("Q", i) for i in range(problem.Tr)]
    K, V = ([move.read(t, j) for j in everywhere] for t in "KV")
    for i in range(problem.Tr):
        for j in everywhere:
            transfers = (Q[i], K[j], move.write("S", (i, j)))
            masked = move.kind(i, j) != "full"
            phases = ("load", "scores", *(("mask",) if masked else ()), "store")
            kind = "partial" if masked else "full"
            yield Step(i, j, kind, "scores", phases, transfers)
    for i in range(problem.Tr):
        moves = [move.read("S", (i, j)) for j in everywhere]
        moves += [move.write("P", (i, j)) for j in everywhere]
        phases = ("load", "max", "exp", "sum", "store")
        yield Step(i, None, "full", "softmax", phases, tuple(moves))
    for i in range(problem.Tr):
        moves = (*(move.read("P", (i, j)) for j in everywhere), *V, move.write("O", i))
        yield Step(i, None, "full", "output", ("load", "output", "store"), moves)


# loop: begin


def compute(run: Run, steps: tuple[Step, ...]) -> Iterator[Visit]:
    """Three kernels: S whole, softmax whole, P V; S and P are stored in the dtype."""
    p = run.p
    P_hbm = run.matrix(0.0)
    for step in steps:
        r = tiling.rows(p, step.i)
        if step.stage == "scores":
            c = tiling.cols(p, step.j)
            # phase: load
            Q, K = run.Q[r], run.K[c]
            # phase: scores
            scores = run.score(run.matmul(Q, K.T) * run.scale(r, c), r, c)
            # phase: mask
            S = run.mask(scores, r, c)
            # phase: store
            run.S[r, c] = S = round_to(S, p.stored_dtype)
            # phases end
            yield visit_of(step, scores=round_to(scores, p.stored_dtype), S=S)
        elif step.stage == "softmax":
            # phase: load
            S = run.S[r].copy()
            # phase: max
            row_max, (sink, one) = S.max(axis=1), run.start
            m = np.maximum(row_max, sink)
            # phase: exp
            weights = exp_difference(S, m[:, None])
            # phase: sum
            row_sum = weights.sum(axis=1)
            l = row_sum + one * exp_difference(sink, m)
            # phase: store
            P = run.drop(weights / np.where(l > 0, l, 1)[:, None], r, slice(0, p.n))
            P_hbm[r] = P = round_to(P, p.stored_dtype)
            run.lse[r] = m + np.log(l)
            # phases end
            yield visit_of(step, row_max=row_max, m_new=m, row_sum=row_sum, l_new=l, S=S, P=P)
        else:
            # phase: load
            P, V = P_hbm[r], run.V
            # phase: output
            O = round_to(run.add_product(np.float32(0), P, V), p.stored_dtype)
            # phase: store
            run.O[r] = O
            # phases end
            yield visit_of(step, P=P.copy(), O=O)


# loop: end


def moved(p: Problem, once: bool) -> Moved:
    """Count S and P whole, written and read; K and V once a row block and Q once a key block, or
    once; nothing is skipped."""
    row_blocks, key_blocks = (1, 1) if once else (p.Tr, p.Tc)
    counts = {"Q": (key_blocks * p.n, 0), "K": (row_blocks * p.n, 0), "S": (p.n, p.n)}
    return moved_rows(p, counts | {"P": (p.n, p.n), "V": (row_blocks * p.n, 0), "O": (0, p.n)})


def size(p: Problem) -> Size:
    """Count S in tiles, S and P in the softmax, P at the end; four statistics of a row, and O."""
    tiles = p.Tr * p.Tc
    return Size(tiles + 2 * p.Tr, 7 * tiles + p.Tr, 4, p.n * (p.d + 4))


ALGORITHM = Algorithm(
    key="standard",
    label="Standard",
    hue="#7b8494",
    opens="Q",
    outer="rows",
    program=None,
    running=False,
    output="final",
    stores_scores=True,
    saved_for_backward=("P",),
    steps=steps,
    compute=compute,
    moved=moved,
    size=size,
    stages={
        "scores": Stage("QKS"),
        "softmax": Stage("Sml", wide=True),
        "output": Stage("SVO", wide=True),
    },
    launches={"scores": ("QK", "S"), "softmax": ("S", "P"), "output": ("PV", "O")},
)
