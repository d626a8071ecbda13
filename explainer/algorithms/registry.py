"""The algorithms: menus, lanes, labels and colours are fed from here, in this order.

``python -m explainer.algorithms.registry`` writes what the browser needs of them.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from explainer.algorithms.fa1 import FA1
from explainer.algorithms.fa2 import FA2
from explainer.algorithms.standard import STANDARD
from explainer.base.paths import ASSETS

ALGORITHMS = {a.key: a for a in (STANDARD, FA1, FA2)}
LABELS = {key: a.label for key, a in ALGORITHMS.items()}
SCRIPT = ASSETS / "js" / "model" / "algorithms.js"


def script() -> str:
    """The browser's module: label, closed form, pseudocode and so on of every algorithm."""

    def plain(line) -> dict:
        return {key: value for key, value in asdict(line).items() if value}

    kept = ("label", "opens", "running", "closed_form")
    said = {
        key: {name: getattr(a, name) for name in kept}
        | {"pseudocode": [plain(line) for line in a.pseudocode]}
        for key, a in ALGORITHMS.items()
    }
    lines = json.dumps(said, ensure_ascii=False, indent=1)
    return (
        "// Made by `python -m explainer.algorithms.registry`: change it there.\n\n"
        f"export const ALGORITHMS = {lines};\n"
    )


if __name__ == "__main__":
    SCRIPT.write_text(script(), encoding="utf-8")
