"""Predict, then see: the answers are those of NumPy, and nothing ever blocks."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import total
from explainer.problem import ORDERS, Problem
from explainer.trace import trace
from tests.browser.harness import focus, press

PROBLEM = Problem(n=19, d=6, block_q=4, block_k=5, inputs="random", order="fa1", seed=3)


def right_answer(problem: Problem, question: str, step: int) -> str:
    """From the trace, by reading the question as a person would."""
    if "how many" in question:
        return str(tiling.counts(problem)["skipped"])
    visit = trace(problem).visits[step + 1]
    if "becomes" in question:
        return visit.kind
    row = int(re.search(r"row (\d+)'s", question)[1]) - visit.i * problem.block_q
    return "Yes" if visit.m_new[row] > visit.m_old[row] else "No"


def test_every_answer_is_numpys(tab):
    problem = PROBLEM
    page = tab.open(urlencode(problem.to_query() | {"predict": "1"}))
    focus(page)
    asked = right = 0
    kinds = set()
    rng = np.random.default_rng(0)
    for step in range(len(schedule(problem)) - 1):
        question = page.locator(".fa-question").inner_text()
        options = [
            text.split(maxsplit=1)[1]
            for text in page.locator(".fa-choices button").all_inner_texts()
        ]
        if options:
            kinds.add(question.split()[0])
            truth = right_answer(problem, question, step)
            assert truth in options, question
            choice = int(rng.integers(len(options)))
            if step % 4:  # now and then nothing is answered
                page.keyboard.press(str(choice + 1))
                asked, right = asked + 1, right + (options[choice] == truth)
        press(page, "ArrowRight")
        verdict = page.locator(".fa-verdict").inner_text()
        if asked:
            assert f"{right} of {asked} right" in verdict
        if options and step % 4:
            assert verdict.startswith("✓" if options[choice] == truth else "✗"), question
    assert len(kinds) >= 2 and asked


def test_which_lane_is_first(tab):
    problem = PROBLEM
    query = problem.to_query() | {"predict": "1", "mode": "compare", "clock": "bytes"}
    page = tab.open(urlencode(query))
    of = {o: Problem.from_query(problem.to_query() | {"order": o}) for o in ORDERS}
    quantum = -(-max(map(total, of.values())) // max(len(schedule(p)) for p in of.values()))
    ticks = {o: -(-total(p) // quantum) for o, p in of.items()}
    first = min(ticks, key=ticks.get)
    tie = sum(t == ticks[first] for t in ticks.values()) > 1
    name = "a tie" if tie else {"standard": "Standard", "fa1": "FA-1", "fa2": "FA-2"}[first]
    page.locator(".fa-choices button", has_text=name).click()
    page.locator(".fa-race").focus()
    for _ in range(ticks[first]):
        page.keyboard.press("ArrowRight")
    assert page.locator(".fa-race .fa-verdict").inner_text().startswith("✓ Right")


def test_button_turns_it_on_and_off(tab):
    page = tab.open()
    more = page.locator(".fa-menu summary")
    more.click()
    button = page.get_by_role("button", name="Predict")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert page.locator(".fa-question").is_visible() and not page.locator(".fa-charts").is_visible()
    more.click()
    button.click()
    assert page.locator(".fa-charts").is_visible()
