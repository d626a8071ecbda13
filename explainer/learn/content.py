"""The forms of what the Learn page says: lessons, questions, claims, snippets, glossary.

The texts themselves are data: a lesson's lie in its folder (explainer/learn/folder.py), the others
in ``assets/learn/``, one entry a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from explainer.base.amounts import format_significant, listed
from explainer.base.facts import filled
from explainer.base.paths import ASSETS
from explainer.base.texts import fill
from explainer.learn import folder
from explainer.learn.blocks import t

TEXTS = ASSETS / "learn"
CHOICE, NUMBER, ORDER, CLICK, FILL = "choice", "number", "order", "click", "fill"
# In a question's words: "How many GiB does S take?", "How busy is the unit, in %?"
UNIT = re.compile(t("content.unit"))
PAGES = ("step", "run", "memory", "parallel", "paper")


@lru_cache(maxsize=32)
def read(name: str) -> Any:
    """``assets/learn/<name>.json``, figures of the register where their keys are in braces."""
    return json.loads(filled((TEXTS / f"{name}.json").read_text(encoding="utf-8")))


def stored(name: str, **figures: object) -> Any:
    """The entries of ``assets/learn/<name>.json``, lists as tuples; figures of the register stand
    where their keys are in braces, ``figures`` that the code computes where their names are."""
    return fill_texts(read(name), figures)


def fill_texts(part: Any, figures: Mapping[str, object]) -> Any:
    """Return what was read with the figures in its texts, and its lists as tuples."""
    if isinstance(part, dict):
        return {key: fill_texts(value, figures) for key, value in part.items()}
    if isinstance(part, list):
        return tuple(fill_texts(value, figures) for value in part)
    return fill(part, figures) if figures and isinstance(part, str) else part


@dataclass(frozen=True)
class Question:
    """One question. ``kind``:

    choice: ``options`` of (text, reason), ``answer`` the index of the right one. number:
    ``answer`` a float, right within ``tolerance`` (absolute), of several ``fields`` (labels) a
    tuple; ``reasons`` (right, wrong). order: ``options`` of (text, reason) in the right order,
    shown shuffled, ``answer`` groups of places whose lines may stand in any order; ``gaps``
    {index: (offered, right)} in lines that hold "___"; ``run`` as below,
    its control "order" the lines' places as "2,0,1" and "g1", "g2" … the gaps. click: ``cells``
    rows of texts drawn as a grid, ``rows`` their names where numbers from 0 are not, ``answer`` the
    (row, column) cells that are right; ``reasons`` (right, wrong). fill: ``options``
    and ``gaps`` as of order, the lines in their places; ``reasons``; ``run`` the widget that shows
    what the filled lines give, its controls "g1", "g2" … the gaps.

    ``mistakes`` of a number are (value, what it would be): the value that a wrong formula gives on
    these very numbers. ``notes`` of a click are rows of sentences, what holds of each cell.
    ``hint`` is shown when asked for. ``variants`` are further questions of the same key: each try
    after a wrong answer asks the next one, with new numbers.
    """

    key: str
    kind: str
    words: str
    options: tuple[tuple[str, str], ...] = ()
    answer: Any = None
    tolerance: float = 0.0
    reasons: tuple[str, str] = ("", "")
    fields: tuple[str, ...] = ()
    gaps: tuple[tuple[int, tuple[str, ...], str], ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    rows: tuple[str, ...] = ()
    run: str = ""
    mistakes: tuple[tuple[Any, str], ...] = ()
    notes: tuple[tuple[str, ...], ...] = ()
    hint: str = ""
    variants: tuple[Question, ...] = ()

    @property
    def unit(self) -> str:
        """The unit that a number is asked in, "" for a plain number."""
        found = UNIT.search(self.words) if self.kind == NUMBER else None
        return found[1] or found[2] if found else ""


@dataclass(frozen=True)
class Link:
    """Name a place where a lesson's idea can be seen: ``page`` of PAGES, with ``query`` a place in
    this app as in its address (a page but Step is named in it), a paper with ``url``."""

    page: str
    words: str
    query: str = ""
    url: str = ""


@dataclass(frozen=True)
class Lesson:
    """One stop of the course, and one screen: ``words`` (paragraphs by blank lines) of at most 90
    words, a widget of the lesson's key, a question. ``more`` folds. ``layout``: "side", words and
    question in a column at the left of the picture; "right", words, picture, question beside each
    other; "below", the picture over the whole width and the question under it. ``needs`` are the
    terms of the glossary that a reader must know, ``gives`` those that the lesson introduces.

    In presentation mode ``headline``, a sentence, and at most four short ``lines`` stand in the
    words' place. ``ground`` says there where the picture's numbers are from, ``presented_state``
    {control: value} what its widget starts with, closed controls too, and ``presented_question``
    is the question in place of one that raised hands cannot answer: a choice, or a number with
    mistakes."""

    key: str
    title: str
    minutes: int
    words: str
    headline: str
    lines: tuple[str, ...]
    links: tuple[Link, ...]
    question: Question
    layout: str = "side"
    more: str = ""
    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    ground: str = t("content.ground")
    presented_question: Question | None = None
    presented_state: dict[str, str] = field(default_factory=dict)


def make_question(
    entry: dict,
    compute: Callable[..., dict] | None = None,
    figures: Mapping[str, object] = MappingProxyType({}),
) -> Question:
    """Return a question and its variants as they are written, each with the parts that ``compute``
    makes of its ``case``: numbers that its texts name, too, beside the ``figures``. A variant says
    what differs from the question. ``wrong``, the values of mistakes, are computed; ``mistakes``
    are written, in the same order; computed ``figures`` stand in the texts of their case."""
    first, *others = (
        _question(entry | {"variants": ()} | variant, compute, figures)
        for variant in ({}, *entry.get("variants", ()))
    )
    return replace(first, variants=tuple(others))


def _question(
    entry: dict, compute: Callable[..., dict] | None, figures: Mapping[str, object]
) -> Question:
    """A mistake that happens to give the answer, or what one before it gives, says nothing."""
    case = entry.get("case", {})
    made = compute(**case) if compute else {}
    own = made.pop("figures", {})
    parts = fill_texts({k: v for k, v in entry.items() if k != "case"}, {**figures, **case, **own})
    parts |= made
    found: list[tuple[object, str]] = []
    wrong = parts.pop("wrong", ())
    taken = [parts.get("answer")]
    for value, words in zip(wrong, parts.pop("mistakes", ()), strict=True):
        if not any(_near(value, other, parts.get("tolerance", 0.0)) for other in taken):
            taken.append(value)
            first, *others = values = tuple(map(float, np.atleast_1d(value)))
            text = listed([*map(format_significant, values)])
            found.append((values if others else first, f"{text} {words}"))
    return Question(**parts, mistakes=tuple(found))


def _near(value: Any, other: Any, tolerance: float) -> bool:
    return bool(np.allclose(value, other, rtol=1e-9, atol=tolerance))


def make_lesson(
    key: str, figures: Mapping[str, object], compute: Callable[..., dict] | None
) -> Lesson:
    """Build the lesson of a folder.

    ``figures`` stand where their names are in braces, in words, links and question alike;
    ``compute`` makes the computed parts of its question, as of :func:`make_question`.
    """
    data = folder.read_data(key)
    question = make_question(data["question"], compute, figures)
    entry = fill_texts(folder.read_text(key), figures)
    entry["links"] = tuple(Link(**link) for link in entry["links"])
    if "presented_question" in data:
        base = {"key": f"{question.key}-hall", "kind": CHOICE}
        presented = fill_texts(data["presented_question"], figures)
        entry["presented_question"] = make_question(base | presented)
    entry["minutes"] = 0  # until its controls are known: explainer/learn/duration.py
    state = data.get("presented_state", {})
    return Lesson(key, **entry, presented_state=state, question=question)


@dataclass(frozen=True)
class Claim:
    """Something said often: ``truth`` whether it holds; ``why`` one or two sentences; ``widget``
    the demonstration by our own code; ``source`` as text."""

    key: str
    words: str
    truth: bool
    why: str
    widget: str
    source: str


@dataclass(frozen=True)
class Snippet:
    """Code to copy. ``needs`` what must be there beside torch: "", "gpu", or a package's name."""

    key: str
    title: str
    words: str
    code: str
    needs: str = ""


@dataclass(frozen=True)
class Term:
    """An entry of the glossary; ``symbol`` as on every page, "" for a word."""

    key: str
    symbol: str
    name: str
    words: str


# Everything behind the ladder: {key: its entry}, in its order.
SECTIONS = {entry["key"]: entry for entry in stored("sections")}
