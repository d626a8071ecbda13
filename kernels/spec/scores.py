"""What becomes of a score between its scaling and the softmax: data, like a mask. Pure NumPy.

A score's text is ``none`` or modifications joined by ``&``, in the order in which they apply. Rows
and keys are in the keys' own counting, as in :mod:`kernels.spec.masks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .texts import Word, checked, cut, short, words

MAX_STEPS = 4
MAX_BIASES = 64
MAX_CHARACTERS = 1_024

Step = tuple[str, tuple[float, ...]]


@dataclass(frozen=True)
class Modification:
    """One named change of a score, for the numbers that its text gives.

    ``label`` is what a menu calls it, and ``start`` the number that it begins with there, "" where
    it has none, None where no menu has it. ``words`` is what a sentence calls it, ``formula`` what
    it does to the score s of row i′ and key j, ``source`` who uses it. ``apply(s, row, key, slope,
    *numbers)`` of NumPy arrays or torch tensors that broadcast to s, whose dtype it keeps; slope is
    the head's. ``numbers`` names its numbers, each from ``low`` to ``high``; the last may be there
    up to ``most`` times.
    ``shape``: it multiplies a score ("factor"), bends it ("tanh") or adds to it by distance, along
    a "slope" or from a "table"; ``code`` says it of S, where {x} is its first number and {unit}
    the slope. ``slope(s, *numbers)`` is its derivative where it gave s, None for 1.

    For bounds of rounding errors, which the judges of kernels derive: ``factor(*numbers)`` is the
    most by which it multiplies a score's error, ``adds(n, *numbers)`` the largest amount that it
    adds to a score among n rows and keys, and ``bend(*numbers)`` the most by which its derivative
    changes per unit of what it gave, 0 where that is the same everywhere.
    """

    name: str
    words: str
    formula: str
    source: str
    shape: str
    code: str
    apply: Callable
    factor: Callable[..., float] = lambda *_: 1.0
    adds: Callable[..., float] = lambda *_: 0.0
    bend: Callable[..., float] = lambda *_: 0.0
    numbers: tuple[str, ...] = ()
    low: float = 0.001
    high: float = 10_000.0
    most: int = 1
    slope: Callable | None = None
    label: str = ""
    start: str | None = None


def _tanh(x):
    return np.tanh(x) if isinstance(x, np.ndarray) else x.tanh()


def _alibi(s, row, key, slope):
    if isinstance(s, np.ndarray):
        return s + (slope * (key - row)).astype(s.dtype)
    far = (key - row).double() if s.element_size() == 8 else (key - row).float()
    return s + (slope * far).to(s.dtype)


def _bias(s, row, key, _, *table):
    far = (row - key).clip(0, len(table) - 1)
    if isinstance(s, np.ndarray):
        return s + np.array(table, dtype=s.dtype)[far]
    return s + s.new_tensor(table)[far]


MODIFICATIONS = {
    m.name: m
    for m in (
        Modification(
            "softcap", "scores pressed between −c and c", "c·tanh(s/c)", "Gemma 2 (2024)",
            shape="tanh", code="{x} · tanh(S / {x})",
            apply=lambda s, row, key, slope, c: _tanh(s / c) * c,
            bend=lambda c: 2 / c,
            numbers=("c",), label="softcap c", start="2", slope=lambda s, c: 1 - (s / c) * (s / c),
        ),
        Modification(
            "alibi", "a penalty that grows with the distance", "s + 2^(−8(h+1)/H)·(j − i′)",
            "ALiBi (Press et al., 2021), in BLOOM and MPT",
            shape="slope", code="S + (key − query) {unit}",
            apply=_alibi,
            adds=lambda n: n,
            label="ALiBi", start="",
        ),
        Modification(
            "scale", "every score times x", "x·s", "a temperature 1/x",
            shape="factor", code="{x} · S",
            apply=lambda s, row, key, slope, x: s * x,
            factor=lambda x: max(1.0, abs(x)),
            numbers=("x",), label="scale x", start="2", slope=lambda s, x: s * 0 + x,
        ),
        Modification(
            "bias", "a bias from a table by distance, the last one beyond it",
            "s + b[max(i′ − j, 0)]", "relative positions (Shaw et al., 2018), T5",
            shape="table", code="S + b[query − key]",
            apply=_bias,
            adds=lambda n, *b: max(map(abs, b)),
            numbers=("b",), low=-10_000.0, most=MAX_BIASES,
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

    @property
    def by_head(self) -> bool:
        """Does it differ from head to head?"""
        return any(m.shape == "slope" for m, _ in self.modifications)

    @property
    def bends(self) -> bool:
        """Is its slope different from score to score?"""
        return any(m.bend(*numbers) for m, numbers in self.modifications)

    @property
    def modifications(self) -> list[tuple[Modification, tuple[float, ...]]]:
        """Its steps as they apply, each with its numbers."""
        return [(MODIFICATIONS[name], numbers) for name, numbers in self.steps]

    def to_json(self, head: int = 0, heads: int = 1) -> list[dict]:
        """Describe the steps for a picture of this head: ``name``, ``shape``, ``code``, ``numbers``
        (of a slope: it), and the slope as ``unit``."""
        return [_step_json(name, numbers, slope(head, heads)) for name, numbers in self.steps]

    def apply(self, s, rows, keys, head: int = 0, heads: int = 1):
        """The scores s (…, n, m), scaled by 1/√d, after all steps, in their own dtype.

        NumPy arrays or torch tensors: rows (n, 1) in the keys' counting and keys (1, m), whole
        numbers, or what broadcasts so; ``head`` of ``heads``, or a tensor of some that broadcasts.
        """
        return self.apply_with_slope(s, rows, keys, head, heads)[0]

    def apply_with_slope(self, s, rows, keys, head: int = 0, heads: int = 1):
        """As ``apply``, and the derivative of what it returns by what it takes, of the same shape,
        or 1: that of a sum is 1, of c·tanh(s/c) it is 1 − tanh²."""
        steep = 1
        for m, numbers in self.modifications:
            s = m.apply(s, rows, keys, slope(head, heads), *numbers)
            if m.slope is not None:
                steep = steep * m.slope(s, *numbers)
        return s, steep


def _step_json(name: str, numbers: tuple[float, ...], steep: float) -> dict:
    m = MODIFICATIONS[name]
    found = {"name": name, "shape": m.shape, "numbers": numbers}
    if m.shape == "slope":
        parts = 1 / steep
        unit = f"/ {parts:,.0f}" if parts == int(parts) else f"× {steep:.3g}"
        return found | {"numbers": (steep,), "unit": unit, "code": m.code.format(unit=unit)}
    return found | {"code": m.code.format(x=short(numbers[0]))}


def slope(head, heads: int):
    """2^(−8(h+1)/H), ALiBi's penalty for one key further away in head h of H."""
    return 2.0 ** (-8.0 * (head + 1) / heads)


