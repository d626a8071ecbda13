"""What the Learn page's pictures measure for themselves, measured by Python."""

import numpy as np

from explainer.learn.lessons.dot.lesson import PLANE
from explainer.learn.registry import answer


def pictures() -> dict:
    """Return arrows of every kind with their measures, a card's levels."""
    x, y = (
        np.arange(low, high + 0.1, 1.5)
        for low, high in zip(PLANE["low"], PLANE["high"], strict=True)
    )
    tips = [(a, b) for a in x for b in y] + [(0.0, 0.0)]
    arrows = []
    for q in tips[::2]:
        for k in tips:
            dot, length = float(np.dot(q, k)), float(np.linalg.norm(k))
            both = length * float(np.linalg.norm(q))
            angle = float(np.degrees(np.arccos(np.clip(dot / both, -1, 1)))) if both else None
            on = dot / length if length else 0.0
            arrows.append({"q": q, "k": k, "dot": dot, "length": length, "on": on, "angle": angle})
    cards = {
        key: answer({"w": "memory", "card": key})["blocks"][0]["data"] for key in ("h200", "t4")
    }
    return {"plane": PLANE, "arrows": arrows, "pyramid": cards}
