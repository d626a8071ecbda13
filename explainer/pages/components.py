"""The pages' own components: a shell each, for what ``assets/js`` draws in it."""

import json

import gradio as gr

from explainer.base.paths import ASSETS
from explainer.pages.browser import mounted

# What menus and sliders offer; a slider by its largest value, or by low, high and step.
CONTROLS = json.loads((ASSETS / "controls.json").read_text(encoding="utf-8"))
PLACE = '<div class="fa-mount"></div>'


def shell(
    name: str, *events: str, later: tuple[str, ...] = (), template: str = PLACE, **kwargs
) -> gr.HTML:
    """Mounts ``name`` of ``assets/js/main.js``; it triggers the ``events``, and fetches the scripts
    ``later`` when they are wanted.

    A value never enters the template: Gradio executes ${…} and {{…}} there. "step" shows the
    Problem whose query string its value is, e.g. ``n=16&d=8&br=4&bc=4``; "learn" takes none.
    """
    load = mounted(name, *events, later=later)
    return gr.HTML("", html_template=template, js_on_load=load, apply_default_css=False, **kwargs)
