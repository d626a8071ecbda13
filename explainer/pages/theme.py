"""Gradio's theme and document head: system fonts, one accent, our own stylesheets."""

from __future__ import annotations

import json

from gradio.themes import Base

from explainer.base.paths import ASSETS
from explainer.web.gradio_internals import find_plot_script
from explainer.web.routes import asset_url

SANS = ["system-ui", "-apple-system", "Segoe UI", "Helvetica Neue", "Arial", "sans-serif"]
MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]


def theme() -> Base:
    """Plain surfaces in both modes, whose texts have a contrast of 4.5 : 1 and more; the pages' own
    colours live in the stylesheets."""
    base = Base(primary_hue="blue", neutral_hue="slate", font=SANS, font_mono=MONO)
    return base.set(**json.loads((ASSETS / "theme.json").read_text(encoding="utf-8")))


def head() -> str:
    """Stylesheets, and our own modules, fetched while Gradio itself still starts; and where the
    plot library is, which site/plots.js fetches when the pointer nears a page of charts."""
    sheet = f'<link rel="stylesheet" href="{asset_url("all.css")}">'
    plots = f'<meta name="fa-plots" content="{find_plot_script()}">'
    return f'{sheet}{plots}<script type="module" src="{asset_url("js/all.js")}"></script>'
