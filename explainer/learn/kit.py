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

There are no coordinates: the browser lays the marks out for a desk, a phone and a projector, in the
largest type with which all of them fit. ``row`` and ``column`` place marks beside and below each
other, ``frame`` puts a titled border around them (``look="chip"``: an SM). The marks: ``grid`` (a
matrix, its names, heat, sums), ``words`` (a sentence with arcs and what stands under each word),
``bars``, ``plot`` with ``series``, ``timeline``, ``flow`` (boxes in columns, arrows between them by
key), ``stack`` (parts of a whole), ``table``, ``code``, ``formula``, ``sign`` and ``note``.

A mark, a bar or a box with the same ``key`` in the next answer moves to its new place in 300 ms.
``pick`` names the control that a click on a row, a word, a bar, a box or a line sets, to its index;
give that control ``drawn: true`` in lesson.yaml if nothing else should move it. ``aside=True``
leaves a mark out of presentation mode. ``hue`` is q, k, v, o, m, l, s, good, bad or plain.

The second argument of ``picture`` says to a screen reader all that the marks show. Every word comes
from lesson.yaml, every number from a computation. A lesson needs one test: that its numbers are
right, by another way than the lesson's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from explainer.learn import blocks
from explainer.learn.blocks import Block

Mark = dict[str, Any]
Numbers = Sequence[Any] | np.ndarray
DIGITS = 6  # after the point, of what is sent


def _is_empty(value: object) -> bool:
    return value is None or value is False or (isinstance(value, str | list) and not value)


