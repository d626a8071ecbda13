"""Build blocks: the plain JSON values of a widget's answer. explainer/views/learn_blocks.py renders
them; assets/js/learn/blocks.js draws plots and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from explainer.base.paths import ASSETS
from explainer.base.texts import Texts

t = Texts("learn")
PICTURES = tuple(sorted(path.stem for path in (ASSETS / "js/learn/pictures").glob("*.js")))

Block = dict[str, object]


def text(words: str, kind: str = "plain") -> Block:
    """A sentence; ``kind`` plain | good | bad | fine (small)."""
    return {"type": "text", "words": words, "kind": kind}


def matrix(
    label: str,
    rows: Sequence[Sequence[float | None]] | np.ndarray,
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
    return x if x - x == 0 else format_odd(x)


def format_odd(x: float) -> str:
    """Write what is no number."""
    return "NaN" if x != x else "∞" if x > 0 else "−∞"


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


def table(label: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Block:
    """Text in cells; the first of each row is its heading."""
    return {"type": "table", "label": label, "head": list(head), "rows": [list(r) for r in rows]}


def picture(name: str, label: str, words: str, data: Mapping[str, object]) -> Block:
    """What moves under the hand: ``data`` (JSON values) drawn by
    assets/js/learn/pictures/<name>.js; ``words`` says it to who cannot see it."""
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


def code(label: str, lines: str) -> Block:
    """Code to be read or copied."""
    return {"type": "code", "label": label, "lines": lines}
