"""The Learn page as HTML, a screen at a time, each made once: the entrance, the lessons, and what
stands behind them."""

from __future__ import annotations

from functools import lru_cache

from markupsafe import Markup

from explainer.base.texts import Texts
from explainer.learn import hall, teaching
from explainer.learn.content import SECTIONS, Lesson
from explainer.learn.course import AFTER, GROUPS, MOVED, NUMBERS, PATHS
from explainer.learn.registry import lessons, self_test
from explainer.views.html import div, tag
from explainer.views.learn_map import course_map
from explainer.views.learn_parts import (
    in_json,
    lesson_text,
    link,
    question_place,
    text,
    to,
    widget_place,
)
from explainer.views.learn_sections import section

tell = Texts("learn")

ENTRANCE = "entrance"
END = "end"  # what a lecture ends with
# In the entrance's footer, in this order, those that there are.
BEHIND = (
    "claims",
    "glossary",
    "formulas",
    "papers",
    "handout",
    "wild",
    "facts",
    "sources",
    "lecturers",
)
UNSHOWN = {"glossary", "handout", "sources", "papers", "lecturers"}  # to read, not to project
HOURS = tell.row("learn_screens.hours")


def _minutes(keys: tuple[str, ...]) -> int:
    return sum(lesson.minutes for lesson in lessons() if lesson.key in keys)


def _self_test() -> str:
    """Questions in a line; the advice is given below the page's first words."""
    asked = [
        {
            "words": question.words,
            "options": question.options,
            "answer": question.answer,
            "start": start,
            "number": NUMBERS[start],
        }
        for question, start in self_test()
    ]
    title = tag("h3", tell("learn_screens.start"), id="fa-start-title")
    shortest = tell("learn_screens.shortest", short=PATHS[-1].title.lower(), skips=PATHS[0].title)
    return in_json(
        "data-selftest",
        {"questions": asked, "after": [AFTER, NUMBERS[AFTER]]},
        title + tag("p", shortest, class_="fa-fine"),
        class_="fa-selftest",
        role="group",
        aria_labelledby="fa-start-title",
    )


def _paths() -> str:
    there = {lesson.key for lesson in lessons()}
    cards = Markup()
    for path in PATHS:
        keys = tuple(key for key in path.lessons if key in there)
        minutes = _minutes(keys)
        rest = tell("learn_screens.minutes", n=minutes)
        if minutes > 90:
            rest = HOURS[round(minutes / 60)]
        name = tag("button", path.title, type="button", aria_pressed="false")
        said = f"{path.words[0].lower()}{path.words[1:]}"
        words = tag("p", tell("learn_screens.path", n=len(keys), minutes=rest, words=said))
        cards += tag(
            "section",
            tag("h3", name),
            tag("span", "", class_="fa-path-done"),
            words,
            tag(
                "a",
                tell("learn_screens.first", number=NUMBERS[keys[0]]),
                href=to(keys[0]),
                class_="fa-path-go",
            ),
            class_=f"fa-path is-{path.key}",
            data_path=path.key,
            aria_label=path.title,
        )
    return div("fa-paths", cards)


def _entrance() -> str:
    n = len(lessons())
    title = tag("h2", tell("learn_screens.welcome"), id="learn-entrance-title", tabindex=-1)
    words = tag(
        "p",
        tell("learn_screens.words", n=n),
    )
    advice = tag("p", "", class_="fa-advice", role="status")
    session = tag("p", "", class_="fa-session")  # in a lecture hall, whose title it is
    behind = (tag("a", SECTIONS[key]["title"], href=to(key)) for key in BEHIND if key in SECTIONS)
    return tag(
        "section",
        div("fa-welcome", title, words, session, advice),
        _self_test(),
        _paths(),
        course_map(),
        div("fa-screen-foot", tag("nav", *behind, aria_label=tell("learn_screens.beside"))),
        class_="fa-screen fa-entrance",
        id="learn-entrance",
        aria_labelledby="learn-entrance-title",
    )


def head(key: str, title: str, *aside: str, number: str = "") -> str:
    """The first line of a screen: its title, then what stands at the right."""
    numbered = tag("span", number, class_="fa-number") if number else Markup()
    name = tag("h2", numbered, title, id=f"learn-{key}-title", tabindex=-1)
    present = tag(
        "button", tell("learn_screens.present"), type="button", class_="fa-plain fa-to-hall"
    )
    tools = () if key in UNSHOWN else (present,)
    way = tag("a", tell("learn_screens.way"), href=to(""), class_="fa-plain")
    return tag("header", name, *aside, *tools, way, class_="fa-screen-head")


