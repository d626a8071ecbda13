"""The predicates that masks are made of: each is one entry here. Pure NumPy.

Rows and keys are whole numbers in the keys' own counting: query i of Nq stands at row i + Nk − Nq,
which is below 0 where Nq > Nk and no key is as old as the query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from math import lcm

import numpy as np

from .texts import Word, cut

FULL, PARTIAL, SKIPPED = range(3)  # the classes of a tile
MAX_LENGTH = 65_536
MAX_STARTS, MAX_BLOCKS = 512, 256
EVERYWHERE = (-(1 << 40), 1 << 40)  # start, stop: a range beyond all rows and keys

Numbers = tuple[int, ...]
Range = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Predicate:
    """One named mask, for the numbers that its text gives.

    ``words`` is what a sentence calls it, ``formula`` when it keeps a score (i′ the row, j the
    key), ``source`` who uses it. ``numbers`` names its numbers, each from ``low`` to ``high``; the
    last may be there up to ``most`` times. ``read`` takes them from a text where they are not just
    numbers between commas, ``write`` puts them there.

    ``keep(row, key, *numbers)``: is this score kept? Of NumPy arrays or torch tensors, rows
    (…, n, 1) and keys (…, 1, m). ``tiles(first_row, last_row, first_key, last_key, *numbers)``:
    FULL, PARTIAL or SKIPPED by interval arithmetic, both ends included; rows (Tr, 1), keys
    (1, Tc). ``keys(row, *numbers)`` are start and stop of the keys that a row sees, ``rows(key,
    *numbers)`` of the rows that see a key, to be clipped by the caller; of them only those are
    kept whose distance from the row is a multiple of ``step(*numbers)`` and that lie in one of the
    rectangles ``parts(*numbers)``, (R, 4): rows start, stop, keys start, stop. ``both(a, b)``: the
    numbers of one predicate that says what two of this name say together, None if none does.
    ``start(n, block_q, block_k)``: the numbers that one begins with in a sequence of n tokens and
    tiles of this size, where a reader has given none yet.
    """

    name: str
    words: str
    formula: str
    source: str
    keep: Callable[..., np.ndarray]
    tiles: Callable[..., np.ndarray | np.uint8]
    keys: Callable[..., tuple] = lambda row, *_: EVERYWHERE
    rows: Callable[..., tuple] = lambda key, *_: EVERYWHERE
    step: Callable[..., int] = lambda *_: 1
    parts: Callable[..., np.ndarray] | None = None
    both: Callable[[Numbers, Numbers], Numbers | None] = lambda a, b: None
    numbers: tuple[str, ...] = ()
    low: int = 0
    high: int = MAX_LENGTH
    most: int = 1
    read: Callable[[Word], Numbers] | None = None
    write: Callable[..., str] = lambda *numbers: ",".join(map(str, numbers))
    start: Callable[[int, int, int], Numbers] = lambda *_: ()


def _classes(every, some) -> np.ndarray:
    """uint8: FULL where every score is kept, PARTIAL where some are, else SKIPPED."""
    return np.where(every, FULL, np.where(some, PARTIAL, SKIPPED)).astype(np.uint8)


def _band(keys: Callable[..., tuple]) -> Callable[..., np.ndarray]:
    """The tile class of a predicate whose rows see one interval of keys each, of which neither end
    falls from row to row and no two that follow each other leave a gap."""

    def tiles(first_row, last_row, first_key, last_key, *numbers):
        (start, stop), (last_start, last_stop) = keys(first_row, *numbers), keys(last_row, *numbers)
        return _classes(
            (last_start <= first_key) & (last_key < stop),
            (start <= last_key) & (first_key < last_stop),
        )

    return tiles


def _causal(row):
    return EVERYWHERE[0], row + 1


def _window(row, left, right):
    return row - left, row + right + 1


def _prefix(_, n):
    return EVERYWHERE[0], n


def _dilated_tiles(first_row, last_row, first_key, last_key, step):
    low, high = first_row - last_key, last_row - first_key  # every distance from low to high
    some = high // step * step >= low
    return _classes(some & ((low == high) | (step == 1)), some)


def _global(at, n):
    """The keys of a row, and as well the rows of a key."""
    return EVERYWHERE[0], np.where(at < n, EVERYWHERE[1], n)


def _global_tiles(first_row, last_row, first_key, last_key, n):
    return _classes((last_key < n) | (last_row < n), (first_key < n) | (first_row < n))


def _segment(x, starts: Numbers):
    """Which of the documents x lies in, from 1; 0 before the first."""
    if isinstance(x, np.ndarray):
        return np.searchsorted(starts, x, side="right")
    return (x[..., None] >= x.new_tensor(starts)).sum(-1)


def _document(at, *starts):
    """The keys of a row, and as well the rows of a key."""
    ends = np.array((EVERYWHERE[0], *starts, EVERYWHERE[1]))
    found = _segment(at, starts)
    return ends[found], ends[found + 1]


def _chunk(at, n):
    """The keys of a row, and as well the rows of a key."""
    return at // n * n, at // n * n + n


@lru_cache(maxsize=32)
def _parts(block_q: int, block_k: int, *spans: int) -> np.ndarray:
    """(R, 4) int64: rows start, stop, keys start, stop of each span i, j, j2 of listed blocks."""
    i, j, j2 = np.array(spans, dtype=np.int64).reshape(-1, 3).T
    return np.stack((i * block_q, (i + 1) * block_q, j * block_k, (j2 + 1) * block_k), axis=1)


def _block_keep(row, key, *numbers):
    a, b, c, d = _parts(*numbers).T
    if not isinstance(row, np.ndarray):
        a, b, c, d = (row.new_tensor(x.tolist()) for x in (a, b, c, d))
    c, d = c[:, None], d[:, None]
    return (((a <= row) & (row < b)) * 1.0) @ (((c <= key) & (key < d)) * 1.0) > 0


def _block_tiles(first_row, last_row, first_key, last_key, *numbers):
    a, b, c, d = _parts(*numbers).T
    c, d = c[:, None], d[:, None]
    rows = np.maximum(np.minimum(last_row + 1, b) - np.maximum(first_row, a), 0)
    keys = np.maximum(np.minimum(last_key + 1, d) - np.maximum(first_key, c), 0)
    visible = rows.astype(float) @ keys.astype(float)  # of each tile; the parts do not overlap
    return _classes(visible == (last_row - first_row + 1) * (last_key - first_key + 1), visible > 0)


def _read_blocks(word: Word) -> Numbers:
    """BR, BC, then i, j, j2 of each span of listed blocks, in order, none touching the next."""
    size, *listed = word.numbers
    sizes = size.split("x")
    if len(sizes) != 2:
        raise word.wrong(f": a block's size must be BRxBC, not {cut(size)}")
    found = [
        word.whole(what, x, 1, MAX_LENGTH) for what, x in zip(("BR", "BC"), sizes, strict=True)
    ]
    spans = []
    for part in listed:
        row, _, keys = part.partition(".")
        first, dash, last = keys.partition("-")
        ends = (("row block", row), ("key block", first), ("key block", last if dash else first))
        i, j, j2 = (
            word.whole(f"the {what} of {cut(part)}", x, 0, MAX_LENGTH - 1) for what, x in ends
        )
        if j2 < j:
            raise word.wrong(f": the key blocks of {cut(part)} must rise")
        spans.append((i, j, j2))
    for i, j, j2 in sorted(spans):
        if len(found) > 2 and found[-3] == i and j <= found[-1] + 1:
            found[-1] = max(found[-1], j2)
        else:
            found += i, j, j2
    return tuple(found)


def _read_starts(word: Word) -> Numbers:
    found = tuple(word.whole("each start", x, 0, MAX_LENGTH - 1) for x in word.numbers)
    if found[0]:
        raise word.wrong(": the first document must start at 0")
    for a, b in pairwise(found):
        if b <= a:
            raise word.wrong(f": the starts must rise, and {b} comes after {a}")
    return found


def _write_blocks(block_q: int, block_k: int, *spans: int) -> str:
    found = [f"{block_q}x{block_k}"]
    for i, j, j2 in zip(spans[::3], spans[1::3], spans[2::3], strict=True):
        found.append(f"{i}.{j}" if j == j2 else f"{i}.{j}-{j2}")
    return ",".join(found)


def _diagonal(n: int, block_q: int, block_k: int) -> Numbers:
    """The blocks on the diagonal, of at most 32 rows of them."""
    last = -(-n // block_k) - 1
    spans = ((i, min(i, last), min(i, last)) for i in range(min(-(-n // block_q), 32)))
    return (block_q, block_k, *chain.from_iterable(spans))


def _smallest(a: Numbers, b: Numbers) -> Numbers:
    return tuple(map(min, a, b))


def _every(a: Numbers, b: Numbers) -> Numbers | None:
    step = lcm(*a, *b)
    return (step,) if step <= MAX_LENGTH else None


def _starts(a: Numbers, b: Numbers) -> Numbers | None:
    found = tuple(sorted({*a, *b}))
    return found if len(found) <= MAX_STARTS else None


PREDICATES = {
    p.name: p
    for p in (
        Predicate(
            "full", "every key", "always", "encoders such as BERT",
            keep=lambda row, key: (row == row) & (key == key),
            tiles=lambda *_: np.uint8(FULL),
        ),
        Predicate(
            "causal", "no key that comes after the query", "j ≤ i′", "decoders such as GPT",
            keep=lambda row, key: key <= row,
            tiles=_band(_causal),
            keys=_causal,
            rows=lambda key: (key, EVERYWHERE[1]),
        ),
        Predicate(
            "window", "only keys near the query", "i′ − j ≤ left and j − i′ ≤ right",
            "Longformer (Beltagy et al., 2020), Mistral 7B (2023)",
            keep=lambda row, key, left, right: (row - key <= left) & (key - row <= right),
            tiles=_band(_window),
            keys=_window,
            rows=lambda key, left, right: _window(key, right, left),
            both=_smallest,
            numbers=("left", "right"),
            start=lambda n, *_: (max(1, 3 * n // 8), 0),
        ),
        Predicate(
            "dilated", "only every s-th key from the query", "(i′ − j) mod s = 0",
            "Sparse Transformer (Child et al., 2019), Longformer (Beltagy et al., 2020)",
            keep=lambda row, key, step: (row - key) % step == 0,
            tiles=_dilated_tiles,
            step=lambda step: step,
            both=_every,
            numbers=("s",), low=1,
            start=lambda *_: (2,),
        ),
        Predicate(
            "prefix", "only the first n keys", "j < n",
            "prefix-LM (Raffel et al., 2020), PaliGemma",
            keep=lambda row, key, n: (key < n) & (row == row),
            tiles=_band(_prefix),
            keys=_prefix,
            rows=lambda key, n: (EVERYWHERE[0], np.where(key < n, EVERYWHERE[1], EVERYWHERE[0])),
            both=_smallest,
            numbers=("n",), low=1,
            start=lambda n, *_: (max(1, n // 8),),
        ),
        Predicate(
            "global", "the first n tokens see all and are seen by all", "j < n or i′ < n",
            "Longformer (Beltagy et al., 2020), BigBird (Zaheer et al., 2020)",
            keep=lambda row, key, n: (key < n) | (row < n),
            tiles=_global_tiles,
            keys=_global,
            rows=_global,
            both=_smallest,
            numbers=("n",), low=1,
            start=lambda n, *_: (max(1, n // 16),),
        ),
        Predicate(
            "document", "only keys of the query's own document",
            "i′ and j lie in the same of the segments that start at these rising numbers",
            "packed sequences: flash-attention's varlen",
            keep=lambda row, key, *starts: _segment(row, starts) == _segment(key, starts),
            tiles=_band(_document),
            keys=_document,
            rows=_document,
            both=_starts,
            numbers=("starts",), high=MAX_LENGTH - 1, most=MAX_STARTS,
            read=_read_starts,
            start=lambda n, *_: tuple(sorted({0, 5 * n // 16, 10 * n // 16})),
        ),
        Predicate(
            "chunk", "only keys of the query's own chunk of n", "⌊i′/n⌋ = ⌊j/n⌋",
            "Llama 4 (2025), in its local layers",
            keep=lambda row, key, n: row // n == key // n,
            tiles=_band(_chunk),
            keys=_chunk,
            rows=_chunk,
            numbers=("n",), low=1,
            start=lambda n, *_: (max(1, n // 4),),
        ),
        Predicate(
            "block", "only the listed blocks", "block ⌊i′/BR⌋.⌊j/BC⌋ is one of those listed",
            "block-sparse FlashAttention (Dao et al., 2022)",
            keep=_block_keep,
            tiles=_block_tiles,
            parts=_parts,
            numbers=("BRxBC", "i.j"), most=MAX_BLOCKS,
            read=_read_blocks,
            write=_write_blocks,
            start=_diagonal,
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Term:
    """A predicate with its numbers, as a mask's text names it. Blocks: BR, BC, then i, j, j2 of
    each span."""

    name: str
    numbers: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}:{self.predicate.write(*self.numbers)}" if self.numbers else self.name

    @property
    def predicate(self) -> Predicate:
        return PREDICATES[self.name]


Terms = tuple[Term, ...]
