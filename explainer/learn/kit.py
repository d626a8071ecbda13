"""The kit that all pictures of lessons are made of: data in, marks out.

How to write a lesson. Its folder has ``text.md``, ``lesson.yaml`` and ``lesson.py``; folder.py says
what lies in the first two. ``compute`` takes the controls' values by name and returns a picture, or
several blocks::

    t = words_of(__name__)  # the words of lesson.yaml

    def compute(word: int) -> Block:
        S, P, O = attend(Q, K, V)
        return picture(
            t("label"),
            t("spoken", word=WORDS[word], best=...),
            words(
                WORDS, at=word, weights=P[word], pick="word",
                rows=[cells(t("keys"), K.T, "k"), numbers(t("logits"), S[word]), shares(P[word])],
            ),
            row(grid("P", P, heat=(0, 1), rows=WORDS, at=word), sign("× V ="), grid("O", O, "o")),
        )

Where the marks of a picture are always the same, lesson.yaml has them under ``marks`` and the
lesson gives their values: ``picture(label, spoken, *drawn(__name__, {"P": P}))``.

There are no coordinates: explainer/views/learn_kit.py makes HTML of the marks, which the browser
lays out for a desk, a phone and a projector, in the largest type with which all of them fit.
``row`` and ``column`` place marks beside and below each other, ``frame`` puts a titled border
around them (``look="chip"``: an SM). The marks: ``grid`` (a matrix, its names, heat, sums),
``words`` (a sentence with arcs and what stands under each word), ``bars``, ``plot`` with
``series``, ``timeline``, ``flow`` (boxes in columns, arrows between them by key), ``stack`` (parts
of a whole), ``table``, ``code``, ``sign`` and ``note``.

A mark, a bar or a box with the same ``key`` in the next answer moves to its new place in 300 ms.
``pick`` names the control that a click on a row, a word, a bar, a box or a line sets, to its index;
give that control ``drawn: true`` in lesson.yaml if nothing else should move it. ``aside=True``
leaves a mark out of presentation mode. ``hue`` is q, k, v, o, m, l, s, good, bad or plain.

The second argument of ``picture`` says to a screen reader all that the marks show. Every word comes
from lesson.yaml, every number from a computation. A lesson needs one test: that its numbers are
right, by another way than the lesson's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

import numpy as np

from explainer.base.texts import WRITER, Texts, fill
from explainer.learn import blocks
from explainer.learn.blocks import Block
from explainer.learn.folder import read_data

__all__ = ["Block"]
P = ParamSpec("P")


class Mark(dict[str, Any]):
    """A part of a picture. What is empty is left out, and None if it is asked for."""

    def __missing__(self, key: str) -> None:
        return None


Numbers = Sequence[Any] | np.ndarray
DIGITS = 6  # after the point, of what is sent
DEFAULTS: dict[str, dict[str, object]] = {
    "grid": {"digits": 2},
    "cells": {"digits": 1},
    "numbers": {"digits": 2},
    "shares": {"digits": 2, "hue": "q"},
}


def _is_empty(value: object) -> bool:
    return value is None or value is False or (isinstance(value, str | list) and not value)


def _plain(value: Any) -> Any:
    """As JSON has it: infinities written out, numbers no longer than they are read."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        if value - value == 0:
            return round(value, DIGITS)
        return "NaN" if value != value else "∞" if value > 0 else "−∞"
    return [_plain(part) for part in value] if isinstance(value, list | tuple | range) else value


def mark(kind: str, **parts: object) -> Mark:
    """Return a mark of this kind with these parts."""
    return _mark(kind, parts)


def _mark(mark: str, parts: Mapping[str, object]) -> Mark:
    made = {name: _plain(value) for name, value in {**DEFAULTS.get(mark, {}), **parts}.items()}
    found = Mark(mark=mark, **{name: part for name, part in made.items() if not _is_empty(part)})
    return Mark(found, value=float(parts["value"])) if mark == "bar" else found


def read_marks(part: Any, values: Mapping[str, Any]) -> Any:
    """Return marks that a lesson's YAML describes: each has its kind as ``mark``, and its parts. A
    text names values in braces; "$name", "$name[0]" or "$name.part" is a value itself."""
    if isinstance(part, list):
        return [made for one in part for made in _read_each(one, values)]
    if isinstance(part, str):
        return WRITER.get_field(part[1:], (), values)[0] if part[:1] == "$" else fill(part, values)
    if not isinstance(part, dict):
        return part
    if "then" in part:
        is_so = read_marks(part["if"], values)
        return read_marks(part["then"] if is_so else part.get("else"), values)
    parts = {name: read_marks(value, values) for name, value in part.items()}
    if "at" in parts and "of" in parts and "mark" not in parts:
        return parts["of"][parts["at"]]
    return _mark(parts.pop("mark"), parts) if "mark" in parts else parts.get("of", parts)


