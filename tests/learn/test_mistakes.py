"""What a wrong answer is said to be: each mistake's value, as worked out on paper."""

import numpy as np
import pytest

from explainer.learn.content import make_question
from tests import by_hand
from tests.learn.scenes import LESSONS, asked, cases
from tests.tables import table

WORKED_OUT = table(__file__)


@pytest.mark.parametrize("key", WORKED_OUT)
def test_answers_and_mistakes_are_those_worked_out_on_paper(key):
    for question, wanted in zip(asked(key), WORKED_OUT[key], strict=True):
        found = [question.answer, *(value for value, _ in question.mistakes)]
        assert found == [pytest.approx(value, rel=1e-5) for value in wanted]


@pytest.mark.parametrize("key", ["cores", "formats", "versions", "warps"])
def test_words_that_are_written_out_name_the_numbers_of_the_case(key):
    for question, case in zip(asked(key), cases(key), strict=True):
        words = question.words.replace(",", "")
        assert all(str(x) in words for x in case if isinstance(x, int)), words


def test_every_number_question_has_its_mistakes():
    numbers = {key for key, lesson in LESSONS.items() if lesson.question.kind == "number"}
    assert {*WORKED_OUT, "profile"} == numbers, "work them out in test_mistakes.yaml"


def test_a_mistake_that_gives_the_answer_is_left_out():
    entry = {
        "key": "k",
        "kind": "number",
        "words": "?",
        "answer": 4.0,
        "tolerance": 0.1,
        "reasons": ("a.", "b."),
        "mistakes": ("is one.", "is two.", "is three."),
    }
    made = make_question(entry | {"wrong": (4.05, 2, 2.05)})
    assert made.mistakes == ((2.0, "2 is two."),)
    with pytest.raises(ValueError, match="zip"):
        make_question(entry | {"wrong": (1, 2)})


def test_a_cell_s_note_is_its_matrix_s():
    for one, (first, last) in zip(asked("mask"), cases("mask"), strict=True):
        assert [int(row) for row in one.rows] == [*range(first, last + 1)]
        hidden = ~np.tri(last + 1, dtype=bool)[first:]
        assert [[("later" in note) for note in row] for row in one.notes] == hidden.tolist()
        assert [*one.answer] == [*map(tuple, np.argwhere(hidden).tolist())]
        assert one.notes[1][2].startswith(f"Token {first + 1} meets key 2, ")
    masks = ("causal&window:5,0", "causal&document:0,7,12", "causal&window:3,0")
    for one, mask in zip(asked("windows"), masks, strict=True):
        visible = by_hand.sees(mask, *np.indices((20, 20))).reshape(5, 4, 5, 4).sum((1, 3))
        assert [*one.answer] == [*map(tuple, np.argwhere(visible).tolist())]
        for note, count in zip(np.ravel(one.notes), visible.flat, strict=True):
            assert f"holds {count or 'no'} visible score" in note


@pytest.mark.parametrize(
    ("key", "variant", "ends"),
    [
        ("softmax", 0, ("3.", "0.75.", "1.5.", "")),
        ("softmax", 1, ("1.5.", "", "0.75.", "0.75.")),
        ("softmax", 2, ("", "1.5.", "1.5.", "")),
        ("when_not", 0, ("10⁻⁹¹.", "10⁻⁹¹.", "", "10⁻⁹¹.")),
    ],
)
def test_a_wrong_choice_says_what_it_would_give(key, variant, ends):
    """Six equal logits are weights of one over the length of the axis; 0.95 to the 4,096th."""
    reasons = [why for _, why in asked(key)[variant].options]
    assert all(why.endswith(f" {end}") for why, end in zip(reasons, ends, strict=True) if end)
