"""Widgets: the controls that a reader moves, and the function that computes what is drawn.

A lesson's folder owns the controls of its widgets, ``assets/learn/widgets.json`` those of the
others: {widget: {title, controls: {key: …}}}. A module names the functions: ``WIDGETS = {widget:
function}``, a lesson's own is ``compute``; they are called with the controls' values by name.
Nothing is computed in the browser.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from explainer.base.cards import CARDS
from explainer.base.fields import parse_choice, parse_number, refused
from explainer.learn.blocks import Block, t
from explainer.learn.content import fill_texts, stored
from explainer.learn.folder import read_widgets
from kernels.spec.fields import Field

LONGEST_TEXT = 400
NUMBER = re.compile(r"-?\d+(\.\d+)?")
Value = int | float | str | bool


@dataclass(frozen=True)
class Control:
    """One thing to move. ``kind`` range, choice, text or toggle; ``low``, ``high``, ``step`` for a
    range; ``choices`` (value, label) for a choice; a toggle's value is "0" or "1". ``closed``:
    choices, or True for the whole control, that open once the lesson's question is answered.
    ``drawn``: a picture of the widget is what moves it, so it has no form of its own. ``serves``:
    another control's key and those of its values with which this one changes the picture; with the
    others it is hidden."""

    key: str
    label: str
    value: str | float
    kind: str = "range"
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    choices: tuple[tuple[str, str], ...] = ()
    closed: tuple[str, ...] | bool = ()
    drawn: bool = False
    serves: tuple[str, tuple[str, ...]] | tuple[()] = ()

    def parse(self, text: object) -> Value:
        """Return what ``text`` means: a number for a range (whole where the control's steps are)
        and for a choice that is written as one; a bool for a toggle. Raises ProblemError with one
        sentence that names the control, the value and what is allowed."""
        field = Field(self.key, self.key, low=self.low, high=self.high, title=self.label)
        if self.kind == "range":
            value = parse_number(field, text)
            return math.floor(value + 0.5) if self.step % 1 == self.low % 1 == 0 else value
        if self.kind == "text":
            if len(str(text)) > LONGEST_TEXT:
                raise refused(field.key, t("widgets.too_long", name=field.title, most=LONGEST_TEXT))
            return str(text)
        if self.kind == "toggle":
            return parse_choice(field, str(text), ("0", "1")) == "1"
        value = parse_choice(field, str(text), tuple(value for value, _ in self.choices))
        return json.loads(value) if NUMBER.fullmatch(value) else value


@dataclass(frozen=True)
class Widget:
    """``compute`` takes all controls' values by name and returns blocks; their labels and texts are
    what a screen reader reads, so give each a label."""

    key: str
    title: str
    controls: tuple[Control, ...]
    compute: Callable[..., list[Block]]

    def parse(self, query: Mapping[str, object]) -> dict[str, Value]:
        """Return the controls' values of a query, defaults where it has none. Raises ProblemError
        as :meth:`Control.parse` does."""
        return {c.key: c.parse(query.get(c.key, c.value)) for c in self.controls}


@cache
def entries() -> dict[str, dict]:
    """Return {widget: its title and controls} as they are written."""
    return stored("widgets") | fill_texts(read_widgets(), {})


def read_control(key: str, choices: Any = (), **entry) -> Control:
    """Return the control that an entry describes; the choices "cards" are all cards."""
    cards = {name: card.name for name, card in CARDS.items()}
    offered = cards if choices == "cards" else dict(choices)
    return Control(key, choices=tuple(offered.items()), **entry)


def read_controls(key: str) -> dict[str, Control]:
    """Return the controls of a widget by their keys."""
    return {name: read_control(name, **entry) for name, entry in entries()[key]["controls"].items()}


def make_widget(key: str, compute: Callable[..., list[Block]]) -> Widget:
    """Return the widget that its entry describes, with the function that computes."""
    return Widget(key, entries()[key]["title"], tuple(read_controls(key).values()), compute)
