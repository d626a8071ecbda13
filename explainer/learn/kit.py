"""The kit that all pictures of lessons are made of: data in, marks out.

How to write a lesson. Its folder has ``text.md``, ``lesson.yaml`` and ``lesson.py``; folder.py says
what lies in the first two. ``compute`` takes the controls' values by name and returns a picture, or
several blocks::

    t = Words(__name__)  # the words and marks of lesson.yaml

    def compute(word: int) -> Block:
        S, P, O = attend(Q, K, V)
        return t.picture(at=word, word=WORDS[word], logits=S[word], P=P, O=O)

lesson.yaml has the words ``label`` and ``spoken``, which says to a screen reader all that the marks
show, and the ``marks`` themselves. Their texts name values in braces, and "$name" is a value
itself; what the module defines may be named too::

    marks:
    - {mark: words, words: $WORDS, at: $at, rows: [{mark: numbers, name: logits, values: $logits}]}
    - mark: row
      of:
      - {mark: grid, name: P, cells: $P, heat: [0, 1], rows: $WORDS, at: $at, pick: word}
      - {mark: sign, text: × V =}
      - {mark: grid, name: O, cells: $O, hue: o}

An entry of a list with ``each``, {name: a column}, stands there once for each row of that table,
and k counts the rows; with ``if``, only where that value is not empty, or is what ``is`` says.
Without a mark it is what it has under ``of``. Anywhere, {if, then, else} chooses, and {at, of} is
an entry of a list or table.

There are no coordinates: explainer/views/learn_kit.py makes HTML of the marks, which the browser
lays out for a desk, a phone and a projector, in the largest type with which all of them fit. Parts
that are empty may be left out. The marks and their parts:

``row`` and ``column`` place marks, ``of``, beside and below each other. ``grow``: shares of a row's
width that is left; ``align``: "top", "bottom" or "stretch" rather than centred.
``frame``: a border with a ``title`` and ``remark`` around marks, ``of``. ``look``: "" (a quiet
ground), "chip" (with pins: on chip), "line", "empty" (dashed).
``grid``: ``name`` and ``cells`` of a matrix: numbers, texts, or none for an empty cell, coloured by
size in the hue (``most``: the size of the full hue), or by ``heat``, (low, high) of the scale of
scores. ``rows``, ``cols``, ``row_sums``, ``column_sums``: texts beside it; ``digits``. ``at`` and
``column_at`` frame a row and a column, ``on`` outlines cells, ``pale`` fades them. ``pick``: rows
are buttons; ``pick_column``: columns are. ``size`` "small": cells without numbers, "narrow": for
one digit, "wide": for words.
``sign``: the ``text`` between two marks: "×", "=", "softmax →".
``words``: a sentence, a column for each of its ``words``. Arcs lead from the word ``at`` to all, as
thick as their ``weights``; ``rows`` stand below. ``hidden`` words are masked; ``head`` stands above
the names of the rows, ``lead`` above what their rows lead with. Its rows: ``cells`` (``names``,
``values`` (rows, words), ``title``; ``lead``, numbers of a query, stands before the words),
``numbers`` (``name``, ``values``, the largest bold), ``shares`` (upright bars, 0 to 1).
``bars``: a ``title``, ``remark``, ``items`` from 0 (or, with ``log``, from a decade below the
least) to ``high``, or to the largest; ``limit`` (value, text) draws a line; ``upright``. A ``bar``
has a ``name``, ``value``, and ``text`` at its end; ``on``.
``plot``: ``series`` over a pair of axes ``x`` and ``y``. ``height`` in lines of type, if the usual
14 does not do; ``square``: one unit is as long on either axis, where the height is what is scarce.
A ``series`` has a ``name``, ``x``, ``y``, none for a gap; ``points``, ``dash``. An ``axis`` has a
``label``, and takes ``low`` and ``high`` of the data; ``log``, ``ticks`` (value, text). ``places``:
a ``place`` is a line across at a ``value`` of x, or, ``level``, of y, with its ``text``.
``timeline``: ``lanes`` (name, spans) over one axis from ``low`` or 0 to ``high``, with ``ticks``;
``now`` (start, end) is framed. A ``span`` has ``start``, ``end``, ``text``; ``look`` "full",
"pale", "hatch" or "dot" (a place, its text beside it).
``flow``: ``columns`` of nodes from left to right, on a phone rows from top to bottom. A ``node``
has a ``key``, ``text``, ``remark``, ``on``; an ``arrow`` goes from the key ``start`` to ``end``,
with a ``text``; ``amount``, 0 to 1, is its width.
``stack``: ``parts`` of a whole in one bar, each with a ``name``, ``amount`` and ``text``; what is
left of ``whole`` is empty.
``table``: texts under a ``head``; the first of each of its ``rows`` is its heading; ``at``.
``code``: a ``title`` and ``lines``, some of them ``on``; ``pick``: lines are buttons.
``note``: a ``text``; ``tone`` "", "good", "bad", "fine" (small) or "big".

A mark, a bar or a box with the same ``key`` in the next answer moves to its new place in 300 ms.
``pick`` names the control that a click on a row, a word, a bar, a box or a line sets, to its index;
give that control ``drawn: true`` in lesson.yaml if nothing else should move it. ``aside``: the mark
is left out of presentation mode. ``hue`` is q, k, v, o, m, l, s, good, bad or plain.

Every word comes from lesson.yaml, every number from a computation. A lesson needs one test: that
its numbers are right, by another way than the lesson's.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from explainer.base.texts import WRITER, Texts, fill
from explainer.learn import blocks
from explainer.learn.blocks import Block
from explainer.learn.folder import read_data

__all__ = ["Block"]
DIGITS = 6  # after the point, of what is sent
DEFAULTS: dict[str, dict[str, object]] = {
    "grid": {"digits": 2},
    "cells": {"digits": 1},
    "numbers": {"digits": 2},
    "shares": {"digits": 2, "hue": "q"},
}


class Mark(dict[str, Any]):
    """A part of a picture. What is empty is left out, and None if it is asked for."""

    def __missing__(self, key: str) -> None:
        return None


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


def mark(kind: str, /, **parts: Any) -> Mark:
    """Return a mark with these parts; the length of a bar is as long as it is computed."""
    made = {name: _plain(value) for name, value in {**DEFAULTS.get(kind, {}), **parts}.items()}
    found = Mark(mark=kind, **{name: part for name, part in made.items() if not _is_empty(part)})
    return Mark(found, value=float(parts["value"])) if kind == "bar" else found


def picture(label: str, spoken: str, marks: Sequence[Mark]) -> Block:
    """Return the block of a picture: its marks below each other."""
    return blocks.picture("kit", label, spoken, {"marks": marks})


def _bars(
    title: str,
    items: Sequence[tuple[str, float, str]],
    hue: str = "q",
    log: bool = False,
    limit: float | None = None,
) -> Block:
    """Draw bars of (name, value, what stands beside the bar); ``limit`` draws a line."""
    made = mark(
        "bars",
        title=title,
        items=[mark("bar", name=name, value=x, text=text, hue=hue) for name, x, text in items],
        log=log,
        limit=None if limit is None else (limit, blocks.t("blocks.limit")),
        remark=blocks.t("blocks.logarithmic") if log else "",
    )
    return picture(title, "; ".join(f"{name}: {beside}" for name, _, beside in items), [made])


def _grid(title: str, **parts: Any) -> Block:
    """Draw a matrix, which a screen reader reads as a table."""
    return picture(title, title, [mark("grid", name=title, **parts)])


BLOCKS = {
    "text": blocks.text,
    "table": blocks.table,
    "bars": _bars,
    "grid": _grid,
    "picture": picture,
}


def read_marks(part: Any, values: Mapping[str, Any]) -> Any:
    """Return the marks that a part of a lesson's YAML describes, with these values."""
    if isinstance(part, list):
        return [made for one in part for made in _read_each(one, values)]
    if isinstance(part, str):
        return WRITER.get_field(part[1:], (), values)[0] if part[:1] == "$" else fill(part, values)
    if not isinstance(part, dict):
        return part
    if {"then", "else"} & part.keys():
        return read_marks(part.get("then" if _holds(part, values) else "else"), values)
    parts = {name: read_marks(value, values) for name, value in part.items()}
    if "mark" in parts:
        return mark(parts.pop("mark"), **parts)
    return parts["of"][parts["at"]] if "at" in parts else parts.get("of", parts)


