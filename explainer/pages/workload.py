"""Read an address, and build the controls of sizes and of the precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from explainer.base.texts import Texts
from explainer.pages.browser import Fields
from kernels.spec.fields import DTYPES

shared = Texts("shared")
LABELS = shared.named("sizes")


def parse_address(text: object) -> dict[str, str]:
    """Read a query string."""
    return dict(parse_qsl(str(text)[:2000], keep_blank_values=True))


def size_menus(sizes: Mapping[str, Iterable[int | str]], at: Mapping[str, Any]) -> Fields:
    """Build menus of sizes that also take any number that is typed."""
    with gr.Row(elem_classes="fa-sizes"):
        return {
            key: gr.Dropdown(
                [str(x) for x in choices],
                value=str(at[key]),
                label=LABELS[key],
                allow_custom_value=True,
                min_width=80,
            )
            for key, choices in sizes.items()
        }


def precision(at: Mapping[str, Any]) -> gr.Radio:
    """Build the control of the precision."""
    return gr.Radio(list(DTYPES), value=at["dtype"], label=shared("precision"))
