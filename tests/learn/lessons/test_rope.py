"""The lesson: moved pairs score as before; ALiBi's slopes are the paper's."""

import pytest

from explainer.learn.lessons.rope import lesson
from tests.learn.scenes import asked, cases, find_mark


def test_a_moved_pair_scores_as_before():
    """The rotation itself is judged by the kernels' in test_variants.py."""
    for question, (i, j, to) in zip(asked("rope"), cases("rope"), strict=True):
        assert lesson.score(to, question.answer) == pytest.approx(lesson.score(i, j))
        assert lesson.score(to, j) != pytest.approx(lesson.score(i, j), abs=1e-3)


def test_alibis_line_is_the_papers():
    for head in range(4):
        line = find_mark("rope", "plot", "ALiBi", head=head)["series"][0]["y"]
        assert line[6] == -6 / 2 ** (head + 1)  # 8 heads: 1/2, 1/4, 1/8 …
