"""The bar above all pages: name, state of the kernel, link to what is on screen."""

from __future__ import annotations

import gradio as gr

from explainer.pages.components import shell
from explainer.views.bar import BAR


def build() -> gr.HTML:
    """The bar as a component that never re-renders."""
    return shell("bar", template=BAR, elem_id="top")
