"""The forms of what the Learn page says: rungs, questions, claims, snippets, glossary.

The texts themselves are data: ``assets/learn/``, one entry a line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from explainer.base.facts import filled
from explainer.base.paths import ASSETS
from explainer.learn.blocks import Block

TEXTS = ASSETS / "learn"
CHOICE, NUMBER, ORDER, CLICK, FILL = "choice", "number", "order", "click", "fill"


@lru_cache(maxsize=32)
def _read(name: str) -> list:
    return json.loads(filled((TEXTS / f"{name}.json").read_text(encoding="utf-8")))


def stored(name: str, **figures: object) -> tuple:
    """The entries of ``assets/learn/<name>.json``, lists as tuples; figures of the register stand
    where their keys are in braces, ``figures`` that the code computes where their names are."""
    return _filled(_read(name), figures)


def _filled(part, figures: dict):
    if isinstance(part, dict):
        return {key: _filled(value, figures) for key, value in part.items()}
    if isinstance(part, list):
        return tuple(_filled(value, figures) for value in part)
    return part.format(**figures) if figures and isinstance(part, str) else part


@dataclass(frozen=True)
class Question:
    """One question. ``kind``:

    choice: ``options`` of (text, reason), ``answer`` the index of the right one. number:
    ``answer`` a float, right within ``tolerance`` (absolute); ``reasons`` (right, wrong). order:
    ``options`` of (text, reason) in the right order, shown shuffled; ``gaps`` {index: (offered,
    right)} in lines that hold "___". click: ``cells`` rows of texts drawn as a grid, ``answer`` the
    (row, column) cells that are right; ``reasons`` (right, wrong). fill: ``options`` and ``gaps``
    as of order, the lines in their places; ``reasons``; ``run`` the widget that shows what the
    filled lines give, its controls "g1", "g2" … the gaps.
    """

    key: str
    kind: str
    words: str
    options: tuple[tuple[str, str], ...] = ()
    answer: object = None
    tolerance: float = 0.0
    reasons: tuple[str, str] = ("", "")
    gaps: tuple[tuple[int, tuple[str, ...], str], ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    run: str = ""


@dataclass(frozen=True)
class Rung:
    """One card of the ladder: at most 120 words, one widget, one question, one link to a place
    where the idea appears (a query as in the address)."""

    key: str
    title: str
    words: str
    widget: str
    question: Question
    query: str
    link: str


def rung(key: str, figures: dict | None = None, **computed: object) -> Rung:
    """The rung of ``assets/learn/rungs.json``; ``computed`` its query or parts of its question."""
    entry = _filled(next(x for x in _read("rungs") if x["key"] == key), figures or {})
    place = {"query": computed.pop("query", entry.get("query"))}
    return Rung(**entry | place | {"question": Question(**entry["question"], **computed)})


@dataclass(frozen=True)
class Known:
    """A question about the ladder's ground: ``rung`` the key of the one that answers it, ``show``
    the computation that is shown once it is answered, ``code`` the same in PyTorch ("" if there is
    none): there ``answer`` is what the question asks for."""

    title: str
    rung: str
    question: Question
    show: Callable[[], list[Block]]
    code: str = ""


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
