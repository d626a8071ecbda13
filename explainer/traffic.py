"""HBM bytes, by adding up the transfers of the schedule: there is no second formula here."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from explainer.problem import Problem
from explainer.schedule import Step, schedule, steps

Moved = dict[str, tuple[int, int]]


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


@lru_cache(maxsize=256)
def requested(
    n: int, d: int, causal: bool, dtype: str, order: str, block_q: int, block_k: int
) -> int:
    """HBM bytes of one head in this loop order, also where the tiles are too many to be listed."""
    problem = Problem(
        n=n, d=d, causal=causal, dtype=dtype, order=order, inputs="random",
        block_q=min(block_q, n), block_k=min(block_k, n),
    )  # fmt: skip
    return sum(read + written for read, written in moved(steps(problem)).values())
