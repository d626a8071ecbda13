"""Data that the user brings: a sentence, or Q, K and V as small CSV. Read, never evaluated."""

import math
import re

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

    Raises ValueError, what is allowed and which row and cell is otherwise, for anything else.
    """
    blocks = [
        [_row(line, k, i) for i, line in enumerate(block.splitlines())]
        for k, block in enumerate(re.split(r"\n\s*\n", "\n".join(text.strip().splitlines())))
    ]
    rows = [(k, i, len(row)) for k, block in enumerate(blocks) for i, row in enumerate(block)]
    for k, i, count in rows:
        if count != rows[0][2]:
            where = say("matrices.row", numbers=count, first=rows[0][2], **_place(k, i))
            raise _misread(where)
    if len(blocks) != 3 or len({*map(len, blocks)}) != 1:
        raise ValueError(say("matrices", largest=LARGEST))
    q, k, v = (tuple(block) for block in blocks)
    return q, k, v


def _row(line: str, block: int, i: int) -> tuple[float, ...]:
    """Read the numbers of a line, whose place is named where one cannot be read."""
    numbers = []
    for j, cell in enumerate(line.replace(";", ",").split(",")):
        try:
            numbers.append(float(cell))
        except ValueError:
            numbers.append(math.nan)
        if not abs(numbers[-1]) <= LARGEST:
            found = cell.strip()[:MAX_LETTERS]
            raise _misread(say("matrices.cell", cell=j + 1, found=found, **_place(block, i)))
    return tuple(numbers)


def _place(block: int, i: int) -> dict[str, object]:
    """Name a row as the user counts, from 1."""
    return {"name": "QKV"[block] if block < 3 else block + 1, "row": i + 1}


def _misread(where: str) -> ValueError:
    """Say what is allowed, and where it is otherwise."""
    return ValueError(f"{say('matrices', largest=LARGEST)}; {where}")
