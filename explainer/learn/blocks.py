"""What a widget is made of: controls that the reader moves, blocks that show what was computed.

A widget is a pure function from its controls' values to blocks; blocks are plain JSON values that
assets/js/learn/index.js draws. Nothing is computed in the browser.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from explainer.base.fields import parse_choice, parse_number, refused
from explainer.base.paths import ASSETS
from explainer.base.texts import Texts
from kernels.spec.fields import Field

tell = Texts("learn")
KINDS = ("range", "number", "choice", "text", "toggle")
MOST_TEXT = 400
PICTURES = tuple(sorted(path.stem for path in (ASSETS / "js/learn/pictures").glob("*.js")))

Block = dict[str, object]


@dataclass(frozen=True)
class Control:
    """One thing to move. ``kind`` of KINDS; ``low``, ``high``, ``step`` for range and number;
    ``choices`` (value, label) for choice, drawn as cards if it has ``pictures``, one each (rows of
    levels as of :func:`cells`, joined by spaces); a toggle's value is "0" or "1". ``closed``:
    choices, or True for the whole control, that open once the lesson's question is answered.
    ``drawn``: a picture of the widget is what moves it, so it has no form of its own. ``serves``:
    another control's key and those of its values with which this one changes what is shown; with
    the others it is out of sight."""

    key: str
    label: str
    kind: str
    value: str | float
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    choices: tuple[tuple[str, str], ...] = ()
    pictures: tuple[str, ...] = ()
    closed: tuple[str, ...] | bool = ()
    drawn: bool = False
    serves: tuple[str, tuple[str, ...]] | tuple[()] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"control {self.key}: kind = {self.kind!r}, not one of {KINDS}")
        if isinstance(self.closed, bool):
            return
        if strange := set(self.closed) - {value for value, _ in self.choices}:
            raise ValueError(f"control {self.key}: closed = {min(strange)!r} is no choice of it")
        if self.value in self.closed:
            raise ValueError(f"control {self.key}: its value {self.value!r} is closed")


@dataclass(frozen=True)
class Widget:
    """``compute`` takes {key: float | str} of all controls and returns blocks; ``said`` in the
    blocks' place for who cannot see them is the blocks' own texts, so give each a label."""

    key: str
    title: str
    controls: tuple[Control, ...]
    compute: Callable[[Mapping[str, float | str]], list[Block]]

    def __post_init__(self) -> None:
        offered = {(c.key, value) for c in self.controls for value, _ in c.choices}
        for control in (c for c in self.controls if c.serves):
            key, wanted = control.serves
            if strange := [value for value in wanted if (key, value) not in offered]:
                raise ValueError(f"control {control.key}: serves {key} = {strange[0]!r}, no choice")


def values(widget: Widget, query: Mapping[str, str]) -> dict[str, float | str]:
    """The controls' values of a query, defaults where it has none. Raises ProblemError with one
    sentence that names the control, the value and what is allowed."""
    return {c.key: _value(c, query.get(c.key)) for c in widget.controls}


def _value(control: Control, given: object) -> float | str:
    if given is None:
        given = control.value
    field = Field(control.key, control.key, low=control.low, high=control.high, title=control.label)
    if control.kind in ("range", "number"):
        return parse_number(field, given)
    if control.kind == "text":
        if len(str(given)) > MOST_TEXT:
            raise refused(field.key, tell("blocks.too_long", name=field.title, most=MOST_TEXT))
        return str(given)
    allowed = ("0", "1") if control.kind == "toggle" else tuple(v for v, _ in control.choices)
    return parse_choice(field, str(given), allowed)


def text(words: str, kind: str = "plain") -> Block:
    """A sentence; ``kind`` plain | good | bad | fine (small)."""
    return {"type": "text", "words": words, "kind": kind}


def matrix(
    label: str,
    rows: Sequence[Sequence[float | None]],
    *,
    row_labels: Sequence[str] = (),
    col_labels: Sequence[str] = (),
    colour: str = "plain",
    digits: int = 2,
    marks: Sequence[tuple[int, int]] = (),
    heat: bool = False,
    gradient: bool = False,
) -> Block:
    """Numbers in cells, None an empty one (−inf and nan are written so); ``marks`` (row, column)
    are outlined; ``heat``: cells coloured by their value; ``gradient``: with dashed edges."""
    cells = [[_number(x) for x in row] for row in rows]
    return {
        "type": "matrix",
        "label": label,
        "rows": cells,
        "row_labels": list(row_labels),
        "col_labels": list(col_labels),
        "colour": colour,
        "digits": digits,
        "marks": [list(m) for m in marks],
        "heat": heat,
        **({"gradient": True} if gradient else {}),
    }


def _number(x: float | None) -> float | str | None:
    """JSON knows no infinities."""
    if x is None:
        return None
    x = float(x)
    return x if x - x == 0 else ("NaN" if x != x else "∞" if x > 0 else "−∞")


def bars(
    label: str,
    items: Sequence[tuple[str, float, str]],
    *,
    colour: str = "q",
    log: bool = False,
    limit: float | None = None,
) -> Block:
    """(name, value, what stands beside the bar); ``limit`` draws a line."""
    return {
        "type": "bars",
        "label": label,
        "colour": colour,
        "log": log,
        "limit": limit,
        "items": [[name, _number(value), beside] for name, value, beside in items],
    }


def table(
    label: str, head: Sequence[str], rows: Sequence[Sequence[str]], marked: int | None = None
) -> Block:
    """Text in cells; the first of each row is its heading; the row ``marked`` stands out."""
    return {
        "type": "table",
        "label": label,
        "head": list(head),
        "rows": [list(r) for r in rows],
        "marked": marked,
    }


def cells(
    levels: Sequence[str],
    label: str,
    words: str,
    row: int | None = None,
    block: int = 0,
    kinds: Sequence[Sequence[str]] = (),
) -> Block:
    """A small picture of scores: a string per row, a character per cell, "1" (faint) to "9", "."
    where there is none. ``words`` says it to who cannot see it; ``row`` is outlined; ``kinds``
    (Tr, Tc) "full" | "partial" | "skipped" of tiles of ``block`` × ``block``."""
    return {
        "type": "cells",
        "label": label,
        "words": words,
        "levels": list(levels),
        "row": row,
        "block": block,
        "kinds": [list(r) for r in kinds],
    }


def picture(name: str, label: str, words: str, data: Mapping[str, object]) -> Block:
    """What moves under the hand: ``data`` (JSON values) drawn by
    assets/js/learn/pictures/<name>.js; ``words`` says it to who cannot see it. Raises ValueError
    for a name that no module has, or data that JSON does not know."""
    if name not in PICTURES:
        raise ValueError(f"picture: name = {name!r}, there is no such module")
    if not words.strip():
        raise ValueError(f"picture {name}: words = {words!r}, it must be said in words too")
    json.dumps(data, allow_nan=False)
    return {"type": "picture", "name": name, "label": label, "words": words, "data": dict(data)}


def bits(label: str, sign: str, exponent: str, mantissa: str, value: str, remark: str) -> Block:
    """A number's bits, "0" and "1", in three coloured groups; ``value`` what they stand for."""
    return {
        "type": "bits",
        "label": label,
        "sign": sign,
        "exponent": exponent,
        "mantissa": mantissa,
        "value": value,
        "remark": remark,
    }


