"""What the templates of Learn's screens take as ``parts``: addresses, marked terms, widgets."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from functools import cache

from markupsafe import Markup, escape

from explainer.learn import glossary
from explainer.learn.blocks import code, t
from explainer.learn.content import NUMBER, Question
from explainer.learn.registry import widgets
from explainer.learn.widgets import Control
from explainer.views.learn_blocks import render_block
from explainer.views.templates import render

__all__ = ["address", "code", "mark_paragraphs", "render_block", "render_widget"]

SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z“(])")
PLAIN_NUMBER = re.compile(r"−?[\d.]+")
LEAD = 160  # characters, four lines of a phone
OF_A_RANGE = ("low", "high", "step")
LONG = 69  # characters: of so many names only their number is said


def address(key: str) -> str:
    """Return the address of a screen of Learn; "" is the entrance."""
    return f"?page=learn&lesson={key}" if key else "?page=learn"


def control_data(control: Control) -> dict[str, object]:
    """Return what the browser needs of a control."""
    return {
        k: v
        for k, v in asdict(control).items()
        if k != "closed" and v != () and v is not False
        if control.kind == "range" or k not in OF_A_RANGE
    }


def closed_note(controls: Iterable[Control]) -> str:
    """Return the sentence of what opens after the lesson's question, "" if nothing does."""
    closed = [control for control in controls if control.closed]
    names: list[str] = []
    for control in closed:
        if isinstance(control.closed, bool):
            names.append(control.label)
        else:
            names += [text for value, text in control.choices if value in control.closed]
    if len(names) < 2:
        return t("learn_parts.opens.one", name=names[0]) if names else ""
    every = t("learn_parts.opens.all", names=names[:-1], last=names[-1])
    if len(every) <= LONG:
        return every
    return t("learn_parts.opens.more", n=len(names), label=closed[0].label)


def render_widget(
    key: str, controls: Iterable[Control] | None = None, is_open: bool = False
) -> Markup:
    """Render a widget's place, with its own controls or narrower ones; ``is_open``: with what its
    lesson's question opens."""
    widget = widgets()[key]
    controls = tuple(controls or widget.controls)
    if is_open:
        controls = tuple(replace(control, closed=()) for control in controls)
    data = [control_data(control) for control in controls]
    note = closed_note(controls)
    return render("learn/widget", widget=widget, controls=controls, data=data, note=note)


def question_data(question: Question) -> dict:
    """Return what the browser needs of a question and its variants."""
    found = asdict(question) | {"unit": question.unit}
    data = {k: v for k, v in found.items() if v not in ("", (), ("", ""), None)}
    if question.kind != NUMBER:
        del data["tolerance"]
    if question.variants:
        data["variants"] = [question_data(other) for other in question.variants]
    return data


def is_numeric(cells: Sequence[Sequence[str]]) -> bool:
    """Return True if all cells are plain numbers."""
    return all(PLAIN_NUMBER.fullmatch(text) for row in cells for text in row)


def render_question(question: Question) -> Markup:
    """Render a question's place, with its form and those of its variants."""
    data = question_data(question)
    return render("learn/question", question=question, data=data, is_numeric=is_numeric)


@cache
def _terms() -> tuple[re.Pattern, dict[str, str]]:
    """Return a pattern of the glossary's terms as texts write them, and {as written: key}."""
    found = glossary.spelled()
    longest = sorted(map(re.escape, found), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(longest)})(?![\w-])"), found


def mark_terms(words: str, marked: set[str]) -> Markup:
    """Mark the first place of each term of the glossary that is not yet ``marked``."""
    pattern, keys = _terms()

    def mark(match: re.Match) -> str:
        key = keys[match[0]]
        if key in marked:
            return match[0]
        marked.add(key)
        return f'<abbr data-term="{key}" tabindex="0">{match[0]}</abbr>'

    return Markup(pattern.sub(mark, str(escape(words))))


def mark_paragraphs(words: str) -> list[Markup]:
    """Return the paragraphs of a text, with the first place of each term marked."""
    marked: set[str] = set()
    return [mark_terms(part, marked) for part in words.split("\n\n")]


def split_lead(paragraph: str) -> tuple[str, str]:
    """Split off the first sentence, and the second one if both are short."""
    sentences = SENTENCE.split(paragraph)
    both = " ".join(sentences[:2])
    lead = both if len(both) <= LEAD else sentences[0]
    return lead, paragraph[len(lead) :].strip()


def lesson_text(words: str) -> dict[str, object]:
    """Return a lesson's text: ``lead``, which a phone shows above the picture, the ``rest`` of its
    paragraph, and the other ``paragraphs``, with the first place of each term marked."""
    marked: set[str] = set()
    first, *others = words.split("\n\n")
    lead, rest = (mark_terms(part, marked) for part in split_lead(first))
    return {"lead": lead, "rest": rest, "paragraphs": [mark_terms(p, marked) for p in others]}
