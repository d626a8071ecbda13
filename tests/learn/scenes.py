"""What tests of lessons share: a lesson by its key, a widget's blocks, a scene's shapes."""

from __future__ import annotations

import json
from functools import lru_cache

from explainer.learn.blocks import Block
from explainer.learn.content import Question
from explainer.learn.registry import answer, lessons, widgets
from explainer.learn.widgets import Control, Widget, read_controls


def questions() -> list[Question]:
    """Return the questions of all lessons, in their order, without variants."""
    return [one.question for one in lessons()]


def blocks(key: str, **query: object) -> list[Block]:
    """Return the blocks of a widget for these controls, the others as at first."""
    return answer({"w": key} | {k: str(v) for k, v in query.items()})["blocks"]


def choices(widget: str, key: str) -> list:
    """Return the values of a control that offers some."""
    control = read_controls(widget)[key]
    return [control.parse(value) for value, _ in control.choices]


def shapes(key: str, **query: object) -> list[dict]:
    """All shapes of the widget's first scene."""
    block = next(b for b in blocks(key, **query) if b["type"] == "picture")
    return [shape for panel in block["data"]["panels"] for shape in panel["shapes"]]


def words(key: str, **query: object) -> str:
    """All that is written in the scene, in its order, and in the sentences below it."""
    below = [str(b["words"]) for b in blocks(key, **query) if b["type"] == "text"]
    return " | ".join([*(str(s["text"]) for s in shapes(key, **query) if "text" in s), *below])


@lru_cache(maxsize=1)
def _lessons() -> dict:
    return {lesson.key: lesson for lesson in lessons()}


def lesson(key: str):
    return _lessons()[key]


def asked(key: str) -> list:
    """The lesson's question and its variants."""
    question = lesson(key).question
    return [question, *question.variants]


def ends(control: Control) -> list[str]:
    """The values at a control's edges, all of a choice."""
    if control.kind == "toggle":
        return ["0", "1"]
    return [value for value, _ in control.choices] or [str(control.low), str(control.high)]


def every_edge(widget: Widget) -> None:
    """Each control at its edges answers something that can be read and is small."""
    for control in widget.controls:
        for end in ends(control):
            found = blocks(widget.key, **{control.key: end})
            assert len(json.dumps(found, allow_nan=False)) < 60_000
            assert all(b.get("label") or b.get("words") for b in found)


def default_hides_the_answer(key: str) -> None:
    """The answer's number does not stand on the screen beside its question, whatever is open."""
    question = asked(key)[0]
    right = f"{question.answer:,.10g}"
    widget = widgets()[lesson(key).widget]
    said = [lesson(key).words, *words(widget.key).split(" | ")]
    found = [w for text in said for w in text.replace(";", " ").split() if w.strip(".,:") == right]
    assert not found, (right, found)
