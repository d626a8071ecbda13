"""What every loop is made of: visits, their phases, and the blocks moved between HBM and chip."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from explainer.algorithms import tiling
from explainer.problem import Problem
from kernels.spec.formats import ITEMSIZE

STATISTICS = frozenset({"m", "l", "lse", "D"})  # fp32 whatever the operands are; one a row
OF_KEYS = frozenset({"K", "V", "dK", "dV"})  # cut into key blocks; the others into row blocks
# Tensors of which each lane (a part of the keys) has its own, in fp32.
PARTIAL = frozenset({"O′", "lse′"})
PAIRS = frozenset({"S", "P", "dP", "dS"}) | PARTIAL  # whose blocks are pairs
OPS = ("read", "write", "add")


@dataclass(frozen=True)
class Pass:
    """Name what happens in a pass by any algorithm: ``phases`` of a visit, in their order;
    ``stages``, None for the tiles of a kernel that has no other; ``tensors`` that are moved."""

    phases: tuple[str, ...]
    stages: tuple[str | None, ...]
    tensors: tuple[str, ...]


PASSES = {
    "forward": Pass(
        ("load", "scores", "mask", "max", "exp", "sum", "output", "store"),
        (None, "scores", "softmax", "output", "combine"),
        ("Q", "K", "V", "O", "m", "l", "lse", "S", "P", "O′", "lse′"),
    ),
    "backward": Pass(
        ("load", "scores", "mask", "exp", "dV", "dP", "D", "dS", "dQ", "dK", "scale", "store"),
        (None, "D", "scale", "dV", "dP", "dS", "dQ", "dK"),
        (
            *("Q", "K", "V", "O", "dO", "lse", "D", "dQ", "dK", "dV"),
            *("m", "l", "P", "dP", "dS", "S"),
        ),
    ),
}
PHASES = PASSES["forward"].phases

Block = int | tuple[int, int]
Moved = dict[str, tuple[int, int]]  # tensor → bytes read, bytes written


@dataclass(frozen=True, slots=True)
class Transfer:
    """Describe one block moved between HBM and the chip. ``block``: j for ``OF_KEYS``, (i, j) for S
    P dP dS, (i, lane) for ``PARTIAL``, i for the others; ``op`` one of OPS, add: what another
    program may add to at the same time; ``phase`` of the visit in which it moves; padding moves no
    byte."""

    tensor: str
    block: Block
    op: str
    nbytes: int
    phase: str


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Describe one visit of a tile; with j None of a strip of rows, with i None of a key block that
    no row sees. ``kind`` full | partial | skipped; ``stage`` one of its pass's; ``first``: nothing
    of its block of the outer loop (and of its lane) was visited before; ``lane``: which part of the
    keys, where several programs share a row block."""

    i: Any  # int | None, see above: who computes with it knows that there is a tile
    j: Any
    kind: str
    stage: str | None
    phases: tuple[str, ...]
    transfers: tuple[Transfer, ...]
    first: bool = False
    lane: int = 0


class Mover:
    """Make transfers with the byte counts of one Problem. A loop that moves a block many times
    makes its transfer once: there are up to half a million."""

    def __init__(self, problem: Problem) -> None:
        self.p = problem
        self.kinds = tiling.kinds(problem)
        self._names = [[tiling.KINDS[k] for k in row] for row in self.kinds.tolist()]
        self._rows = [_size(tiling.rows(problem, i)) for i in range(problem.Tr)]
        self._cols = [_size(tiling.cols(problem, j)) for j in range(problem.Tc)]

    def _elements(self, tensor: str, block: Block) -> int:
        first, second = block if isinstance(block, tuple) else (block, None)
        if second is not None and tensor not in PARTIAL:
            return self._rows[first] * self._cols[second]
        side = (self._cols if tensor in OF_KEYS else self._rows)[first]
        return side * _row_length(self.p, tensor)

    def _move(self, tensor: str, block: Block, op: str, phase: str, fp32: bool) -> Transfer:
        size = 4 if fp32 else itemsize(self.p, tensor)
        return Transfer(tensor, block, op, self._elements(tensor, block) * size, phase)

    def read(self, tensor: str, block: Block, *, fp32: bool = False) -> Transfer:
        return self._move(tensor, block, "read", "load", fp32)

    def write(
        self, tensor: str, block: Block, phase: str = "store", *, fp32: bool = False
    ) -> Transfer:
        return self._move(tensor, block, "write", phase, fp32)

    def add(self, tensor: str, block: Block) -> Transfer:
        """Add to sums in HBM, which are fp32, in the phase that has the tensor's name."""
        return self._move(tensor, block, "add", tensor, True)

    def kind(self, i: int, j: int) -> str:
        return self._names[i][j]


def _row_length(problem: Problem, tensor: str) -> int:
    """Count the numbers in a row of the tensor."""
    if tensor in STATISTICS or tensor == "lse′":
        return 1
    return problem.n if tensor in PAIRS - PARTIAL else problem.d


def itemsize(problem: Problem, tensor: str) -> int:
    """Return the bytes of a number of the tensor."""
    if tensor in STATISTICS | PARTIAL:
        return 4
    return ITEMSIZE[problem.dtype if tensor in "QKV" else problem.stored_dtype]


def row_bytes(problem: Problem, tensor: str) -> int:
    """Return the bytes of a row of the tensor."""
    return _row_length(problem, tensor) * itemsize(problem, tensor)


def moved_rows(problem: Problem, counts: dict[str, tuple[int, int]]) -> Moved:
    """Return the bytes of so many (rows read, rows written) of each tensor."""
    sizes = {tensor: row_bytes(problem, tensor) for tensor in counts}
    return {t: (read * sizes[t], written * sizes[t]) for t, (read, written) in counts.items()}


def _size(part: slice) -> int:
    return part.stop - part.start


@cache
def tile_phases(pass_: str, kind: str, *, store: bool, D: bool = False) -> tuple[str, ...]:
    """Return the phases of a tile that is computed. Only a partial one is masked; ``D``: it is
    computed in each tile."""
    happens = {"mask": kind == "partial", "store": store, "D": D, "scale": False}
    return tuple(phase for phase in PASSES[pass_].phases if happens.get(phase, True))
