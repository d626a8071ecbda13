"""The Learn page: from a dot product to FlashAttention, every claim checked."""

from __future__ import annotations

import gradio as gr

from explainer.pages.components import shell


def build() -> gr.HTML:
    """Lays the page out inside the caller's tab; its HTML is one cacheable GET."""
    return shell("learn", elem_id="learn")
