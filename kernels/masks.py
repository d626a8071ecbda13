"""What a mask hides: the one place that knows. Pure NumPy: lessons ask it without torch.

A mask is a union (``|``) of intersections (``&``) of named predicates, written as text. Everything
is said in the keys' own counting: query i of Nq stands at row i + Nk − Nq, so that the last query
sees the last key (aligned bottom-right, as flash-attention has it).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import pairwise

import numpy as np

from .predicates import (
    FULL,
    MAX_BLOCKS,
    MAX_LENGTH,
    PARTIAL,
    PREDICATES,
    SKIPPED,
    Range,
    Term,
    Terms,
)
from .sight import blocks, hull, met, seen

TILE_KINDS = ("full", "partial", "skipped")
PLAIN = ("full", "causal")  # what the kernels have code of their own for
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
    intersections whose union it is.
    """

    text: str
    terms: tuple[Terms, ...] = field(compare=False)

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

    def sees(self, row, key):
        """bool: which scores are kept, of arrays or torch tensors, rows (…, n, 1) in the keys'
        counting and keys (…, 1, m); of a shape that broadcasts to (…, n, m)."""
        terms = (_term_sees(term, row, key) for term in self.terms)
        return reduce(lambda a, b: a | b, terms)

    def hidden(self, row, key):
        """``~sees(row, key)``, for causal in one comparison: who measures bytes counts it."""
        return key > row if self.text == "causal" else ~self.sees(row, key)

    def keep(self, n_q: int, n_k: int, rows: slice = slice(None), keys: slice = slice(None)):
        """bool (rows, keys): True where a score is kept; dense, of these queries and keys."""
        i, j = np.arange(n_q)[rows, None] + (n_k - n_q), np.arange(n_k)[None, keys]
        return np.broadcast_to(self.sees(i, j), (i.size, j.size))

    def kept_by(self, n_q: int, n_k: int, rows: slice = slice(None), keys: slice = slice(None)):
        """int8 (rows, keys): which is the first term that keeps a score, −1 where none does."""
        i, j = np.arange(n_q)[rows, None] + (n_k - n_q), np.arange(n_k)[None, keys]
        found = np.full((i.size, j.size), -1, np.int8)
        for index in reversed(range(len(self.terms))):
            found[np.broadcast_to(_term_sees(self.terms[index], i, j), found.shape)] = index
        return found

    def tiles(self, n_q: int, n_k: int, block_q: int, block_k: int) -> np.ndarray:
        """(Tr, Tc) uint8: FULL, PARTIAL or SKIPPED of each tile of Br × Bc, by the mask alone (a
        ragged tile whose scores are all kept is FULL)."""
        r0, r1 = (x[:, None] + (n_k - n_q) for x in blocks(n_q, block_q))
        k0, k1 = (x[None, :] for x in blocks(n_k, block_k))
        found = _union([
            _intersection([t.predicate.tiles(r0, r1, k0, k1, *t.numbers) for t in term])
            for term in self.terms
        ])  # fmt: skip
        i, j = np.nonzero(found == UNKNOWN)
        if i.size:
            found[i, j] = self._look(r0[i, 0], r1[i, 0], k0[0, j], k1[0, j], block_q, block_k)
        return found

    def _look(self, r0, r1, k0, k1, block_q: int, block_k: int) -> np.ndarray:
        """uint8: the classes of these tiles, score by score: first at their edges, which nearly
        always have both kinds of scores, then at all of a tile. Beyond a ragged tile's last row
        and key stand these again."""
        some, every = np.zeros(r0.size, bool), np.ones(r0.size, bool)

        def look(at: np.ndarray, rows: np.ndarray, keys: np.ndarray) -> None:
            for part in np.array_split(at, 1 + at.size * rows.size * keys.size // LOOKED_AT):
                row = np.minimum(r0[part, None] + rows, r1[part, None])[:, :, None]
                key = np.minimum(k0[part, None] + keys, k1[part, None])[:, None, :]
                kept = np.broadcast_to(self.sees(row, key), (part.size, rows.size, keys.size))
                some[part] |= kept.any((1, 2))
                every[part] &= kept.all((1, 2))

        rows, keys, at = np.arange(block_q), np.arange(block_k), np.arange(r0.size)
        look(at, rows[[0, -1]], keys)
        look(at, rows, keys[[0, -1]])
        look(at[some == every], rows, keys)
        return np.where(every, FULL, np.where(some, PARTIAL, SKIPPED))

    def key_range(self, n_q: int, n_k: int, block_q: int, every: bool = False) -> Range:
        """Two (Tr,) arrays: the keys start … stop − 1 that any row of each row block sees, with
        ``every`` such that all of them see (all that are, if each row sees one interval)."""
        at = np.arange(0, n_q, block_q)
        if not every:
            start, stop, _ = seen(self.terms, n_q, n_k, False)
            return hull(start, stop, at)
        best = None
        for terms in [None] if self.spans(n_q, n_k) else self.terms:
            start, stop, count = (
                seen(self.terms, n_q, n_k, False) if terms is None else met(terms, n_q, n_k, False)
            )
            whole = count == stop - start
            start = np.maximum.reduceat(np.where(whole, start, n_k), at)
            stop = np.maximum(np.minimum.reduceat(np.where(whole, stop, 0), at), start)
            longer = True if best is None else stop - start > best[1] - best[0]
            best = (start, stop) if best is None else tuple(np.where(longer, (start, stop), best))
        return best

    def row_range(self, n_q: int, n_k: int, block_k: int) -> Range:
        """Two (Tc,) arrays: the queries start … stop − 1 that see each key block."""
        start, stop, _ = seen(self.terms, n_q, n_k, True)
        return hull(start, stop, np.arange(0, n_k, block_k))

    def spans(self, n_q: int, n_k: int) -> Range | None:
        """Two (Nq,) int32 arrays, the keys start … stop − 1 that each query sees, if what each
        of them sees is one interval (empty: 0, 0); else None."""
        start, stop, count = seen(self.terms, n_q, n_k, False)
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
        """How many of the Nq · Nk scores are kept."""
        return int(seen(self.terms, n_q, n_k, False)[2].sum())


def _term_sees(term: Terms, row, key):
    return reduce(lambda a, b: a & b, (t.predicate.keep(row, key, *t.numbers) for t in term))


def _intersection(classes: list[np.ndarray]) -> np.ndarray:
    """The classes of tiles under all predicates: known where at most one hides part of them."""
    if len(classes) == 1:
        return classes[0]
    partial = sum((c == PARTIAL).astype(np.uint8) for c in classes)
    found = np.choose(np.minimum(partial, 2), (FULL, PARTIAL, UNKNOWN)).astype(np.uint8)
    found[np.any([c == SKIPPED for c in classes], axis=0)] = SKIPPED
    return found


def _union(classes: list[np.ndarray]) -> np.ndarray:
    """The classes of tiles under any term: known where at most one keeps part of them."""
    if len(classes) == 1:
        return classes[0].copy()
    seen = sum((c != SKIPPED).astype(np.uint8) for c in classes)
    found = np.min([np.where(c == SKIPPED, 9, c) for c in classes], axis=0)
    found = np.where(seen == 0, SKIPPED, np.where(seen == 1, found, UNKNOWN)).astype(np.uint8)
    found[np.any([c == FULL for c in classes], axis=0)] = FULL
    return found


def parse(text: str) -> Mask:
    """The mask of this text. Raises :class:`MaskError`, where it is wrong and what is allowed."""
    if not isinstance(text, str):
        raise MaskError("it must be a text such as causal&window:256,0")
    if len(text) > MAX_CHARACTERS:
        raise MaskError(f"it has {len(text):,} characters, and at most {MAX_CHARACTERS:,} are read")
    return _parse(text)


@lru_cache(maxsize=256)
def _parse(text: str) -> Mask:
    terms, at = [], 1
    for part in text.split("|"):
        found, place = [], at
        for word in part.split("&"):
            found.append(_read("".join(word.split()), place + len(word) - len(word.lstrip())))
            place += len(word) + 1
        if len(found) > MAX_PREDICATES:
            raise MaskError(
                f"{len(found)} predicates are joined by & from character {at}, and at most "
                f"{MAX_PREDICATES} may be"
            )
        terms.append(_term(found))
        at += len(part) + 1
    if len(terms) > MAX_TERMS:
        raise MaskError(f"{len(terms)} terms are joined by |, and at most {MAX_TERMS} may be")
    terms = sorted(set(terms), key=lambda term: [_order(t) for t in term])
    least = tuple(t for t in terms if not any(set(o) < set(t) for o in terms))
    if any(t[0].name == "full" for t in least):
        least = ((Term("full"),),)
    if sum(len(t.numbers) // 3 for term in least for t in term if t.name == "block") > MAX_BLOCKS:
        raise MaskError(f"it lists more than {MAX_BLOCKS} blocks or spans of blocks")
    return Mask("|".join("&".join(map(str, term)) for term in least), least)


def _order(term: Term) -> tuple:
    return list(PREDICATES).index(term.name), term.numbers


def _term(found: list[Term]) -> Terms:
    """In the registry's order; two of one name that are one as soon as they can be."""
    kept: list[Term] = []
    for t in sorted(set(found), key=_order):
        both = t.predicate.both
        if kept and kept[-1].name == t.name and both:
            t = Term(t.name, both(kept.pop().numbers, t.numbers))
        kept.append(t)
    return tuple(t for t in kept if t.name != "full") or (Term("full"),)


def _read(word: str, place: int) -> Term:
    """One predicate of the text, which begins at character ``place``."""
    name, colon, rest = word.partition(":")
    shown = "".join(c if c.isprintable() else "?" for c in word)
    here = f"“{shown if len(shown) <= 24 else shown[:24] + '…'}” at character {place}"
    if not word:
        raise MaskError(f"a predicate is missing at character {place}")
    if name not in PREDICATES:
        raise MaskError(f"{here} is none of {', '.join(PREDICATES)}")
    p = PREDICATES[name]
    numbers = rest.split(",") if colon else []
    if name == "block" and numbers:
        return Term(name, tuple(_read_blocks(numbers, here)))
    most = len(p.numbers) - 1 + p.most if p.numbers else 0
    if not len(p.numbers) <= len(numbers) <= most:
        wants = f"{p.name}:{','.join(p.numbers)}" if p.numbers else f"{p.name} without numbers"
        many = f", at most {most} of them" if p.most > 1 else ""
        raise MaskError(f"{here} must be {wants}{many}")
    names = p.numbers + p.numbers[-1:] * (len(numbers) - len(p.numbers))
    found = tuple(
        _whole(x, f"{here}: {n}", p.low, p.high) for x, n in zip(numbers, names, strict=True)
    )
    if name == "document":
        if found[0]:
            raise MaskError(f"{here}: the first document must start at 0")
        for a, b in pairwise(found):
            if b <= a:
                raise MaskError(f"{here}: the starts must rise, and {b} comes after {a}")
    return Term(name, found)


def _whole(text: str, what: str, low: int, high: int) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 9 and low <= int(text) <= high:
        return int(text)
    raise MaskError(f"{what} must be a whole number from {low} to {high:,}")


def _read_blocks(parts: list[str], here: str) -> Iterator[int]:
    """BR, BC, then i, j, j2 of each span of listed blocks, in order, none touching the next."""
    sizes = parts[0].split("x")
    if len(sizes) != 2 or len(parts) < 2:
        raise MaskError(f"{here} must be block:BRxBC,i.j,i.j-j2 with at least one block")
    if len(parts) - 1 > MAX_BLOCKS:
        raise MaskError(f"{here} lists {len(parts) - 1:,} blocks, and at most {MAX_BLOCKS} may be")
    for size, name in zip(sizes, ("BR", "BC"), strict=True):
        yield _whole(size, f"{here}: {name}", 1, MAX_LENGTH)
    spans = []
    for part in parts[1:]:
        row, _, keys = part.partition(".")
        first, dash, last = keys.partition("-")
        ends = [row, first, last if dash else first]
        i, j, j2 = (_whole(x, f"{here}: the block {part[:16]}", 0, MAX_LENGTH - 1) for x in ends)
        if j2 < j:
            raise MaskError(f"{here}: the span {part} must rise")
        spans.append([i, j, j2])
    merged: list[list[int]] = []
    for i, j, j2 in sorted(spans):
        if merged and merged[-1][0] == i and j <= merged[-1][2] + 1:
            merged[-1][2] = max(merged[-1][2], j2)
        else:
            merged.append([i, j, j2])
    for span in merged:
        yield from span


def of(causal: bool) -> Mask:
    """The mask that a keyword ``causal`` means."""
    return parse("causal" if causal else "full")


def asked(causal: bool, text: str | None = None) -> Mask:
    """The mask that a function's keywords ``causal`` and ``mask`` mean together.

    Raises ValueError with one sentence for a text that names none, or not the causal one.
    """
    if text is None:
        return of(causal)
    if causal and str(text) != "causal":
        raise ValueError(f"mask = {str(text)[:40]!r} contradicts causal = True.")
    try:
        return parse(str(text))
    except MaskError as error:
        raise ValueError(f"mask = {str(text)[:40]!r} is not allowed: {error}.") from error


def flops(mask: Mask, heads: int, n_q: int, n_k: int, d: int) -> float:
    """4·heads·scores·d of a forward pass. Scores by the papers' convention for ``full``, Nq·Nk, and
    ``causal``, half of it; for any other mask those that it keeps."""
    if mask.plain:
        return 4.0 * heads * n_q * n_k * d * (0.5 if mask.hides else 1.0)
    return 4.0 * heads * mask.visible(n_q, n_k) * d
