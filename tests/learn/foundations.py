"""What the tests of the first two groups share: a widget's picture for some controls."""

from __future__ import annotations

import numpy as np

from explainer.learn.registry import answer, lessons

LESSONS = {lesson.key: lesson for lesson in lessons()}


def block(key: str, **query: object) -> dict:
    """The picture of this widget: {"label", "words", "data", …}."""
    (found,) = answer({"w": key, **{k: str(v) for k, v in query.items()}})["blocks"]
    assert found["type"] == "picture"
    return found


def data(key: str, **query: object) -> dict:
    """What it is drawn from."""
    return block(key, **query)["data"]


def grid(found: dict, name: str) -> np.ndarray:
    """The cells of the matrix whose name begins so."""
    cells = next(
        item["cells"]
        for line in found["lines"]
        for item in line
        if item.get("name", "").startswith(name)
    )
    odd = {"−∞": -np.inf, "∞": np.inf, "NaN": np.nan}
    return np.array([[odd.get(x, x) for x in row] for row in cells], float)


def asked(key: str) -> list:
    """The lesson's question and its variants."""
    question = LESSONS[key].question
    return [question, *question.variants]