def _dots(here: str) -> str:
    """Every lesson as a dot, by group."""
    there = {lesson.key: lesson for lesson in lessons()}
    groups = Markup()
    for group in GROUPS:
        dots = Markup().join(
            tag(
                "a",
                "",
                href=to(key),
                class_="fa-dot",
                data_lesson=key,
                data_asks=there[key].question.key,
                data_name=f"{NUMBERS[key]} {there[key].title}",
                aria_label=f"{NUMBERS[key]} {there[key].title}",
                **({"aria_current": "step"} if key == here else {}),
            )
            for key in group.lessons
            if key in there
        )
        groups += tag("span", dots) if dots else ""
    return tag("nav", groups, class_="fa-dots", aria_label=tell("learn_screens.lessons"))


def foot(here: str) -> str:
    """The last line of a lesson: the one before, all as dots, the next one."""
    found = lessons()
    at = next(k for k, lesson in enumerate(found) if lesson.key == here)
    the_map = tell("learn_screens.map")
    before, after = (found[k] if 0 <= k < len(found) else None for k in (at - 1, at + 1))
    back, on = (
        tag(
            "a",
            tag("span", f"{NUMBERS[other.key]} {other.title}" if other else the_map),
            href=to(other.key if other else ""),
            class_=f"fa-lesson-{name}",
        )
        for name, other in (("back", before), ("next", after))
    )
    return div("fa-screen-foot", back, _dots(here), on)


def _place(key: str) -> str:
    group = next(group for group in GROUPS if key in group.lessons)
    at = group.lessons.index(key) + 1
    return tell("learn_screens.place", group=group.title, at=at, all=len(group.lessons))


def lesson_screen(lesson: Lesson) -> str:
    """One lesson: everything of it, of which a lecture hall and a phone show a part at a time."""
    ask = tag(
        "button",
        tell("learn_screens.jump"),
        type="button",
        class_="fa-skip",
        data_jump=".fa-lesson-body > .fa-question",
    )
    aside = (
        ask,
        tag("span", _place(lesson.key), class_="fa-lesson-place"),
        tag("span", tell("learn_screens.min", n=lesson.minutes)),
    )
    more = Markup()
    if lesson.more:
        name = tag("summary", tell("learn_screens.more"))
        more = tag("details", name, text(lesson.more), class_="fa-fold")
    words = lesson_text(lesson.words, div("fa-links", *map(link, lesson.links)), more)
    slide = div(
        "fa-slide",
        tag("p", lesson.headline, class_="fa-headline"),
        tag("ul", *(tag("li", line) for line in lesson.lines)),
        tag("p", lesson.ground, class_="fa-ground"),
    )
    asked = {"question": hall.slide(lesson), "state": lesson.hall_state}
    body = div(
        "fa-lesson-body",
        words,
        slide,
        widget_place(lesson.widget),
        question_place(lesson.question),
        in_json("data-hall", asked, class_="fa-hall-asked"),
        style=f"--lines:{len(lesson.lines)}",
    )
    return tag(
        "section",
        head(lesson.key, lesson.title, *aside, number=NUMBERS[lesson.key]),
        body,
        foot(lesson.key),
        class_=f"fa-screen fa-lesson is-{lesson.layout}",
        id=f"learn-{lesson.key}",
        data_key=lesson.key,
        aria_labelledby=f"learn-{lesson.key}-title",
    )


def _behind(key: str) -> str:
    entry = SECTIONS[key]
    scrolls = {"role": "region", "aria_label": entry["title"], "tabindex": 0}
    named = scrolls if key == "glossary" else {}  # it holds nothing that could have the keyboard
    return tag(
        "section",
        head(key, entry.get("heading") or entry["title"]),
        div("fa-behind-body", section(key, entry.get("words", "")), **named),
        div(
            "fa-screen-foot",
            tag("a", tell("learn_screens.map"), href=to(""), class_="fa-lesson-back"),
        ),
        class_="fa-screen fa-behind",
        id=f"learn-{key}",
        data_key=key,
        aria_labelledby=f"learn-{key}-title",
    )


def keys() -> tuple[str, ...]:
    """Of all screens: the entrance, the lessons in order, what stands behind them."""
    return (ENTRANCE, *(lesson.key for lesson in lessons()), *SECTIONS)


@lru_cache(maxsize=64)
def screen(key: str) -> str:
    """One screen. Raises KeyError for a key that has none."""
    if key == ENTRANCE:
        return _entrance()
    lesson = next((lesson for lesson in lessons() if lesson.key == key), None)
    return lesson_screen(lesson) if lesson else _behind(key)


def outline() -> dict:
    """What the browser must know before it asks: the screens, older keys, the paths' stops."""
    there = keys()
    return {
        "keys": there,
        "moved": MOVED,
        "lessons": {lesson.key: [NUMBERS[lesson.key], lesson.title] for lesson in lessons()},
        "paths": {path.key: [x for x in path.lessons if x in there] for path in PATHS},
        "starts": [*(start for _, start in self_test()), AFTER],
        "ends": {path.key: [path.title, path.done] for path in PATHS},
        "sessions": {
            key: {"title": one.title, "stops": [x for x, _ in one.stops]}
            for key, one in teaching.SESSIONS.items()
        },
        "end": END,
    }
