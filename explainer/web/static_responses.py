"""What a copy of the lesson without a server holds: the answers that its pages ask for, by file.

A control of a widget keeps every choice and at most ``FEW`` places of a slider; where all of them
with each other are too many, each is held with the others as they are at first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from math import ceil, isfinite

from explainer.learn.registry import answer
from explainer.learn.widgets import Control, Widget

MOST = 48
FEW = 7

Answers = dict[str, object]  # what is asked, as assets/js/offline/answers.js writes it → the answer


def named(query: Iterable[tuple[str, object]]) -> str:
    """A query as the name of its answer."""
    return "&".join(f"{key}={number(value)}" for key, value in query)


def number(value: object) -> str:
    """A number as JavaScript writes it; any other text as it is."""
    try:
        x = float(value)
    except ValueError:
        return str(value)
    if not isfinite(x):
        return str(value)
    return str(int(x)) if x == int(x) else repr(x)


def _kept(control: Control) -> tuple[Control, list[object]]:
    """The control with the places that are held alone, and those."""
    if control.kind == "choice":
        return control, [value for value, _ in control.choices]
    if control.kind == "toggle":
        return control, ["0", "1"]
    if control.kind != "range":
        return control, [control.value]
    at, steps = float(control.value), (control.high - control.low) / control.step
    by = control.step * (1 if control.key == "step" else max(1, ceil(steps / (FEW - 1))))
    below, above = int((at - control.low) / by + 1e-9), int((control.high - at) / by + 1e-9)
    held = [round(at + k * by, 6) for k in range(-below, above + 1)]
    return replace(control, low=held[0], high=held[-1], step=by), held


def controls(widget: Widget) -> list[Control]:
    """The widget's controls, which reach what is held and nothing between."""
    return [_kept(control)[0] for control in widget.controls]


def settings(widget: Widget) -> list[tuple]:
    """The values of all its controls, in their order, that are held."""
    held = [_kept(control)[1] for control in widget.controls]
    every = 1
    for values in held:
        every *= len(values)
    if every <= MOST:
        return list(product(*held))
    first = tuple(control.value for control in widget.controls)
    alone = ((*first[:k], v, *first[k + 1 :]) for k, values in enumerate(held) for v in values)
    return [first, *alone]


def learn(widget: Widget) -> Answers:
    """{setting: what ``/fa/learn`` answers} of one widget."""
    names = [control.key for control in widget.controls]
    found: Answers = {}
    for values in settings(widget):
        query = [("w", widget.key), *zip(names, values, strict=True)]
        if (name := named(query)) not in found:
            found[name] = answer({key: str(value) for key, value in query})
    return found


def links(answers: Mapping[str, Answers]) -> list[str]:
    """The addresses that widgets lead to."""
    blocks = (b for found in answers.values() for a in found.values() for b in a["blocks"])
    return [block["query"] for block in blocks if block["type"] == "link"]
