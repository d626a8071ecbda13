"""The course as data: its order, its paths, and what every lesson and every question must have."""

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from explainer.algorithms.schedule import schedule
from explainer.base.fields import parse_pass
from explainer.engine import recorded
from explainer.engine.requests import Sweep
from explainer.learn import (
    content,
    course,
    duration,
    folder,
)
from explainer.learn.content import PAGES
from explainer.learn.lessons.gpu import lesson as gpu
from explainer.learn.lessons.memory import lesson as memories
from explainer.learn.lessons.trips import lesson as round_trips
from explainer.learn.registry import lessons, self_test, widgets
from explainer.pages import run
from explainer.pages.address import parse_address
from explainer.problem import Problem
from explainer.views.stories.pages import CHAPTERS, DEFAULTS, parse_workload
from tests.learn.scenes import LESSONS, every_question


def test_the_self_test_asks_short_questions_on_the_way_up_and_one_of_attention():
    asked_for, starts = zip(*self_test(), strict=True)
    assert [course.ORDER.index(key) for key in (*starts, course.AFTER)] == sorted(
        {course.ORDER.index(key) for key in (*starts, course.AFTER)}
    )
    assert {"dot", "matmul", "softmax", "cat", "safe", "mask"} == {*starts}, (
        "what it gives as known"
    )
    assert all(q.kind == content.CHOICE for q in asked_for)
    assert all(len(words) <= 14 for q in asked_for for words, _ in q.options), "in one line"
    assert all(len(q.options) == 4 and all(why for _, why in q.options) for q in asked_for)


def test_the_self_test_s_answers_are_right():
    """[1, 2, 3] · [4, 5, 6]; (2 × 3)(3 × 4); of [5, 5]; exp(89) in fp32; the third of four rows."""
    assert {q.key.removeprefix("start-"): q.options[q.answer][0] for q, _ in self_test()} == {
        "dot": "32",
        "product": "24",
        "softmax": "[½, ½]",
        "cat": "values",
        "exp": "∞",
        "mask": "keys 0 to 2",
    }


def test_the_course_names_lessons_once_and_in_order():
    assert len({*course.ORDER}) == len(course.ORDER)
    for path in course.PATHS:
        assert [*path.lessons] == [key for key in course.ORDER if key in path.lessons], path.key
    starts = {*(key for _, key in course.SELF_TEST), course.AFTER, *course.MOVED.values()}
    assert starts <= {*course.ORDER} and not {*course.MOVED} & {*course.ORDER}


def minutes(keys: tuple[str, ...]) -> int:
    return sum(LESSONS[key].minutes for key in keys)


def test_a_path_is_as_long_as_its_name_says():
    """Within a tenth, by the formula that the map states."""
    named = {"15 minutes": 15, "1 hour": 60}
    for path in course.PATHS[:-1]:
        said = named[path.title]
        assert abs(minutes(path.lessons) - said) <= said / 10, (path.title, minutes(path.lessons))


def test_a_lesson_s_minutes_are_its_words_picture_controls_and_question():
    """130 words, two controls and more, lines of code: 1 + 1 + 1 + 2."""
    lesson = replace(LESSONS["online"], words="word " * 130)
    assert lesson.question.kind == content.ORDER
    asked = replace(lesson.question, words="", options=())
    assert duration.minutes(replace(lesson, question=asked), 7) == 5
    choice = content.Question("k", content.CHOICE, "word " * 65)
    assert duration.minutes(replace(lesson, question=choice), 1) == 4  # 1.5 + 1 + 0.5 + 1


