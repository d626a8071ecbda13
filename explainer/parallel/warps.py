"""One tile shared out among the warps of a thread block: split-K (FA-1) against split-Q (FA-2).

Split-K gives every warp all of Q_i and a slice of the keys of K_j, V_j; split-Q gives every warp a
slice of the rows of Q_i and all of K_j, V_j. Slices are as even as possible; some may be empty.

Counted per tile: the bytes that warps pass to each other through shared memory, all fp32. Split-K,
for m (maxima over the own keys) and again for l (sums over the own keys): every warp that has keys
writes its (rows,) partials; after a barrier every warp reads back all that was written, its own
too. For O: every warp that has keys writes its (rows, d) partial of P V; after a barrier every warp
reads its own slice of the rows of all partials and adds them up. m, l and O have places of their
own, so no further barrier guards a place against the next write. Split-Q passes nothing. Both have
one barrier more, after Q_i, K_j and V_j were copied into shared memory. Not counted, being no
exchange: that copy, and the reading of the operands, where split-K reads all of Q_i and split-Q all
of K_j and V_j once a warp. Lanes of one warp agree by shuffles, in both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.transfers import PHASES
from explainer.base.amounts import count as count_noun
from explainer.base.texts import Texts, fill
from explainer.problem import Problem
from explainer.trace import one_visit

FP32 = 4
# The loop, and so the O, that each split is shown with: the first of its kind.
ORDERS = {
    split: next(key for key, a in ALGORITHMS.items() if a.output == output)
    for split, output in (("k", "normalized"), ("q", "unnormalized"))
}
MET = {"max": "m", "sum": "ℓ", "output": "O"}  # the phases whose parts meet in shared memory
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
# "split phase part" → its sentence; the braces are filled from the tile's facts.
t = Texts("parallel")
SENTENCES = t.named("warps.sentences")
Span = tuple[int, int]  # first and one past the last, in the tile


class WarpStep(NamedTuple):
    """What all warps do next: ``phase`` of the trace, and ``part`` of it: own | write | read.
    ``exchanged``: bytes of ``MET[phase]`` that a warp writes for others or reads, by warp."""

    phase: str
    part: str
    sentence: str
    barriers: int
    exchanged: Mapping[int, int]

    @property
    def moved(self) -> int:
        """Bytes through shared memory, written or read."""
        return sum(self.exchanged.values())


@dataclass(frozen=True)
class WarpTrace:
    """A tile step by step: its ``visit`` with every array, and each warp's slice of the keys (split
    "k") or of the rows (split "q")."""

    split: str
    visit: Any
    slices: tuple[Span, ...]
    steps: tuple[WarpStep, ...]

    @property
    def moved(self) -> int:
        """Bytes through shared memory, written and read."""
        return sum(step.moved for step in self.steps)

    @property
    def barriers(self) -> int:
        """How often all warps wait for each other, the one after the copy included."""
        return sum(step.barriers for step in self.steps)


def warps(problem: Problem, i: int, j: int, split: str, count: int = 4) -> WarpTrace:
    """Share tile (i, j) among ``count`` warps: ``split`` "k" as FA-1 works, "q" as FA-2.

    The order of the Problem does not matter: each split comes with its own loop, so O is normalised
    in "k" and not in "q".
    """
    p = replace(problem, order=ORDERS[split])
    at = next(k for k, s in enumerate(schedule(p)) if (s.i, s.j) == (i, j))
    visit: Any = one_visit(p, at)[0]
    sides = [s.stop - s.start for s in (tiling.rows(p, i), tiling.cols(p, j))]
    rows, keys = (_slices(side, count) for side in sides)
    parts = _exchanged(rows, keys, p.d) if split == "k" else {}
    names = zip("QKVO", (i, j, j, i), strict=True)
    facts = {x: f"{x}{str(k).translate(SUBSCRIPTS)}" for x, k in names} | {
        "d": p.d,
        "rows": sides[0],
        "keys": sides[1],
        "warps": count,
        "writers": sum(a < b for a, b in keys),
        "rows_each": _each(rows, "row"),
        "keys_each": _each(keys, "key"),
    }
    steps = []
    for phase in PHASES:
        if phase == "mask" and phase not in visit.phases:
            continue
        for part in ("own", "write", "read") if phase in MET else ("own",):
            key = f"{split} {phase} {part}"
            if split == "q" and part != "own":
                key = f"q any {part}"
            elif split == "q" and phase == "store" and phase not in visit.phases:
                key = "q store none"
            exchanged = parts.get((phase, part), {})
            sentence = fill(SENTENCES[key], facts | {"moved": sum(exchanged.values())})
            waits = phase == "load" or (part == "read" and split == "k")
            steps.append(WarpStep(phase, part, sentence, int(waits), exchanged))
    return WarpTrace(split, visit, keys if split == "k" else rows, tuple(steps))


def _exchanged(
    rows: Sequence[Span], keys: Sequence[Span], d: int
) -> dict[tuple[str, str], Mapping[int, int]]:
    """Return the bytes that warps of split-K write and read: {(phase, part): {warp: bytes}}."""
    writers = [w for w, (a, b) in enumerate(keys) if a < b]
    height = rows[-1][1]
    found = {}
    for phase, name in MET.items():
        wide = FP32 * (d if name == "O" else 1)
        found[phase, "write"] = dict.fromkeys(writers, height * wide)
        own = [b - a if name == "O" else height for a, b in rows]
        found[phase, "read"] = {w: len(writers) * wide * n for w, n in enumerate(own) if n}
    return found


def _slices(length: int, count: int) -> tuple[Span, ...]:
    """Cut ``length`` into ``count`` consecutive spans, the longer ones first, as np.array_split
    does."""
    lengths = [len(x) for x in np.array_split(np.arange(length), count)]
    return tuple((int(b) - n, int(b)) for n, b in zip(lengths, np.cumsum(lengths), strict=True))


def _each(slices: Sequence[Span], noun: str) -> str:
    """Say how many of them a warp has: 2 keys, 0 to 1 keys."""
    low, high = min(b - a for a, b in slices), max(b - a for a, b in slices)
    return count_noun(high, noun) if low == high else f"{low} to {high} {noun}s"
