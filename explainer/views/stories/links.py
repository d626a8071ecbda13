"""Links of a chapter: to Step with a Problem like its workload's, and to the lessons about it."""

from __future__ import annotations

from urllib.parse import urlencode

from explainer.algorithms.registry import LABELS
from explainer.base.texts import Texts
from explainer.learn.folder import read_text
from explainer.memory.workload import Workload
from explainer.problem import Problem

t = Texts("shared")
N, D, SIDE = 32, 8, 8  # of Step's Problem; every number of it can be read


def lesson_link(key: str) -> tuple[str, str]:
    """Link to a lesson by its title."""
    return t("story.lesson", title=read_text(key)["title"]), f"?page=learn&lesson={key}"


def links(w: Workload, order: str, *lessons: str) -> list[tuple[str, str]]:
    """Link to Step, then to these lessons."""
    return [step_link(w, order), *map(lesson_link, lessons)]


def step_link(w: Workload, order: str) -> tuple[str, str]:
    """Link to Step with a small Problem of the workload's kind in this loop order; a mask other
    than full and causal is written for the workload's N, so it becomes full there."""
    problem = Problem(
        n=N, d=D, block_q=SIDE, block_k=SIDE, mask=w.stands_for, order=order, inputs="random"
    )
    return t("story.step", n=N, order=LABELS[order]), f"?{urlencode(problem.to_query())}"
