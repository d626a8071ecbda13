"""Calls from pages to the browser, by name: a function or a component of ``assets/js/main.js``.

The only JavaScript in Python, one line each: what Gradio's ``js`` and ``js_on_load`` take is text.
"""

import json
from collections.abc import Iterable
from typing import Any

import gradio as gr

from explainer.web.bundle import SCRIPTS
from explainer.web.routes import asset_url

Fields = dict[str, Any]  # components by the keys of their values


def _script(name: str = "all") -> str:
    return f"import(new URL({json.dumps(asset_url(f'js/{name}.js'))}, document.baseURI))"


def call(name: str, takes: Iterable[str] = (), gives: Iterable[str] = (), **data: object) -> str:
    """An event's ``js``: the function gets the values of the event's inputs under the keys
    ``takes``, and ``data``; of what it answers, the values under ``gives`` go on. At once, if our
    modules are there: what a control shows could change while it waits."""
    arguments = ", ".join(json.dumps(x) for x in (name, [*takes], [*gives], data))
    return f"async (...given) => (window.fa ?? await {_script()}).call({arguments}, given)"


def here(name: str, inputs: Fields | None = None, outputs: Fields | None = None, **data) -> dict:
    """An event of the browser alone: the function gives the ``outputs`` their values."""
    inputs, outputs = inputs or {}, outputs or {}
    js = call(name, inputs, outputs, **data)
    return {"fn": None, "inputs": [*inputs.values()], "outputs": [*outputs.values()], "js": js}


def mounted(name: str, *events: str, later: Iterable[str] = ()) -> str:
    """A component's ``js_on_load``, from the script of its name where it has one of its own; Gradio
    knows an event by its quoted name in there. ``later``: scripts that it fetches when wanted."""
    own = f", script: () => {_script(name)}" if name in SCRIPTS else ""
    own += "".join(f", {other}: () => {_script(other)}" for other in later)
    how = f"{{ element, props, watch, trigger, events: {json.dumps(events)}{own} }}"
    return f"{_script()}.then((main) => main.mount({json.dumps(name)}, {how}));"


def opening(
    demo: gr.Blocks, function: str, part: str, places: Fields, plain: object, **data: object
) -> None:
    """When ``demo`` is opened, the browser's ``function`` gives the ``places`` their values. It
    gets, as JSON, what ``/fa/opened`` says that the address asks of this ``part``, and what the
    places show without an address (``plain``), then the places as they are now, and ``data``."""
    answer = gr.Textbox(visible=False)
    opened = demo.load(**here("loadAddressState", {}, {"answer": answer}, part=part, plain=plain))
    followed = opened.then(**here(function, {"answer": answer, **places}, places, **data))
    followed.then(**here("partOpened", part=part))
