"""Everything that happens when a Problem is computed tile by tile, in NumPy, forward or backward:
the algorithm's own loop with its numbers (explainer/algorithms/)."""

from __future__ import annotations

import argparse
import time
from collections import deque
from dataclasses import dataclass

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.backward_numbers import BackwardRun, BackwardVisit
from explainer.algorithms.numbers import Run, Visit
from explainer.algorithms.registry import ALGORITHMS, BACKWARD
from explainer.algorithms.schedule import check_size, schedule
from explainer.base.amounts import amount
from explainer.base.fields import refused, whole
from explainer.base.kept import kept
from explainer.problem import Problem

MAX_BYTES = 512 * 2**20
MAX_VISITED = 16_384  # tiles of a trace with numbers: each takes NumPy some 60 µs
MAX_STRIP = 1 << 26  # work of one row block, in numbers: see one_visit
MAX_PRODUCTS = 1 << 34  # of making data that rise, which looks at all N² scores
KEPT_BYTES = 16 << 20


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


@dataclass(frozen=True, eq=False)
class BackwardTrace:
    """A whole backward pass: inputs, O, dO and the gradients (n, d) float32 holding values of the
    dtype, lse and D (n,) fp32, and the visits in loop order."""

    problem: Problem
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    O: np.ndarray
    lse: np.ndarray
    dO: np.ndarray
    D: np.ndarray
    dQ: np.ndarray
    dK: np.ndarray
    dV: np.ndarray
    visits: tuple[BackwardVisit, ...]


def estimated_bytes(problem: Problem, pass_: str = "forward") -> int:
    """Bytes that the arrays of a trace take, nearly: S with and without its mask, P,
    operands, an accumulator per visit; in the backward pass dP, dS and a slope too, and four."""
    p = problem
    if pass_ == "backward":
        return 4 * (6 * p.n * p.n + 8 * p.n * p.d + 2 * p.n * p.d * (p.Tr + p.Tc))
    accumulators = p.n * p.d * (p.Tc if ALGORITHMS[p.order].running else 1)
    statistics = 7 * p.n * p.Tc
    return 4 * (4 * p.n * p.n + 4 * p.n * p.d + accumulators + statistics)


def held_bytes(t: Trace | BackwardTrace) -> int:
    """Bytes of its arrays; those that two visits share are counted twice."""
    arrays = (x for v in (t, *t.visits) for x in vars(v).values() if isinstance(x, np.ndarray))
    return sum(x.nbytes for x in arrays) + 1_000 * len(t.visits)


def _check_numbers(problem: Problem, pass_: str = "forward") -> None:
    """Raises ProblemError where a trace with numbers would have too many tiles or bytes."""
    check_size(problem)
    if (tiles := problem.Tr * problem.Tc) > MAX_VISITED:
        given = {"br": problem.block_q, "bc": problem.block_k}
        why = f"they make {tiles:,} tiles, and Br × Bc must be large enough to make at most"
        where = f"for a trace with numbers at n = {problem.n:,}"
        raise refused(given, f"{why} {MAX_VISITED:,}", where)
    if (needed := estimated_bytes(problem, pass_)) > MAX_BYTES:
        taken, most = amount(needed), amount(MAX_BYTES)
        why = f"its arrays would take {taken}, and at most {most} are allowed"
        where = f"for a trace with numbers at d = {problem.d}, Bc = {problem.block_k}"
        raise refused({"n": f"{problem.n:,}"}, why, where)


@kept(KEPT_BYTES, held_bytes)
def trace(problem: Problem) -> Trace:
    """Runs the Problem tile by tile. Raises ProblemError when its arrays would exceed 512 MiB, and
    for more than 16,384 tiles."""
    _check_numbers(problem)
    run = Run(problem)
    # Overflow and 0/0 are what fp16 really does with such scores: shown, not warned about.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        visits = tuple(ALGORITHMS[problem.order].compute(run, schedule(problem)))
    for x in (run.S, run.O, run.lse):
        x.setflags(write=False)
    return Trace(problem, run.Q, run.K, run.V, run.S, run.O, run.lse, visits)


@kept(KEPT_BYTES, held_bytes)
def trace_backward(problem: Problem) -> BackwardTrace:
    """Runs the Problem's forward pass, and then the backward pass of the same algorithm for a
    random dO. The gradients are those of Q, K and V as this head multiplies them (after RoPE; of
    dK and dV this query head's share). Raises ProblemError as ``trace`` does, and for dropout."""
    steps = schedule(problem, "backward")
    _check_numbers(problem, "backward")
    forward = trace(problem)
    run = BackwardRun(problem, forward.O, forward.lse, forward.visits)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        visits = tuple(BACKWARD[problem.order].compute(run, steps))
    gradients = run.dQ, run.dK, run.dV
    for x in (run.D, *gradients):
        x.setflags(write=False)
    inputs = run.Q, run.K, run.V, run.O, run.lse, run.dO
    return BackwardTrace(problem, *inputs, run.D, *gradients, visits)


def one_visit(problem: Problem, step: int) -> tuple[Visit, Visit | None]:
    """Visit ``step`` with its numbers, and the one before it in the same row block, whose O it
    starts from; for Problems too large for a whole trace. Raises ProblemError for no such visit.

    Only the visits of its row block are computed: rows never meet each other. Their work, in
    numbers touched, is bounded: about 16 a score, and its accumulator once a visit.
    """
    check_size(problem)
    if problem.inputs == "rising" and (products := problem.n**2 * problem.d) > MAX_PRODUCTS:
        why = f"one of the other data, or N² · d of at most {MAX_PRODUCTS:,} (it is {products:,})"
        raise refused({"data": "rising"}, why, "for the numbers of one tile")
    most = MAX_STRIP // (16 * problem.n + problem.d * problem.Tc)
    if problem.block_q > most:
        where = f"for the numbers of one tile at n = {problem.n:,}, d = {problem.d}"
        given, block = {"br": problem.block_q}, f"Bc = {problem.block_k}"
        raise refused(given, f"a whole number from 1 to {most}", f"{where}, {block}")
    steps = schedule(problem)
    step = whole("step", step, 0, len(steps) - 1)
    row_block = [s for s in steps[: step + 1] if s.i == steps[step].i and s.kind != "skipped"]
    if steps[step].kind == "skipped":
        row_block.append(steps[step])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        run = Run(problem, tiling.rows(problem, steps[step].i))
        visits = deque(ALGORITHMS[problem.order].compute(run, tuple(row_block)), maxlen=2)
    return visits[-1], visits[0] if len(visits) > 1 else None


def _bench() -> None:
    for p in (Problem(), Problem(n=128, d=64, block_q=16, block_k=16, causal=False)):
        for run in (trace, trace_backward):
            times = []
            for _ in range(9):
                for cached in (trace, trace_backward, schedule):
                    cached.cache_clear()
                start = time.perf_counter()
                run(p)
                times.append((time.perf_counter() - start) * 1e3)
            print(
                f"{run.__name__} N={p.n} d={p.d} Br={p.block_q} Bc={p.block_k} {p.order}: "
                f"median {sorted(times)[4]:.2f} ms (9 runs)"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The NumPy trace of a Problem.")
    parser.add_argument("--bench", action="store_true", help="time it")
    if parser.parse_args().bench:
        _bench()
