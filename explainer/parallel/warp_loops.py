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
from dataclasses import dataclass, replace

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.inputs import make_inputs
from explainer.algorithms.numbers import NEG_INF
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.base.amounts import amount
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

Span = tuple[int, int]  # first and one past the last, absolute rows or keys


@dataclass(frozen=True)
class Exchange:
    """Bytes that ``warp`` moves for others: ``tensor`` m | l | O, ``op`` write | read."""

    tensor: str
    warp: int
    op: str
    nbytes: int


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a tensor that each of ``warps`` has: float32, read-only. ``tensor`` Q K V S P O, m
    and l (over the own keys), PV (the product over them), m_old l_old alpha alpha_l m_new l_new.
    ``values``: (rows,) for statistics, (rows, keys) for S P, else (rows or keys, d)."""

    tensor: str
    warps: tuple[int, ...]
    rows: Span | None
    keys: Span | None
    values: np.ndarray

    def __post_init__(self) -> None:
        self.values.setflags(write=False)


@dataclass(frozen=True, eq=False)
class WarpStep:
    """What all warps do next: ``phase`` of the trace, and ``part`` of it: own | write | read."""

    phase: str
    part: str
    sentence: str
    pieces: tuple[Piece, ...]
    exchanges: tuple[Exchange, ...]
    barriers: int


@dataclass(frozen=True, eq=False)
class WarpTrace:
    """A tile step by step; each warp's slice of the rows and keys (all of them where it is not
    split); ``m_new l_new`` (rows,) and ``O`` (rows, d) float32 as the warps end with them."""

    problem: Problem
    i: int
    j: int
    kind: str
    split: str
    row_slices: tuple[Span, ...]
    key_slices: tuple[Span, ...]
    steps: tuple[WarpStep, ...]
    m_new: np.ndarray
    l_new: np.ndarray
    O: np.ndarray

    @property
    def exchanged_bytes(self) -> int:
        """Bytes through shared memory, written and read: the sum of the listed exchanges."""
        return sum(x.nbytes for step in self.steps for x in step.exchanges)

    @property
    def barriers(self) -> int:
        """How often all warps wait for each other, the one after the copy included."""
        return sum(step.barriers for step in self.steps)


# "split phase part" → its sentence; the braces are filled from the tile's facts.
texts = Texts("parallel")
SENTENCES = texts.named("warps.sentences")


class Tile:
    """Operands of a tile, the state before it, the slices of its warps, and the steps so far."""

    def __init__(self, problem: Problem, i: int, j: int, split: str, count: int) -> None:
        p = self.p = replace(problem, order=ORDERS[split])
        self.i, self.j, self.split, self.every = i, j, split, tuple(range(count))
        at = next(k for k, s in enumerate(schedule(p)) if (s.i, s.j) == (i, j))
        self.visit, before = one_visit(p, at)
        r, c = tiling.rows(p, i), tiling.cols(p, j)
        self.rows, self.keys = (r.start, r.stop), (c.start, c.stop)
        self.Q, self.K, self.V = make_inputs(p)  # whole: spans are absolute
        # One product that the warps share out: BLAS rounds a product of another shape differently.
        self.S = (self.Q[r] @ self.K[c].T) * np.float32(p.scale)
        m_old, l_old = self.visit.m_old, self.visit.l_old
        O_old = np.zeros_like(self.Q[r]) if before is None else before.O
        assert m_old is not None and l_old is not None and O_old is not None
        self.m_old, self.l_old, self.O_old = m_old, l_old, O_old
        self.row_slices, self.key_slices = _slices(self.rows, count), _slices(self.keys, count)
        self.own_rows = {w: s for w, s in enumerate(self.row_slices) if s[0] < s[1]}
        self.own_keys = {w: s for w, s in enumerate(self.key_slices) if s[0] < s[1]}
        self.steps: list[WarpStep] = []
        names = {
            x: f"{x}{str(k).translate(SUBSCRIPTS)}"
            for x, k in zip("QKVO", (i, j, j, i), strict=True)
        }
        self.facts = names | {
            "d": p.d,
            "rows": _count(len(self.Q[r]), "row"),
            "keys": _count(len(self.K[c]), "key"),
            "warps": _count(count, "warp"),
            "writers": _count(len(self.own_keys), "warp"),
            "rows_each": _each(self.row_slices, "row"),
            "keys_each": _each(self.key_slices, "key"),
        }

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
        self.steps.append(
            WarpStep(phase, part, sentence, tuple(pieces), tuple(exchanges), barriers)
        )

    def of(self, x: np.ndarray, rows: Span) -> np.ndarray:
        """What belongs to absolute ``rows`` in an array over the rows of this tile."""
        return x[rows[0] - self.rows[0] : rows[1] - self.rows[0]]

    def scores(self, rows: Span, keys: Span) -> np.ndarray:
        first = self.keys[0]
        return self.of(self.S, rows)[:, keys[0] - first : keys[1] - first]

    def masked(self, S: np.ndarray, rows: Span, keys: Span) -> np.ndarray:
        return np.where(
            self.p.mask.keep(self.p.n, self.p.n, slice(*rows), slice(*keys)), S, NEG_INF
        )

    def product(self, P: np.ndarray, keys: Span) -> np.ndarray:
        return round_to(P, self.p.dtype) @ self.V[slice(*keys)]

    def done(self, m: np.ndarray, l: np.ndarray, O: np.ndarray) -> WarpTrace:
        for x in (m, l, O):
            x.setflags(write=False)
        whole = (self.rows,) * len(self.every), (self.keys,) * len(self.every)
        rows = self.row_slices if self.split == "q" else whole[0]
        keys = self.key_slices if self.split == "k" else whole[1]
        steps, kind = tuple(self.steps), self.visit.kind
        return WarpTrace(self.p, self.i, self.j, kind, self.split, rows, keys, steps, m, l, O)


def _slices(whole: Span, count: int) -> tuple[Span, ...]:
    """``whole`` in ``count`` consecutive spans, the longer ones first, as np.array_split does."""
    lengths = [len(x) for x in np.array_split(np.arange(*whole), count)]
    stops = whole[0] + np.cumsum(lengths)
    return tuple((int(b) - n, int(b)) for n, b in zip(lengths, stops, strict=True))


def _count(k: int, noun: str) -> str:
    return f"{k} {noun}{'' if k == 1 else 's'}"


def _each(slices: tuple[Span, ...], noun: str) -> str:
    """How many of them a warp has, in words: 2 keys, 0 to 1 keys."""
    low, high = min(b - a for a, b in slices), max(b - a for a, b in slices)
    return _count(high, noun) if low == high else f"{low} to {high} {noun}s"


def _exp(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """exp(a − b); where b is −inf nothing has been seen yet, and a − b is −inf."""
    return np.exp(a - np.where(np.isneginf(b), np.float32(0), b))


def _alpha(m_old: np.ndarray, m_new: np.ndarray) -> np.ndarray:
    return np.where(np.isneginf(m_new), np.float32(1), _exp(m_old, m_new))


def split_k(t: Tile) -> WarpTrace:
    """FA-1: all rows and a slice of the keys each, so m, l and O meet in shared memory."""

    def each(tensor: str, parts: dict[int, np.ndarray]) -> list[Piece]:
        return [Piece(tensor, (w,), t.rows, t.own_keys[w], x) for w, x in parts.items()]

    def all_have(**numbers: np.ndarray) -> list[Piece]:
        return [Piece(tensor, t.every, t.rows, None, x) for tensor, x in numbers.items()]

    def own_O(O: np.ndarray) -> list[Piece]:
        return [Piece("O", (w,), rows, None, t.of(O, rows)) for w, rows in t.own_rows.items()]

    def exchange(phase: str, tensor: str, parts: dict[int, np.ndarray], read, pieces) -> None:
        writes = [Exchange(tensor, w, "write", x.nbytes) for w, x in parts.items()]
        t.add(phase, part="write", exchanges=writes)
        sizes = {w: sum(x.nbytes for x in read(w)) for w in t.every}
        reads = [Exchange(tensor, w, "read", size) for w, size in sizes.items() if size]
        t.add(phase, pieces, "read", reads, barriers=1)

    K_V = [("K", t.K), ("V", t.V)]
    K_V = [Piece(x, (w,), None, s, y[slice(*s)]) for x, y in K_V for w, s in t.own_keys.items()]
    Q = all_have(Q=t.Q[slice(*t.rows)], m_old=t.m_old, l_old=t.l_old)
    t.add("load", [*Q, *K_V, *own_O(t.O_old)], barriers=1)
    S = {w: t.scores(t.rows, keys) for w, keys in t.own_keys.items()}
    t.add("scores", each("S", S))
    if "mask" in t.visit.phases:
        S = {w: t.masked(x, t.rows, t.own_keys[w]) for w, x in S.items()}
        t.add("mask", each("S", S))
    m = {w: x.max(axis=1) for w, x in S.items()}
    t.add("max", each("m", m))
    m_new = np.maximum.reduce([t.m_old, *m.values()])
    exchange("max", "m", m, lambda w: m.values(), all_have(m_new=m_new))
    P = {w: _exp(x, m_new[:, None]) for w, x in S.items()}
    alpha = _alpha(t.m_old, m_new)
    t.add("exp", [*each("P", P), *all_have(alpha=alpha, alpha_l=alpha * t.l_old)])
    l = {w: x.sum(axis=1) for w, x in P.items()}
    t.add("sum", each("l", l))
    l_new = alpha * t.l_old + sum(l.values())
    exchange("sum", "l", l, lambda w: l.values(), all_have(l_new=l_new))
    PV = {w: t.product(x, t.own_keys[w]) for w, x in P.items()}
    t.add("output", each("PV", PV))
    O = (t.l_old * alpha)[:, None] * t.O_old + sum(PV.values())
    O = round_to(O / np.where(l_new > 0, l_new, 1)[:, None], t.p.dtype)
    exchange("output", "O", PV, lambda w: [t.of(x, t.row_slices[w]) for x in PV.values()], own_O(O))
    t.add("store")
    return t.done(m_new, l_new, O)


def split_q(t: Tile) -> WarpTrace:
    """FA-2: a slice of the rows and all keys each, so a row's m, l and O never leave its warp."""
    own = t.own_rows

    def each(tensor: str, parts: dict[int, np.ndarray], keys: Span | None = None) -> list[Piece]:
        return [Piece(tensor, (w,), own[w], keys, x) for w, x in parts.items()]

    def no_exchange(phase: str) -> None:
        for part in ("write", "read"):
            t.add(phase, part=part, key=f"q any {part}")

    K_V = [Piece(x, t.every, None, t.keys, y[slice(*t.keys)]) for x, y in (("K", t.K), ("V", t.V))]
    Q = {w: t.Q[slice(*rows)] for w, rows in own.items()}
    state = {"m_old": t.m_old, "l_old": t.l_old, "O": t.O_old}
    old = {name: {w: t.of(x, rows) for w, rows in own.items()} for name, x in state.items()}
    m_old, l_old, O_old = old.values()
    state_pieces = [piece for name, parts in old.items() for piece in each(name, parts)]
    t.add("load", [*each("Q", Q), *K_V, *state_pieces], barriers=1)
    S = {w: t.scores(rows, t.keys) for w, rows in own.items()}
    t.add("scores", each("S", S, t.keys))
    if "mask" in t.visit.phases:
        S = {w: t.masked(x, own[w], t.keys) for w, x in S.items()}
        t.add("mask", each("S", S, t.keys))
    m = {w: x.max(axis=1) for w, x in S.items()}
    m_new = {w: np.maximum(m_old[w], x) for w, x in m.items()}
    t.add("max", [*each("m", m, t.keys), *each("m_new", m_new)])
    no_exchange("max")
    P = {w: _exp(x, m_new[w][:, None]) for w, x in S.items()}
    alpha = {w: _alpha(m_old[w], x) for w, x in m_new.items()}
    alpha_l = {w: x * l_old[w] for w, x in alpha.items()}
    t.add("exp", [*each("P", P, t.keys), *each("alpha", alpha), *each("alpha_l", alpha_l)])
    l = {w: x.sum(axis=1) for w, x in P.items()}
    l_new = {w: alpha_l[w] + x for w, x in l.items()}
    t.add("sum", [*each("l", l, t.keys), *each("l_new", l_new)])
    no_exchange("sum")
    O = {w: alpha[w][:, None] * O_old[w] + t.product(x, t.keys) for w, x in P.items()}
    t.add("output", each("O", O))
    no_exchange("output")
    t.add("store", key=f"q store {'own' if 'store' in t.visit.phases else 'none'}")
    return t.done(*(np.concatenate([*parts.values()]) for parts in (m_new, l_new, O)))
