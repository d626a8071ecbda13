"""What one tile needs on chip: the textbook budget, every operand once, in its real dtype.

It is what the paper's M stands for. A compiled kernel differs: it keeps O, m, l and scores in
registers, buffers K and V several times, and pads; `kernels.compile_report` tells that truth.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from explainer.base.cards import CARDS, Card
from explainer.base.formats import ITEMSIZE
from explainer.problem import Problem

FP32 = 4


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


def budget(problem: Problem) -> tuple[Part, ...]:
    """Q_i, K_j, V_j in the Problem's dtype; S_ij (P overwrites it), O_i, m_i, l_i in fp32.

    The same tile stands for standard attention, so that the orders can be compared. Its softmax
    pass holds more: whole rows of S, a strip of Br×N scores, which this budget leaves out.
    """
    return tile_parts(problem.block_q, problem.block_k, problem.d, ITEMSIZE[problem.dtype])


def total(parts: tuple[Part, ...]) -> int:
    """Bytes of all parts."""
    return sum(part.nbytes for part in parts)


def fits(problem: Problem, card: Card) -> bool:
    """Whether the textbook tile stays within what one thread block of the card may use.

    Not a promise about a compiled kernel, which buffers and pads on its own terms.
    """
    return total(budget(problem)) <= card.shared_bytes


def largest_square(problem: Problem, card: Card) -> int:
    """The largest B such that a tile with Br = Bc = B fits a thread block's shared memory; 0 if
    not even one row does."""
    itemsize, d, room = ITEMSIZE[problem.dtype], problem.d, card.shared_bytes
    return bisect_right(range(1, room), room, key=lambda b: total(tile_parts(b, b, d, itemsize)))


def summary(problem: Problem) -> dict:
    """For the page: parts, their sum, and of every card its limit and the largest tile there."""
    parts = budget(problem)
    return {
        "parts": [[part.tensor, list(part.shape), part.nbytes] for part in parts],
        "total": total(parts),
        "cards": {
            key: {"name": c.name, "bytes": c.shared_bytes, "largest": largest_square(problem, c)}
            for key, c in CARDS.items()
        },
    }
