"""Show a lesson's question as a slide: answered by raised hands, letters for options."""

import math
from typing import Any

from explainer.base.amounts import format_significant
from explainer.learn.blocks import t
from explainer.learn.content import CHOICE, CLICK, NUMBER, Lesson, Question

MOST = 4  # options of a number


def slide(lesson: Lesson) -> dict[str, object]:
    """{"words", and either "options" of (text, why) with "answer" the index of the right one, or
    "cells" with "rows" the tokens that they belong to, if any, "answer" the (row, column) cells
    that are right and "why"}. The options of a number are the answer and what its mistakes give, by
    size. Raises ValueError for a question that neither has options nor cells."""
    question = lesson.presented_question or lesson.question
    if question.kind == CHOICE:
        return {"words": question.words, "options": question.options, "answer": question.answer}
    if question.kind == NUMBER:
        return {"words": question.words} | _numbers(question)
    if question.kind == CLICK:
        cells = {
            "words": question.words,
            "cells": question.cells,
            "answer": question.answer,
            "why": question.reasons[0],
        }
        return cells | (_named(question) if question.rows else {})
    raise ValueError(
        f"lesson {lesson.key}: a question of the kind {question.kind} needs one for a slide"
    )


def _named(question: Question) -> dict[str, object]:
    """Of a grid whose rows have names: those are tokens, its columns are keys."""
    keys = range(len(question.cells[0]))
    return {
        "rows": tuple(t("present.token", k=k) for k in question.rows),
        "columns": tuple(t("present.key", k=k) for k in keys),
    }


def _several(value: Any) -> tuple[float, ...]:
    return tuple(map(float, value)) if isinstance(value, tuple) else (float(value),)


def option_text(value: object, tolerance: float, fields: tuple[str, ...]) -> str:
    """A number's option as it is read out, with no more digits than the tolerance asks for; of
    several each with its field."""
    places = max(0, math.ceil(-math.log10(2 * tolerance))) if tolerance else MOST
    texts = [
        text if len(text := format_significant(x)) <= MOST else format_significant(round(x, places))
        for x in _several(value)
    ]
    if len(texts) > 1:
        return "; ".join(f"{name}: {text}" for name, text in zip(fields, texts, strict=True))
    return texts[0]


def _numbers(question: Question) -> dict[str, object]:
    found: dict[str, tuple[tuple[float, ...], str]] = {}
    for value, why in ((question.answer, question.reasons[0]), *question.mistakes):
        found.setdefault(
            option_text(value, question.tolerance, question.fields), (_several(value), why)
        )
    right, *wrong = found
    texts = sorted([right, *wrong[: MOST - 1]], key=lambda text: found[text][0])
    return {
        "options": tuple((text, found[text][1]) for text in texts),
        "answer": texts.index(right),
    }