def parse(text: str) -> Score:
    """The score of this text. Raises :class:`ScoreError`, where it is wrong and what is allowed."""
    return _parse(checked(text, ScoreError, "softcap:30&alibi", MAX_CHARACTERS))


@lru_cache(maxsize=256)
def _parse(text: str) -> Score:
    found = words(text, ScoreError)
    if len(found) > MAX_STEPS:
        raise ScoreError(
            f"{len(found)} modifications are joined by &, and at most {MAX_STEPS} may be"
        )
    steps = [_read(word) for word in found if word.text != "none"]
    written = (":".join([name, *[",".join(map(short, x))] * bool(x)]) for name, x in steps)
    return Score("&".join(written) or "none", tuple(steps))


def _read(word: Word) -> Step:
    m = word.entry(MODIFICATIONS, besides="none, ")
    return m.name, tuple(_number(word, m, x) for x in word.numbers)


def _number(word: Word, m: Modification, text: str) -> float:
    try:
        found = (
            float(text) if text.isascii() and len(text) <= 24 and "_" not in text else m.high + 1
        )
    except ValueError:
        found = m.high + 1
    if not m.low <= found <= m.high:  # NaN fails too
        raise word.wrong(
            f": {m.numbers[-1]} must be a number from {m.low:,g} to {m.high:,g}, not {cut(text)}"
        )
    return found + 0.0  # −0 is 0
