"""What a slide asks: options that differ, one of them right, from numbers that are so."""

from __future__ import annotations

import math
import re

import pytest
import torch

from explainer.learn import online
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
    lesson = Lesson("x", "X", 1, "side", "", "", ("a",), (), "w", question)
    assert slide(lesson)["options"] == (("1", "1 c"), ("2", "So."), ("4", "4"), ("30", "30 a"))
    assert slide(lesson)["answer"] == 1
    with pytest.raises(ValueError, match="lesson x: a question of the kind order"):
        slide(Lesson("x", "X", 1, "side", "", "", ("a",), (), "w", Question("x", "order", "?")))


def idle(lesson: Lesson) -> tuple[str, ...]:
    """Keys of the controls that the slide's picture does not depend on: what they say is of another
    case, whatever is chosen."""
    widget = widgets()[lesson.widget]
    asked = {"w": lesson.widget, **lesson.presented_state}
    shown = answer(asked)

    def tells(control: Control) -> bool:
        """A control without a form, and steps, which the keys move, need not."""
        silent = control.drawn or control.key == "step"
        return silent or any(answer(asked | {control.key: x}) != shown for x in ends(control))

    return tuple(control.key for control in widget.controls if not tells(control))


def test_what_the_shown_case_does_not_depend_on_is_out_of_sight():
    """Tried: a control whose every value leaves the slide's picture as it is. What is said of it
    would be of another case."""
    assert idle(LESSONS["when_not"]) == ("nk",) and idle(LESSONS["formats"]) == ("size",)
    for lesson in LESSONS.values():
        for control in widgets()[lesson.widget].controls:
            if control.key in idle(lesson):
                key, values = control.serves
                first = {x.key: x.value for x in widgets()[lesson.widget].controls}
                assert (first | lesson.presented_state)[key] not in values, (
                    lesson.key,
                    control.key,
                )


def test_the_windows_tiles_are_counted_by_hand():
    """Query i sees keys i − 5 to i, in tiles of 4 × 4 of 20 tokens."""
    seen = {(i // 4, j // 4) for i in range(20) for j in range(max(0, i - 5), i + 1)}
    asked = slide(LESSONS["windows"])
    assert asked["options"][asked["answer"]][0] == str(len(seen)) == "12"
    assert [text for text, _ in asked["options"]] == ["9", "12", "15", "25"]
    assert "20 tokens, tiles of 4 × 4" in asked["words"] and "the 5 keys" in asked["words"]


def test_a_mask_s_cells_have_their_tokens():
    asked = slide(LESSONS["mask"])
    assert asked["rows"] == ("token 3", "token 4") and "Tokens 3 and 4" in asked["words"]
    assert asked["columns"] == tuple(f"key {k}" for k in range(5))
    assert "rows" not in slide(LESSONS["attention"]), "names of matrices need none"


def test_the_factor_of_a_rising_maximum():
    """From 2 to 5: e⁻³, by which a sum relative to 2 becomes one relative to 5. The picture shown
    before it has another factor."""
    asked = slide(LESSONS["online"])
    text, why = asked["options"][asked["answer"]]
    assert "from 2 to 5" in asked["words"] and text == "e⁻³"
    assert math.exp(1 - 2) * math.exp(-3) == pytest.approx(math.exp(1 - 5))
    assert why.endswith(f"= {math.exp(-3):.4f}.") and math.exp(-3) != online.factors(5.0)[1]


def test_a_row_of_dS_adds_up_to_what_the_slide_says():
    """By autograd: the gradient of any loss by the scores."""
    asked = slide(LESSONS["backward"])
    S = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)
    (torch.softmax(S, 1) @ torch.randn(4, 3, dtype=torch.float64)).square().sum().backward()
    assert float(S.grad.abs().max()) > 0.01 > 1e-12 > float(S.grad.sum(1).abs().max())
    assert asked["options"][asked["answer"]][0] == "0"
