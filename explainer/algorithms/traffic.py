"""HBM bytes: the transfers of the schedule added up, or the same sums without listing the tiles."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from explainer.algorithms.schedule import Step, schedule
from explainer.base.formats import ITEMSIZE
from explainer.problem import Problem

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


def _rows_read(n: int, blocks: int, size: int, other: int, causal: bool) -> int:
    """Keys that all row blocks of FA-2 read: each up to the block that holds its diagonal."""
    if not causal:
        return blocks * n
    last_rows = np.minimum((np.arange(blocks, dtype=np.int64) + 1) * size, n)
    return int(np.minimum(-(-last_rows // other) * other, n).sum())


def _rows_visited(n: int, blocks: int, size: int, other: int, causal: bool) -> int:
    """Rows that all key blocks of FA-1 visit: each from the row block that holds its diagonal."""
    if not causal:
        return blocks * n
    first_keys = np.arange(blocks, dtype=np.int64) * size
    return int((n - first_keys // other * other).sum())


def summed(problem: Problem) -> Moved:
    """``traffic`` without listing the tiles: the same sums, block by block, for any N.

    Equal to it wherever both can be had (tests/algorithms/test_traffic_sums.py).
    """
    p, item, fp32 = problem, ITEMSIZE[problem.dtype], 4
    matrix, square = p.n * p.d * item, p.n * p.n * item
    if p.order == "standard":
        moved = {"Q": (matrix, 0), "K": (matrix, 0), "S": (square, square)}
        return moved | {"P": (square, square), "V": (matrix, 0), "O": (0, matrix)}
    if p.order == "fa2":
        keys = _rows_read(p.n, p.Tr, p.block_q, p.block_k, p.causal) * p.d * item
        moved = {"Q": (matrix, 0), "K": (keys, 0), "V": (keys, 0)}
        return moved | {"O": (0, matrix), "lse": (0, p.n * fp32)}
    rows = _rows_visited(p.n, p.Tc, p.block_k, p.block_q, p.causal)
    wide, thin = rows * p.d * item, rows * fp32
    moved = {"K": (matrix, 0), "V": (matrix, 0), "Q": (wide, 0)}
    return moved | {"O": (wide, wide), "l": (thin, thin), "m": (thin, thin)}


def launches(problem: Problem) -> tuple[tuple[str, Moved], ...]:
    """(what the launch is called, what it moves): standard attention's three kernels, or the one.

    Every tensor of the three stages is moved by the stage that names it; their sum is ``summed``.
    """
    moved = summed(problem)
    if problem.order != "standard":
        return ((problem.order, moved),)
    s_read, s_written = moved["S"]
    p_read, p_written = moved["P"]
    return (
        ("scores", {"Q": moved["Q"], "K": moved["K"], "S": (0, s_written)}),
        ("softmax", {"S": (s_read, 0), "P": (0, p_written)}),
        ("output", {"P": (p_read, 0), "V": moved["V"], "O": moved["O"]}),
    )


@lru_cache(maxsize=4096)
def requested(
    n: int, d: int, causal: bool, dtype: str, order: str, block_q: int, block_k: int
) -> int:
    """HBM bytes of one head in this loop order, reads and writes together."""
    problem = Problem(
        n=n, d=d, causal=causal, dtype=dtype, order=order, inputs="random",
        block_q=min(block_q, n), block_k=min(block_k, n),
    )  # fmt: skip
    return sum(read + written for read, written in summed(problem).values())
