"""The Learn page as a Gradio component: a mount point; its HTML is one cacheable GET."""

from __future__ import annotations

import gradio as gr

from explainer.web.routes import PREFIX, asset_url, build

ON_LOAD = """
const at = (name) => new URL(name, document.baseURI);
const place = element.querySelector(".fa-mount");
import(at({module!r})).then(async (player) => {{
  player.mountLearn(element);
  const answer = await fetch(at({page!r}));
  if (answer.ok) place.innerHTML = await answer.text();
  else place.textContent = "This page could not be loaded: reload it.";
}});
"""


class LearnPlayer(gr.HTML):
    """The ladder and what stands behind it; takes no value."""

    def __init__(self, **kwargs) -> None:
        page = f"{PREFIX[1:]}/learn.html?build={build()}"
        super().__init__(
            value="",
            html_template='<div class="fa-mount"></div>',
            js_on_load=ON_LOAD.format(module=asset_url("js/all.js"), page=page),
            apply_default_css=False,
            **kwargs,
        )
