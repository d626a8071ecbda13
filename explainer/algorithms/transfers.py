"""What every loop is made of: visits, their phases, and the blocks moved between HBM and chip."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from explainer.algorithms import tiling
from explainer.base.formats import ITEMSIZE
from explainer.problem import Problem

PHASES = ("load", "scores", "mask", "max", "exp", "sum", "output", "store")
TENSORS = ("Q", "K", "V", "O", "m", "l", "lse", "S", "P")
STATISTICS = frozenset({"m", "l", "lse"})  # kept in fp32 whatever the operands are

Block = int | tuple[int, int]
Moved = dict[str, tuple[int, int]]  # tensor → bytes read, bytes written


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
    kernel). ``kind`` full | partial | skipped; ``stage`` scores | softmax | output or None;
    ``first``: nothing of its row block was visited before."""

    i: int
    j: int | None
    kind: str
    stage: str | None
    phases: tuple[str, ...]
    transfers: tuple[Transfer, ...]
    first: bool = False


class Mover:
    """Makes transfers with the byte counts of one Problem. A loop that moves a block many times
    makes its transfer once: there are up to half a million."""

    def __init__(self, problem: Problem) -> None:
        self.p = problem
        self.kinds = tiling.kinds(problem)
        self._names = [[tiling.KINDS[k] for k in row] for row in self.kinds.tolist()]
        self._rows = [_size(tiling.rows(problem, i)) for i in range(problem.Tr)]
        self._cols = [_size(tiling.cols(problem, j)) for j in range(problem.Tc)]

    def _elements(self, tensor: str, block: Block) -> int:
        if isinstance(block, tuple):
            return self._rows[block[0]] * self._cols[block[1]]
        if tensor in STATISTICS:
            return self._rows[block]
        return (self._cols if tensor in "KV" else self._rows)[block] * self.p.d

    def _move(self, tensor: str, block: Block, op: str, phase: str) -> Transfer:
        size = 4 if tensor in STATISTICS else ITEMSIZE[self.p.dtype]
        return Transfer(tensor, block, op, self._elements(tensor, block) * size, phase)

    def read(self, tensor: str, block: Block) -> Transfer:
        return self._move(tensor, block, "read", "load")

    def write(self, tensor: str, block: Block) -> Transfer:
        return self._move(tensor, block, "write", "store")

    def kind(self, i: int, j: int) -> str:
        return self._names[i][j]


def _size(part: slice) -> int:
    return part.stop - part.start


@cache
def computed(kind: str, *, store: bool) -> tuple[str, ...]:
    """The phases of a tile that is computed; only a partial one is masked."""
    mask = ("mask",) if kind == "partial" else ()
    return ("load", "scores", *mask, "max", "exp", "sum", "output", *(("store",) if store else ()))
