"""Known mistakes: what each changes in the loop of loop.py, as data in assets/check/mistakes.json.
Where two give the same numbers, the first is named. Their words are texts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

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


class Sizes(NamedTuple):
    """Say what tiles a function may have: ``is_told``, those of its arguments; ``written``: numbers
    in its file that may be tiles of its own."""

    is_told: bool = True
    written: tuple[int, ...] = ()

    def of(self, given: tuple[int, int], n: int) -> Iterator[tuple[int, int]]:
        """List the sizes (Br, Bc) on a case of n keys: those that it is ``given``, those of numbers
        in its file, powers of 2; squares first, and where it takes arguments only larger ones."""
        own = [b for b in BLOCKS if n <= 8 * b < 16 * n and not (self.is_told and b < given[0])]
        written = () if self.is_told else self.written
        squares = [(b, b) for b in (*written, *own)]
        pairs = [] if self.is_told else product(written or own, repeat=2)
        yield from dict.fromkeys([given, *squares[: len(written)], *pairs, *squares])

    def in_case(self, own: tuple[int, int] | None, given: tuple[int, int]) -> tuple[int, int]:
        """Return the tiles on a case with the sizes ``given`` of a function that showed its ``own``
        on another, which sizes that it takes may exceed."""
        return own if own and (not self.is_told or own[0] > given[0]) else given
