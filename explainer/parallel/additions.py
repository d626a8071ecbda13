"""What the order of additions does to dQ: key blocks add their parts to it by atomics, in an order
that nobody fixes, and a sum in fp32 depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explainer.algorithms import tiling
from explainer.memory.workload import Workload
from explainer.problem import Problem
from explainer.trace import trace_backward
from kernels.spec.formats import round_to

LONGEST, PARTS, ORDERS = 512, 8, 5  # rows worked out, at most, and key blocks; shuffled orders
Parts = tuple[tuple[slice, tuple[np.ndarray, ...]], ...]


@dataclass(frozen=True)
class Sum:
    """dQ summed in one order, ``order`` 0 that of the keys, once more, beside a first sum in that
    order: how many entries differ in at least one bit, ``summed`` in fp32 and ``stored`` in the
    dtype after the scale; ``off``: the largest difference of the fp32 sum from that in float64."""

    order: int
    summed: int
    stored: int
    off: float


@dataclass(frozen=True)
class Additions:
    """``problem`` whose dQ has ``entries``; ``most`` parts of an entry; ``sums`` in several orders;
    ``unequal``: entries of which not all sums are the same, in fp32."""

    problem: Problem
    entries: int
    most: int
    sums: tuple[Sum, ...]
    unequal: int


def gradient_parts(problem: Problem) -> Parts:
    """Of each row block of FA-2's backward pass its rows and what its visits add to dQ, (rows, d)
    each in fp32, without the scale, in the order of the keys."""
    found: dict[int, list[np.ndarray]] = {i: [] for i in range(problem.Tr)}
    for visit in trace_backward(problem).visits:
        if visit.part_dQ is not None and visit.i is not None:
            found[visit.i].append(visit.part_dQ)
    return tuple((tiling.rows(problem, i), tuple(added)) for i, added in found.items())


def sum_parts(
    problem: Problem, given: Parts, seed: int = 0, dtype: type = np.float32
) -> np.ndarray:
    """dQ (n, d) without the scale: a dQ of zeros, to which the parts of each row block are added,
    in the order of the keys for seed 0, else in one shuffled by it, another for each block."""
    total = np.zeros((problem.n, problem.d), dtype)
    shuffle = np.random.default_rng(seed)
    for rows, blocks in given:
        turns = shuffle.permutation(len(blocks)) if seed else range(len(blocks))
        for k in turns:
            total[rows] += blocks[k].astype(dtype)
    return total


def of_workload(w: Workload) -> Problem:
    """One head of it, random, cut to LONGEST rows and PARTS key blocks."""
    n = min(w.n, LONGEST, PARTS * w.block_k)
    return Problem(
        n=n,
        d=w.d,
        block_q=min(w.block_q, n),
        block_k=min(w.block_k, n),
        mask=w.mask,
        order="fa2",
        dtype=w.dtype,
        inputs="random",
    )


@lru_cache(maxsize=64)
def compare_orders(problem: Problem) -> Additions:
    """dQ twice in the order of the keys, as deterministic mode has it, and in ORDERS others. Raises
    ProblemError where ``trace_backward`` does."""
    given = gradient_parts(problem)
    exact = sum_parts(problem, given, dtype=np.float64)
    first, sums = sum_parts(problem, given), []
    unequal = np.zeros(first.shape, bool)
    for seed in range(ORDERS + 1):
        found = sum_parts(problem, given, seed)
        stored = (round_to(x * np.float32(problem.scale), problem.dtype) for x in (found, first))
        differ = differing(found, first)
        unequal |= differ
        off = float(abs(found - exact).max())
        sums.append(Sum(seed, int(differ.sum()), int(differing(*stored).sum()), off))
    longest = max(len(blocks) for _, blocks in given)
    return Additions(problem, first.size, longest, tuple(sums), int(unequal.sum()))


def differing(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which entries of two arrays in fp32 differ in at least one bit."""
    return a.view(np.uint32) != b.view(np.uint32)
