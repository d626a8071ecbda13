"""The responses that a copy of the lesson without a server contains.

Of a widget's control they cover every choice and at most ``MAX_STOPS`` stops of a slider; if all
combinations are too many, each control varies alone while the others have their first value.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from math import ceil, isfinite, prod
from typing import Any

from explainer.learn.widgets import Control, Widget
from explainer.views.learn_blocks import answer_data
from kernels.spec.texts import short

MAX_SETTINGS = 48
MAX_STOPS = 7

Responses = dict[str, dict[str, Any]]  # {response_name(query): response}


def response_name(query: Iterable[tuple[str, object]]) -> str:
    """Return the name of the response to a query, as the scripts of the copy form it."""
    return "&".join(f"{key}={format_number(value)}" for key, value in query)


def format_number(value: object) -> str:
    """Write a number as JavaScript does; return any other text as it is."""
    try:
        x = float(str(value))
    except ValueError:
        return str(value)
    return short(x) if isfinite(x) else str(value)


def _stops(control: Control) -> tuple[Control, Sequence[object]]:
    """Return the control limited to the stops that are covered, and the values of these."""
    if control.kind == "choice":
        return control, [value for value, _ in control.choices]
    if control.kind == "toggle":
        return control, ["0", "1"]
    if control.kind != "range":
        return control, [control.value]
    start, steps = float(control.value), (control.high - control.low) / control.step
    by = control.step * (1 if control.key == "step" else max(1, ceil(steps / (MAX_STOPS - 1))))
    below, above = int((start - control.low) / by + 1e-9), int((control.high - start) / by + 1e-9)
    stops = [round(start + k * by, 6) for k in range(-below, above + 1)]
    return replace(control, low=stops[0], high=stops[-1], step=by), stops


def limited_controls(widget: Widget) -> list[Control]:
    """Return the widget's controls, limited to the stops that are covered."""
    return [_stops(control)[0] for control in widget.controls]


def settings(widget: Widget) -> list[tuple]:
    """Return the covered combinations of the values of its controls, in their order."""
    stops = [_stops(control)[1] for control in widget.controls]
    if prod(map(len, stops)) <= MAX_SETTINGS:
        return list(product(*stops))
    first = tuple(control.value for control in widget.controls)
    alone = ((*first[:k], v, *first[k + 1 :]) for k, values in enumerate(stops) for v in values)
    return [first, *alone]


def widget_responses(widget: Widget) -> Responses:
    """Return the responses of ``/fa/learn`` to all covered settings of a widget."""
    names = [control.key for control in widget.controls]
    found: Responses = {}
    for values in settings(widget):
        query = [("w", widget.key), *zip(names, values, strict=True)]
        if (name := response_name(query)) not in found:
            found[name] = answer_data({key: str(value) for key, value in query})
    return found
