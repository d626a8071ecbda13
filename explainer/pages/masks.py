"""The masks that Memory, Parallel and Run offer: presets scaled to N, or any text."""

from __future__ import annotations

import gradio as gr

from explainer.base.fields import parse_mask
from explainer.base.texts import Texts
from explainer.learn.presets import SCALED, preset_text
from explainer.pages.browser import QUICK

shared = Texts("shared")
# Causal and full are their own texts.
PLAIN = {title: mask(16) for title, mask in SCALED.items() if parse_mask(mask(16)).plain}


def menu(value: object) -> gr.Dropdown:
    """Also takes what is typed: a text of :mod:`kernels.spec.masks`."""
    return gr.Dropdown(
        [(title, PLAIN.get(title, title)) for title in SCALED],
        value=str(value),
        label=shared("mask"),
        allow_custom_value=True,
        elem_classes="fa-select",
    )


def keep_names(menu: gr.Dropdown, n: gr.Dropdown) -> None:
    """A preset that is chosen becomes its text for these N tokens at once, and keeps its name."""
    menu.input(_named, [menu, n], menu, **QUICK)


def _named(value: str, n: object) -> dict:
    text = preset_text(value, n)
    own = {value: (f"{value}: {text}", text)} if text != value else {}
    return gr.update(choices=[own.get(t, (t, PLAIN.get(t, t))) for t in SCALED], value=text)
