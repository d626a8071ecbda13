"""What Memory and Parallel share: the places of a view, and a picture that follows its page's
controls."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.pages.browser import QUICK, Fields, call, here
from explainer.pages.plots import HALL, WIDE, update_plot
from explainer.pages.workload import control_values, parse_address, query_of
from explainer.views.run_report import render_refusal
from explainer.views.view import View

shared = Texts("shared")
PASS_LABELS = shared.named("passes")
Values = Mapping[str, object]
Query = Mapping[str, str]
Choices = Mapping[str, Mapping[str, str]]  # key in the address → {value: label}


class Places(NamedTuple):
    """What a page's places for a view show; also those places themselves."""

    head: Any
    left: Any
    right: Any
    tail: Any


def show(view: View, query: Query, height: int = HALL, wide: int = WIDE) -> Places:
    """Make the updates that show a view, in presentation mode in large type; ``height`` and
    ``wide``: of a chart there."""
    figures = (*view.figures, None, None)[:2]
    mode = query.get("mode")
    left, right = (update_plot(figure, mode, height, wide) for figure in figures)
    return Places(view.head, left, right, view.tail)


def show_error(error: ProblemError | str | None) -> Places:
    """Make the updates that show why there is no view."""
    return show(View(render_refusal(str(error))), {})


def radios(choices: Choices, plain: Query, **labels: str) -> Fields:
    """Build the controls of what is no part of a workload, of which only the view is always
    visible; ``labels`` of those that only one page has."""
    labels |= {"view": shared("view"), "pass": shared("pass")}
    return {
        key: gr.Radio(
            [(label, value) for value, label in names.items()],
            value=plain[key],
            label=labels[key],
            show_label=False,
            visible=key == "view",
        )
        for key, names in choices.items()
    }


@dataclass(frozen=True)
class FigurePage:
    """Every change of a control shows the picture anew; the address follows."""

    name: str  # of its tab
    prefix: str  # of its keys in the address
    plain: Query  # what its controls show without an address
    choices: Choices  # of the controls that are no part of a workload
    controls: Fields
    picker: gr.HTML  # its value also tells the server of the mode
    places: Places
    visible: Mapping[Any, Callable[[str], bool]]  # components that only some views show
    render: Callable[[Query], Places]

    @property
    def inputs(self) -> Fields:
        return self.controls | {"mode": self.picker}

    @property
    def picked(self) -> Fields:
        """The same, and a query that comes from elsewhere."""
        return {"picked": self.picker} | self.inputs

    def remember(self, asks: bool) -> str:
        """What the controls show goes to the address, and if it ``asks`` on to the server."""
        data = {"prefix": self.prefix, "plain": dict(self.plain), "asks": asks}
        return call("remember", self.inputs, self.inputs if asks else (), **data)

    def shows(
        self, event: Callable, inputs: Fields, js: str, query: Callable[[Values], Query]
    ) -> Any:
        """On this event the server shows what ``query`` makes of the values of ``inputs``. Who was
        quicker keeps what was chosen meanwhile, and the picture follows that."""
        answered = gr.Textbox(visible=False)  # of this event alone: two answers may come at once

        def answer(*given: object) -> tuple:
            now = dict(zip(inputs, given, strict=True))
            wanted = query(now)
            values = {key: wanted.get(key, self.plain[key]) for key in self.choices}
            values |= {k: self.plain[k] for k, v in values.items() if v not in self.choices[k]}
            text = json.dumps(
                {"requested": values | control_values(wanted, self.plain, now), "plain": now}
            )
            seen = (gr.update(visible=shows(values["view"])) for shows in self.visible.values())
            return text, *seen, *self.render({**wanted, **values})

        outputs = [answered, *self.visible, *self.places]
        done = event(answer, [*inputs.values()], outputs, js=js, **QUICK)
        settle = here("settle", {"answer": answered, **self.controls}, self.controls)
        return done.then(**settle).then(**here("settled"))

    def wire(self, tab: gr.Tab) -> None:
        """The events that both pages have: a control is changed, a tile picked, the tab opened."""
        changes = partial(gr.on, [control.input for control in self.controls.values()])
        tile = {key: self.controls[key] for key in ("br", "bc")}
        picks = self.picker.picked(**here("useTile", {"picked": self.picker, **tile}, tile)).then
        for event in (changes, picks):
            last = partial(event, trigger_mode="always_last")
            done = self.shows(last, self.inputs, self.remember(asks=True), query_of)
            done.then(None, [*self.inputs.values()], None, js=self.remember(asks=False))
        start = {key: self.plain[key] for key in self.controls} | control_values({}, self.plain)
        data = {"page": self.name, "prefix": self.prefix, "plain": start}
        opens = call("openFigures", self.picked, self.picked, **data)
        self.shows(tab.select, self.picked, opens, lambda values: parse_address(values["picked"]))
