"""FlashAttention (arXiv 2205.14135), Algorithm 1: keys outside, rows inside."""

from collections.abc import Iterator

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import Algorithm, Size
from explainer.algorithms.numbers import Run, Visit, exp_difference, rescale, visit_of
from explainer.algorithms.transfers import Moved, Mover, Step, moved_rows, tile_phases
from explainer.problem import Problem
from kernels.spec.formats import round_to


def steps(problem: Problem) -> Iterator[Step]:
    """List the visits: each key block passes every row block; O, m and l are read from HBM and
    written back each time."""
    move = Mover(problem)
    of_row = [
        (*(move.read(t, i) for t in ("Q", "O", "l", "m")), *(move.write(t, i) for t in "Olm"))
        for i in range(problem.Tr)
    ]
    for j in range(problem.Tc):
        keys = (move.read("K", j), move.read("V", j))
        for i in range(problem.Tr):
            kind = move.kind(i, j)
            if kind == "skipped":
                yield Step(i, j, kind, None, (), ())
                continue
            yield Step(i, j, kind, None, tile_phases("forward", kind, store=True), keys + of_row[i])
            keys = ()  # they stay


# loop: begin


def compute(run: Run, steps: tuple[Step, ...]) -> Iterator[Visit]:
    """FlashAttention, Algorithm 1: O, m and l live in HBM and come back at every visit."""
    p = run.p
    m_hbm, l_hbm = run.statistics(p.n)
    for step in steps:
        if step.kind == "skipped":
            yield visit_of(step)
            continue
        r, c = tiling.rows(p, step.i), tiling.cols(p, step.j)
        # phase: load
        Q, K, V = run.Q[r], run.K[c], run.V[c]
        m, l, O = m_hbm[r].copy(), l_hbm[r].copy(), run.O[r].copy()
        # phase: scores
        scores = run.score(run.matmul(Q, K.T) * run.scale(r, c), r, c)
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
        unnormalised = run.add_product((l * alpha)[:, None] * O, P, V)
        O = round_to(unnormalised / np.where(l_new > 0, l_new, 1)[:, None], p.stored_dtype)
        # phase: store
        run.O[r], m_hbm[r], l_hbm[r] = O, m_new, l_new
        # phases end: what follows is for the picture
        run.S[r, c] = S
        numbers = {"row_max": row_max, "row_sum": row_sum, "alpha": alpha}
        numbers |= {"scores": scores, "S": S, "P": P, "O": O}
        yield visit_of(step, m_old=m, m_new=m_new, l_old=l, l_new=l_new, **numbers)
    run.lse[:] = m_hbm + np.log(l_hbm)


# loop: end


def moved(p: Problem, once: bool) -> Moved:
    """Count K and V of the keys that a row sees; once per key block that visits a row, or once, Q
    in, O, l and m out, and where it is visited again in."""
    counted = tiling.counted(p, once)
    read = dict.fromkeys("KV", (counted.loaded, 0)) | {"Q": (counted.rows, 0)}
    again = 0 if once else counted.rows
    return moved_rows(p, read | dict.fromkeys("Olm", (again, counted.rows)))


def size(p: Problem) -> Size:
    """Count the moves: every tile reads and writes O, m and l, and reads Q; each key block reads K
    and V."""
    tiles = p.Tr * p.Tc
    return Size(tiles, 7 * tiles + 2 * p.Tc, 2, p.n * p.Tc * (p.d + 7))


ALGORITHM = Algorithm(
    key="fa1",
    label="FA-1",
    hue="var(--fa-l)",
    opens="K",
    outer="keys",
    program="head",
    running=True,
    output="normalized",
    saved_for_backward=("m", "l"),
    steps=steps,
    compute=compute,
    moved=moved,
    size=size,
)
