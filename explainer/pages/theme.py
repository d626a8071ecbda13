"""Gradio's theme and document head: one font of our own, one accent, our own stylesheets."""

import json
from html import escape

from gradio.themes import Base

from explainer.base.paths import ASSETS
from explainer.web.routes import asset_url

SANS = ["Inter", "system-ui", "-apple-system", "Segoe UI", "Helvetica Neue", "Arial", "sans-serif"]
MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]


def theme() -> Base:
    """Plain surfaces in both modes, whose texts have a contrast of 4.5 : 1 and more; the pages' own
    colours live in the stylesheets."""
    base = Base(primary_hue="blue", neutral_hue="slate", font=SANS, font_mono=MONO)
    return base.set(**json.loads((ASSETS / "theme.json").read_text(encoding="utf-8")))


def head(kernel: str = "") -> str:
    """The font, stylesheets, and our own modules, fetched while Gradio itself still starts, and the
    name of the learner's file that the app was started with.

    The font is Inter 4.1 of the npm package inter-ui, its weights 400 to 700, the signs that our
    texts use: 37 kB under the SIL Open Font License, so that every machine lays a page out alike.
    """
    font = asset_url("fonts/inter.woff2")
    preload = f'<link rel="preload" href="{font}" as="font" type="font/woff2" crossorigin>'
    face = f"font-family:Inter;font-weight:400 700;font-display:swap;src:url({font})"
    sheet = f'<link rel="stylesheet" href="{asset_url("all.css")}">'
    fonts = f"{preload}<style>@font-face{{{face} format('woff2')}}</style>"
    if kernel:
        fonts += f'<meta name="fa-kernel" content="{escape(kernel)}">'
    return f'{fonts}{sheet}<script type="module" src="{asset_url("js/all.js")}"></script>'
