"""The guided tour: chapters of at most 60 words, each a Problem and a place in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from explainer.problem import Problem


@dataclass(frozen=True)
class Chapter:
    """A title, a text, and where it is: a Problem, a visit (a tick in a comparison), a phase.

    ``mode`` "compare" shows all three loop orders; ``clock`` is then "tile" or "bytes".
    """

    title: str
    text: str
    problem: Problem = field(default_factory=Problem)
    step: int = 0
    phase: str | None = None
    mode: str | None = None
    clock: str | None = None

    def query(self) -> dict[str, str]:
        """The address of this chapter, without its number."""
        place = {"step": str(self.step), "phase": self.phase, "mode": self.mode}
        place["clock"] = self.clock
        return self.problem.to_query() | {k: v for k, v in place.items() if v}


SPIKE = Problem(order="standard", inputs="spike", dtype="fp16")
FULL = Problem(n=64, d=16, block_q=16, block_k=16, causal=False)
SMALL_TILES = Problem(n=1024, d=64, block_q=32, block_k=32, causal=False, order="fa1")

CHAPTERS = (
    Chapter(
        "Naive softmax overflows",
        "Softmax needs exp of every score. One score in this tile is about 30: exp(30) is 10¹³, "
        "and fp16 ends at 65,504, which exp passes at 11.09; in fp32 and bf16 at 88.72. "
        "Taken literally, the formula divides infinity by infinity.",
        SPIKE,
        step=14,
        phase="scores",
    ),
    Chapter(
        "Safe softmax",
        "Subtract each row's maximum m first: no weight exp(S − m) exceeds 1, and the result is "
        "the same. But m needs the whole row before the first exp. So standard attention writes S, "
        "N × N, to HBM, reads it back, writes P, and reads that back too.",
        SPIKE,
        step=19,
        phase="max",
    ),
    Chapter(
        "The first tile",
        "FlashAttention brings one block of Q and one of K and V on chip. From this tile alone "
        "every row takes a maximum m, and a sum ℓ of exp(S − m). They may be wrong for the whole "
        "row, but they are right for the keys seen so far.",
        step=3,
        phase="sum",
    ),
    Chapter(
        "A new maximum",
        "The next key block raises the maximum of all four rows (▲). What was summed before was "
        "scaled by the old maximum. One factor a row repairs it: α = exp(m old − m new). The old "
        "sum and the old output are multiplied by α, and the new ones are added.",
        step=4,
        phase="exp",
    ),
    Chapter(
        "The last tile: exact",
        "After the last key block O is divided by ℓ, once, and written with lse = m + log ℓ. "
        "Nothing was approximated: in real arithmetic this is softmax over the whole row. In "
        "floating point it differs in the last bits, and is as near the truth as the usual order.",
        step=5,
        phase="store",
    ),
    Chapter(
        "Causal: skipped, partial, full",
        "A causal query sees no later key. Six of these sixteen tiles lie wholly above the "
        "diagonal: they are never loaded and never computed. Four are crossed by it and masked "
        "score by score. The other six need no mask at all.",
        step=9,
        phase="mask",
    ),
    Chapter(
        "The ragged edge",
        "N = 14 is no multiple of Br = 4 or Bc = 5. Lanes beyond the edge move no byte, and their "
        "keys must never enter the sum: a padded key scores 0, and exp(0 − m) is not nothing. A "
        "kernel that forgets this is wrong only for some N.",
        Problem(n=14, block_q=4, block_k=5, causal=False),
        step=11,
        phase="mask",
    ),
    Chapter(
        "FA-1: round trips",
        "FlashAttention-1 walks keys outside, rows inside. K and V are loaded once. But O, m and ℓ "
        "of a row block come from HBM at every visit and go back after it: see what moves below "
        "the map. One thread block has to do it all, key block after key block.",
        Problem(order="fa1"),
        step=6,
        phase="store",
    ),
    Chapter(
        "FA-2: rows outside",
        "FlashAttention-2 swaps the loops. A row block stays on chip until it is finished, so O, m "
        "and ℓ never leave before. K and V are read again for every row block, but row blocks no "
        "longer wait for each other: each gets a thread block of its own.",
        step=6,
        phase="output",
    ),
    Chapter(
        "A race by bytes",
        "Now every lane may move the same number of bytes in a tick. Standard attention spends "
        "them on S and P, FA-1 on O, FA-2 on K and V. The lane with the least traffic is through "
        "first. These are requests: a GPU's L2 cache answers many of them.",
        FULL,
        step=14,
        mode="compare",
        clock="bytes",
    ),
    Chapter(
        "Tiles too small lose",
        "N = 1,024, d = 64, tiles of 32 × 32: FA-1 moves 1.47 times the bytes of standard "
        "attention, FA-2 0.97 times. With 64 × 64 tiles it is 0.75 and 0.50. Larger tiles mean "
        "fewer passes over K and V; shared memory and registers set the limit.",
        SMALL_TILES,
        step=745,
        mode="compare",
        clock="bytes",
    ),
    Chapter(
        "What is kept",
        "For the backward pass standard attention keeps P, N × N. FlashAttention keeps O and one "
        "number a row, lse = m + log ℓ: with it, and Q and K, any tile of P can be computed again. "
        "Memory grows with N, not with N²; the traffic still does.",
        step=9,
        phase="store",
    ),
)


def chapters() -> list[dict]:
    """For the browser: title, text and address of every chapter."""
    return [{"title": c.title, "text": c.text, "query": c.query()} for c in CHAPTERS]
