"""Join our stylesheets to one text, each in its cascade layer.

A later layer wins over an earlier one whatever the selectors are, so that a mode needs no
``!important`` against a page. Gradio's own stylesheets are served in the first layer
(gradio_internals.py).

assets/css/cascade.json declares it. ``layers``: from weak to strong, each with its files, of which
later ones win. ``media``: the condition of a name, as in ``@media (--phone)``; a component that
depends on its own width uses a container query instead. ``compact`` is a tablet, or 1280 pixels at
125 %, ``large`` a large screen, or a projector of 4K, ``low`` a phone on its side. ``later``:
sheets that are fetched by the scripts that need them; ``static_site``: what pages without a server
need besides the app's; ``player``: what a page that only plays a Problem needs.
"""

import json
import re
from collections.abc import Sequence

from explainer.base.paths import ASSETS

CASCADE = json.loads((ASSETS / "css" / "cascade.json").read_text(encoding="utf-8"))
LAYERS: dict[str, list[str]] = CASCADE["layers"]
MEDIA: dict[str, str] = CASCADE["media"]
LAYER_OF = {name: layer for layer, names in LAYERS.items() for name in names}
LATER: list[str] = CASCADE["later"]
STATIC_SITE: list[str] = CASCADE["static_site"]
PLAYER: list[str] = CASCADE["player"]
APP = [name for name in LAYER_OF if name not in (*LATER, *STATIC_SITE, "offline")]
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
