"""The blocks of a widget's answer as the browser takes them: as HTML, but for plots and pictures,
which its scripts draw."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from explainer.learn.blocks import Block
from explainer.learn.registry import answer
from explainer.views.templates import render

BY_SCRIPTS = ("plot", "picture")
NUMBER = re.compile(r"([−\-+±≈~<>]? ?[\d.∞]|NaN|–|—|$)")
LONGEST_NUMBER = 18  # characters
TICKS = 6


@dataclass(frozen=True)
class Scale:
    """An axis from ``low`` to ``high`` (powers of ten if ``log``), the ticks of a timeline and the
    colours of its kinds."""

    low: float
    high: float
    log: bool = False
    ticks: list[float] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)

    def share(self, value: float) -> float:
        """Return where a value stands, 0 to 1."""
        if self.log:
            value = math.log10(value) if value > 0 else self.low
        return (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1)

    def place(self, value: float) -> str:
        """Return where a value stands, for a style."""
        return f"{100 * self.share(value):.3f}%"

    def bar(self, value: float | str) -> tuple[str, str]:
        """Return the left edge and the width of a value's bar, for a style."""
        end = 1.0 if value == "∞" else self.share(value if isinstance(value, float) else 0.0)
        zero = 0.0 if self.log else self.share(0)
        return f"{100 * min(zero, end):.2f}%", f"{100 * abs(end - zero):.2f}%"


def bars_scale(values: Sequence[float | str], log: bool) -> Scale:
    """Return the scale of bars, which starts at 0 or, if log, at a decade below the least one."""
    known = [x for x in values if isinstance(x, float) and (x > 0 or not log)]
    if not log:
        return Scale(min([*known, 0]), max([*known, 0]))
    high = max(known, default=1e-30)
    return Scale(math.ceil(math.log10(min(known, default=high))) - 1, math.log10(high), True)


def timeline_scale(lanes: Sequence[tuple[str, Sequence[tuple]]]) -> Scale:
    """Return the scale of a timeline, with round ticks, and {kind: colour} of its bars."""
    bars = [bar for _, lane in lanes for bar in lane]
    end = max((bar[1] for bar in bars), default=0) or 1
    ten = 10 ** math.floor(math.log10(end / TICKS))
    step = ten * next((k for k in (1, 2, 5) if k * ten >= end / TICKS * 0.999), 10)
    ticks = [k * step for k in range(int(end / step + 1e-9) + 1)]
    return Scale(0, end, ticks=ticks, kinds={kind: colour for *_, colour, _, kind in bars if kind})


def format_cell(x: float | str | None, digits: int) -> str:
    """Format a cell: with one digit more, or a power of ten, where rounding would leave nothing."""
    if not isinstance(x, float):
        return str(x or "")
    text, finer = f"{x:.{digits}f}", f"{x:.{digits + 1}f}"
    if abs(x) >= 1e6:
        text = f"{x:.1e}"
    elif x and not float(text):
        text = finer if float(finer) else f"{x:.0e}"
    mantissa, e, tens = text.partition("e")
    return f"{mantissa}{e}{int(tens) if e else ''}".replace("-", "−")


def matrix_cells(block: Mapping) -> list[list[dict[str, object]]]:
    """Return the text, the attributes and ``is_marked`` of a matrix's cells. With heat, scores name
    their place on the ramp of the scripts, 0 to 255; one hue tells size, not sign."""
    known = [x for row in block["rows"] for x in row if isinstance(x, float)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    is_ramp = block["colour"] in ("plain", "s")

    def cell(x: float | str | None, place: list[int]) -> dict[str, object]:
        is_marked = place in block["marks"]
        kinds = ["is-empty"] * (x is None) + ["is-odd"] * isinstance(x, str)
        look: dict[str, object] = {"class": " ".join(kinds + ["is-marked"] * is_marked) or None}
        if block["heat"] and isinstance(x, float) and is_ramp:
            share = (x - low) / (high - low) if high > low else 0.5
            look["data-heat"] = math.floor(255 * share + 0.5)
        elif block["heat"] and isinstance(x, float):
            share = abs(x) / (max(abs(low), abs(high)) or 1)
            mix = f"color-mix(in srgb, var(--fa-hue) {6 + 42 * share:.0f}%, var(--fa-paper))"
            look["style"] = f"background:{mix}"
        text = format_cell(x, block["digits"])
        return {"text": text, "attributes": look, "is_marked": is_marked}

    return [[cell(x, [i, j]) for j, x in enumerate(row)] for i, row in enumerate(block["rows"])]


def number_columns(rows: Sequence[Sequence[str]]) -> list[bool]:
    """Return of each column whether all its cells are numbers; the first one names the rows."""
    return [
        k > 0 and all(NUMBER.match(text) and len(text) < LONGEST_NUMBER for text in column)
        for k, column in enumerate(zip(*rows, strict=True))
    ]


def render_block(block: Mapping) -> Markup:
    """Render one block that is still."""
    scale, cells = None, None
    if block["type"] == "matrix":
        cells = matrix_cells(block)
    elif block["type"] == "bars":
        values = [value for _, value, _ in block["items"]]
        limit = [] if block["limit"] is None else [block["limit"]]
        scale = bars_scale([*values, *limit], block["log"])
    elif block["type"] == "timeline":
        scale = timeline_scale(block["lanes"])
    return render(
        "learn/blocks", block=block, scale=scale, cells=cells, number_columns=number_columns
    )


def block_data(block: Block) -> Block:
    """Return a block for the browser: what its scripts draw as it is, the others as HTML with the
    words that a screen reader says."""
    if block["type"] in BY_SCRIPTS:
        return block
    words = block["words"] if block["type"] == "text" and block["kind"] != "fine" else ""
    return {"type": "html", "html": str(render_block(block)), "words": words}


def answer_data(query: Mapping[str, str]) -> dict[str, list[Block]]:
    """Return a widget's answer for the browser. Raises ProblemError as ``answer`` does."""
    return {"blocks": [block_data(block) for block in answer(query)["blocks"]]}
