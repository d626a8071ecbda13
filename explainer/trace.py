"""Everything that happens when a Problem is computed tile by tile, in NumPy.

Arithmetic is the kernel's: operands in the chosen dtype, products accumulated in fp32, running
maximum m, running sum l and the accumulator in fp32, P rounded to the dtype before P V.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.inputs import make_inputs
from explainer.algorithms.schedule import Step, Transfer, check_size, schedule
from explainer.base.amounts import amount
from explainer.base.fields import refused, whole
from explainer.base.formats import round_to
from explainer.problem import Problem

MAX_BYTES = 512 * 2**20
NEG_INF = np.float32(-np.inf)


@dataclass(frozen=True, eq=False)
class Visit:
    """One visit with its numbers, all float32; None where the algorithm has no such thing there.

    Per real row of the block (shape (rows,)): ``m_old m_new l_old l_new alpha row_max row_sum``.
    ``S`` (rows, cols) scaled and masked, ``P`` (rows, cols); ``O`` (rows, d), the accumulator
    after the visit: unnormalised in fa2, normalised in fa1, final in standard's output stage.
    """

    i: int
    j: int | None
    kind: str
    stage: str | None
    phases: tuple[str, ...]
    transfers: tuple[Transfer, ...]
    m_old: np.ndarray | None = None
    m_new: np.ndarray | None = None
    l_old: np.ndarray | None = None
    l_new: np.ndarray | None = None
    alpha: np.ndarray | None = None
    row_max: np.ndarray | None = None
    row_sum: np.ndarray | None = None
    S: np.ndarray | None = None
    P: np.ndarray | None = None
    O: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole run: inputs and outputs (n, d) float32 holding values of the dtype, S (n, n) scaled
    with −inf where masked, lse (n,) fp32 natural log, and the visits in loop order."""

    problem: Problem
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    S: np.ndarray
    O: np.ndarray
    lse: np.ndarray
    visits: tuple[Visit, ...]


class _Strip:
    """The rows of one row block of an N × N matrix, under their own indices; no other exists."""

    def __init__(self, rows: slice, n: int, value: float) -> None:
        self.rows = rows
        self.data = np.full((rows.stop - rows.start, n), value, np.float32)

    def __getitem__(self, rows: slice) -> np.ndarray:
        assert rows == self.rows
        return self.data

    def __setitem__(self, key: slice | tuple[slice, slice], value: np.ndarray) -> None:
        rows, cols = key if isinstance(key, tuple) else (key, slice(None))
        assert rows == self.rows
        self.data[:, cols] = value


class _Run:
    """Operands, outputs and the steps that all three loops share unchanged.

    With ``rows`` only that row block's part of S and P is held: rows never meet each other.
    """

    def __init__(self, problem: Problem, rows: slice | None = None) -> None:
        self.p = problem
        self.rows = rows
        self.Q, self.K, self.V = make_inputs(problem)
        self.S = self.matrix(NEG_INF)
        self.O = np.zeros((problem.n, problem.d), np.float32)
        self.lse = np.full(problem.n, NEG_INF, np.float32)

    def matrix(self, value: float) -> np.ndarray | _Strip:
        """An N × N matrix, or the strip of it that is wanted."""
        if self.rows is not None:
            return _Strip(self.rows, self.p.n, value)
        return np.full((self.p.n, self.p.n), value, np.float32)

    def mask(self, S: np.ndarray, r: slice, c: slice) -> np.ndarray:
        """−inf where the key comes after the query."""
        if not self.p.causal:
            return S
        after = np.arange(c.start, c.stop)[None, :] > np.arange(r.start, r.stop)[:, None]
        return np.where(after, NEG_INF, S)


def _exp_difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """exp(a − b), with −inf − (−inf) read as "nothing yet": 1 for a statistic, 0 for a score."""
    return np.exp(a - np.where(np.isneginf(b), np.float32(0), b))


def _of(step: Step, **numbers: np.ndarray) -> Visit:
    for x in numbers.values():
        x.setflags(write=False)
    return Visit(step.i, step.j, step.kind, step.stage, step.phases, step.transfers, **numbers)


