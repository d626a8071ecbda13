"""The sections "Source texts" and "For lecturers" as HTML."""

from __future__ import annotations

from functools import partial

from markupsafe import Markup

from explainer.base.texts import Texts
from explainer.learn import teaching
from explainer.learn.claims import CLAIMS
from explainer.learn.content import SECTIONS
from explainer.learn.course import NUMBERS
from explainer.learn.registry import lessons
from explainer.views.html import div, tag
from explainer.views.learn_parts import to

tell = Texts("learn")


def _place(where: str) -> str:
    """A link to where a topic is answered."""
    if where.startswith("?"):
        return tag("a", teaching.PAGES[where.removeprefix("?page=")], href=where)
    if where in SECTIONS:
        return tag("a", SECTIONS[where]["title"], href=to(where))
    return _lesson(where)


def _name(key: str) -> str:
    """A lesson's number and title; its number alone until it is written."""
    titles = {lesson.key: f"{NUMBERS[key]} {lesson.title}" for lesson in lessons()}
    return titles.get(key, NUMBERS[key])


def _lesson(key: str) -> str:
    """A link to a lesson, if it is written."""
    name = _name(key)
    return tag("span", name) if name == NUMBERS[key] else tag("a", name, href=to(key))


def _present(name: str, query: str) -> str:
    """A link into the lecture hall; ``name`` says to who only hears it what is presented."""
    said = tell("learn_teaching.presents", name=name)
    return tag(
        "a",
        tell("learn_teaching.present"),
        href=f"{query}&mode=present",
        class_="fa-stop-hall",
        aria_label=said,
    )


def sources() -> str:
    """Every topic of the source texts, and where it is answered."""
    jump = partial(tag, "button", type="button", class_="fa-plain")
    titles = list(teaching.TEXTS.values())
    ways = (jump(name, data_jump=f"#fa-text-{k}") for k, (name, _) in enumerate(titles))
    made = tag("nav", *ways, class_="fa-ways", aria_label=tell("learn_teaching.ways"))
    for k, (text, (name, about)) in enumerate(teaching.TEXTS.items()):
        rows = (
            tag(
                "tr",
                tag("th", topic.topic, scope="row"),
                tag("td", Markup(" · ").join(map(_place, topic.where))),
            )
            for topic in teaching.TOPICS
            if topic.text == text
        )
        made += tag("h3", f"{name}: {about}", id=f"fa-text-{k}", tabindex=-1)
        if k + 1 < len(titles):
            made += tag(
                "button",
                tell("learn_teaching.skip", text=titles[k + 1][0]),
                type="button",
                class_="fa-skip",
                data_jump=f"#fa-text-{k + 1}",
            )
        made += tag("table", tag("tbody", *rows), class_="fa-facts fa-sources")
    return made


def _stop(session: str, key: str, minutes: int) -> str:
    way = _present(_name(key), f"{to(key)}&path={session}")
    return tag("li", _lesson(key), tell("learn_teaching.minutes", n=minutes), way)


def _session(key: str, session: teaching.Session) -> str:
    """Its title slide, its stops, its end."""
    head = tag("h3", session.title, " ", _present(session.title, f"{to('')}&path={key}"))
    stops = [_stop(key, *stop) for stop in session.stops]
    if session.closing:
        end = tag("a", SECTIONS["end"]["title"], href=to("end"))
        stops.append(tag("li", end, tell("learn_teaching.minutes", n=session.closing)))
    return head + tag("p", session.words) + tag("ol", *stops, class_="fa-stops")


def lecturers() -> str:
    """A lecture, a lab, the claims, and questions with their answers folded."""
    made = Markup().join(_session(key, session) for key, session in teaching.SESSIONS.items())
    claims = SECTIONS["claims"]["title"]
    made += tag(
        "h3", tell("learn_teaching.claims", n=len(CLAIMS)), " ", _present(claims, to("claims"))
    )
    made += tag("p", tell("learn_teaching.votes"))
    known = {lesson.key: lesson.question for lesson in lessons()}
    made += tag("h3", teaching.EXAM["title"]) + tag("p", teaching.EXAM["words"])
    asked = [(key, known[key]) for key in teaching.EXAM["lessons"] if key in known]
    name = tag("summary", tell("learn_teaching.answer"))
    questions = (
        tag(
            "li",
            tag("p", question.words),
            tag("details", name, tag("p", teaching.answer(question), " ", _place(key))),
        )
        for key, question in asked
    )
    return div("", made, tag("ol", *questions, class_="fa-exam"))
