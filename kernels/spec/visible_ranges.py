"""What each row sees of the keys, and each key of the rows: first, last and how many, in O(N)."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import lcm

import numpy as np

from .predicates import EVERYWHERE, Range, Terms

Visible = tuple[np.ndarray, np.ndarray, np.ndarray]  # start, stop, count
Span = tuple[int, int]  # the first position, and how many


def blocks(n: int, block: int) -> Range:
    """The first and the last of each block."""
    first = np.arange(0, n, block, dtype=np.int64)
    return first, np.minimum(first + block, n) - 1


@lru_cache(maxsize=8)
def ranges(
    terms: tuple[Terms, ...], n_q: int, n_k: int, by_keys: bool, shift: tuple[int, int]
) -> Visible:
    """start, stop, count (Nq,) int64: the first key that each query sees, the one after the last,
    and how many it sees under any of the terms; ``by_keys`` (Nk,), of the queries that see each
    key. Where none is visible: 0, 0, 0. The arrays are read-only. The terms count rows and keys
    from ``shift`` on.

    How many is counted by inclusion and exclusion: all sets of terms intersected, odd less even.
    """
    rows, keys = (n_k - n_q + shift[0], n_q), (shift[1], n_k)
    each = [intersect(term, rows, keys, by_keys) for term in terms]
    start = np.min([np.where(count, start, EVERYWHERE[1]) for start, _, count in each], axis=0)
    stop = np.max([stop for _, stop, _ in each], axis=0)
    count = np.sum([count for *_, count in each], axis=0)
    for size in range(2, len(terms) + 1):
        for subset in combinations(terms, size):
            together = tuple(dict.fromkeys(t for term in subset for t in term))
            count = count - (-1) ** size * intersect(together, rows, keys, by_keys)[2]
    found = np.where(count, start, 0), stop, count
    for array in found:
        array.flags.writeable = False
    return found


def intersect(term: Terms, rows: Span, keys: Span, by_keys: bool) -> Visible:
    """`ranges` of one term, of rows and keys by (first, how many): every step-th from first on,
    below end, in one of the parts."""
    (zero, n), (low, others) = (keys, rows) if by_keys else (rows, keys)  # low: 0 in the result
    farthest = n + others + abs(zero - low)  # no row and key are as far from each other
    at = np.arange(zero, zero + n)
    first, end, step = np.full(n, low), np.full(n, low + others), 1
    parts = np.array([[rows[0], sum(rows), keys[0], sum(keys)]])
    for t in term:
        p = t.predicate
        start, stop = (p.rows if by_keys else p.keys)(at, *t.numbers)
        first, end = np.maximum(first, start), np.minimum(end, stop)
        step = min(lcm(step, p.step(*t.numbers)), farthest)
        if p.parts:
            parts = _overlaps(parts, p.parts(*t.numbers))
    at -= first
    at %= step
    first += at
    del at  # in place from here on: at N = 16,384 an array is 131 kB
    start, stop, count = np.full(n, EVERYWHERE[1]), np.full(n, low), np.zeros(n, np.int64)
    for a, b, c, d in parts[:, [2, 3, 0, 1]] if by_keys else parts:
        here = slice(a - zero, b - zero)
        begin = np.maximum(first[here], c)
        if step > 1:
            begin += (first[here] - begin) % step
        many = np.minimum(end[here], d)
        many -= begin
        np.maximum(many, 0, out=many)
        many += step - 1
        many //= step
        count[here] += many
        none = many == 0
        begin[none] = EVERYWHERE[1]
        np.minimum(start[here], begin, out=start[here])
        many -= 1
        many *= step
        begin += many
        begin += 1
        begin[none] = low
        np.maximum(stop[here], begin, out=stop[here])
    start -= low
    start[count == 0] = 0
    stop -= low
    return start, stop, count


def _overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(R, 4): what rectangles of the one list have in common with those of the other."""
    found = np.maximum(a[:, None], b[None])
    found[..., 1::2] = np.minimum(a[:, None, 1::2], b[None, :, 1::2])
    return found[(found[..., ::2] < found[..., 1::2]).all(-1)]


def bounding_range(start: np.ndarray, stop: np.ndarray, at: np.ndarray) -> Range:
    """start and stop of what lies between any of each block's, which begin ``at``; none: 0, 0."""
    first = np.minimum.reduceat(np.where(start < stop, start, EVERYWHERE[1]), at)
    end = np.maximum.reduceat(stop, at)
    return np.where(end > 0, first, 0), end
