"""FlashAttention, tile by tile: builds the app, wires its pages, serves it."""

from __future__ import annotations

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read at import: no call goes out

import gradio as gr

from explainer import gate, routes, theme
from explainer.pages import header, step

SHOW_PAGE = "() => window.faShowPage?.()"


def build() -> gr.Blocks:
    """The whole app, not yet serving."""
    with gr.Blocks(
        title="FlashAttention, tile by tile", fill_width=True, analytics_enabled=False
    ) as demo:
        header.build()
        with gr.Tabs(elem_id="pages"), gr.Tab("Step", id="step"):
            step_page = step.build()
        demo.load(step.prefill, None, step_page.controls, queue=False, api_visibility="private")
    return demo


def launch_options() -> dict:
    """What ``launch`` needs beside host and port, which Gradio takes from the environment."""
    return {
        "theme": theme.theme(),
        "head": theme.head(),
        "app_kwargs": {"routes": routes.routes(), **gate.app_kwargs()},
        "ssr_mode": False,
        "run_history": False,
        "footer_links": [],
        "max_file_size": "1kb",
    }


if __name__ == "__main__":
    build().queue(status_update_rate=5).launch(**launch_options())
