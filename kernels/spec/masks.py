"""Decide what a mask hides: the one place that knows. Pure NumPy, so that lessons need no torch.

A mask is a union (``|``) of intersections (``&``) of named predicates, written as text. Everything
is counted as the keys are: query i of Nq stands at row i + Nk − Nq, so that the last query
sees the last key (aligned bottom-right, as flash-attention has it).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from .predicates import FULL, MAX_BLOCKS, PARTIAL, PREDICATES, SKIPPED, Range, Term, Terms
from .texts import Word, checked, words
from .visible_ranges import blocks, bounding_range, ranges

TILE_KINDS = ("full", "partial", "skipped")
PLAIN = ("full", "causal")  # what the kernels have code of their own for
RELATIVE = (*PLAIN, "window", "dilated")  # these depend on the distance of row and key alone
UNKNOWN = 3  # a tile whose class does not follow from the classes of its predicates
MAX_TERMS = MAX_PREDICATES = 4
MAX_CHARACTERS = 4_096
LOOKED_AT = 1 << 20  # scores at once


class MaskError(ValueError):
    """A text that names no mask."""


@dataclass(frozen=True)
class Mask:
    """A mask over Nq queries and Nk keys, for any of both. Made by :func:`parse`.

    ``text`` is canonical: one for all texts with the same predicates. ``terms`` are the
    intersections whose union it is. ``rows`` and ``keys``: how far the first row and key of a
    part of the scores lie from where the part itself counts them.
    """

    text: str
    terms: tuple[Terms, ...] = field(compare=False)
    rows: int = field(default=0, compare=False)  # both are in the text
    keys: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def hides(self) -> bool:
        """Does it hide anything at all?"""
        return self.text != "full"

    @property
    def plain(self) -> bool:
        """Have the kernels code of their own for it?"""
        return self.text in PLAIN

    def at(self, rows: int, keys: int) -> Mask:
        """Return this mask for a part of the scores, whose row i and key j (both in the keys'
        counting, as everywhere) are row i + ``rows`` and key j + ``keys`` of the whole."""
        names = {t.name for term in self.terms for t in term}
        if names <= {*RELATIVE}:
            rows, keys = rows - keys, 0
        if not (rows or keys) or not self.hides:
            return self
        return replace(self, text=f"{self.text}@{rows},{keys}", rows=rows, keys=keys)

    def sees(self, row, key) -> Any:
        """bool: which scores are visible, of arrays or torch tensors, rows (…, n, 1) in the keys'
        counting and keys (…, 1, m); of a shape that broadcasts to (…, n, m)."""
        row, key = row + self.rows, key + self.keys
        terms = (_term_sees(term, row, key) for term in self.terms)
        return reduce(lambda a, b: a | b, terms)

    def hidden(self, row, key) -> Any:
        """``~sees(row, key)``, for causal in one comparison: who measures bytes counts it."""
        return key > row if self.text == "causal" else ~self.sees(row, key)

    def keep(self, n_q: int, n_k: int, rows: slice = slice(None), keys: slice = slice(None)):
        """bool (rows, keys): True where a score is visible; dense, of these queries and keys."""
        i, j = _grid(n_q, n_k, rows, keys)
        return np.broadcast_to(self.sees(i, j), (i.size, j.size))

    def kept_by(self, n_q: int, n_k: int) -> np.ndarray:
        """int8 (Nq, Nk): which is the first term that keeps a score, −1 where none does."""
        i, j = _grid(n_q, n_k)
        found = np.full((i.size, j.size), -1, np.int8)
        for index, term in reversed([*enumerate(self.terms)]):
            np.copyto(found, index, where=_term_sees(term, i + self.rows, j + self.keys))
        return found

    def tiles(self, n_q: int, n_k: int, block_q: int, block_k: int) -> np.ndarray:
        """(Tr, Tc) uint8: FULL, PARTIAL or SKIPPED of each tile of Br × Bc, by the mask alone (a
        ragged tile whose scores are all visible is FULL)."""
        (r0, r1, k0, k1), parts = self._parts(n_q, n_k, block_q, block_k)
        each = [_intersection(classes) for classes in parts]
        found = _union(each)
        i, j = np.nonzero(found == UNKNOWN)
        if i.size:
            some = np.any([known[i, j] == PARTIAL for known in each], axis=0)
            every = np.full(i.size, len(each) > 1)  # one whose class is unknown hides something
            tiles = r0[i, 0], r1[i, 0], k0[0, j], k1[0, j]
            found[i, j] = self._look(some, every, tiles, np.arange(block_q), np.arange(block_k))
        return found

    def parts(self, n_q: int, n_k: int, block_q: int, block_k: int) -> np.ndarray:
        """(predicates, Tr, Tc) uint8: the same of each predicate alone, term by term."""
        _, parts = self._parts(n_q, n_k, block_q, block_k)
        return np.stack([x for classes in parts for x in classes])

    def _parts(self, n_q: int, n_k: int, block_q: int, block_k: int):
        """First and last row and key of the tiles; of each term, each predicate's classes."""
        r0, r1 = (x[:, None] + (n_k - n_q) for x in blocks(n_q, block_q))
        k0, k1 = (x[None, :] for x in blocks(n_k, block_k))
        shape = (r0.size, k0.size)

        def classes(t: Term) -> np.ndarray:
            edges = r0 + self.rows, r1 + self.rows, k0 + self.keys, k1 + self.keys
            return np.broadcast_to(t.predicate.tiles(*edges, *t.numbers), shape)

        return (r0, r1, k0, k1), [[classes(t) for t in term] for term in self.terms]

    def _look(self, some, every, tiles, rows, keys) -> np.ndarray:
        """uint8: the classes of these tiles (first and last row, first and last key), score by
        score; ``some`` may be known to be visible, not ``every`` one. First near their corners,
        then along their edges, which nearly always have both kinds of scores, at last everywhere.
        Beyond the last row and key of a ragged tile stand these again."""
        r0, r1, k0, k1 = (x[:, None] for x in tiles)
        ends = rows[[0, -1]]
        for i, j in ((ends, keys[:2]), (ends, keys), (rows, keys[[0, -1]]), (rows, keys)):
            at = np.flatnonzero(every | ~some)
            for part in np.array_split(at, 1 + at.size * i.size * j.size // LOOKED_AT):
                row = np.minimum(r0[part] + i, r1[part])[:, :, None]
                key = np.minimum(k0[part] + j, k1[part])[:, None, :]
                visible = np.broadcast_to(self.sees(row, key), (part.size, i.size, j.size))
                some[part] |= visible.any((1, 2))
                every[part] &= visible.all((1, 2))
        return np.where(every, FULL, np.where(some, PARTIAL, SKIPPED))

    def key_range(self, n_q: int, n_k: int, block_q: int) -> Range:
        """Two (Tr,) arrays: the keys start … stop − 1 that any row of each row block sees."""
        start, stop, _ = ranges(self.terms, n_q, n_k, False, (self.rows, self.keys))
        return bounding_range(start, stop, np.arange(0, n_q, block_q))

    def row_range(self, n_q: int, n_k: int, block_k: int) -> Range:
        """Two (Tc,) arrays: the queries start … stop − 1 that see each key block."""
        start, stop, _ = ranges(self.terms, n_q, n_k, True, (self.rows, self.keys))
        return bounding_range(start, stop, np.arange(0, n_k, block_k))

    def spans(self, n_q: int, n_k: int, by_keys: bool = False) -> Range | None:
        """Two (Nq,) int32 arrays, the keys start … stop − 1 that each query sees, if what each
        of them sees is one interval (empty: 0, 0); else None. ``by_keys`` (Nk,), the queries that
        see each key."""
        start, stop, count = ranges(self.terms, n_q, n_k, by_keys, (self.rows, self.keys))
        if (count != stop - start).any():
            return None
        return start.astype(np.int32), stop.astype(np.int32)

    def lists(
        self, n_q: int, n_k: int, block_q: int, block_k: int, by_keys: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """The tiles that are not skipped, row block by row block: pointers (Tr + 1,) int32 into
        entries int32, 2·j + 1 where the tile is partial by the mask, else 2·j, j rising; with
        ``by_keys`` key block by key block (Tc + 1,), 2·i or 2·i + 1."""
        found = self.tiles(n_q, n_k, block_q, block_k)
        found = found.T if by_keys else found
        i, j = np.nonzero(found != SKIPPED)
        pointers = np.zeros(len(found) + 1, np.int32)
        np.cumsum(np.bincount(i, minlength=len(found)), out=pointers[1:])
        return pointers, (2 * j + (found[i, j] == PARTIAL)).astype(np.int32)

    def visible(self, n_q: int, n_k: int) -> int:
        """Count the visible ones of the Nq · Nk scores."""
        return int(ranges(self.terms, n_q, n_k, False, (self.rows, self.keys))[2].sum())


def _grid(
    n_q: int, n_k: int, rows: slice = slice(None), keys: slice = slice(None)
) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, 1) in the keys' counting and keys (1, m)."""
    return np.arange(n_q)[rows, None] + (n_k - n_q), np.arange(n_k)[None, keys]


def _term_sees(term: Terms, row, key):
    return reduce(lambda a, b: a & b, (t.predicate.keep(row, key, *t.numbers) for t in term))


def _intersection(classes: list[np.ndarray]) -> np.ndarray:
    """The classes of tiles under all predicates: known where at most one hides part of them."""
    if len(classes) == 1:
        return classes[0]
    partial = sum((c == PARTIAL).astype(np.uint8) for c in classes)
    found = np.where(partial < 2, partial, UNKNOWN).astype(np.uint8)  # none: FULL, one: PARTIAL
    found[np.any([c == SKIPPED for c in classes], axis=0)] = SKIPPED
    return found


def _union(classes: list[np.ndarray]) -> np.ndarray:
    """The classes of tiles under any term: known where at most one keeps part of them."""
    if len(classes) == 1:
        return classes[0].copy()
    visible = sum((c != SKIPPED).astype(np.uint8) for c in classes)
    alone = sum(np.where(c == SKIPPED, 0, c).astype(np.uint8) for c in classes)
    found = np.where(visible == 0, SKIPPED, np.where(visible == 1, alone, UNKNOWN)).astype(np.uint8)
    found[np.any([c == FULL for c in classes], axis=0)] = FULL
    return found


def parse(text: str) -> Mask:
    """The mask of this text. Raises :class:`MaskError`, where it is wrong and what is allowed."""
    return _parse(checked(text, MaskError, "causal&window:256,0", MAX_CHARACTERS))


@lru_cache(maxsize=256)
def _parse(text: str) -> Mask:
    terms, place = set(), 1
    for part in text.split("|"):
        found = [_read(word) for word in words(part, MaskError, place)]
        if len(found) > MAX_PREDICATES:
            raise MaskError(
                f"from character {place} on {len(found)} predicates are joined by &, and at most "
                f"{MAX_PREDICATES} may be"
            )
        terms.add(_merge(found))
        place += len(part) + 1
    if (many := text.count("|") + 1) > MAX_TERMS:
        raise MaskError(f"{many} terms are joined by |, and at most {MAX_TERMS} may be")
    least = [t for t in terms if not any(set(other) < set(t) for other in terms)]
    if (Term("full"),) in least:
        least = [(Term("full"),)]
    listed = sum(len(t.numbers) // 3 for term in least for t in term if t.predicate.parts)
    if listed > MAX_BLOCKS:
        raise MaskError(f"it lists {listed:,} spans of blocks, and at most {MAX_BLOCKS} may be")
    least.sort(key=lambda term: [_order(t) for t in term])
    return Mask("|".join("&".join(map(str, term)) for term in least), tuple(least))


def _read(word: Word) -> Term:
    p = word.entry(PREDICATES)
    if p.read:
        return Term(p.name, p.read(word))
    pairs = zip(p.numbers, word.numbers, strict=True)
    return Term(p.name, tuple(word.whole(name, x, p.low, p.high) for name, x in pairs))


def _order(term: Term) -> tuple:
    return list(PREDICATES).index(term.name), term.numbers


def _merge(found: list[Term]) -> Terms:
    """In the registry's order, without what says nothing; two of one name as one if they can be."""
    merged: list[Term] = []
    for t in sorted({*found} - {Term("full")}, key=_order):
        both = None
        if merged and merged[-1].name == t.name:
            both = t.predicate.both(merged[-1].numbers, t.numbers)
        merged[len(merged) - bool(both) :] = [Term(t.name, both) if both else t]
    return tuple(merged) or (Term("full"),)


def of(causal: bool) -> Mask:
    """Return the mask that a keyword ``causal`` means."""
    return parse("causal" if causal else "full")


def from_keywords(causal: bool, text: str | Mask | None = None) -> Mask:
    """Return the mask that a function's keywords ``causal`` and ``mask`` mean together.

    Raises TypeError for another type, ValueError for a text that names no mask, or not the causal
    one, each with one sentence.
    """
    if not isinstance(causal, bool):
        raise TypeError(f"causal must be True or False, not {type(causal).__name__}.")
    if text is None:
        return of(causal)
    if isinstance(text, Mask):
        return text
    if not isinstance(text, str):
        raise TypeError(f"mask must be a text such as 'causal', not {type(text).__name__}.")
    try:
        found = parse(text)
    except MaskError as error:
        raise ValueError(f"mask = {text[:40]!r} is not allowed: {error}.") from error
    if causal and found.text != "causal":
        raise ValueError(f"mask = {text[:40]!r} contradicts causal = True.")
    return found


def flops(mask: Mask, heads: int, n_q: int, n_k: int, d: int) -> float:
    """4·heads·scores·d of a forward pass. Scores by the papers' convention for ``full``, Nq·Nk, and
    ``causal``, half of it; for any other mask those that it keeps."""
    if mask.plain:
        return 4.0 * heads * n_q * n_k * d * (0.5 if mask.hides else 1.0)
    return 4.0 * heads * mask.visible(n_q, n_k) * d
