"""What one tile needs on chip: the textbook budget, every operand once, in its real dtype.

What is loaded lies in shared memory, what is computed in registers. A compiled kernel also buffers
K and V several times, pads, and wants registers for more; `kernels.compile_report` tells how many.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

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
    def sign(self) -> str:
        """``tensor`` as a reader sees it."""
        return "ℓ" if self.tensor == "l" else self.tensor

    @property
    def place(self) -> str:
        """Where it is kept."""
        return SHARED if self.tensor in LOADED else REGISTERS


def tile_parts(br: int, bc: int, d: int, itemsize: int) -> tuple[Part, ...]:
    """``budget`` of a tile of this size; ``itemsize`` in bytes."""
    return (
        Part("Q", (br, d), br * d * itemsize),
        Part("K", (bc, d), bc * d * itemsize),
        Part("V", (bc, d), bc * d * itemsize),
        Part("S", (br, bc), br * bc * FP32),  # P takes its place, score by score
        Part("O", (br, d), br * d * FP32),
        Part("m", (br,), br * FP32),
        Part("l", (br,), br * FP32),
    )


def backward_parts(br: int, bc: int, d: int, itemsize: int) -> tuple[Part, ...]:
    """``budget`` of a tile of this size in the backward pass."""
    return (
        *(Part(name, (br, d), br * d * itemsize) for name in ("Q", "dO")),
        *(Part(name, (bc, d), bc * d * itemsize) for name in ("K", "V")),
        *(Part(name, (br, bc), br * bc * FP32) for name in ("S", "dP")),  # P, dS take their places
        *(Part(name, (bc, d), bc * d * FP32) for name in ("dK", "dV")),
        Part("dQ", (br, d), br * d * FP32),
        *(Part(name, (br,), br * FP32) for name in ("lse", "D")),
    )


PARTS = {"forward": tile_parts, "backward": backward_parts}


def budget(problem: Problem, pass_: str = "forward") -> tuple[Part, ...]:
    """Forward: Q_i, K_j, V_j in the Problem's dtype; S_ij (P overwrites it), O_i, m_i, l_i in fp32.
    Backward: Q_i, dO_i, K_j, V_j in the dtype; S_ij and dP_ij (P and dS overwrite them), the sums
    dK_j and dV_j, what is added to dQ_i, lse_i and D_i in fp32.

    The same tile stands for standard attention, so that the orders can be compared. Its softmax
    pass holds more: whole rows of S, a strip of Br×N scores, which this budget leaves out.
    """
    return PARTS[pass_](problem.block_q, problem.block_k, problem.d, ITEMSIZE[problem.dtype])


def bytes_in(parts: tuple[Part, ...], place: str) -> int:
    """Bytes of the parts that are kept there."""
    return sum(part.nbytes for part in parts if part.place == place)


def _fit(parts: tuple[Part, ...], card: Card) -> bool:
    return (
        bytes_in(parts, SHARED) <= card.shared_bytes
        and bytes_in(parts, REGISTERS) <= card.registers_per_sm_bytes
    )


def fits(problem: Problem, card: Card, pass_: str = "forward") -> bool:
    """Whether the textbook tile stays within the shared memory and the registers that one thread
    block of the card may use.

    Not a promise about a compiled kernel, which buffers and pads on its own terms.
    """
    return _fit(budget(problem, pass_), card)


def largest_square(problem: Problem, card: Card, pass_: str = "forward") -> int:
    """The largest B such that a tile with Br = Bc = B ``fits`` the card; 0 if not even one row
    does."""
    itemsize, d, sides = ITEMSIZE[problem.dtype], problem.d, range(1, card.shared_bytes)
    return bisect_left(sides, True, key=lambda b: not _fit(PARTS[pass_](b, b, d, itemsize), card))


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
