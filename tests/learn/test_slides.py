"""What a slide asks: options that differ, one of them right, from numbers that are so."""

import re

import pytest

from explainer.learn.content import Lesson, Question
from explainer.learn.registry import answer, widgets
from explainer.learn.slides import slide
from explainer.learn.widgets import Control
from tests.learn.scenes import LESSONS, ends


@pytest.mark.parametrize("key", LESSONS)
def test_a_slide_has_options_that_differ_or_cells(key):
    asked = slide(LESSONS[key])
    assert asked["words"].endswith(("?", "."))
    if "cells" in asked:
        assert len(asked.get("rows", asked["cells"])) == len(asked["cells"])
        assert ("rows" in asked) == bool(LESSONS[key].question.rows)
        assert asked["why"] and all(asked["cells"][i][j] for i, j in asked["answer"])
        return
    texts = [text for text, _ in asked["options"]]
    assert 2 <= len({*texts}) == len(texts) <= 4 and all(why for _, why in asked["options"])
    question = LESSONS[key].presented_question or LESSONS[key].question
    right = texts[asked["answer"]]
    if question.kind == "number":
        values = question.answer if isinstance(question.answer, tuple) else (question.answer,)
        told = [float(x.replace(",", "")) for x in re.findall(r"[\d,.]+(?=;|$)", right)]
        assert told == pytest.approx(values, abs=question.tolerance)
    else:
        assert right == question.options[question.answer][0]


def test_numbers_stand_by_size_and_no_two_are_written_alike():
    mistakes = ((30.0, "30 a"), (2.00001, "b"), (1.0, "1 c"), (4.0, "4"), (5.0, "5"))
    question = Question("x", "number", "?", answer=2.0, reasons=("So.", ""), mistakes=mistakes)
    lesson = Lesson("x", "X", 1, "", "", ("a",), (), question)
    assert slide(lesson)["options"] == (("1", "1 c"), ("2", "So."), ("4", "4"), ("30", "30 a"))
    assert slide(lesson)["answer"] == 1
    with pytest.raises(ValueError, match="lesson x: a question of the kind order"):
        slide(Lesson("x", "X", 1, "", "", ("a",), (), Question("x", "order", "?")))


def idle(lesson: Lesson) -> tuple[str, ...]:
    """Keys of the controls that the slide's picture does not depend on: what they say is of another
    case, whatever is chosen."""
    widget = widgets()[lesson.key]
    asked = {"w": lesson.key, **lesson.presented_state}
    shown = answer(asked)

    def tells(control: Control) -> bool:
        """A control without a form, and steps, which the keys move, need not."""
        silent = control.drawn or control.key == "step"
        return silent or any(answer(asked | {control.key: x}) != shown for x in ends(control))

    return tuple(control.key for control in widget.controls if not tells(control))


def test_what_the_shown_case_does_not_depend_on_is_out_of_sight():
    """Tried: a control whose every value leaves the slide's picture as it is. What is said of it
    would be of another case."""
    for lesson in LESSONS.values():
        for control in widgets()[lesson.key].controls:
            if control.key in idle(lesson):
                key, values = control.serves
                first = {x.key: x.value for x in widgets()[lesson.key].controls}
                assert (first | lesson.presented_state)[key] not in values, (
                    lesson.key,
                    control.key,
                )