def test_the_lessons_come_in_the_course_s_order_and_each_asks_something_else():
    assert [*LESSONS] == [*course.ORDER] and sorted(LESSONS) == [*folder.KEYS]
    assert len({lesson.question.key for lesson in lessons()}) == len(LESSONS)


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.key)
def test_a_lesson_is_whole_and_its_links_open(lesson):
    assert lesson.key in widgets() and lesson.title and lesson.words and lesson.headline
    assert lesson.layout in ("side", "right", "below") and 0 < lesson.minutes < 60
    assert 0 < len(lesson.lines) <= 4 and lesson.links
    assert {*lesson.presented_state} <= {c.key for c in widgets()[lesson.key].controls}
    widgets()[lesson.key].parse(lesson.presented_state)
    for link in lesson.links:
        assert link.page in PAGES and bool(link.url) == (link.page == "paper") != bool(link.query)
        assert not link.url or link.url.startswith("https://")
        parts = dict(parse_qsl(link.query))
        assert parts.get("page", "step") == link.page or link.page == "paper", link
        if link.page == "step":
            visit = schedule(Problem.from_query(parts), parse_pass(parts))[int(parts["step"])]
            assert parts.get("phase") is None or parts["phase"] in visit.phases
        if parts.get("run-sweep"):
            wanted = Sweep.from_query(run.parse_request(parse_address(link.query)).to_query())
            near, rows = recorded.swept(wanted)
            assert near == wanted and {row["method"] for row in rows} == {*wanted.methods}, link


@pytest.mark.parametrize("q", every_question(), ids=lambda q: q.key)
def test_a_question_is_whole(q):
    assert all(other.key == q.key and not other.variants for other in q.variants)
    if q.kind in ("choice", "order"):
        assert len(q.options) > 1 and all(words and reason for words, reason in q.options)
    if q.kind == "choice":
        assert 0 <= q.answer < len(q.options)
        assert len({words for words, _ in q.options}) == len(q.options)
    if q.kind in ("number", "click", "fill"):
        assert all(q.reasons)
    if q.kind == "click":
        assert q.answer and all(q.cells[r][c] is not None for r, c in q.answer)
    for index, offered, right in q.gaps:
        assert q.options[index][0].count("___") == 1 and right in offered
    if q.run:
        keys = {control.key for control in widgets()[q.run].controls}
        assert {f"g{k}" for k in range(1, len(q.gaps) + 1)} <= keys
        assert q.kind == content.FILL or "order" in keys


# What a lesson's picture shows at first: the page that its link opens shows the same.
SAME = {
    ("gpu", "parallel"): ("sms", {"n": gpu.N, "block_q": gpu.TILE, "heads": "heads"}),
    ("memory", "memory"): ("where", {"n": memories.N, "d": memories.D, "block_q": memories.TILE}),
    ("trips", "memory"): ("trips", {"n": "n", "heads": "heads", "d": round_trips.D}),
    ("fusion", "memory"): ("trips", {"n": "n", "d": 64}),
    ("recompute", "memory"): ("capacity", {"n": "n", "heads": 1}),
    ("order", "parallel"): ("decoding", {}),
    ("decode", "parallel"): ("decoding", {}),
    ("warps", "parallel"): ("warps", {}),
    ("cores", "parallel"): ("warps", {}),
    ("gqa", "memory"): ("masks", {}),
    ("engines", "memory"): ("masks", {}),
}


@pytest.mark.parametrize(("lesson", "page"), SAME)
def test_a_link_opens_the_view_it_speaks_of_with_the_lesson_s_numbers(lesson, page):
    (link,) = (x for x in LESSONS[lesson].links if x.page == page)
    query = {k[4:]: v for k, v in parse_qsl(link.query) if k.startswith(f"{page[:3]}-")}
    view, wanted = SAME[lesson, page]
    plain = {"view": next(iter(CHAPTERS[page])), "pass": "forward"} | DEFAULTS[page]
    known = CHAPTERS[page]
    assert query.keys() <= plain.keys() and view in known
    assert (plain | query)["view"] == view
    assert (plain | query)["pass"] == ("backward" if lesson == "recompute" else "forward")
    first = {c.key: c.value for c in widgets()[lesson].controls}
    shown = parse_workload(page, query)
    for field, value in wanted.items():
        assert getattr(shown, field) == int(first.get(value, value)), field
