"""The lesson: the picture shows the model's work; the question's formula is the model's."""

import pytest

from explainer.learn.lessons.overlap import lesson
from explainer.learn.pipeline import ABLATION, busy, run
from tests.learn.scenes import block, find_mark


@pytest.mark.parametrize("step", (1, 17, 48))
def test_the_picture_has_the_first_pieces_of_work(step):
    lanes = find_mark("overlap", "timeline", step=step, variant="overlap")["lanes"]
    assert sum(len(spans) for _, spans in lanes) == step


def test_what_the_paper_measured_stands_beside_the_model():
    for variant in ABLATION:
        assert (
            f"measured: {lesson.measured(variant):.0f}"
            in block("overlap", variant=variant)["words"]
        )
    hypothetical = block("overlap", softmax=2, variant="overlap")["words"]
    assert "nobody measured it" in hypothetical, "661 had its own softmax"


@pytest.mark.parametrize("softmax", (2, 3, 4, 6, 8))
def test_the_question_s_formula_is_what_the_model_gives(softmax):
    found = 100 * busy(run("pingpong", 400, float(softmax)))
    assert lesson.share(softmax) == pytest.approx(found, abs=0.5)
