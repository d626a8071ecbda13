"""Scenes: pictures laid out here, shape by shape, and drawn by assets/js/learn/pictures/scene.js.

A panel is a sheet of w × h units, y downward, about one CSS pixel each on a laptop; several panels
stand beside each other, or below each other on a phone. A shape with a ``key`` stays the same one
from answer to answer, so it moves to its next place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from explainer.base.texts import fill
from explainer.learn.blocks import Block, picture
from explainer.learn.content import read
from explainer.learn.widgets import Control

Shape = dict[str, Any]
CHARACTER = 8.6  # units of width that a character of 15 units takes at most, on average


def _shape(kind: str, **parts: object) -> Shape:
    """Without what is empty, numbers as short as they may be."""
    made: Shape = {"kind": kind}
    for name, value in parts.items():
        if value not in ("", None):
            digits = 3 if name == "heat" else 1
            made[name] = round(value, digits) if isinstance(value, float) else value
    return made


def box(
    x: float,
    y: float,
    w: float,
    h: float,
    text: str = "",
    *,
    hue: str = "",
    look: str = "",
    key: str = "",
    heat: float | None = None,
) -> Shape:
    """A rectangle with words in its middle. ``hue`` q | k | v | o | m | l | s; ``look`` pale, full,
    empty, frame, line, edge, each with "is-"; ``heat`` 0 to 1 on the scale of scores in place of a
    hue."""
    return _shape("box", x=x, y=y, w=w, h=h, text=text, hue=hue, look=look, key=key, heat=heat)


def draw_text(
    x: float, y: float, text: str, look: str = "", *, hue: str = "", key: str = ""
) -> Shape:
    """Words from x on, their baseline at y. ``look`` is-small, is-big, is-bold, is-quiet,
    is-middle, is-end, is-good, is-bad, is-hue."""
    if hue:
        look = f"{look} is-hue".strip()
    return _shape("text", x=x, y=y, text=text, look=look, hue=hue, key=key)


def captions(key: str, **values: object) -> list[Shape]:
    """Draw the texts of a picture that stay in their places: ``assets/learn/captions.json`` has
    them as (x, y, text, look, hue), and ``values`` stand where their names are in braces. An empty
    text is left out."""
    return [
        draw_text(x, y, words, *style[:1], hue="".join(style[1:]))
        for x, y, text, *style in read("captions")[key]
        if (words := fill(text, values))
    ]


def lines(y: float, text: str, look: str) -> list[Shape]:
    """A text of several lines from the left edge on, as it is broken."""
    return [draw_text(0, y + 20 * k, line, look) for k, line in enumerate(text.split("\n"))]


def path(
    points: Sequence[tuple[float, float]],
    hue: str = "",
    look: str = "",
    key: str = "",
    tip: float = 0.0,
) -> Shape:
    """A line through the points; ``tip``: with an arrow's head of this length at its end."""
    d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    if tip:
        (a, b), (x, y) = points[-2:]
        turn = math.atan2(y - b, x - a)
        ends = [(x - tip * math.cos(turn + t), y - tip * math.sin(turn + t)) for t in (-0.45, 0.45)]
        d += "".join(f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}" for u, v in ends)
    return _shape("path", d=d, hue=hue, look=look, key=key)


def dot(x: float, y: float, r: float, hue: str = "") -> Shape:
    """A filled circle."""
    return _shape("dot", x=x, y=y, r=r, hue=hue)


def knob(x: float, y: float, span: float, control: Control, value: float) -> Shape:
    """What is dragged along ``span`` units from x on, and sets the control, a range."""
    return _shape(
        "knob",
        x=x,
        y=y,
        span=span,
        control=control.key,
        low=control.low,
        high=control.high,
        step=control.step,
        value=value,
        label=control.label,
        key=control.key,
    )


def chart(
    x: float,
    y: float,
    w: float,
    h: float,
    series: Sequence[tuple[str, Sequence[float], str, str]],
    *,
    low: float,
    high: float,
    log: bool = False,
    ticks: Sequence[tuple[float, str]],
    last: str = "",
) -> list[Shape]:
    """Curves over 0, 1, 2 …: (key, values, hue, look) each; ``ticks`` (value, label) of the upright
    axis; ``last`` what stands below the right end."""

    def up(value: float) -> float:
        if log:
            value, a, b = math.log(value), math.log(low), math.log(high)
        else:
            a, b = low, high
        return y + h - max(0.0, min(1.0, (value - a) / (b - a))) * h

    made = [path([(x, up(v)), (x + w, up(v))], look="is-thin") for v, _ in ticks]
    made += [draw_text(x - 8, up(v) + 5, label, "is-small is-quiet is-end") for v, label in ticks]
    for key, values, hue, look in series:
        step = w / max(1, len(values) - 1)
        points = [(x + k * step, up(value)) for k, value in enumerate(values)]
        made.append(path(points, hue, look, key))
    if last:
        made.append(draw_text(x + w, y + h + 20, last, "is-small is-quiet is-end"))
    return made


def panel(w: float, h: float, *shapes: Shape | Sequence[Shape], only: str = "") -> dict[str, Any]:
    """A sheet of its shapes, in the order in which they are drawn. ``only``: where it is shown, if
    not everywhere: "wide" (not on a phone) or "narrow" (there alone), "desk" (not in presentation
    mode) or "presented" (there alone)."""
    found = [one for group in shapes for one in ([group] if isinstance(group, dict) else group)]
    return {"w": w, "h": h, "shapes": found} | ({"only": only} if only else {})


def read_aloud(panels: Iterable[dict[str, Any]]) -> str:
    """Join what is written in some panels, in its order."""
    return " ".join(one["text"] for p in panels for one in p["shapes"] if one["kind"] == "text")


def scene(label: str, words: str, *panels: dict[str, Any]) -> Block:
    """The picture of these panels; ``words`` says it to who cannot see it."""
    return picture("scene", label, words, {"panels": list(panels)})
