"""The warps of one tile as a Gradio component: a mount point; what is drawn is in assets/js."""

from __future__ import annotations

import gradio as gr

from explainer.web.routes import asset_url

# As for the step player: `value` is a query and never enters the template, where it would run.
ON_LOAD = """
const address = new URL({module!r}, document.baseURI);
import(address).then((player) => player.mountWarps(element, props, watch));
"""


class WarpPlayer(gr.HTML):
    """Shows the tile that its value names, e.g. ``n=16&d=8&br=8&bc=8&i=1&j=0&warps=4``; "" shows
    the tile of ``explainer.parallel.warps.START``."""

    def __init__(self, **kwargs) -> None:
        super().__init__(
            value="",
            html_template='<div class="fa-mount"></div>',
            js_on_load=ON_LOAD.format(module=asset_url("js/all.js")),
            apply_default_css=False,
            **kwargs,
        )
