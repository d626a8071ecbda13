"""The Learn page as HTML, a screen at a time, each made once: the entrance, the rungs, and what
stands behind them."""

from __future__ import annotations

from functools import lru_cache

from markupsafe import Markup

from explainer.base.texts import Texts
from explainer.learn import hall, teaching
from explainer.learn.content import SECTIONS, Rung
from explainer.learn.course import AFTER, GROUPS, MOVED, NUMBERS, PATHS
from explainer.learn.registry import rungs, self_test
from explainer.views.html import div, tag
from explainer.views.learn_map import course_map
from explainer.views.learn_parts import (
    in_json,
    link,
    question_place,
    rung_text,
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
    return sum(rung.minutes for rung in rungs() if rung.key in keys)


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
        {"asked": asked, "after": [AFTER, NUMBERS[AFTER]]},
        title + tag("p", shortest, class_="fa-fine"),
        class_="fa-selftest",
        role="group",
        aria_labelledby="fa-start-title",
    )


def _paths() -> str:
    there = {rung.key for rung in rungs()}
    cards = Markup()
    for path in PATHS:
        keys = tuple(key for key in path.rungs if key in there)
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
    n = len(rungs())
    title = tag("h2", tell("learn_screens.welcome"), id="learn-entrance-title", tabindex=-1)
    words = tag(
        "p",
        tell("learn_screens.words", n=n),
    )
    advice = tag("p", "", class_="fa-advice", role="status")
    lesson = tag("p", "", class_="fa-lesson")  # in a lecture hall, whose title it is
    behind = (tag("a", SECTIONS[key]["title"], href=to(key)) for key in BEHIND if key in SECTIONS)
    return tag(
        "section",
        div("fa-welcome", title, words, lesson, advice),
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
    """Every rung as a dot, by group."""
    there = {rung.key: rung for rung in rungs()}
    groups = Markup()
    for group in GROUPS:
        dots = Markup().join(
            tag(
                "a",
                "",
                href=to(key),
                class_="fa-dot",
                data_rung=key,
                data_asks=there[key].question.key,
                data_name=f"{NUMBERS[key]} {there[key].title}",
                aria_label=f"{NUMBERS[key]} {there[key].title}",
                **({"aria_current": "step"} if key == here else {}),
            )
            for key in group.rungs
            if key in there
        )
        groups += tag("span", dots) if dots else ""
    return tag("nav", groups, class_="fa-dots", aria_label=tell("learn_screens.rungs"))


def foot(here: str) -> str:
    """The last line of a rung: the one before, all as dots, the next one."""
    found = rungs()
    at = next(k for k, rung in enumerate(found) if rung.key == here)
    the_map = tell("learn_screens.map")
    before, after = (found[k] if 0 <= k < len(found) else None for k in (at - 1, at + 1))
    back, on = (
        tag(
            "a",
            tag("span", f"{NUMBERS[other.key]} {other.title}" if other else the_map),
            href=to(other.key if other else ""),
            class_=f"fa-rung-{name}",
        )
        for name, other in (("back", before), ("next", after))
    )
    return div("fa-screen-foot", back, _dots(here), on)


def _place(key: str) -> str:
    group = next(group for group in GROUPS if key in group.rungs)
    at = group.rungs.index(key) + 1
    return tell("learn_screens.place", group=group.title, at=at, all=len(group.rungs))


def rung_screen(rung: Rung) -> str:
    """One rung: everything of it, of which a lecture hall and a phone show a part at a time."""
    ask = tag(
        "button",
        tell("learn_screens.jump"),
        type="button",
        class_="fa-skip",
        data_jump=".fa-rung-body > .fa-question",
    )
    aside = (
        ask,
        tag("span", _place(rung.key), class_="fa-rung-place"),
        tag("span", tell("learn_screens.min", n=rung.minutes)),
    )
    more = Markup()
    if rung.more:
        name = tag("summary", tell("learn_screens.more"))
        more = tag("details", name, text(rung.more), class_="fa-fold")
    words = rung_text(rung.words, div("fa-links", *map(link, rung.links)), more)
    slide = div(
        "fa-slide",
        tag("p", rung.headline, class_="fa-headline"),
        tag("ul", *(tag("li", line) for line in rung.lines)),
        tag("p", rung.ground, class_="fa-ground"),
    )
    asked = {"question": hall.slide(rung), "state": rung.hall_state}
    body = div(
        "fa-rung-body",
        words,
        slide,
        widget_place(rung.widget),
        question_place(rung.question),
        in_json("data-hall", asked, class_="fa-hall-asked"),
        style=f"--lines:{len(rung.lines)}",
    )
    return tag(
        "section",
        head(rung.key, rung.title, *aside, number=NUMBERS[rung.key]),
        body,
        foot(rung.key),
        class_=f"fa-screen fa-rung is-{rung.layout}",
        id=f"learn-{rung.key}",
        data_key=rung.key,
        aria_labelledby=f"learn-{rung.key}-title",
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
            tag("a", tell("learn_screens.map"), href=to(""), class_="fa-rung-back"),
        ),
        class_="fa-screen fa-behind",
        id=f"learn-{key}",
        data_key=key,
        aria_labelledby=f"learn-{key}-title",
    )


def keys() -> tuple[str, ...]:
    """Of all screens: the entrance, the rungs in order, what stands behind them."""
    return (ENTRANCE, *(rung.key for rung in rungs()), *SECTIONS)


@lru_cache(maxsize=64)
def screen(key: str) -> str:
    """One screen. Raises KeyError for a key that has none."""
    if key == ENTRANCE:
        return _entrance()
    rung = next((rung for rung in rungs() if rung.key == key), None)
    return rung_screen(rung) if rung else _behind(key)


def outline() -> dict:
    """What the browser must know before it asks: the screens, older keys, the paths' stops."""
    there = keys()
    return {
        "keys": there,
        "moved": MOVED,
        "rungs": {rung.key: [NUMBERS[rung.key], rung.title] for rung in rungs()},
        "paths": {path.key: [x for x in path.rungs if x in there] for path in PATHS},
        "starts": [*(start for _, start in self_test()), AFTER],
        "ends": {path.key: [path.title, path.done] for path in PATHS},
        "lessons": {
            key: {"title": one.title, "stops": [x for x, _ in one.stops]}
            for key, one in teaching.LESSONS.items()
        },
        "end": END,
    }
