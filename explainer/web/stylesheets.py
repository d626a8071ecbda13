"""Join our stylesheets to one text, each in its cascade layer.

A later layer wins over an earlier one whatever the selectors are, so that a mode needs no
``!important`` against a page. Gradio's own stylesheets are served in the first layer
(gradio_internals.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from explainer.base.paths import ASSETS

# {layer: its files, in the order in which later ones win}; the layers, from weak to strong.
LAYERS = {
    "gradio": (),
    "tokens": ("tokens",),
    "parts": (
        *("app", "player", "step", "heads", "presentation", "embed", "motion", "row_view", "backward"),
        *("links", "tour", "terms", "run", "memory", "learn", "svg_canvas", "learn_blocks"),
        *(
            "learn_asks",
            "learn_presentation",
            "scene",
            "pictures",
            "warps",
            "masks",
            "site",
            "offline",
        ),
    ),
    "print": ("learn_print",),
    "hidden": ("hidden", "gradio_inline"),
}
# {name, as in `@media (--phone)`: condition}. A component that depends on its own width uses a
# container query instead.
MEDIA = {
    "phone": "(max-width: 960px)",
    "desk": "(min-width: 961px)",
    "compact": "(max-width: 1180px)",  # a tablet, or 1280 pixels at 125 %
    "large": "(min-width: 1800px)",  # a large screen, or a projector of 4K
    "low": "(max-height: 500px)",  # a phone on its side
    "tall": "(min-height: 501px)",
    "short": "(max-height: 760px)",
}
LAYER_OF = {name: layer for layer, names in LAYERS.items() for name in names}
LATER = ("warps", "masks")  # fetched by the scripts that need them
STATIC_SITE = ("warps", "site")  # what pages without a server need besides the app's
APP = tuple(name for name in LAYER_OF if name not in ("warps", "masks", "site", "offline"))
# What a page that only plays a Problem needs.
PLAYER = (
    *("tokens", "player", "step", "heads", "presentation", "motion", "row_view", "backward", "links"),
    *("terms", "offline", "hidden"),
)
COMMENTS_AND_INDENTS = re.compile(r"/\*.*?\*/|^ +", re.M | re.S)


def join_stylesheets(names: Sequence[str]) -> str:
    """Return these stylesheets as one text, minified, after the order of all layers."""
    parts = [f"@layer {', '.join(LAYERS)};"]
    for name in names:
        text = (ASSETS / "css" / f"{name}.css").read_text(encoding="utf-8")
        parts.append(f"@layer {LAYER_OF[name]} {{\n{text}\n}}")
    text = COMMENTS_AND_INDENTS.sub("", "\n".join(parts))
    for name, condition in MEDIA.items():
        text = re.sub(rf"(@media[^{{]*)\(--{name}\)", rf"\1{condition}", text)
    return re.sub(r"\s*([{};])\s*", r"\1", text).replace(";}", "}")
