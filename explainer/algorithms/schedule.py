"""What is visited and what is moved, in order: the loops of each algorithm without their numbers.

The three loops stand apart on purpose: each reads as its paper writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explainer.algorithms import tiling
from explainer.base.fields import refuse, refused
from explainer.base.formats import ITEMSIZE
from explainer.problem import Problem

PHASES = ("load", "scores", "mask", "max", "exp", "sum", "output", "store")
TENSORS = ("Q", "K", "V", "O", "m", "l", "lse", "S", "P")
STATISTICS = frozenset({"m", "l", "lse"})  # kept in fp32 whatever the operands are
MAX_TILES = 65_536
MAX_N_LISTED = 16_384

Block = int | tuple[int, int]


@dataclass(frozen=True, slots=True)
class Transfer:
    """One block moved between HBM and the chip. ``block``: i for Q O m l lse, j for K V,
    (i, j) for S P; ``op`` read | write; ``phase`` load | store; padding moves no byte."""

    tensor: str
    block: Block
    op: str
    nbytes: int
    phase: str


@dataclass(frozen=True, slots=True)
class Step:
    """One visit of a tile (or, j None, of a strip of rows in standard attention's 2nd and 3rd
    kernel). ``kind`` full | partial | skipped; ``stage`` scores | softmax | output or None."""

    i: int
    j: int | None
    kind: str
    stage: str | None
    phases: tuple[str, ...]
    transfers: tuple[Transfer, ...]


class _Mover:
    """Makes transfers with the byte counts of one Problem."""

    def __init__(self, problem: Problem) -> None:
        self.p = problem
        self.kinds = tiling.kinds(problem)

    def nrows(self, i: int) -> int:
        return min(self.p.block_q, self.p.n - i * self.p.block_q)

    def ncols(self, j: int) -> int:
        return min(self.p.block_k, self.p.n - j * self.p.block_k)

    def _elements(self, tensor: str, block: Block) -> int:
        if isinstance(block, tuple):
            return self.nrows(block[0]) * self.ncols(block[1])
        if tensor in STATISTICS:
            return self.nrows(block)
        return (self.ncols(block) if tensor in "KV" else self.nrows(block)) * self.p.d

    def _move(self, tensor: str, block: Block, op: str, phase: str) -> Transfer:
        size = 4 if tensor in STATISTICS else ITEMSIZE[self.p.dtype]
        return Transfer(tensor, block, op, self._elements(tensor, block) * size, phase)

    def read(self, tensor: str, block: Block) -> Transfer:
        return self._move(tensor, block, "read", "load")

    def write(self, tensor: str, block: Block) -> Transfer:
        return self._move(tensor, block, "write", "store")

    def kind(self, i: int, j: int) -> str:
        return tiling.KINDS[self.kinds[i, j]]


def _computed(kind: str, *, store: bool) -> tuple[str, ...]:
    mask = ("mask",) if kind == "partial" else ()
    return ("load", "scores", *mask, "max", "exp", "sum", "output", *(("store",) if store else ()))


def _fa2(problem: Problem) -> Iterator[Step]:
    """FlashAttention-2, Algorithm 1: rows outside, keys inside, up to the diagonal."""
    move = _Mover(problem)
    for i in range(problem.Tr):
        stop = int(np.count_nonzero(move.kinds[i] != 2))
        for j in range(stop):
            transfers = [move.read("Q", i)] if j == 0 else []
            transfers += [move.read("K", j), move.read("V", j)]
            last = j == stop - 1
            if last:
                transfers += [move.write("O", i), move.write("lse", i)]
            kind = move.kind(i, j)
            yield Step(i, j, kind, None, _computed(kind, store=last), tuple(transfers))


def _fa1(problem: Problem) -> Iterator[Step]:
    """FlashAttention, Algorithm 1: keys outside, rows inside, passing above the diagonal."""
    move = _Mover(problem)
    for j in range(problem.Tc):
        loaded = False
        for i in range(problem.Tr):
            kind = move.kind(i, j)
            if kind == "skipped":
                yield Step(i, j, kind, None, (), ())
                continue
            transfers = [] if loaded else [move.read("K", j), move.read("V", j)]
            loaded = True
            transfers += [move.read(t, i) for t in ("Q", "O", "l", "m")]
            transfers += [move.write(t, i) for t in ("O", "l", "m")]
            yield Step(i, j, kind, None, _computed(kind, store=True), tuple(transfers))


def _standard(problem: Problem) -> Iterator[Step]:
    """FlashAttention's Algorithm 0: three passes, each matrix moved once a pass (its best case)."""
    move = _Mover(problem)
    everywhere = range(problem.Tc)
    for i in range(problem.Tr):
        for j in everywhere:
            transfers = [move.read("Q", i)] if j == 0 else []
            transfers += [move.read("K", j)] if i == 0 else []
            masked = move.kind(i, j) != "full"
            phases = ("load", "scores", *(("mask",) if masked else ()), "store")
            kind = "partial" if masked else "full"
            yield Step(i, j, kind, "scores", phases, (*transfers, move.write("S", (i, j))))
    for i in range(problem.Tr):
        moves = [move.read("S", (i, j)) for j in everywhere]
        moves += [move.write("P", (i, j)) for j in everywhere]
        phases = ("load", "max", "exp", "sum", "store")
        yield Step(i, None, "full", "softmax", phases, tuple(moves))
    for i in range(problem.Tr):
        moves = [move.read("P", (i, j)) for j in everywhere]
        moves += [move.read("V", j) for j in everywhere] if i == 0 else []
        moves.append(move.write("O", i))
        yield Step(i, None, "full", "output", ("load", "output", "store"), tuple(moves))


_LOOPS = {"fa2": _fa2, "fa1": _fa1, "standard": _standard}


def check_size(problem: Problem) -> None:
    """Raises ProblemError when the tiles are too many to be listed one by one."""
    if problem.n > MAX_N_LISTED:
        raise refuse(
            "n", problem.n, f"a whole number from 1 to {MAX_N_LISTED:,} where tiles are shown"
        )
    if problem.Tr * problem.Tc > MAX_TILES:
        why = f"they make {problem.Tr * problem.Tc:,} tiles, and Br × Bc must be large enough to"
        why += f" make at most {MAX_TILES:,}"
        given = {"br": problem.block_q, "bc": problem.block_k}
        raise refused(given, why, f"with n = {problem.n:,}")


def steps(problem: Problem) -> Iterator[Step]:
    """Every visit of the Problem's loop order, one after the other, however many there are."""
    return _LOOPS[problem.order](problem)


@lru_cache(maxsize=16)
def schedule(problem: Problem) -> tuple[Step, ...]:
    """Every visit of the Problem's loop order. Raises ProblemError above 65,536 tiles."""
    check_size(problem)
    return tuple(steps(problem))