def plot(
    label: str,
    series: Sequence[Mapping],
    *,
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
) -> Block:
    """Each series: name, x, y (lists of numbers, None for a gap), colour, points (bool). Drawn as a
    small SVG: no plot library."""
    return {
        "type": "plot",
        "label": label,
        "series": [dict(s) for s in series],
        "x_label": x_label,
        "y_label": y_label,
        "log_x": log_x,
        "log_y": log_y,
    }


def timeline(label: str, lanes: Sequence[tuple[str, Sequence[tuple]]], unit: str) -> Block:
    """Lanes (name, bars); a bar (start, end, text, colour). The same axis for all."""
    return {
        "type": "timeline",
        "label": label,
        "unit": unit,
        "lanes": [[name, [list(bar) for bar in found]] for name, found in lanes],
    }


def formula(label: str, mathml: str, source: str = "") -> Block:
    """Constant MathML of ours (never the reader's text), what is inside of <math>; ``source`` in
    small type below it."""
    return {"type": "formula", "label": label, "mathml": mathml, "source": source}


def code(label: str, lines: str, marked: Sequence[int] = ()) -> Block:
    """Code to be read or copied; ``marked`` line numbers from 0."""
    return {"type": "code", "label": label, "lines": lines, "marked": list(marked)}


def link(words: str, query: str) -> Block:
    """A link to a Problem and a step of this app: ``query`` as in the address, without "?"."""
    return {"type": "link", "words": words, "query": query}
