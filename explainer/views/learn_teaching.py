"""The sections "Source texts" and "For lecturers" as HTML."""

from __future__ import annotations

from functools import partial

from markupsafe import Markup

from explainer.base.texts import Texts
from explainer.learn import teaching
from explainer.learn.claims import CLAIMS
from explainer.learn.content import SECTIONS
from explainer.learn.course import NUMBERS
from explainer.learn.registry import rungs
from explainer.views.html import div, tag
from explainer.views.learn_parts import to

tell = Texts("learn")


def _place(where: str) -> str:
    """A link to where a topic is answered."""
    if where.startswith("?"):
        return tag("a", teaching.PAGES[where.removeprefix("?page=")], href=where)
    if where in SECTIONS:
        return tag("a", SECTIONS[where]["title"], href=to(where))
    return _rung(where)


def _rung(key: str, more: str = "") -> str:
    """A link to a rung, ``more`` ending its address; its number alone until it is written."""
    titles = {rung.key: rung.title for rung in rungs()}
    if key not in titles:
        return tag("span", NUMBERS[key])
    if more:
        return tag("a", tell("learn_teaching.in_hall"), href=to(key) + more)
    return tag("a", f"{NUMBERS[key]} {titles[key]}", href=to(key))


def sources() -> str:
    """Every topic of the source texts, and where it is answered."""
    jump = partial(tag, "button", type="button", class_="fa-plain")
    titles = list(teaching.TEXTS.values())
    ways = (jump(name, data_jump=f"#fa-text-{k}") for k, (name, _) in enumerate(titles))
    made = tag("nav", *ways, class_="fa-ways", aria_label=tell("learn_teaching.ways"))
    for k, (text, (name, about)) in enumerate(teaching.TEXTS.items()):
        rows = (
            tag("tr", tag("th", topic.topic, scope="row"),
                tag("td", Markup(" · ").join(map(_place, topic.where))))
            for topic in teaching.TOPICS if topic.text == text
        )  # fmt: skip
        made += tag("h3", f"{name}: {about}", id=f"fa-text-{k}", tabindex=-1)
        if k + 1 < len(titles):
            made += tag("button", tell("learn_teaching.skip", text=titles[k + 1][0]),
                        type="button", class_="fa-skip",
                        data_jump=f"#fa-text-{k + 1}")  # fmt: skip
        made += tag("table", tag("tbody", *rows), class_="fa-facts fa-sources")
    return made


def _stop(lesson: str, key: str, minutes: int) -> str:
    in_hall = _rung(key, f"&mode=present&path={lesson}")
    return tag("li", _rung(key), tell("learn_teaching.minutes", n=minutes), in_hall)


def lecturers() -> str:
    """A lecture, a lab, and questions with their answers folded."""
    made = Markup()
    for key, lesson in teaching.LESSONS.items():
        made += tag("h3", lesson.title) + tag("p", lesson.words)
        made += tag("ol", *(_stop(key, *stop) for stop in lesson.stops), class_="fa-stops")
    claims = tag(
        "a", tell("learn_teaching.claims", n=len(CLAIMS)), href=f"{to('claims')}&mode=present"
    )
    made += tag("p", claims)
    known = {rung.key: rung.question for rung in rungs()}
    made += tag("h3", teaching.EXAM["title"]) + tag("p", teaching.EXAM["words"])
    asked = [(key, known[key]) for key in teaching.EXAM["rungs"] if key in known]
    name = tag("summary", tell("learn_teaching.answer"))
    questions = (
        tag("li", tag("p", question.words),
            tag("details", name, tag("p", teaching.answer(question), " ", _place(key))))
        for key, question in asked
    )  # fmt: skip
    return div("", made, tag("ol", *questions, class_="fa-exam"))
