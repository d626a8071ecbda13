"""Everything that the Learn page has, in its order, and the one way to ask a widget."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from explainer.base.cache import cached
from explainer.base.fields import refused
from explainer.learn import claims, ecosystem, folder, reference
from explainer.learn.blocks import Block, t
from explainer.learn.content import Lesson, Question, make_lesson, make_question, stored
from explainer.learn.course import ORDER, SELF_TEST
from explainer.learn.duration import minutes
from explainer.learn.widgets import Value, Widget, make_widget


def _of_lessons(name: str) -> dict[str, Callable]:
    """Return {lesson: its module's function of this name}, of the lessons that have one."""
    return {
        key: getattr(module, name)
        for key, module in folder.modules().items()
        if hasattr(module, name)
    }


@cache
def widgets() -> dict[str, Widget]:
    """Return {key: widget} of the whole page. What has no controls is a widget all the same: its
    blocks are fetched when they come into view."""
    found = _of_lessons("compute")
    for module in (claims, ecosystem, reference, *folder.modules().values()):
        found |= getattr(module, "WIDGETS", {})
    return {key: make_widget(key, compute) for key, compute in found.items()}


@cache
def lessons() -> tuple[Lesson, ...]:
    """The course from its first lesson to its last. A lesson's ``figures`` computes what its texts
    name, its ``question`` a question from its case."""
    figures, questions = _of_lessons("figures"), _of_lessons("question")
    found = (make_lesson(key, figures.get(key, dict)(), questions.get(key)) for key in ORDER)
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
