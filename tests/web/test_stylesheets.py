"""The cascade is declared once: layers and breakpoints."""

import re

from explainer.base.paths import ASSETS
from explainer.web.stylesheets import APP, LAYER_OF, LAYERS, MEDIA, join_stylesheets

SHEETS = {path.stem: path.read_text(encoding="utf-8") for path in ASSETS.glob("css/*.css")}


def test_each_stylesheet_has_one_layer_and_gradio_the_weakest():
    assert {*SHEETS} == {*LAYER_OF} and len(LAYER_OF) == sum(map(len, LAYERS.values()))
    text = join_stylesheets(APP)
    assert text.startswith(f"@layer {', '.join(LAYERS)};") and next(iter(LAYERS)) == "gradio"
    assert not [name for name, sheet in SHEETS.items() if "@layer" in sheet]
    assert text.count("{") == text.count("}")


def test_media_queries_use_the_named_breakpoints():
    queries = [q for sheet in SHEETS.values() for q in re.findall(r"@media([^{]*)\{", sheet)]
    assert not [q for q in queries if "px" in q]
    names = set(re.findall(r"\(--(\w+)\)", " ".join(queries)))
    assert names == {*MEDIA}
    assert "(--" not in "".join(re.findall(r"@media[^{]*", join_stylesheets(APP)))
    script = (ASSETS / "js" / "lib" / "screen.js").read_text(encoding="utf-8")
    assert f"page: {re.findall('[0-9]+', MEDIA['phone'])[0]}," in script
