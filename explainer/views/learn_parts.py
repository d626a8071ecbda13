"""What the Learn page's screens are made of, as HTML. Every text is escaped; assets/js/learn makes
them live."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from html import escape

from markupsafe import Markup

from explainer.learn import glossary
from explainer.learn.content import CHOICE, CLICK, FILL, NUMBER, ORDER, Link, Question
from explainer.learn.registry import widgets
from explainer.learn.widgets import Control
from explainer.views.html import div, tag

SAID = ("key", "kind", "words", "hint", "unit")
ASKED = {  # what each kind of question is made of
    CHOICE: (*SAID, "options", "answer"),
    NUMBER: (*SAID, "answer", "tolerance", "reasons", "mistakes", "fields"),
    ORDER: (*SAID, "options", "gaps", "run", "answer", "reasons"),
    CLICK: (*SAID, "cells", "rows", "notes", "answer", "reasons"),
    FILL: (*SAID, "options", "gaps", "reasons", "run"),
}
SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z“(])")
LEAD = 160  # characters, four lines of a phone
SET = dict.fromkeys(("low", "high", "step"), ("range", "number"))


def in_json(name: str, value: object, content: str = "", **attributes: object) -> str:
    """A ``div`` with a JSON value in the attribute ``name``. In single quotes: JSON has so many
    double ones that escaping them would be a thirtieth of the page."""
    said = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    said = escape(said, quote=False).replace("'", "&#39;")
    return Markup(f"<div {name}='{said}'") + tag("div", content, **attributes).removeprefix("<div")


def widget_place(key: str, controls: Iterable[Control] | None = None) -> str:
    """Where a widget is to stand, with its own controls or narrower ones."""
    widget = widgets()[key]
    told = [
        {
            k: v
            for k, v in asdict(c).items()
            if c.kind in SET.get(k, c.kind) and v != () and v is not False
        }
        for c in controls or widget.controls
    ]
    return in_json(
        "data-controls",
        told,
        class_="fa-widget",
        data_widget=key,
        role="group",
        aria_label=widget.title,
    )


def _asked(question: Question) -> dict:
    found = asdict(question) | {"unit": question.unit}
    return {k: found[k] for k in ASKED[question.kind] if found[k] not in ("", ())}


def question_place(question: Question) -> str:
    """Where a question is to stand, with its variants."""
    asked = _asked(question)
    if question.variants:
        asked["variants"] = [_asked(other) for other in question.variants]
    return in_json("data-question", asked, class_="fa-question")


@lru_cache(maxsize=1)
def _names() -> tuple[re.Pattern, dict[str, str]]:
    """What is found in a text as a term of the glossary: {as it is written: key}."""
    found = glossary.spelled()
    longest = sorted(map(re.escape, found), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(longest)})(?![\w-])"), found


def _marked(words: str, seen: set[str]) -> Markup:
    """The text, escaped, with the first place of each term of the glossary marked."""
    pattern, keys = _names()

    def mark(match: re.Match) -> str:
        key = keys[match[0]]
        if key in seen:
            return match[0]
        seen.add(key)
        return tag("abbr", match[0], data_term=key, tabindex=0)

    parts, end = [], 0
    for match in pattern.finditer(words):
        parts += [words[end : match.start()], mark(match)]
        end = match.end()
    return Markup().join([*parts, words[end:]])


def text(words: str, *more: str) -> str:
    """Paragraphs, by blank lines, the first place of each term marked; then ``more``."""
    seen: set[str] = set()
    paragraphs = (tag("p", _marked(part, seen)) for part in words.split("\n\n"))
    return div("fa-lesson-text", *paragraphs, *more)


def lead(paragraph: str) -> str:
    """Its first sentence, and the second one if both are short."""
    sentences = SENTENCE.split(paragraph)
    both = " ".join(sentences[:2])
    return both if len(both) <= LEAD else sentences[0]


def lesson_text(words: str, *more: str) -> str:
    """As :func:`text`; what leads it is an element of its own, which a phone shows above the
    picture."""
    seen: set[str] = set()
    first, *others = words.split("\n\n")
    begin = lead(first)
    rest = first[len(begin) :].strip()
    opening = tag("span", _marked(begin, seen), class_="fa-lead")
    if rest:
        opening += " " + tag("span", _marked(rest, seen))
    paragraphs = (tag("p", _marked(part, seen)) for part in others)
    return div("fa-lesson-text", tag("p", opening), *paragraphs, *more)


def link(one: Link) -> str:
    """A place of this app, or a paper: that one opens beside the page."""
    if not one.url:
        return tag("a", one.words, class_="fa-run-link", href=f"?{one.query}")
    return paper_link(one.words, one.url)


def paper_link(words: str, url: str) -> str:
    """To another host, in a tab of its own; nothing is fetched before it is pressed."""
    return tag(
        "a", words, class_="fa-run-link is-paper", href=url, rel="noreferrer", target="_blank"
    )


def to(key: str) -> str:
    """The address of a screen of this page."""
    return f"?page=learn&lesson={key}" if key else "?page=learn"
