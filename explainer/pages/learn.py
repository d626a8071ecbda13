"""The Learn page: from a dot product to FlashAttention, every claim checked."""

import gradio as gr

from explainer.learn.blocks import PICTURES
from explainer.pages.components import shell


def build() -> gr.HTML:
    """Lays the page out inside the caller's tab; its HTML is one cacheable GET."""
    pictures = tuple(f"picture_{name}" for name in PICTURES)
    return shell("learn", later=pictures, elem_id="learn")
