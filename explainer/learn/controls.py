"""Ways to write a widget's Control: something to drag, one of several choices."""

from __future__ import annotations

from collections.abc import Iterable

from explainer.base.cards import CARDS
from explainer.base.texts import Texts
from explainer.learn.blocks import Control

shared = Texts("shared")


def slider(
    key: str,
    label: str,
    value: float,
    low: float,
    high: float,
    step: float = 1.0,
    serves: tuple = (),
) -> Control:
    """A number to drag. ``serves`` as of Control."""
    return Control(key, label, "range", value, low, high, step, serves=serves)


def pick(
    key: str,
    label: str,
    value: object,
    choices: Iterable,
    closed: Iterable | bool = (),
    serves: tuple = (),
) -> Control:
    """One of ``choices``: (value, label), or a value that is its own label. ``closed`` as of
    Control: some of the values, or True; ``serves`` too."""
    pairs = (x if isinstance(x, tuple) else (x, x) for x in choices)
    named = tuple((str(x), str(words)) for x, words in pairs)
    shut = closed if isinstance(closed, bool) else tuple(str(x) for x in closed)
    return Control(key, label, "choice", str(value), choices=named, closed=shut, serves=serves)


def commas(numbers: Iterable[int]) -> list[tuple[int, str]]:
    """Choices of numbers, thousands set apart."""
    return [(n, f"{n:,}") for n in numbers]


def card(value: str) -> Control:
    """One of the cards."""
    return pick("card", shared("card"), value, [(key, card.name) for key, card in CARDS.items()])
