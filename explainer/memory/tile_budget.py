"""What one tile needs on chip: the textbook budget, every operand once, in its real dtype.

What is loaded lies in shared memory, what is computed in registers. A compiled kernel also buffers
K and V several times, pads, and wants registers for more; `kernels.compile_report` tells how many.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from explainer.base.cards import CARDS, Card
from explainer.problem import Problem
from kernels.spec.formats import ITEMSIZE

FP32 = 4
SHARED, REGISTERS = "shared memory", "registers"
LOADED = ("Q", "K", "V", "dO")


@dataclass(frozen=True)
class Part:
    """One operand of the tile: ``tensor``, its shape, its bytes."""

    tensor: str
    shape: tuple[int, ...]
    nbytes: int

    @property
    def place(self) -> str:
        """Where it is kept."""
        return SHARED if self.tensor in LOADED else REGISTERS


# Of each pass: operand → its axes: rows, keys, dimensions. P takes S's place, score by score, and
# dS that of dP.
AXES = {
    "forward": {"Q": "rd", "K": "kd", "V": "kd", "S": "rk", "O": "rd", "m": "r", "l": "r"},
    "backward": {
        **{"Q": "rd", "dO": "rd", "K": "kd", "V": "kd", "S": "rk", "dP": "rk"},
        **{"dK": "kd", "dV": "kd", "dQ": "rd", "lse": "r", "D": "r"},
    },
}


def tile_parts(br: int, bc: int, d: int, itemsize: int, pass_: str = "forward") -> tuple[Part, ...]:
    """``budget`` of a tile of this size; ``itemsize`` in bytes."""
    sides = {"r": br, "k": bc, "d": d}
    shapes = {name: tuple(sides[x] for x in axes) for name, axes in AXES[pass_].items()}
    return tuple(
        Part(name, shape, math.prod(shape) * (itemsize if name in LOADED else FP32))
        for name, shape in shapes.items()
    )


def budget(problem: Problem, pass_: str = "forward") -> tuple[Part, ...]:
    """Forward: Q_i, K_j, V_j in the Problem's dtype; S_ij (P overwrites it), O_i, m_i, l_i in fp32.
    Backward: Q_i, dO_i, K_j, V_j in the dtype; S_ij and dP_ij (P and dS overwrite them), the sums
    dK_j and dV_j, what is added to dQ_i, lse_i and D_i in fp32.

    The same tile stands for standard attention, so that the orders can be compared. Its softmax
    pass holds more: whole rows of S, a strip of Br×N scores, which this budget leaves out.
    """
    itemsize = ITEMSIZE[problem.dtype]
    return tile_parts(problem.block_q, problem.block_k, problem.d, itemsize, pass_)


def bytes_in(parts: tuple[Part, ...], place: str) -> int:
    """Bytes of the parts that are kept there."""
    return sum(part.nbytes for part in parts if part.place == place)


def largest_square(problem: Problem, card: Card, pass_: str = "forward") -> int:
    """The largest B such that a textbook tile with Br = Bc = B stays within the shared memory and
    the registers that one thread block of the card may use; 0 if not even one row does.

    Not a promise about a compiled kernel, which buffers and pads on its own terms.
    """
    return _largest_square(problem.d, ITEMSIZE[problem.dtype], card, pass_)


@lru_cache(1024)  # every trace names it for each card: a third of the time of a small one
def _largest_square(d: int, itemsize: int, card: Card, pass_: str) -> int:
    room = {SHARED: card.shared_bytes, REGISTERS: card.registers_per_sm_bytes}

    def is_too_large(side: int) -> bool:
        parts = tile_parts(side, side, d, itemsize, pass_)
        return any(bytes_in(parts, place) > most for place, most in room.items())

    return bisect_left(range(1, card.shared_bytes), True, key=is_too_large)


def summary(problem: Problem, pass_: str = "forward") -> dict:
    """For the page: parts, where they are kept, and of every card its limits and the largest tile
    there."""
    return {
        "parts": [[x.tensor, list(x.shape), x.nbytes, x.place] for x in budget(problem, pass_)],
        "cards": {
            key: {
                "name": c.name,
                "room": {SHARED: c.shared_bytes, REGISTERS: c.registers_per_sm_bytes},
                "largest": largest_square(problem, c, pass_),
            }
            for key, c in CARDS.items()
        },
    }
