"""The map of the source texts, the lecture, the lab and the exam: whole, and every link opens."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs

import pytest

from explainer.learn import course, teaching
from explainer.learn.content import SECTIONS
from explainer.views.learn_screens import screen
from tests.learn.scenes import LESSONS

# So many topics each text has in the list that the map was made from.


def body(key: str) -> str:
    """A screen between its head and its foot."""
    return screen(key).partition("fa-behind-body")[2].partition("fa-screen-foot")[0]


def links(key: str) -> list[str]:
    """The addresses that a screen's body leads to."""
    return [unescape(link) for link in re.findall(r'<a [^>]*href="([^"]*)"', body(key))]


def opens(where: str) -> bool:
    """Whether a place exists: a lesson of the course, a section, a page of the app."""
    if where.startswith("?"):
        return where.removeprefix("?page=") in teaching.PAGES
    return where in course.NUMBERS or where in SECTIONS


@pytest.mark.parametrize("topic", teaching.TOPICS, ids=lambda topic: topic.topic[:40])
def test_a_topics_places_exist(topic):
    assert topic.where and all(map(opens, topic.where))


def test_the_links_lead_to_those_places():
    there = {*SECTIONS, *LESSONS}
    places = [where for topic in teaching.TOPICS for where in topic.where]
    assert len(links("sources")) == sum(x in there or x.startswith("?") for x in places)
    assert "?page=learn&lesson=claims&mode=present" in links("lecturers")
    for link in links("sources") + links("lecturers"):
        query = parse_qs(link.removeprefix("?"))
        assert link.startswith("?") and set(query) <= {"page", "lesson", "mode", "path"}
        page = query["page"][0]  # Learn alone is its map
        assert (
            opens(query["lesson"][0])
            if "lesson" in query
            else page == "learn" or opens(f"?page={page}")
        )


def test_lessons_have_their_minutes():
    assert {key: session.minutes for key, session in teaching.SESSIONS.items()} == {
        "lecture45": 45,
        "lecture90": 90,
        "lab": 90,
    }
    for session in teaching.SESSIONS.values():
        keys = [key for key, _ in session.stops]
        assert keys == sorted(keys, key=course.ORDER.index) and len({*keys}) == len(keys)
        assert all(f"{minutes} min" in body("lecturers") for _, minutes in session.stops)


@pytest.mark.parametrize("key", LESSONS)
def test_each_kind_of_question_has_an_answer_in_words(key):
    assert len(teaching.answer(LESSONS[key].question)) > 5
