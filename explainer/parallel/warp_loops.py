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

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.inputs import make_inputs
from explainer.algorithms.numbers import exp_difference
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.base.amounts import amount
from explainer.base.amounts import count as count_noun
from explainer.base.texts import Texts
from explainer.problem import Problem
from explainer.trace import one_visit
from kernels.spec.formats import round_to

# The loop, and so the O, that each split is shown with: the first of its kind.
ORDERS = {
    split: next(key for key, a in ALGORITHMS.items() if a.output == output)
    for split, output in (("k", "normalized"), ("q", "unnormalized"))
}
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
# "split phase part" → its sentence; the braces are filled from the tile's facts.
texts = Texts("parallel")
SENTENCES = texts.named("warps.sentences")

Span = tuple[int, int]  # first and one past the last, absolute rows or keys


class Exchange(NamedTuple):
    """Bytes that ``warp`` moves for others: ``tensor`` m | l | O, ``op`` write | read."""

    tensor: str
    warp: int
    op: str
    nbytes: int


class Piece(NamedTuple):
    """A part of a tensor that each of ``warps`` has, float32. ``tensor`` Q K V S P O, m and l (over
    the own keys), PV (the product over them), m_old l_old alpha alpha_l m_new l_new. ``values``:
    (rows,) for statistics, (rows, keys) for S P, else (rows or keys, d)."""

    tensor: str
    warps: tuple[int, ...]
    rows: Span | None
    keys: Span | None
    values: np.ndarray


class WarpStep(NamedTuple):
    """What all warps do next: ``phase`` of the trace, and ``part`` of it: own | write | read."""

    phase: str
    part: str
    sentence: str
    barriers: int
    pieces: tuple[Piece, ...]
    exchanges: tuple[Exchange, ...]


class WarpTrace:
    """A tile step by step: its visit, the state before it, an even slice of the rows and of the
    keys for each warp, and the steps of the split's loop, which ends with ``m_new l_new`` (rows,)
    and ``O`` (rows, d), float32."""

    m_new: np.ndarray
    l_new: np.ndarray
    O: np.ndarray

    def __init__(self, problem: Problem, i: int, j: int, split: str, count: int) -> None:
        p = self.p = replace(problem, order=ORDERS[split])
        self.i, self.j, self.split, self.every = i, j, split, tuple(range(count))
        at = next(k for k, s in enumerate(schedule(p)) if (s.i, s.j) == (i, j))
        both: Any = one_visit(p, at)  # the visits of these loops have every array
        self.visit, before = both
        r, c = tiling.rows(p, i), tiling.cols(p, j)
        self.rows, self.keys = (r.start, r.stop), (c.start, c.stop)
        self.Q, self.K, self.V = (x[s] for x, s in zip(make_inputs(p), (r, c, c), strict=True))
        self.O_old = np.zeros_like(self.Q) if before is None else before.O
        self.row_slices, self.key_slices = _slices(self.rows, count), _slices(self.keys, count)
        self.own_rows, self.own_keys = (
            {w: slice(a - whole[0], b - whole[0]) for w, (a, b) in enumerate(slices) if a < b}
            for slices, whole in ((self.row_slices, self.rows), (self.key_slices, self.keys))
        )
        self.steps: list[WarpStep] = []
        names = {
            x: f"{x}{str(k).translate(SUBSCRIPTS)}"
            for x, k in zip("QKVO", (i, j, j, i), strict=True)
        }
        self.facts = names | {
            "d": p.d,
            "rows": count_noun(len(self.Q), "row"),
            "keys": count_noun(len(self.K), "key"),
            "warps": count_noun(count, "warp"),
            "writers": count_noun(len(self.own_keys), "warp"),
            "rows_each": _each(self.row_slices, "row"),
            "keys_each": _each(self.key_slices, "key"),
        }
        (split_k if split == "k" else split_q)(self)

    @property
    def exchanged_bytes(self) -> int:
        """Bytes through shared memory, written and read: the sum of the listed exchanges."""
        return sum(x.nbytes for step in self.steps for x in step.exchanges)

    @property
    def barriers(self) -> int:
        """How often all warps wait for each other, the one after the copy included."""
        return sum(step.barriers for step in self.steps)

    def add(
        self,
        phase: str,
        pieces: Iterable[Piece] = (),
        part: str = "own",
        exchanges: Sequence[Exchange] = (),
        barriers: int = 0,
        key: str = "",
    ) -> None:
        """Add a step; ``key``: of its sentence, where that is not its split, phase and part."""
        moved = amount(sum(x.nbytes for x in exchanges))
        key = key or f"{self.split} {phase} {part}"
        sentence = SENTENCES[key].format(moved=moved, **self.facts)
        step = WarpStep(phase, part, sentence, barriers, tuple(pieces), tuple(exchanges))
        self.steps.append(step)

    def of_rows(self, keys: Span | None = None, **arrays: np.ndarray) -> list[Piece]:
        """Give each warp its rows of these arrays over the tile's rows."""
        return [
            Piece(tensor, (w,), self.row_slices[w], keys, x[own])
            for tensor, x in arrays.items()
            for w, own in self.own_rows.items()
        ]

    def of_keys(self, rows: Span | None, **parts: dict[int, np.ndarray]) -> list[Piece]:
        """Give each warp its part, by warps, for its keys and all ``rows``."""
        return [
            Piece(tensor, (w,), rows, self.key_slices[w], x)
            for tensor, of_warp in parts.items()
            for w, x in of_warp.items()
        ]

    def of_all(
        self, rows: Span | None, keys: Span | None = None, **arrays: np.ndarray
    ) -> list[Piece]:
        """Give every warp the whole of these arrays."""
        return [Piece(tensor, self.every, rows, keys, x) for tensor, x in arrays.items()]


