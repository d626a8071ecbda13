"""What a chapter of a story is made of; ``assets/js/story`` draws it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, cast
from urllib.parse import urlencode

import numpy as np

from explainer.algorithms.registry import LABELS
from explainer.base.amounts import round_step
from explainer.base.texts import Texts
from explainer.learn.folder import read_text
from explainer.memory.workload import Workload
from explainer.problem import Problem
from explainer.views.templates import render_words

Json = dict[str, Any]  # part of what the browser gets
Choice = Mapping[str, str]  # what the switches of a chapter are set to, by their keys


class Switch(TypedDict):
    """A choice between a few ways to see the chapter: ``choices`` are pairs of value and label.
    ``role`` "next": Next leads through them; "word": it is a word in the chapter's line."""

    key: str
    label: str
    value: str
    choices: list[tuple[str, str]]
    role: Literal["", "next", "word"]


class Table(TypedDict):
    """The figures of a picture: for screen readers, as a table and as CSV."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]  # of texts and numbers, None where there is none


class Words(TypedDict):
    """What a chapter says of its picture; a template of ``templates/stories`` chooses it."""

    headline: str
    sentence: str
    provenance: str
    label: str


class _Chapter(Words):
    """One picture and what is said of it.

    ``beats`` are the positions of the scrubber. Each has a ``label`` and a ``note``, what the
    painter needs there, and may have a headline, sentence or provenance of its own in place of the
    chapter's. ``links`` are pairs of text and address.
    """

    switches: list[Switch]
    beats: list[Json]
    start: int
    table: list[Table]
    links: list[tuple[str, str]]
    picture: Json


class Chapter(_Chapter, total=False):
    """``words`` names the parts of the workload that the chapter depends on, by their keys in the
    address, or is a line with switches in brackets, where ``assets/stories.json`` does not say it;
    ``values`` of the workload, ``defaults`` where they are not the page's, and ``terms``."""

    words: list[str] | str
    values: dict[str, str]
    defaults: dict[str, str]
    terms: dict[str, str]


shared = Texts("shared")
PARALLEL = Workload(block_q=128)  # what Parallel shows without an address
MakeChapter = Callable[[Workload, Choice], Chapter]


def table(t: Texts, key: str, rows: Sequence[Sequence[Any]], **facts: object) -> Table:
    """Build the table whose title is the text ``key`` with these facts, its head beside it."""
    return {"title": t(key, **facts), "head": t.row(f"{key}.head"), "rows": rows}


def words(name: str, /, **facts: object) -> Words:
    """Choose what the chapter of this name says by these facts."""
    return cast(Words, render_words(f"stories/{name}", **facts))


def nearest(values: Sequence[float], wanted: float) -> int:
    """Return which of the values is nearest."""
    return min(range(len(values)), key=lambda k: abs(values[k] - wanted))


def round_times(end: float, count: int) -> list[float]:
    """List the positions of a scrubber through time: about ``count`` round times, and the end."""
    return [*np.arange(0, end, round_step(end / count)).tolist(), end]


def switch(
    key: str,
    label: str,
    choices: Mapping[str, str],
    choice: Choice,
    role: Literal["", "next", "word"] = "",
) -> Switch:
    """Build a switch of these choices, {value: label}; the first is chosen where ``choice`` names
    none of them."""
    value = choice.get(key, "")
    return {
        "key": key,
        "label": label,
        "value": value if value in choices else next(iter(choices)),
        "choices": [*choices.items()],
        "role": role,
    }


# ---- links


def lesson_link(key: str) -> tuple[str, str]:
    """Link to a lesson by its title."""
    return shared("story.lesson", title=read_text(key)["title"]), f"?page=learn&lesson={key}"


def links(w: Workload, order: str, *lessons: str) -> list[tuple[str, str]]:
    """Link to Step, then to these lessons."""
    return [step_link(w, order), *map(lesson_link, lessons)]


def step_link(w: Workload, order: str) -> tuple[str, str]:
    """Link to Step with a small Problem of the workload's kind in this loop order; a mask other
    than full and causal is written for the workload's N, so it becomes full there."""
    problem = Problem(
        n=32, d=8, block_q=8, block_k=8, mask=w.stands_for, order=order, inputs="random"
    )
    return shared(
        "story.step", n=problem.n, order=LABELS[order]
    ), f"?{urlencode(problem.to_query())}"
