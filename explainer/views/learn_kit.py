"""The marks of the lessons' kit as HTML. What has to be measured, arcs, arrows and plots, is left
to assets/js/learn/pictures/kit.js, as are the colours of the ramp of scores."""

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from markupsafe import Markup

from explainer.learn.kit import Mark
from explainer.views.templates import render

Cell = float | str | None
Attributes = dict[str, object]
ODD = ("−∞", "−1e9", "NaN")
HUED = "background:color-mix(in srgb, var(--fa-hue) {}%, var(--fa-paper))"


def cell_text(x: Cell, digits: int) -> str:
    """Format a cell: a number with so many digits, halves away from zero, and a true minus."""
    if x is None or isinstance(x, str):
        return x or ""
    text = str(Decimal(x).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return text.removeprefix("-") if not float(text) else text.replace("-", "−")


def short_text(x: Cell, digits: int) -> str:
    """Format a cell, a whole number without digits behind the point."""
    return cell_text(x, 0 if isinstance(x, int | float) and x == int(x) else digits)


def largest(cells: Sequence[Sequence[Cell]]) -> float:
    """Return the largest size of the numbers among some cells."""
    return max((abs(x) for row in cells for x in row if isinstance(x, int | float)), default=0)


def paint(x: Cell, most: float, heat: Sequence[float] | None = None) -> Attributes:
    """Return how a cell is painted: on the ramp of scores (its place there, 0 to 255), or in the
    hue of its matrix, which is full at ``most``; a text pale."""
    if x in (None, "−∞", "NaN"):
        return {}
    if isinstance(x, str):
        return {"style": HUED.format(16)}
    if heat:
        low, high = heat
        at = 255 * (x - low) / (high - low) if high > low else 128
        return {"data-heat": min(255, max(0, math.floor(at + 0.5)))}
    share = math.floor(10 + 40 * min(1, abs(x) / (most or 1)) + 0.5)
    return {"style": HUED.format(share if x else 4)}


def grid_cells(mark: Mark) -> list[list[Attributes]]:
    """Return the attributes of a grid's cells, each with its ``text``."""
    full = largest(mark["cells"]) if mark["most"] is None else mark["most"]
    on, pale = ([tuple(at) for at in mark[name] or ()] for name in ("on", "pale"))

    def cell(x: Cell, i: int, j: int) -> Attributes:
        text = cell_text(x, mark["digits"])
        looks = {
            "is-empty": x is None,
            "is-odd": text in ODD,
            "is-on": (i, j) in on,
            "is-pale": (i, j) in pale,
            "is-column": mark["column_at"] == j,
        }
        look = " ".join(name for name, has_it in looks.items() if has_it)
        text = "" if mark["size"] == "small" else text
        return {"text": text, "class": look or None} | paint(x, full, mark["heat"])

    return [[cell(x, i, j) for j, x in enumerate(row)] for i, row in enumerate(mark["cells"])]


def percent(share: float) -> str:
    """Format a share of a width, 0 to 1."""
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"


def bar_scale(mark: Mark) -> Callable[[float], str]:
    """Return where a value ends along a bar: from 0, or from a decade below the least."""
    known = [item["value"] for item in mark["items"]]
    limit = mark["limit"][0] if mark["limit"] else 0
    high = max([*known, limit]) if mark["high"] is None else mark["high"]
    if not mark["log"]:
        return lambda x: percent(x / (high or 1))
    low = min(x for x in known if x > 0) / 10
    return lambda x: percent(math.log(max(x, low) / low) / math.log(high / low))


def time_scale(mark: Mark) -> Callable[[float, float], str]:
    """Return the style of what lies between two times, which may be one, on a timeline."""
    ends = [span["end"] for _, spans in mark["lanes"] for span in spans]
    low = mark["low"] or 0
    high = max([*ends, 1e-9]) if mark["high"] is None else mark["high"]

    def between(start: float, end: float) -> str:
        left, right = ((x - low) / (high - low) for x in (start, end))
        return f"left:{percent(left)};width:{percent(right - left)}"

    return between


def render_marks(marks: Sequence[Mark]) -> Markup:
    """Render the marks of a picture, below each other."""
    return render(
        "learn/kit",
        marks=marks,
        bar_scale=bar_scale,
        cell_text=cell_text,
        grid_cells=grid_cells,
        largest=largest,
        paint=paint,
        short_text=short_text,
        time_scale=time_scale,
    )