def _read_each(part: Any, values: Mapping[str, Any]) -> Iterator[Any]:
    """Yield an entry of a list once, or with ``if`` only where that value is not empty, or with
    ``each`` for every row of a table of {name: its column}; k counts the rows. Without a mark the
    entry is what stands under ``of``."""
    if not isinstance(part, dict) or "then" in part or not {"each", "if"} & part.keys():
        yield read_marks(part, values)
    elif "each" in part:
        columns = read_marks(part["each"], values)
        rest = {name: value for name, value in part.items() if name != "each"}
        for k, line in enumerate(zip(*columns.values(), strict=True)):
            yield from _read_each(rest, {**values, "k": k, **dict(zip(columns, line, strict=True))})
    elif read_marks(part["if"], values):
        yield read_marks({name: value for name, value in part.items() if name != "if"}, values)


def drawn(module: str, values: Mapping[str, Any], name: str = "marks") -> list[Any]:
    """Return the marks that lie under this name in the YAML of the lesson whose module this is."""
    return read_marks(read_data(module.split(".")[-2])[name], values)


class Words(Texts):
    """The words and pictures of the lesson whose module this is: ``t = Words(__name__)``."""

    def __init__(self, module: str) -> None:
        self._data = read_data(module.split(".")[-2])
        self._module = vars(sys.modules[module])
        super().__init__(self._data.get("words", {}))

    def picture(
        self,
        label: str = "label",
        spoken: str = "spoken",
        marks: str = "marks",
        /,
        **values: Any,
    ) -> Block:
        """Return the picture of these texts and of the marks that lie under ``marks``, filled with
        values and with what the module defines."""
        known = self._module | values
        texts = (fill(self._stored[key], known) for key in (label, spoken))
        return blocks.picture("kit", *texts, {"marks": read_marks(self._data[marks], known)})


def _makes_mark(shape: Callable[P, None]) -> Callable[P, Mark]:
    """Make a mark of the arguments: the signature says what a mark of this kind has."""
    form = signature(shape)

    @wraps(shape)
    def make(*args: P.args, **kwargs: P.kwargs) -> Mark:
        given = form.bind(*args, **kwargs)
        given.apply_defaults()
        return _mark(shape.__name__, given.arguments)

    return make


def picture(label: str, spoken: str, *marks: Mark) -> Block:
    """Return the block of a picture: its marks below each other."""
    return blocks.picture("kit", label, spoken, {"marks": list(marks)})


@_makes_mark
def row(*of: Mark, grow: Sequence[float] = (), align: str = "", aside: bool = False) -> None:
    """Place marks beside each other, on a phone below each other where they must. ``grow``: shares
    of the width that is left; ``align``: "top", "bottom" or "stretch" rather than centred."""


@_makes_mark
def column(*of: Mark, aside: bool = False) -> None:
    """Place marks below each other."""


@_makes_mark
def frame(
    title: str, *of: Mark, remark: str = "", look: str = "", hue: str = "", key: str = ""
) -> None:
    """Put a border around marks. ``look``: "" (a quiet ground), "chip" (with pins: on chip),
    "line", "empty" (dashed)."""


@_makes_mark
def grid(
    name: str,
    cells: Numbers,
    hue: str = "",
    *,
    rows: Sequence[str] = (),
    cols: Sequence[str] = (),
    digits: int = 2,
    heat: tuple[float, float] | None = None,
    most: float | None = None,
    at: int | None = None,
    column_at: int | None = None,
    on: Sequence[tuple[int, int]] = (),
    pale: Sequence[tuple[int, int]] = (),
    row_sums: Sequence[str] = (),
    column_sums: Sequence[str] = (),
    pick: str = "",
    pick_column: str = "",
    size: str = "",
    key: str = "",
) -> None:
    """A matrix: numbers, texts, or None for an empty cell. Cells are coloured by size in the hue
    (``most``: the size of the full hue), or by ``heat``, (low, high) of the scale of scores.
    ``at`` and ``column_at`` frame a row and a column, ``on`` outlines cells, ``pale`` fades them.
    ``pick``: rows are buttons; ``pick_column``: columns are. ``size`` "small": cells without
    numbers, "narrow": for one digit, "wide": for words."""


@_makes_mark
def sign(text: str) -> None:
    """What happens between two marks: "×", "=", "softmax →"."""


@_makes_mark
def words(
    words: Sequence[str],
    *,
    rows: Sequence[Mark] = (),
    at: int | None = None,
    weights: Numbers = (),
    hidden: Sequence[int] = (),
    head: str = "",
    lead: str = "",
    pick: str = "",
) -> None:
    """A sentence, a column for each word. Arcs lead from the word ``at`` to all, as thick as their
    ``weights``; ``rows`` (of cells, numbers, shares) stand below. ``hidden`` words are masked;
    ``head`` stands above the names of the rows, ``lead`` above what their rows lead with."""


