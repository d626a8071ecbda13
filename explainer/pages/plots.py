"""Places of Plotly figures: hidden, and the library not loaded, until there is a figure."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import gradio as gr
from plotly.graph_objects import Figure

from explainer.views.charts import enlarge

HALF = 248  # px of a chart in presentation mode when two stand one above the other
HALL = 460  # of one, or of two side by side
ALONE = 528  # of one that stands alone under its headline
WIDE, PAIRED = 84, 42  # characters of a heading there, across the page or beside another chart

# Gradio looks for these on disk at every event, and for each plot at the first of a visitor, which
# is most of what the event costs; known to be missing, they are not looked for.
for unused in ("bokeh", "matplotlib"):
    sys.modules.setdefault(unused, None)  # type: ignore[arg-type]  # how Python marks one absent


def plot() -> gr.Plot:
    """An empty place; the figure brings its own title."""
    return gr.Plot(visible=False, show_label=False, elem_classes="fa-plot")


def update_plot(
    figure: Figure | None, mode: object = "", height: int = HALL, wide: int = WIDE
) -> dict:
    """Make the update that draws this figure in a place of its height, or hides the place for None;
    in presentation mode in large type."""
    if figure is None:
        return gr.update(value=None, visible=False)
    if mode == "present":
        figure = enlarge(figure, height, wide)
    classes = ["fa-plot", f"is-{figure.layout['height']}"]
    return gr.update(value=figure, visible=True, elem_classes=classes)


def update_view(view: Any, plots: Sequence[str], mode: str) -> Any:
    """Make the updates of a named tuple of outputs: of these plots, each alone on the screen in
    presentation mode, and of the button ``stop``."""
    updates = {name: update_plot(getattr(view, name), mode, ALONE) for name in plots}
    return view._replace(**updates, stop=gr.update(visible=view.stop))
