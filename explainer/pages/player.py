"""The step player as a Gradio component: a mount point; everything drawn is in assets/js."""

from __future__ import annotations

import gradio as gr

from explainer.web.routes import asset_url

# `value` carries the query of the Problem that the controls ask for. It never enters the template:
# Gradio executes ${…} and {{…}} there. js_on_load gets no module loader of its own: import() is.
ON_LOAD = """
const address = new URL({module!r}, document.baseURI);
import(address).then((player) => player.mount(element, props, watch, () => trigger("shown")));
"""


class Player(gr.HTML):
    """Shows the Problem whose query string is its value, e.g. ``n=16&d=8&br=4&bc=4``."""

    def __init__(self, **kwargs) -> None:
        super().__init__(
            value="",
            html_template='<div class="fa-mount"></div>',
            js_on_load=ON_LOAD.format(module=asset_url("js/all.js")),
            apply_default_css=False,
            **kwargs,
        )
