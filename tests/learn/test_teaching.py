"""The map of the source texts, the lecture, the lab and the exam: whole, and every link opens."""

import pytest
from markupsafe import escape

from explainer.learn import course, teaching
from explainer.learn.content import SECTIONS
from explainer.views.learn_screens import outline, screen
from tests.learn.scenes import LESSONS, every_question


def body(key: str) -> str:
    """A screen between its head and its foot."""
    return screen(key).partition("fa-behind-body")[2].partition("fa-screen-foot")[0]


def opens(where: str) -> bool:
    """Whether a place exists: a lesson of the course, a section, a page of the app."""
    if where.startswith("?"):
        return where.removeprefix("?page=") in teaching.PAGES
    return where in course.NUMBERS or where in SECTIONS


@pytest.mark.parametrize("topic", teaching.TOPICS, ids=lambda topic: topic.topic[:40])
def test_a_topics_places_exist(topic):
    assert topic.where and all(map(opens, topic.where))


def test_lessons_have_their_minutes():
    minutes = {
        key: sum(each for _, each in session.stops) + session.closing
        for key, session in teaching.SESSIONS.items()
    }
    assert minutes == {
        "lecture45": 45,
        "lecture90": 90,
        "lab": 90,
    }
    for session in teaching.SESSIONS.values():
        keys = [key for key, _ in session.stops]
        assert keys == sorted(keys, key=course.ORDER.index) and len({*keys}) == len(keys)
        assert all(f"{minutes} min" in body("lecturers") for _, minutes in session.stops)


def test_the_answers_stand_apart_from_the_exam():
    """Every variant has its row; the exam shows options and no answer."""
    every = every_question()
    assert body("answers").count("<tr>") == len(every) + len(course.GROUPS)  # and the heads
    exam = body("lecturers").partition("fa-exam")[2]
    for key in teaching.EXAM["lessons"]:
        question = LESSONS[key].question
        assert str(escape(question.words)) in exam
        assert all(str(escape(text)) in exam for text, _ in question.options)
        assert str(escape(teaching.answer(question))) not in exam
    assert not {"answers", "lecturers"} & {*outline()["printed"]}