def cells(
    names: Sequence[str] | str,
    values: Numbers,
    hue: str = "",
    *,
    digits: int = 1,
    title: str = "",
    lead: Numbers = (),
) -> Mark:
    """Rows below the words: ``values`` (rows, words), with their ``names``; ``lead``, numbers of a
    query, stands in the column before the words."""
    parts = {"hue": hue, "digits": digits, "title": title, "lead": lead}
    parts["names"] = [names] if isinstance(names, str) else names
    return _mark("cells", parts | {"values": np.atleast_2d(np.asarray(values, float))})


@_makes_mark
def numbers(name: str, values: Numbers, *, digits: int = 2) -> None:
    """A row of numbers below the words, the largest bold."""


@_makes_mark
def shares(name: str, values: Numbers, hue: str = "q", *, digits: int = 2) -> None:
    """A row of upright bars below the words, 0 to 1."""


def bar(
    name: str, value: float, text: str, hue: str = "", *, on: bool = False, key: str = ""
) -> Mark:
    """One of ``bars``, of any size; ``text`` stands at its end."""
    parts = {"name": name, "value": value, "text": text, "hue": hue, "on": on, "key": key}
    return _mark("bar", parts)


@_makes_mark
def bars(
    title: str,
    items: Sequence[Mark],
    *,
    high: float | None = None,
    log: bool = False,
    limit: tuple[float, str] | None = None,
    upright: bool = False,
    remark: str = "",
) -> None:
    """Bars from 0 (or, with ``log``, from a decade below the least) to ``high``, or to the largest.
    ``limit`` (value, text) draws a line."""


@_makes_mark
def series(
    name: str,
    x: Numbers,
    y: Numbers,
    hue: str = "",
    *,
    points: bool = False,
    dash: bool = False,
) -> None:
    """A line of a plot, or its points; None is a gap."""


@_makes_mark
def axis(
    label: str = "",
    *,
    low: float | None = None,
    high: float | None = None,
    log: bool = False,
    ticks: Sequence[tuple[float, str]] = (),
) -> None:
    """An axis of a plot; without ends it takes those of the data."""


@_makes_mark
def place(value: float, text: str = "", *, level: bool = False) -> None:
    """A line across a plot at a value of x, or, ``level``, of y, with its text."""


@_makes_mark
def plot(
    title: str,
    series: Sequence[Mark],
    x: Mark | None = None,
    y: Mark | None = None,
    *,
    places: Sequence[Mark] = (),
    remark: str = "",
    height: float | None = None,
    square: bool = False,
) -> None:
    """Series over a pair of axes. ``height`` in lines of type, if the usual 14 does not do;
    ``square``: one unit is as long on either axis, where the height is what is scarce."""


@_makes_mark
def span(
    start: float, end: float, text: str = "", hue: str = "", *, look: str = "", key: str = ""
) -> None:
    """One interval of a lane; ``look`` "full", "pale", "hatch" or "dot" (a
    place, its text beside it)."""


@_makes_mark
def timeline(
    title: str,
    lanes: Sequence[tuple[str, Sequence[Mark]]],
    *,
    low: float | None = None,
    high: float | None = None,
    ticks: Sequence[tuple[float, str]] = (),
    now: tuple[float, float] | None = None,
) -> None:
    """Lanes (name, spans) over one axis from ``low`` or 0; ``now`` (start, end) is framed."""


@_makes_mark
def node(key: str, text: str, remark: str = "", hue: str = "", *, on: bool = False) -> None:
    """A box of a flow."""


@_makes_mark
def arrow(start: str, end: str, text: str = "", hue: str = "", *, amount: float = 0) -> None:
    """An arrow between two boxes by their keys; ``amount``, 0 to 1, is its width."""


@_makes_mark
def flow(title: str, columns: Sequence[Sequence[Mark]], arrows: Sequence[Mark]) -> None:
    """Boxes in columns from left to right, on a phone in rows from top to bottom."""


@_makes_mark
def part(name: str, amount: float, text: str = "", hue: str = "", *, key: str = "") -> None:
    """One part of a stack."""


@_makes_mark
def stack(title: str, parts: Sequence[Mark], *, whole: float | None = None) -> None:
    """Parts of a whole in one bar; what is left of ``whole`` is empty."""


@_makes_mark
def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, at: int | None = None) -> None:
    """Texts in cells; the first of each row is its heading."""


@_makes_mark
def code(title: str, lines: Sequence[str], *, on: Sequence[int] = (), pick: str = "") -> None:
    """Lines of code, some of them marked; ``pick``: lines are buttons."""


@_makes_mark
def note(text: str, tone: str = "", *, aside: bool = False) -> None:
    """A sentence; ``tone`` "", "good", "bad", "fine" (small) or "big"."""


words_of = Words
