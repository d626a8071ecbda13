"""Where a Plotly figure is shown: hidden, and its library not loaded, until there is one."""

from __future__ import annotations

import gradio as gr


def plot() -> gr.Plot:
    """An empty place; the figure brings its own title."""
    return gr.Plot(visible=False, show_label=False, elem_classes="fa-plot")


def shown(figure) -> dict:
    """The update that shows this figure, or hides the place for None."""
    return gr.update(value=figure, visible=figure is not None)