def _fa2(run: _Run, steps: tuple[Step, ...]) -> list[Visit]:
    """FlashAttention-2, Algorithm 1: O stays unnormalised on chip, one division at the end."""
    p, visits = run.p, []
    for step in steps:
        r, c = tiling.rows(p, step.i), tiling.cols(p, step.j)
        # phase: load
        Q, K, V = run.Q[r], run.K[c], run.V[c]
        if step.j == 0:
            m = np.full(len(Q), NEG_INF, np.float32)
            l = np.zeros(len(Q), np.float32)
            O = np.zeros_like(Q)
        # phase: scores
        S = (Q @ K.T) * np.float32(p.scale)
        # phase: mask
        S = run.mask(S, r, c)
        # phase: max
        row_max = S.max(axis=1)
        m_new = np.maximum(m, row_max)
        # phase: exp
        P = _exp_difference(S, m_new[:, None])
        alpha = np.where(np.isneginf(m_new), np.float32(1), _exp_difference(m, m_new))
        # phase: sum
        row_sum = P.sum(axis=1)
        l_new = alpha * l + row_sum
        # phase: output
        O = alpha[:, None] * O + round_to(P, p.dtype) @ V
        if "store" in step.phases:
            # phase: store
            run.O[r] = round_to(O / np.where(l_new > 0, l_new, 1)[:, None], p.dtype)
            run.lse[r] = m_new + np.log(l_new)
        # phases end: what follows is kept for the picture
        run.S[r, c] = S
        numbers = {"row_max": row_max, "row_sum": row_sum, "alpha": alpha, "S": S, "P": P, "O": O}
        visits.append(_of(step, m_old=m, m_new=m_new, l_old=l, l_new=l_new, **numbers))
        m, l = m_new, l_new
    return visits


def _fa1(run: _Run, steps: tuple[Step, ...]) -> list[Visit]:
    """FlashAttention, Algorithm 1: O, m and l live in HBM and come back at every visit."""
    p, visits = run.p, []
    m_hbm = np.full(p.n, NEG_INF, np.float32)
    l_hbm = np.zeros(p.n, np.float32)
    for step in steps:
        if step.kind == "skipped":
            visits.append(_of(step))
            continue
        r, c = tiling.rows(p, step.i), tiling.cols(p, step.j)
        # phase: load
        Q, K, V = run.Q[r], run.K[c], run.V[c]
        m, l, O = m_hbm[r].copy(), l_hbm[r].copy(), run.O[r].copy()
        # phase: scores
        S = (Q @ K.T) * np.float32(p.scale)
        # phase: mask
        S = run.mask(S, r, c)
        # phase: max
        row_max = S.max(axis=1)
        m_new = np.maximum(m, row_max)
        # phase: exp
        P = _exp_difference(S, m_new[:, None])
        alpha = np.where(np.isneginf(m_new), np.float32(1), _exp_difference(m, m_new))
        # phase: sum
        row_sum = P.sum(axis=1)
        l_new = alpha * l + row_sum
        # phase: output
        unnormalised = (l * alpha)[:, None] * O + round_to(P, p.dtype) @ V
        O = round_to(unnormalised / np.where(l_new > 0, l_new, 1)[:, None], p.dtype)
        # phase: store
        run.O[r], m_hbm[r], l_hbm[r] = O, m_new, l_new
        # phases end: what follows is kept for the picture
        run.S[r, c] = S
        numbers = {"row_max": row_max, "row_sum": row_sum, "alpha": alpha, "S": S, "P": P, "O": O}
        visits.append(_of(step, m_old=m, m_new=m_new, l_old=l, l_new=l_new, **numbers))
    run.lse[:] = m_hbm + np.log(l_hbm)
    return visits


