"""The Learn page as HTML, made once: the ladder and what stands behind it. Every text is escaped;
assets/js/learn/index.js makes it live."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from html import escape

from markupsafe import Markup

from explainer.learn import claims, glossary, level0, reference, wild
from explainer.learn.blocks import Control, code
from explainer.learn.content import (
    CHOICE,
    CLICK,
    FILL,
    NUMBER,
    ORDER,
    SECTIONS,
    Claim,
    Known,
    Link,
    Question,
    Rung,
    Snippet,
)
from explainer.learn.course import NUMBERS
from explainer.learn.registry import rungs, widgets
from explainer.views.html import div, tag

SAID = ("key", "kind", "words")
ASKED = {  # what each kind of question is made of
    CHOICE: (*SAID, "options", "answer"),
    NUMBER: (*SAID, "answer", "tolerance", "reasons"),
    ORDER: (*SAID, "options", "gaps"),
    CLICK: (*SAID, "cells", "answer", "reasons"),
    FILL: (*SAID, "options", "gaps", "reasons", "run"),
}
SET = dict.fromkeys(("low", "high", "step"), ("range", "number"))
NEEDS = {"": "runs anywhere", "gpu": "needs an NVIDIA GPU"}


def _json(name: str, value: object, content: str = "", **attributes: object) -> str:
    """A ``div`` with a JSON value in the attribute ``name``. In single quotes: JSON has so many
    double ones that escaping them would be a thirtieth of the page."""
    said = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    said = escape(said, quote=False).replace("'", "&#39;")
    return Markup(f"<div {name}='{said}'") + tag("div", content, **attributes).removeprefix("<div")


def widget_place(key: str, controls: Iterable[Control] | None = None) -> str:
    """Where a widget is to stand, with its own controls or narrower ones."""
    widget = widgets()[key]
    told = [
        {k: v for k, v in asdict(c).items() if c.kind in SET.get(k, c.kind) and v != ()}
        for c in controls or widget.controls
    ]
    return _json("data-controls", told, class_="fa-widget", data_widget=key,
                 role="group", aria_label=widget.title)  # fmt: skip


def _question(question: Question) -> str:
    asked = {k: v for k, v in asdict(question).items() if k in ASKED[question.kind]}
    return _json("data-question", asked, class_="fa-question")


def _card(key: str, title: str, *body: str, kind: str = "") -> str:
    name = f"learn-{key}"
    head = div("fa-card-head", tag("h2", title, id=f"{name}-title", tabindex=-1))
    return tag(
        "section", head, *body, class_=f"fa-card fa-rung {kind}".strip(), id=name,
        aria_labelledby=f"{name}-title",
    )  # fmt: skip


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


def _text(*paragraphs: str) -> str:
    return div("fa-rung-text", *(tag("p", words) for words in paragraphs))


def _intro(words: str) -> str:
    """One paragraph with its terms marked."""
    return _text(_marked(words, set()))


def _link(link: Link) -> str:
    """A place of this app, or a paper: that one opens beside the page."""
    if not link.url:
        return tag("a", link.words, class_="fa-run-link", href=f"?{link.query}")
    return tag("a", link.words, class_="fa-run-link", href=link.url, rel="noreferrer",
               target="_blank")  # fmt: skip


def _rung(rung: Rung) -> str:
    links = map(_link, rung.links)
    seen: set[str] = set()
    paragraphs = [_marked(part, seen) for part in rung.words.split("\n\n")]
    return _card(
        rung.key, f"{NUMBERS[rung.key]} · {rung.title}", _text(*paragraphs, *links),
        widget_place(rung.widget), _question(rung.question),
    )  # fmt: skip


def _known(number: int, known: Known) -> str:
    """One question of Level 0; what is computed, and the way to the rung, come with the answer."""
    rung = next(r for r in rungs() if r.key == known.rung)
    back = tag("a", f"Rung {NUMBERS[rung.key]}: {rung.title}", href=f"#learn-{rung.key}")
    title = tag("h3", f"{number} · {known.title}", class_="fa-claim-words", tabindex=-1)
    shown = widget_place(known.question.key) + tag("p", "The whole of it: ", back, class_="fa-fine")
    inside = title + _question(known.question) + tag("div", shown, data_reveal="", hidden="")
    return tag("section", inside, class_="fa-card fa-known", aria_label=known.title)


def _claim(claim: Claim) -> str:
    said = {"key": claim.key, "truth": claim.truth, "why": claim.why, "source": claim.source}
    shown = widget_place(claim.widget) if claim.widget else ""
    reveal = tag("div", shown, data_reveal="", hidden="") if shown else ""
    words = tag("h3", claim.words, class_="fa-claim-words", tabindex=-1)
    return tag("section", _json("data-claim", said, words + reveal, class_="fa-claim"),
               class_="fa-card fa-claim-card", aria_label=claim.words)  # fmt: skip


def _snippet(snippet: Snippet) -> str:
    needs = NEEDS.get(snippet.needs, f"needs the package {snippet.needs}")
    block = _json("data-block", code(snippet.title, snippet.code))
    head = tag("h3", snippet.title, tabindex=-1) + tag("span", needs, class_="fa-fine")
    inside = div("fa-snippet-head", head) + tag("p", snippet.words)
    return tag("section", inside, block, class_="fa-card fa-snippet",
               aria_label=snippet.title)  # fmt: skip


def _terms() -> str:
    """The glossary as a list."""
    rows = Markup()
    for term in glossary.TERMS:
        name = f"{term.symbol}, {term.name}" if term.symbol else term.name
        rows += div("", tag("dt", name), tag("dd", term.words))
    return tag("dl", rows, class_="fa-terms")


def _papers() -> str:
    papers = (
        tag("li", tag("b", f"{p.title}."), f" {p.authors}, {p.year}. {p.brought} ",
            tag("span", f"{p.link}.", class_="fa-paper-link"))
        for p in reference.PAPERS
    )  # fmt: skip
    reading = (tag("li", tag("b", f"{title}."), f" {words}") for title, words in reference.READING)
    return div("fa-papers", tag("ul", *papers), tag("h3", "Further reading"), tag("ul", *reading))


def _section(key: str, title: str, words: str = "", heading: str = "") -> str:
    """The card of a section, and what stands below it."""
    inside, below = Markup(), Markup()
    if key == "level0":
        asked = [_known(k, known) for k, known in enumerate(level0.KNOWN, 1)]
        half = (len(asked) + 1) // 2
        columns = (div("fa-knowns-half", *part) for part in (asked[:half], asked[half:]))
        below = div("fa-knowns", *columns)
    elif key == "claims":
        below = Markup().join(map(_claim, claims.CLAIMS))
    elif key == "wild":
        inside = widget_place("backends")
        below = div("fa-snippets", *map(_snippet, wild.SNIPPETS))
    elif key == "glossary":
        inside = _terms()
    elif key == "papers":
        inside = _papers()
    elif key == "handout":
        sheets = ("handout1", "handout2")
        inside = Markup().join(tag("h3", widgets()[k].title) + widget_place(k) for k in sheets)
    else:
        inside = widget_place(key.removeprefix("lab-"))
    intro = _intro(words) if words else ""
    return _card(key, heading or title, intro, inside, kind="is-wide") + below


KNOW_IT = tag("p", "Know it already? ", tag("a", "Level 0", href="#learn-level0"),
              class_="fa-toc-first")  # fmt: skip


@lru_cache(maxsize=1)
def page() -> str:
    """The whole page; some 100 kB, a quarter of it compressed."""
    ladder = [(r.key, r.title, _rung(r)) for r in rungs()]
    behind = [(key, x["title"], _section(**x)) for key, x in SECTIONS.items()]
    found = [*ladder, *behind]
    items = (tag("li", tag("a", title, href=f"#learn-{key}")) for key, title, _ in found)
    toc = tag("nav", tag("p", "", data_progress=""), KNOW_IT, tag("ol", *items), class_="fa-toc",
              aria_label="Contents")  # fmt: skip
    cards = div("fa-learn-cards", *(card for _, _, card in found))
    return div("fa-run fa-learn", toc, cards, data_testid="learn")
