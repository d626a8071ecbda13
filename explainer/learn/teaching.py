"""For who teaches with it: what the source texts ask for and where it is answered, a lecture, a
lab, questions for an exam."""

from dataclasses import dataclass

from explainer.learn.blocks import t
from explainer.learn.content import CHOICE, CLICK, NUMBER, Question, stored

PAGES = t.named("teaching.pages")


@dataclass(frozen=True)
class Topic:
    """What one of the four source texts asks for; ``where`` it is answered: keys of lessons or
    sections, or "?page=…" a page of the app."""

    text: str
    topic: str
    where: tuple[str, ...]


TOPICS = tuple(Topic(**entry) for entry in stored("sources"))
# Key of a text → its short name, and what it is.
_ABOUT = t.named("teaching.about")
TEXTS = {key: (name, _ABOUT[key]) for key, name in t.named("teaching.texts").items()}


@dataclass(frozen=True)
class Session:
    """``stops`` (a lesson's key, minutes) in their order, ``closing`` minutes for the end."""

    title: str
    words: str
    stops: tuple[tuple[str, int], ...]
    closing: int = 0


_LECTURERS = stored("lecturers")
SESSIONS = {key: Session(**entry) for key, entry in _LECTURERS.items() if "stops" in entry}
EXAM: dict = _LECTURERS["exam"]


def answer(question: Question) -> str:
    """A question's answer in a sentence or a list, for who marks it."""
    if question.kind == CHOICE:
        right, why = question.options[question.answer]
        return f"{right}. {why}"
    if question.kind == NUMBER:
        several = question.answer if isinstance(question.answer, tuple) else (question.answer,)
        return f"{', '.join(f'{x:,.6g}' for x in several)}. {question.reasons[0]}"
    if question.kind == CLICK:
        cells = "; ".join(question.cells[r][c] for r, c in question.answer)
        return f"{cells}. {question.reasons[0]}"
    return "; ".join(words for words, _ in question.options)
