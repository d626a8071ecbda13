"""Gradio's theme and document head: system fonts, one accent, our own stylesheets."""

from __future__ import annotations

from gradio.themes import Base

from explainer.web.gradio_internals import find_plot_script
from explainer.web.routes import asset_url

SANS = ["system-ui", "-apple-system", "Segoe UI", "Helvetica Neue", "Arial", "sans-serif"]
MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]


def theme() -> Base:
    """Plain surfaces in both modes; the pages' own colours live in the stylesheets."""
    base = Base(primary_hue="blue", neutral_hue="slate", font=SANS, font_mono=MONO)
    return base.set(
        body_background_fill="#f8fafc",
        body_background_fill_dark="#0d1320",
        body_text_color_subdued="#556072",  # 4.5 : 1 and more on the page
        body_text_color_subdued_dark="#a3aec0",
        block_background_fill="transparent",
        block_background_fill_dark="transparent",
        block_border_width="0px",
        block_shadow="none",
        block_label_background_fill="transparent",
        button_primary_background_fill="#0072B2",
        button_primary_background_fill_hover="#005f96",
        button_primary_background_fill_dark="#0072B2",
        button_primary_background_fill_hover_dark="#2285bf",
        button_primary_text_color="#ffffff",
        checkbox_label_background_fill_hover="#e3eff8",  # 4.5 : 1 for what is not chosen
        slider_color="#0072B2",
        slider_color_dark="#56a9dc",
        layout_gap="8px",
    )


def head() -> str:
    """Stylesheets, and our own modules, fetched while Gradio itself still starts; and where the
    plot library is, which site/plots.js fetches when the pointer nears a page of charts."""
    sheet = f'<link rel="stylesheet" href="{asset_url("all.css")}">'
    plots = f'<meta name="fa-plots" content="{find_plot_script()}">'
    return f'{sheet}{plots}<script type="module" src="{asset_url("js/all.js")}"></script>'