def _standard(run: _Run, steps: tuple[Step, ...]) -> list[Visit]:
    """Three kernels: S whole, softmax whole, P V; S and P are stored in the dtype."""
    p, visits = run.p, []
    P_hbm = run.matrix(0.0)
    for step in steps:
        r = tiling.rows(p, step.i)
        if step.stage == "scores":
            c = tiling.cols(p, step.j)
            # phase: load
            Q, K = run.Q[r], run.K[c]
            # phase: scores
            S = (Q @ K.T) * np.float32(p.scale)
            # phase: mask
            S = run.mask(S, r, c)
            # phase: store
            run.S[r, c] = S = round_to(S, p.dtype)
            # phases end
            visits.append(_of(step, S=S))
        elif step.stage == "softmax":
            # phase: load
            S = run.S[r].copy()
            # phase: max
            m = S.max(axis=1)
            # phase: exp
            weights = _exp_difference(S, m[:, None])
            # phase: sum
            l = weights.sum(axis=1)
            # phase: store
            P_hbm[r] = P = round_to(weights / l[:, None], p.dtype)
            run.lse[r] = m + np.log(l)
            # phases end
            visits.append(_of(step, row_max=m, m_new=m, row_sum=l, l_new=l, S=S, P=P))
        else:
            # phase: load
            P, V = P_hbm[r], run.V
            # phase: output
            O = round_to(P @ V, p.dtype)
            # phase: store
            run.O[r] = O
            # phases end
            visits.append(_of(step, P=P.copy(), O=O))
    return visits


_LOOPS = {"fa2": _fa2, "fa1": _fa1, "standard": _standard}


def estimated_bytes(problem: Problem) -> int:
    """Bytes that the arrays of a trace take, nearly: S and P, operands, an accumulator a visit."""
    p = problem
    accumulators = p.n * p.d * (1 if p.order == "standard" else p.Tc)
    statistics = 7 * p.n * p.Tc
    return 4 * (3 * p.n * p.n + 4 * p.n * p.d + accumulators + statistics)


@lru_cache(maxsize=32)
def trace(problem: Problem) -> Trace:
    """Runs the Problem tile by tile. Raises ProblemError when its arrays would exceed 512 MiB."""
    check_size(problem)
    if estimated_bytes(problem) > MAX_BYTES:
        taken, most = amount(estimated_bytes(problem)), amount(MAX_BYTES)
        why = f"its arrays would take {taken}, and at most {most} are allowed"
        where = f"for a trace with numbers at d = {problem.d}, Bc = {problem.block_k}"
        raise refused({"n": f"{problem.n:,}"}, why, where)
    run = _Run(problem)
    # Overflow and 0/0 are what fp16 really does with such scores: shown, not warned about.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        visits = tuple(_LOOPS[problem.order](run, schedule(problem)))
    for x in (run.S, run.O, run.lse):
        x.setflags(write=False)
    return Trace(problem, run.Q, run.K, run.V, run.S, run.O, run.lse, visits)


def one_visit(problem: Problem, step: int) -> tuple[Visit, Visit | None]:
    """Visit ``step`` with its numbers, and the one before it in the same row block, whose O it
    starts from; for Problems too large for a whole trace. Raises ProblemError for no such visit.

    Only the visits of its row block are computed: rows never meet each other.
    """
    steps = schedule(problem)
    step = whole("step", step, 0, len(steps) - 1)
    row_block = [s for s in steps[: step + 1] if s.i == steps[step].i and s.kind != "skipped"]
    if steps[step].kind == "skipped":
        row_block.append(steps[step])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        run = _Run(problem, tiling.rows(problem, steps[step].i))
        visits = _LOOPS[problem.order](run, tuple(row_block))
    return visits[-1], visits[-2] if len(visits) > 1 else None


def _bench() -> None:
    for p in (Problem(), Problem(n=128, d=64, block_q=16, block_k=16, causal=False)):
        times = []
        for _ in range(9):
            trace.cache_clear()
            schedule.cache_clear()
            start = time.perf_counter()
            trace(p)
            times.append((time.perf_counter() - start) * 1e3)
        print(
            f"N={p.n} d={p.d} Br={p.block_q} Bc={p.block_k} {p.order}: "
            f"median {sorted(times)[4]:.2f} ms (9 runs)"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The NumPy trace of a Problem.")
    parser.add_argument("--bench", action="store_true", help="time it")
    if parser.parse_args().bench:
        _bench()
