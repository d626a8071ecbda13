"""Decide which rows each of several devices holds, and which of their scores each computes when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, product

from .masks import Mask, of
from .predicates import FULL, SKIPPED

LAYOUTS = ("contiguous", "head-tail")
Run = tuple[int, int]  # start and stop of rows that follow each other in the whole sequence
Runs = tuple[Run, ...]


@dataclass(frozen=True)
class Part:
    """One call of attention: these of a device's own rows, these of the keys that it has, and the
    mask as this part of the scores counts its rows and keys."""

    rows: slice
    keys: slice
    mask: Mask


def check_layout(layout: str) -> None:
    """Raise ValueError with one sentence for a layout that there is not."""
    if layout not in LAYOUTS:
        raise ValueError(f"layout = {str(layout)[:40]!r} is not allowed: {', '.join(LAYOUTS)}.")


def counts(n: int, devices: int, layout: str) -> tuple[int, ...]:
    """Return how many of n rows each device holds: `torch.tensor_split` into one chunk for each,
    or, head–tail, into two, of which a device has the r-th from the front and from the back."""
    chunks = devices * (2 if layout == "head-tail" else 1)
    sizes = [n // chunks + (i < n % chunks) for i in range(chunks)]
    if layout == "contiguous":
        return tuple(sizes)
    return tuple(sizes[r] + sizes[-1 - r] for r in range(devices))


def runs(each: tuple[int, ...], layout: str) -> tuple[Runs, ...]:
    """Return where the rows of each device lie in the whole sequence, from how many it holds; in
    head–tail the first half, which has the odd row, is the head."""
    if layout == "contiguous":
        return tuple(((stop - n, stop),) for n, stop in zip(each, accumulate(each), strict=True))
    heads = accumulate(n - n // 2 for n in each)
    tails = accumulate(n // 2 for n in each)
    return tuple(
        ((head - n + n // 2, head), (sum(each) - tail, sum(each) - tail + n // 2))
        for n, head, tail in zip(each, heads, tails, strict=True)
    )


def source(device: int, step: int, devices: int) -> int:
    """Return whose keys and values a device has in this step (from 0): they move on by one."""
    return (device - step) % devices


@lru_cache(maxsize=64)
def plan(
    q_counts: tuple[int, ...], k_counts: tuple[int, ...], layout: str, mask: Mask
) -> tuple[tuple[tuple[Part, ...], ...], ...]:
    """Return the calls of each device in each step, without the last steps in which no device has
    any. Both are counted by device; queries are aligned bottom-right."""
    devices, offset = len(q_counts), sum(k_counts) - sum(q_counts)
    rows, keys = runs(q_counts, layout), runs(k_counts, layout)
    found = [
        [_parts(rows[r], keys[source(r, step, devices)], offset, mask) for step in range(devices)]
        for r in range(devices)
    ]
    steps = max((step + 1 for each in found for step, parts in enumerate(each) if parts), default=1)
    return tuple(tuple(each[:steps]) for each in found)


def _parts(rows: Runs, keys: Runs, offset: int, mask: Mask) -> tuple[Part, ...]:
    """Return the calls for these rows and keys: as few as cover the scores that are visible."""
    if mask.text == "causal" and rows == keys and not offset:  # the order is that of the whole
        everything = slice(0, sum(b - a for a, b in rows))
        return (Part(everything, everything, mask),) if everything.stop else ()
    places = [list(accumulate((b - a for a, b in one), initial=0)) for one in (rows, keys)]
    full, found = set(), []
    for (i, (r0, r1)), (j, (k0, k1)) in product(enumerate(rows), enumerate(keys)):
        n_q, n_k = r1 - r0, k1 - k0
        if not (n_q and n_k):
            continue
        here = mask.at(r0 + offset - (n_k - n_q), k0)
        kind = here.tiles(n_q, n_k, n_q, n_k)[0, 0]
        if kind == FULL:
            full.add((i, j))
        elif kind != SKIPPED:
            found.append(_part(places, (i, i + 1), (j, j + 1), here))
    spans = [(a, b) for a in range(2) for b in range(a + 1, 3)]
    for i, j in sorted(product(spans, spans), key=lambda at: -_size(at[0]) * _size(at[1])):
        if (cells := {*product(range(*i), range(*j))}) <= full:
            full -= cells
            found.append(_part(places, i, j, of(False)))
    return tuple(found)


def _size(span: Run) -> int:
    return span[1] - span[0]


def _part(places: list[list[int]], i: Run, j: Run, mask: Mask) -> Part:
    """Return the part from these to those ends of runs, as the device itself counts them."""
    rows, keys = (slice(at[a], at[b]) for at, (a, b) in zip(places, (i, j), strict=True))
    return Part(rows, keys, mask)
