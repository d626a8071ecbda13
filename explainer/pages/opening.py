"""What the address asks for, in the controls of a page that has just been opened."""

from __future__ import annotations

import json
from collections.abc import Callable

import gradio as gr

from explainer.pages.browser import Fields, here

QUICK = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


def opened(part: str) -> dict:
    """The event that says: this part of the page has taken what the address says."""
    return here("opened", part=part)


def once_opened(part: str) -> dict:
    """Who presses a button before that means what the address asks for: the event waits for it."""
    return here("onceOpened", part=part)


def controls_follow(
    name: str,
    demo: gr.Blocks,
    prefill: Callable[[gr.Request], dict],
    plain: dict,
    places: Fields,
    function: str,
) -> None:
    """When ``demo`` is opened, the browser's ``function`` gives the ``places`` their values. It
    gets, as JSON, what ``prefill`` found in the address and what the controls say without one
    (``plain``), and then the ``places`` as they are now."""

    def asked(request: gr.Request) -> str:
        return json.dumps({"asked": prefill(request), "plain": plain})

    answer = gr.Textbox(visible=False)
    loaded = demo.load(asked, None, answer, **QUICK)
    loaded.then(**here(function, {"answer": answer, **places}, places)).then(**opened(name))
