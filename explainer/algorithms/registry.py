"""The algorithms: menus, lanes, labels and colours are fed from here, in the order of ORDERS.

The loop of algorithm ``key`` lies in ``explainer/algorithms/<key>.py``, its backward pass in
``<key>_backward.py``, its kernel in ``kernels/<key>.py``.
``python -m explainer.algorithms.registry`` writes what the browser needs of them.
"""

import json
from dataclasses import asdict
from importlib import import_module

from explainer.algorithms.algorithm import CONVENTIONS, Algorithm
from explainer.base.paths import ASSETS
from explainer.problem import Problem
from kernels.spec.fields import ORDERS

ALGORITHMS: dict[str, Algorithm] = {
    key: import_module(f"explainer.algorithms.{key}").ALGORITHM for key in ORDERS
}
BACKWARD: dict[str, Algorithm] = {
    key: import_module(f"explainer.algorithms.{a.variant_of or key}_backward").ALGORITHM
    for key, a in ALGORITHMS.items()
}
OF_PASS = {"forward": ALGORITHMS, "backward": BACKWARD}
LABELS = {key: a.label for key, a in ALGORITHMS.items()}
MAIN = tuple(key for key, a in ALGORITHMS.items() if a.variant_of is None)
RUN_BACKWARD = {key: a.kernel for key, a in BACKWARD.items() if a.kernel and a.key == key}
PLACED = tuple(key for key, a in ALGORITHMS.items() if a.program)  # whose launches are simulated
BASELINE = next(key for key, a in ALGORITHMS.items() if a.stores_scores)
DEFAULT = Problem().order
DECLARED = ASSETS / "js" / "model" / "algorithms.json"
SENT = (
    *("label", "hue", "opens", "outer", "running", "output", "saved_for_backward"),
    *("lanes", "stores_scores", "scales_dQ", "strips", "variant_of"),
)
SENT_TEXTS = (
    "remark",
    "purpose",
    "compulsory",
    "products",
    "products_lesson",
    "sentences",
    "captions",
)


def lanes_of(order: str, pass_: str = "forward") -> tuple[str, ...]:
    """Return the algorithms that stand beside each other on this one's pages: all but the
    variants, and this one. A variant has no backward pass of its own."""
    return tuple(key for key in ALGORITHMS if key in MAIN or (key == order and pass_ == "forward"))


def declared() -> str:
    """Write what the browser reads as JSON: each algorithm in each pass, and the two ways to count
    bytes."""
    passes = (("forward", ALGORITHMS), ("backward", BACKWARD))
    content = {
        **{name: {key: _to_json(a) for key, a in found.items()} for name, found in passes},
        **{"baseline": BASELINE, "default": DEFAULT, "conventions": CONVENTIONS},
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _to_json(a: Algorithm) -> dict[str, object]:
    sent = {name: getattr(a, name) for name in SENT}
    sent["stages"] = {name: asdict(stage) for name, stage in a.stages.items()}
    sent["texts"] = {name: text for name, text in a.texts.items() if name in SENT_TEXTS}
    sent |= {name: a.texts[name] for name in ("closed_form", "pseudocode")}
    return sent


if __name__ == "__main__":
    DECLARED.write_text(declared(), encoding="utf-8")