def _read_each(part: Any, values: Mapping[str, Any]) -> Iterator[Any]:
    """Yield an entry of a list as often as it stands there."""
    is_plain = not isinstance(part, dict) or {"then", "else"} & part.keys()
    if is_plain or not {"each", "if"} & part.keys():
        yield read_marks(part, values)
        return
    rest = {name: value for name, value in part.items() if name not in ("each", "if", "is")}
    columns = read_marks(part.get("each", {"": [None]}), values)
    each = (x.values() if isinstance(x, dict) else x for x in columns.values())
    for k, line in enumerate(zip(*each, strict=True)):
        known = {**values, "k": k, **dict(zip(columns, line, strict=True))}
        if "if" not in part or _holds(part, known):
            yield read_marks(rest, known)


def _holds(part: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    found = read_marks(part["if"], values)
    return found == read_marks(part["is"], values) if "is" in part else bool(found)


def read_blocks(parts: Any, values: Mapping[str, Any]) -> list[Block]:
    """Return the blocks that a part of a YAML describes, each by its kind as ``block``."""
    return [BLOCKS[part.pop("block")](**part) for part in read_marks(parts, values)]


class Words(Texts):
    """The words and pictures of the lesson whose module this is."""

    def __init__(self, module: str) -> None:
        self._data = read_data(module.split(".")[-2])
        self._module = vars(sys.modules[module])
        super().__init__(self._data["words"])

    def picture(
        self, label: str = "label", spoken: str = "spoken", marks: str = "marks", /, **values: Any
    ) -> Block:
        """Return the picture of these two texts and of the marks that lie under ``marks``, or, with
        ``drawer``, of the data that this script draws."""
        known = {**self._module, **values}
        label, spoken = (fill(self._stored[key], known) for key in (label, spoken))
        made = read_marks(self._data[marks], known)
        if "drawer" in self._data:
            return blocks.picture(self._data["drawer"], label, spoken, made)
        return picture(label, spoken, made)
