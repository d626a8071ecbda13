"""Data that the user brings: a sentence, or Q, K and V as small CSV. Read, never evaluated."""

from __future__ import annotations

import math

from explainer.base.texts import Texts

MAX_WORDS = 24
MAX_LETTERS = 40  # of a word
MAX_CHARACTERS = 6_000
LARGEST = 1e4  # of a number in the CSV

say = Texts("fields")
Matrix = tuple[tuple[float, ...], ...]


def words(text: str) -> tuple[str, ...]:
    """The words of a sentence. Raises ValueError, what is allowed, for none or more than 24."""
    found = tuple(text.split())
    if not 1 <= len(found) <= MAX_WORDS or any(len(word) > MAX_LETTERS for word in found):
        raise ValueError(say("words", words=MAX_WORDS, letters=MAX_LETTERS))
    return found


def matrices(text: str) -> tuple[Matrix, Matrix, Matrix]:
    """Q, K and V, each (n, d): three blocks of CSV lines with an empty line between them.

    Raises ValueError, what is allowed, for anything else.
    """
    wanted = say("matrices", largest=LARGEST)
    lines = [line.strip() for line in text.strip().splitlines()]
    blocks: list[list[tuple[float, ...]]] = [[]]
    for line in lines:
        if not line:
            if blocks[-1]:
                blocks.append([])
            continue
        try:
            row = tuple(float(cell) for cell in line.replace(";", ",").split(","))
        except ValueError:
            raise ValueError(wanted) from None
        if not all(math.isfinite(x) and abs(x) <= LARGEST for x in row):
            raise ValueError(wanted)
        blocks[-1].append(row)
    shapes = {(len(block), len(row)) for block in blocks for row in block}
    if len(blocks) != 3 or len(shapes) != 1:
        raise ValueError(wanted)
    q, k, v = (tuple(block) for block in blocks)
    return q, k, v
