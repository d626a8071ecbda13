"""Everything that the Learn page has, in its order, and the one way to ask a widget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

from explainer.base.cache import cached
from explainer.base.fields import refused
from explainer.learn import folder
from explainer.learn.blocks import Block, t
from explainer.learn.content import Lesson, Question, make_lesson, make_question, stored
from explainer.learn.course import ORDER, SELF_TEST
from explainer.learn.duration import minutes
from explainer.learn.widgets import Value, Widget, make_widget

_NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
_LOADED = [import_module(f"explainer.learn.{name}") for name in _NAMES if name != "registry"]
# The modules of this room that have widgets. What has no controls is a widget all the same: its
# blocks are fetched when they come into view.
MODULES = tuple(module for module in _LOADED if hasattr(module, "WIDGETS"))


# What a lesson's module calls by one name, the others by key.
_OF_A_LESSON = {"WIDGETS": "compute", "FIGURES": "figures", "QUESTIONS": "question"}


@cache
def declared(name: str) -> dict[str, Callable]:
    """Return what all modules declare under a name: {key: the function that computes it}."""
    lessons = folder.modules()
    modules = (*MODULES, *lessons.values())
    found = {key: make for module in modules for key, make in getattr(module, name, {}).items()}
    own = _OF_A_LESSON[name]
    return found | {
        key: getattr(module, own) for key, module in lessons.items() if hasattr(module, own)
    }


@cache
def widgets() -> dict[str, Widget]:
    """Return {key: widget} of the whole page."""
    return {key: make_widget(key, compute) for key, compute in declared("WIDGETS").items()}


@cache
def lessons() -> tuple[Lesson, ...]:
    """The course from its first lesson to its last, as far as it is written. FIGURES are functions
    that compute what a lesson's texts name, QUESTIONS those that compute a question from its
    case."""
    figures, questions = declared("FIGURES"), declared("QUESTIONS")
    found = (
        make_lesson(key, figures.get(key, dict)(), questions.get(key))
        for key in ORDER
        if key in folder.KEYS
    )
    return tuple(
        replace(one, minutes=minutes(one, len(widgets()[one.key].controls))) for one in found
    )


@cache
def self_test() -> tuple[tuple[Question, str], ...]:
    """(question, the lesson to start at for who does not know the answer), easiest first."""
    known = {entry["key"]: make_question(entry) for entry in stored("selftest")}
    return tuple((known[key], start) for key, start in SELF_TEST)


def answer(query: Mapping[str, str]) -> dict:
    """{"blocks": […]} of the widget ``w`` with the controls that the query names.

    Raises ProblemError with one sentence for an unknown widget or a value out of its range.
    """
    key = str(query.get("w", ""))
    widget = widgets().get(key)
    if widget is None:
        raise refused({"w": key}, t("registry.unknown"))
    return {"blocks": _compute(key, tuple(widget.parse(query).items()))}


@cached(8 << 20, lambda blocks: 6 * len(str(blocks)))  # objects, not text
def _compute(key: str, values: tuple[tuple[str, Value], ...]) -> list[Block]:
    made = widgets()[key].compute(**dict(values))
    return [made] if isinstance(made, dict) else made
