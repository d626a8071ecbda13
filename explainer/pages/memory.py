"""The Memory page: where the bytes live, how often they travel, when they no longer fit."""

import gradio as gr

from explainer.pages.components import shell


def build() -> gr.HTML:
    """Lay the page out inside the caller's tab; its chapters are cacheable GETs."""
    return shell("memory", elem_id="memory")
