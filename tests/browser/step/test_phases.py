"""Every phase is seen: it changes pixels of the stage, or its sentence says why nothing changes."""

import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from explainer.algorithms.schedule import schedule
from explainer.problem import Problem
from kernels.spec.fields import ORDERS
from tests.browser.harness import FRAME, Watched, focus, press, read, resize
from tests.by_hand import drawn

# What only names the phase is no answer to what it does: it is left out of the picture.
NAMES_THE_PHASE = ".fa-rail, .fa-sentence, .fa-chip, thead { visibility: hidden !important; }"
WHY_NOT = re.compile(r"nothing|stays|too small|written to HBM|read from HBM")


# Small random ones, of every order.
PROBLEMS = [
    replace(p, order=ORDERS[k % len(ORDERS)], mask="full" if k % 3 else "causal")
    for k, p in enumerate(drawn(20, 17))
]


def visits(problem: Problem) -> list[int]:
    """The first visit of each kind, stage and set of phases, at most two."""
    found: dict[tuple, int] = {}
    for k, step in enumerate(schedule(problem)):
        found.setdefault((step.kind, step.stage, len(step.phases)), k)
    return sorted(found.values())[:2]


@pytest.fixture(scope="module")
def still(opened: Watched) -> Watched:
    """A page in which nothing moves: what is compared is what stands there."""
    resize(opened.page)
    opened.page.add_style_tag(content=NAMES_THE_PHASE)
    return opened


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: urlencode(p.to_query()))
def test_every_phase_differs_or_says_why_not(still, problem):
    query = urlencode(problem.to_query())
    page = still.page
    stage = page.locator(".fa-stage")
    alike, compared = [], 0
    for step in visits(problem):
        phases = schedule(problem)[step].phases
        if len(phases) < 2:
            continue
        still.show(f"{query}&step={step}&phase={phases[0]}")
        focus(page)
        before = stage.screenshot()
        for phase in phases[1:]:
            assert press(page, "ArrowDown")["phase"] == phase
            page.evaluate(FRAME)
            after = stage.screenshot()
            words = page.get_by_test_id("sentence").inner_text()
            if before == after and not WHY_NOT.search(words):
                alike.append(f"{step} {phase}: {words}")
            before, compared = after, compared + 1
    assert not alike, "\n".join(alike)
    assert compared, read(page)
