"""The algorithms: menus, lanes, labels and colours are fed from here, in this order.

``python -m explainer.algorithms.registry`` writes what the browser needs of them.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.fa1 import FA1
from explainer.algorithms.fa2 import FA2
from explainer.algorithms.standard import STANDARD
from explainer.base.paths import ASSETS

ALGORITHMS = {a.key: a for a in (STANDARD, FA1, FA2)}
LABELS = {key: a.label for key, a in ALGORITHMS.items()}
SCRIPT = ASSETS / "js" / "model" / "algorithms.js"


def script() -> str:
    """The browser's module: of each algorithm its label, closed form, pseudocode and so on, on a
    line; and the two ways to count bytes."""
    text = "// Made by `python -m explainer.algorithms.registry`: change it there.\n\n"
    text += "export const ALGORITHMS = {\n"
    for key, a in ALGORITHMS.items():
        said = {name: getattr(a, name) for name in ("label", "opens", "running", "closed_form")}
        said["pseudocode"] = [{k: v for k, v in asdict(x).items() if v} for x in a.pseudocode]
        text += f"  {key}: {json.dumps(said, ensure_ascii=False)},\n"
    return text + f"}};\n\nexport const CONVENTIONS = {json.dumps(CONVENTIONS)};\n"


if __name__ == "__main__":
    SCRIPT.write_text(script(), encoding="utf-8")
