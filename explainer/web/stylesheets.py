"""The stylesheets, in the order in which the later ones win, and as one text."""

from __future__ import annotations

import re

from explainer.base.paths import ASSETS

STYLESHEETS = (
    "tokens.css",
    "app.css",
    "player.css",
    "step.css",
    "heads.css",
    "hall.css",
    "embed.css",
    "motion.css",
    "row_view.css",
    "backward.css",
    "links.css",
    "tour.css",
    "terms.css",
    "run.css",
    "memory.css",
    "learn.css",
    "svg_canvas.css",
    "learn_blocks.css",
    "learn_asks.css",
    "learn_presentation.css",
    "learn_print.css",
    "scene.css",
    "pictures.css",
)
# What a page that only plays a Problem needs of them.
PLAYER = (
    "tokens",
    "player",
    "step",
    "hall",
    "motion",
    "row_view",
    "links",
    "terms",
    "heads",
    "backward",
)
OFFLINE = (*(name for name in STYLESHEETS if name.removesuffix(".css") in PLAYER), "offline.css")


def join_stylesheets(names: tuple[str, ...]) -> str:
    """These stylesheets as one, as short as it gets."""
    sheets = [(ASSETS / "css" / name).read_text(encoding="utf-8") for name in names]
    text = re.sub(r"/\*.*?\*/|^ +", "", "\n".join(sheets), flags=re.M | re.S)
    return re.sub(r"\s*([{};])\s*", r"\1", text).replace(";}", "}")
