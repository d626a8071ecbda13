"""What becomes of a score between its scaling and the softmax: data, like a mask. Pure NumPy.

A score's text is ``none`` or modifications joined by ``&``, in the order in which they apply. Rows
and keys are in the keys' own counting, as in :mod:`kernels.masks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

MAX_STEPS = 4
MAX_BIASES = 64
MAX_CHARACTERS = 1_024

Step = tuple[str, tuple[float, ...]]


@dataclass(frozen=True)
class Modification:
    """One named change of a score, for the numbers that its text gives.

    ``apply(s, row, key, slope, *numbers)`` of NumPy arrays or torch tensors that broadcast, slope
    the head's 2^(−8(h+1)/H). ``numbers`` names them, each of a size from ``low`` to ``high``,
    below 0 only if ``signed``; the last may be there up to ``most`` times.
    """

    name: str
    words: str
    formula: str
    source: str
    apply: Callable
    numbers: tuple[str, ...] = ()
    low: float = 1e-3
    high: float = 1e4
    signed: bool = False
    most: int = 1


def _tanh(x):
    return np.tanh(x) if isinstance(x, np.ndarray) else x.tanh()


def _bias(s, row, key, _, *table):
    far = row - key
    far = (far * (far > 0)) * (far < len(table)) + (len(table) - 1) * (far >= len(table))
    if isinstance(s, np.ndarray):
        return s + np.asarray(table, dtype=s.dtype)[far]
    return s + s.new_tensor(table)[far]


MODIFICATIONS = {
    m.name: m
    for m in (
        Modification(
            "scale", "the scores times x", "s ← x·s", "temperature; muP",
            apply=lambda s, row, key, slope, x: s * x,
            numbers=("x",), signed=True,
        ),
        Modification(
            "softcap", "the scores pressed between −c and c", "s ← c·tanh(s/c)",
            "Gemma 2 (2024)",
            apply=lambda s, row, key, slope, c: _tanh(s / c) * c,
            numbers=("c",),
        ),
        Modification(
            "alibi", "a penalty that grows with the distance", "s ← s + 2^(−8(h+1)/H)·(j − i′)",
            "ALiBi (Press et al., 2021): BLOOM, MPT",
            apply=lambda s, row, key, slope: s + slope * (key - row),
        ),
        Modification(
            "bias", "a learned bias by distance", "s ← s + b[max(i′ − j, 0)], the last beyond",
            "T5's relative positions (Raffel et al., 2020)",
            apply=_bias,
            numbers=("b",), low=0.0, signed=True, most=MAX_BIASES,
        ),
    )
}  # fmt: skip


class ScoreError(ValueError):
    """A text that names no score."""


@dataclass(frozen=True)
class Score:
    """What becomes of scores. Made by :func:`parse`; ``steps`` (name, numbers) as they apply."""

    text: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return self.text

    @property
    def changes(self) -> bool:
        """Does it change anything at all?"""
        return bool(self.steps)

    def apply(self, s, rows, keys, head: int = 0, heads: int = 1):
        """The scores s (…, n, m), scaled by 1/√d, after all steps, in their own dtype.

        NumPy arrays or torch tensors: whole rows (n, 1) in the keys' counting and keys (1, m), or
        what broadcasts so; one head of ``heads``.
        """
        for name, numbers in self.steps:
            s = MODIFICATIONS[name].apply(s, rows, keys, slope(head, heads), *numbers)
        return s


def slope(head: int, heads: int) -> float:
    """2^(−8(h+1)/H), ALiBi's penalty for one key further away in head h of H."""
    return 2.0 ** (-8.0 * (head + 1) / heads)


def parse(text: str) -> Score:
    """The score of this text. Raises :class:`ScoreError`, where it is wrong and what is allowed."""
    if not isinstance(text, str):
        raise ScoreError("it must be a text such as softcap:30&alibi")
    if len(text) > MAX_CHARACTERS:
        raise ScoreError(
            f"it has {len(text):,} characters, and at most {MAX_CHARACTERS:,} are read"
        )
    return _parse(text)


@lru_cache(maxsize=256)
def _parse(text: str) -> Score:
    steps, place = [], 1
    words = text.split("&")
    for word in words:
        steps.append(_read("".join(word.split()), place + len(word) - len(word.lstrip())))
        place += len(word) + 1
    if len(words) > MAX_STEPS:
        raise ScoreError(
            f"{len(words)} modifications are joined by &, and at most {MAX_STEPS} may be"
        )
    steps = [step for step in steps if step[0] != "none"]
    return Score("&".join(map(_written, steps)) or "none", tuple(steps))


def _written(step: Step) -> str:
    name, numbers = step
    return f"{name}:{','.join(map(_short, numbers))}" if numbers else name


def _short(x: float) -> str:
    return str(int(x)) if x == int(x) else repr(x)


def _read(word: str, place: int) -> Step:
    """One modification of the text, which begins at character ``place``."""
    name, colon, rest = word.partition(":")
    shown = "".join(c if c.isprintable() else "?" for c in word)
    here = f"“{shown if len(shown) <= 24 else shown[:24] + '…'}” at character {place}"
    if not word:
        raise ScoreError(f"a modification is missing at character {place}")
    if word == "none":
        return "none", ()
    if name not in MODIFICATIONS:
        raise ScoreError(f"{here} is none of none, {', '.join(MODIFICATIONS)}")
    m = MODIFICATIONS[name]
    numbers = rest.split(",") if colon else []
    most = len(m.numbers) - 1 + m.most if m.numbers else 0
    if not len(m.numbers) <= len(numbers) <= most:
        wants = f"{name}:{','.join(m.numbers)}" if m.numbers else f"{name} without numbers"
        many = f", at most {most} of them" if m.most > 1 else ""
        raise ScoreError(f"{here} must be {wants}{many}")
    return name, tuple(_number(x, m, here) for x in numbers)


def _number(text: str, m: Modification, here: str) -> float:
    try:
        found = float(text) if text.isascii() and len(text) <= 24 and "_" not in text else None
    except ValueError:
        found = None
    size = None if found is None else abs(found) if m.signed else found
    if size is None or not m.low <= size <= m.high:  # NaN fails too
        least = "" if not m.signed else " or below 0 as far" if m.low else ""
        low = -m.high if m.signed and not m.low else m.low
        raise ScoreError(
            f"{here}: {m.numbers[-1]} must be a number from {low:,g} to {m.high:,g}{least}"
        )
    return found + 0.0  # −0 is 0