def _slices(whole: Span, count: int) -> tuple[Span, ...]:
    """``whole`` in ``count`` consecutive spans, the longer ones first, as np.array_split does."""
    lengths = [len(x) for x in np.array_split(np.arange(*whole), count)]
    stops = whole[0] + np.cumsum(lengths)
    return tuple((int(b) - n, int(b)) for n, b in zip(lengths, stops, strict=True))


def _each(slices: tuple[Span, ...], noun: str) -> str:
    """How many of them a warp has, in words: 2 keys, 0 to 1 keys."""
    low, high = min(b - a for a, b in slices), max(b - a for a, b in slices)
    return count_noun(high, noun) if low == high else f"{low} to {high} {noun}s"


def split_k(t: WarpTrace) -> None:
    """FA-1: all rows and a slice of the keys each, so m, l and O meet in shared memory."""
    v, rows = t.visit, t.rows

    def each(whole: np.ndarray) -> dict[int, np.ndarray]:
        return {w: whole[..., own] for w, own in t.own_keys.items()}

    def exchange(phase: str, tensor: str, parts: dict[int, np.ndarray], read, pieces) -> None:
        writes = [Exchange(tensor, w, "write", x.nbytes) for w, x in parts.items()]
        t.add(phase, part="write", exchanges=writes)
        sizes = {w: sum(x.nbytes for x in read(w)) for w in t.every}
        reads = [Exchange(tensor, w, "read", size) for w, size in sizes.items() if size]
        t.add(phase, pieces, "read", reads, barriers=1)

    K, V = ({w: x[own] for w, own in t.own_keys.items()} for x in (t.K, t.V))
    state = t.of_all(rows, Q=t.Q, m_old=v.m_old, l_old=v.l_old)
    t.add("load", [*state, *t.of_keys(None, K=K, V=V), *t.of_rows(O=t.O_old)], barriers=1)
    t.add("scores", t.of_keys(rows, S=each(v.scores)))
    if "mask" in v.phases:
        t.add("mask", t.of_keys(rows, S=each(v.S)))
    m = {w: x.max(axis=1) for w, x in each(v.S).items()}
    t.add("max", t.of_keys(rows, m=m))
    t.m_new = m_new = np.maximum.reduce([v.m_old, *m.values()])
    exchange("max", "m", m, lambda w: m.values(), t.of_all(rows, m_new=m_new))
    P = each(exp_difference(v.S, m_new[:, None]))
    alpha_l = v.alpha * v.l_old
    t.add("exp", [*t.of_keys(rows, P=P), *t.of_all(rows, alpha=v.alpha, alpha_l=alpha_l)])
    l = {w: x.sum(axis=1) for w, x in P.items()}
    t.add("sum", t.of_keys(rows, l=l))
    t.l_new = l_new = alpha_l + sum(l.values())
    exchange("sum", "l", l, lambda w: l.values(), t.of_all(rows, l_new=l_new))
    PV = {w: round_to(x, t.p.dtype) @ V[w] for w, x in each(v.P).items()}
    t.add("output", t.of_keys(rows, PV=PV))
    O = alpha_l[:, None] * t.O_old + sum(PV.values())
    t.O = O = round_to(O / np.where(l_new > 0, l_new, 1)[:, None], t.p.dtype)
    own = t.own_rows
    exchange(
        "output", "O", PV, lambda w: [x[own[w]] for x in PV.values() if w in own], t.of_rows(O=O)
    )
    t.add("store")


def split_q(t: WarpTrace) -> None:
    """FA-2: a slice of the rows and all keys each, so a row's m, l and O never leave its warp."""
    v, keys = t.visit, t.keys
    t.m_new, t.l_new, t.O = v.m_new, v.l_new, v.O

    def no_exchange(phase: str) -> None:
        for part in ("write", "read"):
            t.add(phase, part=part, key=f"q any {part}")

    state = t.of_rows(m_old=v.m_old, l_old=v.l_old, O=t.O_old)
    loaded = [*t.of_rows(Q=t.Q), *t.of_all(None, keys, K=t.K, V=t.V)]
    t.add("load", [*loaded, *state], barriers=1)
    t.add("scores", t.of_rows(keys, S=v.scores))
    if "mask" in v.phases:
        t.add("mask", t.of_rows(keys, S=v.S))
    t.add("max", [*t.of_rows(keys, m=v.row_max), *t.of_rows(m_new=v.m_new)])
    no_exchange("max")
    P = exp_difference(v.S, v.m_new[:, None])
    running = t.of_rows(alpha=v.alpha, alpha_l=v.alpha * v.l_old)
    t.add("exp", [*t.of_rows(keys, P=P), *running])
    t.add("sum", [*t.of_rows(keys, l=v.row_sum), *t.of_rows(l_new=v.l_new)])
    no_exchange("sum")
    t.add("output", t.of_rows(O=v.O))
    no_exchange("output")
    t.add("store", key=f"q store {'own' if 'store' in v.phases else 'none'}")
