"""The lesson: the tree mask is the tree's; Step can run it; what is kept is what agrees."""

import numpy as np
import pytest

from explainer.algorithms.schedule import schedule
from explainer.learn.lessons.speculative import lesson
from explainer.learn.lessons.speculative.lesson import GUESSES, PARENTS, PROMPT
from explainer.problem import Problem
from explainer.trace import trace
from tests.learn.scenes import LESSONS, answers, cases, sdpa


def seen(guess: int) -> set[int]:
    """By walking up the tree."""
    found = {*range(len(PROMPT))}
    while guess >= 0:
        found.add(len(PROMPT) + guess)
        guess = PARENTS[guess]
    return found


def test_the_mask_is_the_tree():
    p = lesson.problem()
    keep = p.mask.keep(p.n, p.n)
    for guess in range(len(GUESSES)):
        assert {*np.flatnonzero(keep[len(PROMPT) + guess])} == seen(guess)
    for (guess,), answer in zip(cases("speculative"), answers("speculative"), strict=True):
        assert {j for _, j in answer} == seen(guess)


def test_step_runs_it_and_a_branch_is_as_if_it_stood_alone():
    query = LESSONS["speculative"].links[0].query
    from urllib.parse import parse_qsl

    parts = dict(parse_qsl(query))
    p = Problem.from_query(parts)
    assert p == lesson.problem() and "mask" in schedule(p)[int(parts["step"])].phases
    run = trace(p)
    for guess in range(len(GUESSES)):
        alone = sorted(seen(guess))
        at = len(PROMPT) + guess
        want = sdpa(run.Q[at : at + 1], run.K[alone], run.V[alone])[0]
        assert run.O[at] == pytest.approx(want, abs=1e-5)


def test_the_longest_branch_that_agrees_is_kept():
    said = [
        [GUESSES[g] for g in lesson.accepted(tuple(text.split()))]
        for text in ("tired so she", "tired and", "late", "hungry")
    ]
    assert said == [["tired", "so", "she"], ["tired", "and"], ["late"], []]
    draws = np.random.default_rng(0).random((20_000, 4)) < 0.6
    assert lesson.expected(0.6, 4) == pytest.approx(1 + draws.cumprod(1).sum(1).mean(), abs=0.03)
