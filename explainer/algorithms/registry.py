"""The algorithms: menus, lanes, labels and colours are fed from here, in this order.

``python -m explainer.algorithms.registry`` writes what the browser needs of them.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from explainer.algorithms.algorithm import CONVENTIONS, Algorithm
from explainer.algorithms.fa1 import FA1
from explainer.algorithms.fa1_backward import FA1_BACKWARD
from explainer.algorithms.fa2 import FA2
from explainer.algorithms.fa2_backward import FA2_BACKWARD
from explainer.algorithms.standard import STANDARD
from explainer.algorithms.standard_backward import STANDARD_BACKWARD
from explainer.base.paths import ASSETS

ALGORITHMS = {a.key: a for a in (STANDARD, FA1, FA2)}
BACKWARD = {a.key: a for a in (STANDARD_BACKWARD, FA1_BACKWARD, FA2_BACKWARD)}
OF_PASS = {"forward": ALGORITHMS, "backward": BACKWARD}
LABELS = {key: a.label for key, a in ALGORITHMS.items()}
SCRIPT = ASSETS / "js" / "model" / "algorithms.js"


def script() -> str:
    """The browser's module: of each algorithm in each pass its label, closed form, pseudocode and
    so on, on a line; and the two ways to count bytes."""
    text = "// Made by `python -m explainer.algorithms.registry`: change it there.\n\n"
    for name, algorithms in (("ALGORITHMS", ALGORITHMS), ("BACKWARD", BACKWARD)):
        lines = "".join(f"  {key}: {_said(a)},\n" for key, a in algorithms.items())
        text += f"export const {name} = {{\n{lines}}};\n\n"
    return text + f"export const CONVENTIONS = {json.dumps(CONVENTIONS)};\n"


def _said(a: Algorithm) -> str:
    said = {name: getattr(a, name) for name in ("label", "opens", "running", "closed_form")}
    said["pseudocode"] = [{k: v for k, v in asdict(x).items() if v} for x in a.pseudocode]
    return json.dumps(said, ensure_ascii=False)


if __name__ == "__main__":
    SCRIPT.write_text(script(), encoding="utf-8")
