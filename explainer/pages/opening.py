"""What the address asks for, in the controls of a page that has just been opened."""

from __future__ import annotations

import json
from collections.abc import Callable

import gradio as gr

from explainer.pages.browser import Fields, here

QUICK = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


def controls_follow(
    name: str,
    demo: gr.Blocks,
    prefill: Callable[[dict], dict],
    plain: dict,
    places: Fields,
    function: str,
) -> None:
    """When ``demo`` is opened, the browser's ``function`` gives the ``places`` their values. It
    gets, as JSON, what ``prefill`` found in the address and what the controls say without one
    (``plain``), and then the ``places`` as they are now."""

    def asked(request: gr.Request) -> str:
        return json.dumps({"asked": prefill(dict(request.query_params)), "plain": plain})

    answer = gr.Textbox(visible=False)
    loaded = demo.load(asked, None, answer, **QUICK)
    followed = loaded.then(**here(function, {"answer": answer, **places}, places))
    followed.then(**here("opened", part=name))
