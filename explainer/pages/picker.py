"""What is chosen on a server-made picture, a tile of the map, as an event that Gradio knows."""

from __future__ import annotations

import gradio as gr

# site.js turns a click on [data-pick] into the document's event; its query becomes the value.
ON_LOAD = """
document.addEventListener("fa:pick", (event) => {
  if (!element.isConnected || !element.closest("[role=tabpanel]")?.checkVisibility()) return;
  props.value = event.detail;
  trigger("picked");
});
"""


class Picker(gr.HTML):
    """Invisible; ``picked`` is triggered with a query string as value."""

    def __init__(self) -> None:
        super().__init__(
            value="",
            html_template="<i hidden></i>",
            js_on_load=ON_LOAD,
            apply_default_css=False,
            elem_classes="fa-run-block",
        )
