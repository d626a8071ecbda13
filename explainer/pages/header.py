"""The bar above all pages: name, state of the kernel, link to what is on screen."""

import gradio as gr

from explainer.pages.components import shell
from explainer.views.bar import render_bar


def build() -> gr.HTML:
    """The bar as a component that never re-renders."""
    return shell("bar", template=render_bar(), elem_id="top")
