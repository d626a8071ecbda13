"""Known mistakes: what each changes in the loop of loop.py, as data in assets/check/mistakes.json.
Where two give the same numbers, the first is named. Their words are texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from explainer.base.paths import ASSETS
from explainer.check.loop import Loop


@dataclass(frozen=True)
class Mistake:
    """A mistake: its pass, the ``line`` of FlashAttention-2's Algorithm 1 (forward) or 2 that it is
    in (arXiv 2307.08691), the ``ways`` to make it. ``warning``: exact in real arithmetic."""

    key: str
    pass_: str
    line: int
    ways: tuple[dict, ...]
    warning: bool = False


def _read() -> dict[str, Mistake]:
    rows = json.loads((ASSETS / "check" / "mistakes.json").read_text(encoding="utf-8"))
    return {row["key"]: Mistake(pass_=row.pop("pass"), **row) for row in rows}


MISTAKES = _read()
TENSOR_LINES = {"m": 9, "l": 9, "O": 10, "lse": 13}  # of Algorithm 1
BLOCKS = tuple(2**p for p in range(1, 8))
# Right ways to write a loop, in which a mistake may give other numbers; the plainest first.
STYLES: list[dict[str, Any]] = [
    {"empty": empty, "reverse": reverse, "skips": skips}
    for empty, reverse, skips in product(("zero", "nan", "cleared"), (False, True), (True, False))
    if (empty, reverse) != ("cleared", True)
] + [{"hidden": -1e6, "skips": skips} for skips in (False, True)]


@cache
def loops(pass_: str, style: int = 0) -> tuple[tuple[str, Loop], ...]:
    """Return (key, loop) of every mistake of a pass in one style."""
    plain = Loop(**STYLES[style])
    every = (m for m in MISTAKES.values() if m.pass_ == pass_)
    return tuple((m.key, replace(plain, **way)) for m in every for way in m.ways)


def block_sizes(told: tuple[int, int], n: int, is_told: bool = True) -> Iterator[tuple[int, int]]:
    """List the tile sizes that a function may have, (Br, Bc): those that it was ``told``, or its
    own, squares first, and only larger squares where it takes such arguments."""
    own = [b for b in BLOCKS if n <= 8 * b < 16 * n and not (is_told and b < told[0])]
    squares = [(b, b) for b in own]
    others = [] if is_told else [(a, b) for a, b in product(own, own) if a != b]
    yield from dict.fromkeys([told, *squares, *others])