def _plain(value: Any) -> Any:
    """As JSON has it: infinities written out, numbers no longer than they are read."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return round(value, DIGITS) if value - value == 0 else blocks.format_odd(value)
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items() if not _is_empty(part)}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _mark(mark: str, **parts: object) -> Mark:
    made = {name: _plain(value) for name, value in parts.items()}
    return {"mark": mark} | {name: value for name, value in made.items() if not _is_empty(value)}


def picture(label: str, spoken: str, *marks: Mark) -> Block:
    """Return the block of a picture: its marks below each other."""
    return blocks.picture("kit", label, spoken, {"marks": list(marks)})


def row(*marks: Mark, grow: Sequence[float] = (), align: str = "", aside: bool = False) -> Mark:
    """Place marks beside each other, on a phone below each other where they must. ``grow``: shares
    of the width that is left; ``align``: "top", "bottom" or "stretch" rather than centred."""
    return _mark("row", of=marks, grow=grow, align=align, aside=aside)


def column(*marks: Mark, aside: bool = False) -> Mark:
    """Place marks below each other."""
    return _mark("column", of=marks, aside=aside)


def frame(
    title: str, *marks: Mark, remark: str = "", look: str = "", hue: str = "", key: str = ""
) -> Mark:
    """Put a border around marks. ``look``: "" (a quiet ground), "chip" (with pins: on chip),
    "line", "empty" (dashed)."""
    return _mark("frame", title=title, of=marks, remark=remark, look=look, hue=hue, key=key)


def grid(
    name: str,
    values: Numbers,
    hue: str = "",
    *,
    rows: Sequence[str] = (),
    cols: Sequence[str] = (),
    digits: int = 2,
    heat: tuple[float, float] | None = None,
    most: float | None = None,
    at: int | None = None,
    column_at: int | None = None,
    on: Iterable[tuple[int, int]] = (),
    pale: Iterable[tuple[int, int]] = (),
    row_sums: Sequence[str] = (),
    column_sums: Sequence[str] = (),
    pick: str = "",
    pick_column: str = "",
    remark: str = "",
    size: str = "",
    key: str = "",
) -> Mark:
    """A matrix: numbers, texts, or None for an empty cell. Cells are coloured by size in the hue
    (``most``: the size of the full hue), or by ``heat``, (low, high) of the scale of scores.
    ``at`` and ``column_at`` frame a row and a column, ``on`` outlines cells, ``pale`` fades them.
    ``pick``: rows are buttons; ``pick_column``: columns are. ``size`` "small": cells without
    numbers, "wide": for words."""
    array = [list(line) for line in values]
    return _mark(
        "grid",
        name=name,
        cells=array,
        hue=hue,
        rows=rows,
        cols=cols,
        digits=digits,
        heat=heat,
        most=most,
        at=at,
        column_at=column_at,
        on=[list(cell) for cell in on],
        pale=[list(cell) for cell in pale],
        row_sums=row_sums,
        column_sums=column_sums,
        pick=pick,
        pick_column=pick_column,
        remark=remark,
        size=size,
        key=key,
    )


def sign(text: str, key: str = "") -> Mark:
    """What happens between two marks: "×", "=", "softmax →"."""
    return _mark("sign", text=text, key=key)


def words(
    sentence: Sequence[str],
    *,
    rows: Sequence[Mark] = (),
    at: int | None = None,
    weights: Numbers = (),
    hidden: Iterable[int] = (),
    head: str = "",
    lead: str = "",
    pick: str = "",
    key: str = "",
) -> Mark:
    """A sentence, a column for each word. Arcs lead from the word ``at`` to all, as thick as their
    ``weights``; ``rows`` (of cells, numbers, shares) stand below. ``hidden`` words are masked;
    ``head`` stands above the names of the rows, ``lead`` above what their rows lead with."""
    return _mark(
        "words",
        words=sentence,
        rows=rows,
        at=at,
        weights=weights,
        hidden=[*hidden],
        head=head,
        lead=lead,
        pick=pick,
        key=key,
    )


def cells(
    names: Sequence[str] | str,
    values: Numbers,
    hue: str = "",
    *,
    digits: int = 1,
    title: str = "",
    lead: Numbers = (),
    lead_hue: str = "q",
) -> Mark:
    """Rows below the words: ``values`` (rows, words), with their ``names``; ``lead`` stands in the
    column before the words."""
    return _mark(
        "cells",
        names=[names] if isinstance(names, str) else names,
        values=np.atleast_2d(np.asarray(values, float)),
        hue=hue,
        digits=digits,
        title=title,
        lead=lead,
        lead_hue=lead_hue,
    )


def numbers(name: str, values: Numbers, *, digits: int = 2) -> Mark:
    """A row of numbers below the words, the largest bold."""
    return _mark("numbers", name=name, values=values, digits=digits)


def shares(name: str, values: Numbers, hue: str = "q", *, digits: int = 2) -> Mark:
    """A row of upright bars below the words, 0 to 1."""
    return _mark("shares", name=name, values=values, hue=hue, digits=digits)


def bar(
    name: str, value: float, text: str, hue: str = "", *, on: bool = False, key: str = ""
) -> Mark:
    """One of ``bars``; ``text`` stands at its end."""
    return _mark("bar", name=name, value=value, text=text, hue=hue, on=on, key=key)


def bars(
    title: str,
    items: Sequence[Mark],
    *,
    high: float | None = None,
    log: bool = False,
    limit: tuple[float, str] | None = None,
    upright: bool = False,
    pick: str = "",
    remark: str = "",
) -> Mark:
    """Bars from 0 (or, with ``log``, from a decade below the least) to ``high``, or to the largest.
    ``limit`` (value, text) draws a line."""
    return _mark(
        "bars",
        title=title,
        items=items,
        high=high,
        log=log,
        limit=limit,
        upright=upright,
        pick=pick,
        remark=remark,
    )


def series(
    name: str,
    x: Numbers,
    y: Numbers,
    hue: str = "",
    *,
    points: bool = False,
    area: bool = False,
    dash: bool = False,
) -> Mark:
    """A line of a plot, its points, or the area below it; None is a gap."""
    return _mark("series", name=name, x=x, y=y, hue=hue, points=points, area=area, dash=dash)


def axis(
    label: str = "",
    *,
    low: float | None = None,
    high: float | None = None,
    log: bool = False,
    ticks: Sequence[tuple[float, str]] = (),
) -> Mark:
    """An axis of a plot; without ends it takes those of the data."""
    return _mark("axis", label=label, low=low, high=high, log=log, ticks=ticks)


def place(value: float, text: str = "", hue: str = "", *, level: bool = False) -> Mark:
    """A line across a plot at a value of x, or, ``level``, of y, with its text."""
    return _mark("place", value=value, text=text, hue=hue, level=level)


def knob(control: str, label: str, value: float, *, low: float, high: float, step: float) -> Mark:
    """What is dragged along x and sets the control, a range with ``drawn: true``."""
    return _mark("knob", control=control, label=label, value=value, low=low, high=high, step=step)


def plot(
    title: str,
    lines: Sequence[Mark],
    x: Mark | None = None,
    y: Mark | None = None,
    *,
    places: Sequence[Mark] = (),
    handle: Mark | None = None,
    remark: str = "",
    height: float = 0,
) -> Mark:
    """Series over a pair of axes. ``height`` in lines of type, if the usual 14 does not do."""
    return _mark(
        "plot",
        title=title,
        series=lines,
        x=x or axis(),
        y=y or axis(),
        places=places,
        handle=handle,
        remark=remark,
        height=height or None,
    )


def span(
    start: float, end: float, text: str = "", hue: str = "", *, look: str = "", key: str = ""
) -> Mark:
    """One interval of a lane; ``look`` "full", "pale", "hatch" or "dot" (a
    place, its text beside it)."""
    return _mark("span", start=start, end=end, text=text, hue=hue, look=look, key=key)


def timeline(
    title: str,
    lanes: Sequence[tuple[str, Sequence[Mark]]],
    *,
    unit: str = "",
    low: float = 0,
    high: float | None = None,
    ticks: Sequence[tuple[float, str]] = (),
    now: tuple[float, float] | None = None,
    remark: str = "",
) -> Mark:
    """Lanes (name, spans) over one axis from ``low``; ``now`` (start, end) is framed."""
    return _mark(
        "timeline",
        title=title,
        lanes=[{"name": name, "spans": list(spans)} for name, spans in lanes],
        unit=unit,
        low=low or None,
        high=high,
        ticks=ticks,
        now=now,
        remark=remark,
    )


def node(
    key: str, text: str, remark: str = "", hue: str = "", *, on: bool = False, look: str = ""
) -> Mark:
    """A box of a flow."""
    return _mark("node", key=key, text=text, remark=remark, hue=hue, on=on, look=look)


def arrow(
    start: str, end: str, text: str = "", hue: str = "", *, amount: float = 0, dash: bool = False
) -> Mark:
    """An arrow between two boxes by their keys; ``amount``, 0 to 1, is its width."""
    return _mark("arrow", start=start, end=end, text=text, hue=hue, amount=amount, dash=dash)


def flow(title: str, columns: Sequence[Sequence[Mark]], arrows: Sequence[Mark]) -> Mark:
    """Boxes in columns from left to right, on a phone in rows from top to bottom."""
    return _mark("flow", title=title, columns=[list(column) for column in columns], arrows=arrows)


def part(name: str, amount: float, text: str = "", hue: str = "", *, key: str = "") -> Mark:
    """One part of a stack."""
    return _mark("part", name=name, amount=amount, text=text, hue=hue, key=key)


def stack(
    title: str, parts: Sequence[Mark], *, whole: float = 0, free: str = "", remark: str = ""
) -> Mark:
    """Parts of a whole in one bar; what is left of ``whole`` is empty and says ``free``."""
    return _mark("stack", title=title, parts=parts, whole=whole or None, free=free, remark=remark)


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, at: int | None = None, pick: str = ""
) -> Mark:
    """Texts in cells; the first of each row is its heading."""
    return _mark("table", head=head, rows=[list(line) for line in rows], at=at, pick=pick)


def code(
    title: str, lines: Sequence[str], *, on: Iterable[int] = (), pick: str = "", remark: str = ""
) -> Mark:
    """Lines of code, some of them marked; ``pick``: lines are buttons."""
    return _mark("code", title=title, lines=lines, on=[*on], pick=pick, remark=remark)


def formula(mathml: str, remark: str = "") -> Mark:
    """Constant MathML of ours, what is inside of <math>."""
    return _mark("formula", mathml=mathml, remark=remark)


def note(text: str, tone: str = "", *, aside: bool = False) -> Mark:
    """A sentence; ``tone`` "", "good", "bad", "fine" (small) or "big"."""
    return _mark("note", text=text, tone=tone, aside=aside)
