"""What tests of lessons share: a lesson by its key, a widget's blocks, what a picture shows."""

from collections.abc import Iterable, Iterator

import numpy as np
import torch

from explainer.learn.blocks import Block
from explainer.learn.content import Question
from explainer.learn.folder import read_data
from explainer.learn.pipeline import Slot
from explainer.learn.registry import answer, lessons
from explainer.learn.widgets import Control, read_controls

LESSONS = {lesson.key: lesson for lesson in lessons()}


def asked(key: str) -> list[Question]:
    """Return the lesson's question and its variants."""
    question = LESSONS[key].question
    return [question, *question.variants]


def cases(key: str) -> list[tuple]:
    """Return the numbers that the lesson's question and its variants are computed from."""
    written = read_data(key)["question"]
    return [tuple(one["case"].values()) for one in (written, *written["variants"])]


def answers(key: str) -> list:
    """Return the answers of the lesson's question and its variants."""
    return [question.answer for question in asked(key)]


def every_question() -> list[Question]:
    """Return all lessons' questions, each with its variants, in the course's order."""
    return [question for key in LESSONS for question in asked(key)]


def ends(control: Control) -> list[str]:
    """Return the values at a control's edges, all of a choice."""
    if control.kind == "text":
        return [control.value] if control.drawn else ["", "a b c"]
    if control.kind == "toggle":
        return ["0", "1"]
    return [value for value, _ in control.choices] or [str(control.low), str(control.high)]


def choices(widget: str, key: str) -> list:
    """Return the values of a control that offers some."""
    control = read_controls(widget)[key]
    return [control.parse(value) for value, _ in control.choices]


def blocks(key: str, **query: object) -> list[Block]:
    """Return the blocks of a widget for these controls, the others as at first."""
    return answer({"w": key} | {k: str(v) for k, v in query.items()})["blocks"]


def block(key: str, kind: str = "picture", **query: object) -> Block:
    """Return the first block of this kind."""
    return next(b for b in blocks(key, **query) if b["type"] == kind)


def data(key: str, **query: object) -> dict:
    """Return what the widget's picture is drawn from."""
    return block(key, **query)["data"]


def marks(part: object) -> Iterator[dict]:
    """Walk through all marks of a picture of the kit, one inside another."""
    if isinstance(part, dict):
        if "mark" in part:
            yield part
        for value in part.values():
            yield from marks(value)
    elif isinstance(part, list):
        for value in part:
            yield from marks(value)


def find_mark(key: str, kind: str, name: str = "", **query: object) -> dict:
    """Return the first mark of a kind whose name or title begins so."""
    return next(
        mark
        for mark in marks(blocks(key, **query))
        if mark["mark"] == kind and str(mark.get("name", mark.get("title", ""))).startswith(name)
    )


def bar_values(key: str, **query: object) -> dict[str, float]:
    """Return {name: value} of the picture's bars."""
    return {one["name"]: one["value"] for one in find_mark(key, "bars", **query)["items"]}


def sdpa(q: np.ndarray, k: np.ndarray, v: np.ndarray, **more: object) -> np.ndarray:
    """Return PyTorch's attention in float64."""
    q, k, v = (torch.from_numpy(np.array(x, np.float64))[None] for x in (q, k, v))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, **more)[0].numpy()


def check_units(slots: Iterable[Slot]) -> None:
    """Check that each unit does one piece of work at a time, and each as long as it takes, after
    all that it needs."""
    end: dict[str, float] = {}
    done: dict[tuple, float] = {}
    for s in sorted(slots, key=lambda s: s.start):
        before = [end.get(s.task.unit, 0), *(done[need] for need in s.task.needs)]
        assert s.start >= max(before) - 1e-9
        end[s.task.unit] = done[s.task.key] = s.end
        assert abs(s.end - s.start - s.task.time) < 1e-9
