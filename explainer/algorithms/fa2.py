"""FlashAttention-2 (arXiv 2307.08691), Algorithm 1: rows outside, keys inside."""

from collections.abc import Iterable, Iterator

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import Algorithm, Size
from explainer.algorithms.numbers import Run, Visit, exp_difference, rescale, visit_of
from explainer.algorithms.transfers import Moved, Mover, Step, Transfer, moved_rows, tile_phases
from explainer.problem import Problem
from kernels.spec.formats import round_to


def steps(problem: Problem) -> Iterator[Step]:
    """List the visits: each row block passes the key blocks in which its mask leaves a score; the
    last one stores. A row block without such a key block has one visit of no tile."""
    move = Mover(problem)
    of_keys = [(move.read("K", j), move.read("V", j)) for j in range(problem.Tc)]
    for i in range(problem.Tr):
        visible = np.flatnonzero(move.kinds[i] != tiling.SKIPPED).tolist()
        yield from program(move, i, visible, of_keys, (move.write("O", i), move.write("lse", i)))


def program(
    move: Mover,
    i: int,
    key_blocks: list[int],
    of_keys: list[tuple[Transfer, ...]],
    stored: tuple[Transfer, ...],
    lane: int = 0,
) -> Iterator[Step]:
    """List the visits of the program that passes these key blocks with row block i."""
    Q = move.read("Q", i)
    if not key_blocks:  # it still writes what its rows have: O = 0, and lse
        moves = (Q, *stored)
        yield Step(i, None, "skipped", None, ("load", "store"), moves, True, lane)
    for j in key_blocks:
        first, last, kind = j == key_blocks[0], j == key_blocks[-1], move.kind(i, j)
        transfers = (*((Q,) if first else ()), *of_keys[j], *(stored if last else ()))
        yield Step(
            i, j, kind, None, tile_phases("forward", kind, store=last), transfers, first, lane
        )


# loop: begin


def compute(run: Run, steps: Iterable[Step]) -> Iterator[Visit]:
    """FlashAttention-2, Algorithm 1: O stays unnormalised on chip, one division at the end."""
    p = run.p
    for step in steps:
        # phase: load
        r = tiling.rows(p, step.i)
        if step.first:
            m, l = run.statistics(r.stop - r.start)
            O = np.zeros((len(m), p.d), np.float32)
        if step.j is None:  # no key is seen
            # phases end: O and lse stay as they are
            yield visit_of(step, m_old=m, m_new=m, l_old=l, l_new=l, O=O)
            continue
        # phase: load
        c = tiling.cols(p, step.j)
        Q, K, V = run.Q[r], run.K[c], run.V[c]
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
        O = run.add_product(alpha[:, None] * O, P, V)
        if "store" in step.phases:
            # phase: store
            run.O[r] = round_to(O / np.where(l_new > 0, l_new, 1)[:, None], run.stored_dtype)
            run.lse[r] = m_new + np.log(l_new)
        # phases end: what follows is for the picture
        run.S[r, c] = S
        numbers = {"row_max": row_max, "row_sum": row_sum, "alpha": alpha}
        numbers |= {"scores": scores, "S": S, "P": P, "O": O}
        yield visit_of(step, m_old=m, m_new=m_new, l_old=l, l_new=l_new, **numbers)
        m, l = m_new, l_new


# loop: end


def moved(p: Problem, once: bool) -> Moved:
    """Count K and V once per row block that visits them, or what a query sees of them; of all rows
    Q in, O and lse out."""
    keys = tiling.counted(p, once).keys
    counts = {"Q": (p.n, 0), "K": (keys, 0), "V": (keys, 0), "O": (0, p.n), "lse": (0, p.n)}
    return moved_rows(p, counts)


def size(p: Problem) -> Size:
    """Count the moves: every tile reads K and V; each row block reads Q, writes O and lse."""
    tiles = p.Tr * p.Tc
    return Size(tiles, 2 * tiles + 3 * p.Tr, 2, p.n * p.Tc * (p.d + 7))


ALGORITHM = Algorithm(
    key="fa2",
    label="FA-2",
    hue="var(--fa-q)",
    opens="Q",
    outer="rows",
    program="block",
    running=True,
    output="unnormalized",
    saved_for_backward=("lse",),
    steps=steps,
    compute=compute,
    moved=moved,
    size=size,
)
