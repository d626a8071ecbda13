"""Where a Plotly figure is shown: hidden, and its library not loaded, until there is one."""

from __future__ import annotations

import gradio as gr

from explainer.views.charts import large

HALL = 460  # px of a chart's height in a lecture hall
ALONE = 528  # of one that stands alone under its headline


def plot() -> gr.Plot:
    """An empty place; the figure brings its own title."""
    return gr.Plot(visible=False, show_label=False, elem_classes="fa-plot")


def shown(figure, hall: bool = False, height: int = HALL) -> dict:
    """The update that shows this figure, or hides the place for None; ``hall``: in large type."""
    if figure is not None and hall:
        figure = large(figure, height)
    return gr.update(value=figure, visible=figure is not None)
