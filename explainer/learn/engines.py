"""6.5: serving engines: where their caches lie, and which kernels they call."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from explainer.base.facts import fact
from explainer.learn.blocks import Block, Widget, table
from explainer.learn.content import rung, stored
from explainer.learn.controls import commas, pick
from explainer.learn.scene import Shape, box, panel, path, say, scene

Values = Mapping[str, float | str]
ENGINES: Block = table(
    f"What the engines say of themselves, looked up {fact('engines.seen')}",
    ("Engine", "Memory of K and V", "Attention kernels", "Source"), stored("engines"),
)  # fmt: skip
SEQUENCES, LONGEST = 8, 2048
SIZES = (1, 16, 64, 256)


@lru_cache(maxsize=1)
def lengths() -> tuple[int, ...]:
    """Tokens of the sequences that are served at once, random."""
    return tuple(map(int, np.random.default_rng(4).integers(60, 1500, SEQUENCES)))


def places(tokens: int, size: int) -> int:
    """Places that pages of this size hold for so many tokens: the last page may be part empty."""
    return -(-tokens // size) * size


def _places(size: int) -> list[Shape]:
    wide, high = 420 / LONGEST, 15
    used, held = sum(lengths()), sum(places(n, size) for n in lengths())
    reserved = SEQUENCES * LONGEST
    shapes = [say(0, 14, f"{SEQUENCES} sequences, at most {LONGEST:,} tokens each", "is-bold")]
    for k, n in enumerate(lengths()):
        y = 24 + k * (high + 3)
        shapes += [box(0, y, LONGEST * wide, high, look="is-line"),
                   box(0, y, places(n, size) * wide, high, hue="l", look="is-full", key=f"p {k}"),
                   box(0, y, n * wide, high, hue="k", look="is-full", key=f"n {k}")]  # fmt: skip
    x = 444
    return [
        *shapes,
        path([(432, 20), (432, 168)], look="is-thin"),
        say(x, 38, f"tokens: {used:,}", hue="k"),
        say(x, 72, f"empty in pages: {held - used:,} ({(held - used) / held:.1%})", hue="l"),
        say(x, 106, f"reserved in full: {reserved - used:,} empty ({1 - used / reserved:.0%})"),
        say(x, 140, "Short pages waste less and need", "is-quiet is-small"),
        say(x, 160, "a longer table of pages.", "is-quiet is-small"),
    ]


def _engines(v: Values) -> list[Block]:
    size = int(v["size"])
    used, held = sum(lengths()), sum(places(n, size) for n in lengths())
    words = (f"{used:,} tokens on pages of {size} take {held:,} places; reserving {LONGEST:,} for "
             f"each sequence takes {SEQUENCES * LONGEST:,}.")  # fmt: skip
    return [scene("Places for tokens: pages against reserving the most", words,
                  panel(790, 172, _places(size))), ENGINES]  # fmt: skip


WIDGETS = (
    Widget("engines", "Serving engines", (
        pick("size", "Tokens on a page", 256, commas(SIZES)),
    ), _engines),
)  # fmt: skip
ASKED = ((1000, 16), (300, 64), (77, 32))  # tokens, page: question and variants
WORDS = (
    "A sequence of {tokens:,} tokens lies on pages of {size}. How many places on its last page "
    "stay empty?"
)


def _asked(tokens: int, size: int) -> dict:
    return {"answer": places(tokens, size) - tokens,
            "words": WORDS.format(tokens=tokens, size=size)}  # fmt: skip


_first, *_others = (_asked(*x) for x in ASKED)
RUNGS = (rung("engines", **_first, variants=_others),)
