"""What a mask hides: the one place that knows. Pure NumPy: lessons ask it without torch.

Everything here is said in the keys' own counting: query i of Nq stands at row i + Nk − Nq, so that
the last query sees the last key (aligned bottom-right, as flash-attention has it).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

TILE_KINDS = ("full", "partial", "skipped")
FULL, PARTIAL, SKIPPED = range(3)  # what ``Mask.tiles`` holds

Range = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Predicate:
    """One named mask. Rows and keys are whole numbers or arrays that broadcast.

    ``words`` is what a sentence calls it. ``hide(row, key)``: is this score hidden? (of
    arrays or tensors, one comparison: its operators are counted by those who measure bytes.)
    ``tiles(first_row, last_row, first_key, last_key)``: FULL, PARTIAL or SKIPPED by interval
    arithmetic, both ends included. Half-open ranges, clipped by the caller: ``keys(first_row,
    last_row, n_k)`` that some row of a block sees, ``sure`` that every one of them sees,
    ``rows(first_key, last_key, begin, end)`` that see some key of a block. ``count(row, n_k)``:
    how many keys a row sees. ``work``: the part of all scores that
    FLOPs are counted for, a convention.
    """

    name: str
    words: str
    hide: Callable[..., np.ndarray]
    tiles: Callable[..., np.ndarray]
    keys: Callable[..., tuple]
    sure: Callable[..., tuple]
    rows: Callable[..., tuple]
    count: Callable[..., np.ndarray]
    work: float


PREDICATES = {
    p.name: p
    for p in (
        Predicate(
            "full",
            "every key",
            hide=lambda row, key: (row != row) & (key != key),
            tiles=lambda r0, r1, k0, k1: np.zeros(np.broadcast(r0, k0).shape, np.uint8),
            keys=lambda r0, r1, n_k: (0 * r0, 0 * r1 + n_k),
            sure=lambda r0, r1, n_k: (0 * r0, 0 * r1 + n_k),
            rows=lambda k0, k1, begin, end: (0 * k0 + begin, 0 * k1 + end),
            count=lambda row, n_k: 0 * row + n_k,
            work=1.0,
        ),
        Predicate(
            "causal",
            "no key that comes after the query",
            hide=lambda row, key: key > row,
            tiles=lambda r0, r1, k0, k1: np.where(k0 > r1, SKIPPED, k1 > r0).astype(np.uint8),
            keys=lambda r0, r1, n_k: (0 * r0, r1 + 1),
            sure=lambda r0, r1, n_k: (0 * r0, r0 + 1),
            rows=lambda k0, k1, begin, end: (k0, 0 * k1 + end),
            count=lambda row, n_k: row + 1,
            work=0.5,
        ),
    )
}


class MaskError(ValueError):
    """A text that names no mask."""


@dataclass(frozen=True)
class Mask:
    """A mask over Nq queries and Nk keys, for any of both. Made by :func:`parse`."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def predicate(self) -> Predicate:
        """What it is made of."""
        return PREDICATES[self.text]

    @property
    def hides(self) -> bool:
        """Does it hide anything at all?"""
        return self.text != "full"

    @property
    def work(self) -> float:
        """The part of all scores that FLOPs are counted for, by the papers' convention."""
        return self.predicate.work

    def keep(self, n_q: int, n_k: int, rows: slice = slice(None), keys: slice = slice(None)):
        """bool (rows, keys): True where a score is kept; dense, of these queries and keys."""
        i, j = np.arange(n_q)[rows, None] + (n_k - n_q), np.arange(n_k)[None, keys]
        return np.broadcast_to(~self.predicate.hide(i, j), (i.size, j.size))

    def tiles(self, n_q: int, n_k: int, block_q: int, block_k: int) -> np.ndarray:
        """(Tr, Tc) uint8: FULL, PARTIAL or SKIPPED of each tile of Br × Bc, by the mask alone (a
        ragged tile whose scores are all kept is FULL)."""
        q, k = _blocks(n_q, block_q), _blocks(n_k, block_k)
        rows = [x[:, None] + (n_k - n_q) for x in q]
        return self.predicate.tiles(*rows, *(x[None, :] for x in k))

    def key_range(self, n_q: int, n_k: int, block_q: int, every: bool = False) -> Range:
        """Two (Tr,) arrays: the keys start … stop − 1 that any row of each row block sees, with
        ``every`` those that all of them see."""
        first, last = (x + (n_k - n_q) for x in _blocks(n_q, block_q))
        start, stop = (self.predicate.sure if every else self.predicate.keys)(first, last, n_k)
        return np.clip(start, 0, n_k), np.clip(np.maximum(start, stop), 0, n_k)

    def row_range(self, n_q: int, n_k: int, block_k: int) -> Range:
        """Two (Tc,) arrays: the queries start … stop − 1 that see each key block."""
        shift = n_k - n_q
        start, stop = self.predicate.rows(*_blocks(n_k, block_k), shift, n_k)
        start, stop = (np.clip(x - shift, 0, n_q) for x in (start, stop))
        return start, np.maximum(start, stop)

    def visible(self, n_q: int, n_k: int) -> int:
        """How many of the Nq · Nk scores are kept."""
        row = np.arange(n_q, dtype=np.int64) + (n_k - n_q)
        return int(np.clip(self.predicate.count(row, n_k), 0, n_k).sum())


def _blocks(n: int, block: int) -> Range:
    first = np.arange(0, n, block, dtype=np.int64)
    return first, np.minimum(first + block, n) - 1


@lru_cache(maxsize=256)
def parse(text: str) -> Mask:
    """The mask of this text. Raises :class:`MaskError`, what is allowed, for any other."""
    if text not in PREDICATES:
        raise MaskError("one of " + ", ".join(PREDICATES))
    return Mask(text)


def of(causal: bool) -> Mask:
    """The mask that a keyword ``causal`` means."""
    return parse("causal" if causal else "full")


def asked(causal: bool, text: str | None = None) -> Mask:
    """The mask that a function's keywords ``causal`` and ``mask`` mean together.

    Raises ValueError with one sentence for a text that names none, or not the causal one.
    """
    if text is None:
        return of(causal)
    if causal and text != "causal":
        raise ValueError(f"mask = {str(text)[:40]!r} contradicts causal = True.")
    try:
        return parse(str(text))
    except MaskError as error:
        raise ValueError(f"mask = {str(text)[:40]!r} is not allowed: {error}.") from error


def flops(mask: Mask, heads: int, n_q: int, n_k: int, d: int) -> float:
    """4·heads·Nq·Nk·d of a forward pass, times the mask's ``work``: the papers' convention."""
    return 4.0 * heads * n_q * n_k * d * mask.work
