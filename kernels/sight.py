"""What each row sees of the keys, and each key of the rows: first, last and how many, in O(N)."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import lcm

import numpy as np

from .predicates import MAX_LENGTH, Range, Terms


def blocks(n: int, block: int) -> Range:
    first = np.arange(0, n, block, dtype=np.int64)
    return first, np.minimum(first + block, n) - 1


@lru_cache(maxsize=8)
def seen(terms: tuple[Terms, ...], n_q: int, n_k: int, by_keys: bool) -> tuple[np.ndarray, ...]:
    """start, stop, count (Nq,) int64: the first key that each query sees, the one after the last,
    and how many; ``by_keys`` (Nk,), of the queries that see each key. Nothing seen: 0, 0, 0.

    How many a union sees is by inclusion and exclusion of its terms.
    """
    each = [met(term, n_q, n_k, by_keys) for term in terms]
    start = np.min([np.where(c, a, MAX_LENGTH) for a, _, c in each], axis=0)
    stop = np.max([b for _, b, _ in each], axis=0)
    count = sum(c for *_, c in each)
    for size in range(2, len(terms) + 1):
        for subset in combinations(terms, size):
            together = tuple(dict.fromkeys(t for term in subset for t in term))
            count = count - (-1) ** size * met(together, n_q, n_k, by_keys)[2]
    found = np.where(count, start, 0), stop, count
    for array in found:
        array.flags.writeable = False
    return found


def met(term: Terms, n_q: int, n_k: int, by_keys: bool) -> tuple[np.ndarray, ...]:
    """`seen` of an intersection."""
    shift = n_k - n_q
    at, low, high = (np.arange(n_k), shift, n_k) if by_keys else (np.arange(shift, n_k), 0, n_k)
    first, end, step = low, high, 1
    parts = np.array([[shift, n_k, 0, n_k]])
    for t in term:
        p = t.predicate
        start, stop = (p.rows if by_keys else p.keys)(at, *t.numbers)
        first, end, step = (
            np.maximum(first, start),
            np.minimum(end, stop),
            lcm(step, p.step(*t.numbers)),
        )
        if p.parts:
            parts = _overlaps(parts, p.parts(*t.numbers))
    first, end = np.broadcast_to(first, at.shape), np.broadcast_to(end, at.shape)
    found = (
        np.full(at.size, MAX_LENGTH * 2),
        np.full(at.size, -MAX_LENGTH),
        np.zeros(at.size, np.int64),
    )
    for a, b, c, d in parts[:, [2, 3, 0, 1]] if by_keys else parts:
        here = slice(a - at[0], b - at[0])
        start, stop = np.maximum(first[here], c), np.minimum(end[here], d)
        if step > 1:
            start = start + (at[here] - start) % step
        count = np.maximum(stop - start + step - 1, 0) // step
        some = count > 0
        np.minimum(found[0][here], start, out=found[0][here], where=some)
        np.maximum(found[1][here], start + (count - 1) * step + 1, out=found[1][here], where=some)
        found[2][here] += count
    start, stop, count = found
    return np.where(count, start - low, 0), np.where(count, stop - low, 0), count


def _overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(R, 4): what rectangles of the one list have in common with those of the other."""
    low, high = (
        np.maximum(a[:, None, ::2], b[None, :, ::2]),
        np.minimum(a[:, None, 1::2], b[None, :, 1::2]),
    )
    rows, keys = (np.stack((low[..., k], high[..., k]), -1) for k in (0, 1))
    return np.concatenate((rows, keys), -1)[(low < high).all(-1)]


def hull(start: np.ndarray, stop: np.ndarray, at: np.ndarray) -> Range:
    """start and stop of what lies between any of each block's; empty: 0, 0."""
    first = np.minimum.reduceat(np.where(start < stop, start, MAX_LENGTH * 2), at)
    end = np.maximum.reduceat(stop, at)
    return np.where(end > 0, first, 0), end
