"""HBM bytes: the transfers of the schedule added up, or the same sums without listing the tiles."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.transfers import Moved, Step
from explainer.problem import Problem
from kernels.masks import Mask


def moved(steps: Iterable[Step]) -> Moved:
    """{tensor: (bytes read, bytes written)} of the given visits."""
    out: dict[str, list[int]] = {}
    for step in steps:
        for t in step.transfers:
            out.setdefault(t.tensor, [0, 0])[t.op == "write"] += t.nbytes
    return {tensor: (read, written) for tensor, (read, written) in out.items()}


def traffic(problem: Problem) -> Moved:
    """{tensor: (bytes read, bytes written)} of the whole Problem in its loop order."""
    return moved(schedule(problem))


def total(problem: Problem) -> int:
    """All HBM bytes of the Problem, reads and writes together."""
    return sum(read + written for read, written in traffic(problem).values())


def summed(problem: Problem) -> Moved:
    """``traffic`` without listing the tiles: the algorithm's closed form, for any N.

    Equal to it wherever both can be had (tests/algorithms/test_traffic_sums.py).
    """
    return ALGORITHMS[problem.order].moved(problem)


def launches(problem: Problem) -> tuple[tuple[str, Moved], ...]:
    """(what the launch is called, what it moves): standard attention's three kernels, or the one.

    Every tensor of the three stages is moved by the stage that names it; their sum is ``summed``.
    """
    moved, kernels = summed(problem), ALGORITHMS[problem.order].launches
    if kernels is None:
        return ((problem.order, moved),)
    return tuple(
        (name, {t: (moved[t][0], 0) for t in read} | {t: (0, moved[t][1]) for t in written})
        for name, (read, written) in kernels.items()
    )


@lru_cache(maxsize=4096)
def requested(
    n: int, d: int, mask: Mask | str, dtype: str, order: str, block_q: int, block_k: int
) -> int:
    """HBM bytes of one head in this loop order, reads and writes together."""
    problem = Problem(
        n=n, d=d, mask=mask, dtype=dtype, order=order, inputs="random",
        block_q=min(block_q, n), block_k=min(block_k, n),
    )  # fmt: skip
    return sum(read + written for read, written in summed(problem).values())
