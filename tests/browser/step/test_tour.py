"""The tour: started by a button, advanced by Space, every chapter a link, controls following."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from explainer.learn.tour import CHAPTERS
from tests.browser.harness import open_controls, query_of, read, settled


def chapter(page) -> str:
    return page.get_by_test_id("tour").get_attribute("data-chapter")


def at(page, k: int) -> None:
    """Waits until the page shows what chapter k (from 0) is about."""
    c = CHAPTERS[k]
    order = "fa2" if c.mode else c.problem.order
    page.wait_for_function(
        """([order, step, n]) => {
          const lanes = [...document.querySelectorAll('[data-testid="player"]')];
          const one = lanes.find((lane) => lane.dataset.order === order);
          return one && (lanes.length > 1 || one.dataset.step === step)
            && new URLSearchParams(location.search).get("n") === n;
        }""",
        arg=[order, str(c.step), str(c.problem.n)],
    )
    if not c.mode:
        assert read(page)["phase"] == c.phase


def test_from_the_first_chapter_to_the_last_with_space(tab):
    page = tab.open()
    page.get_by_role("button", name="Tour", exact=True).click()
    for k, c in enumerate(CHAPTERS):
        at(page, k)
        assert chapter(page) == str(k + 1)
        assert c.text in page.get_by_test_id("tour").inner_text()
        page.keyboard.press("Space")
    page.get_by_test_id("tour").wait_for(state="hidden")
    assert read(page)["step"] == str(CHAPTERS[-1].step), "the picture stays where the tour ended"


@pytest.mark.parametrize("k", [0, 6, 9, 11])
def test_every_chapter_is_a_link(tab, k):
    page = tab.open(urlencode({"tour": k + 1}))
    at(page, k)
    assert chapter(page) == str(k + 1)
    problem = CHAPTERS[k].problem
    n = open_controls(page).get_by_label("number input for Sequence length N")
    page.wait_for_function(
        "([n]) => document.querySelector('[aria-label=\"number input for Sequence length N\"]')"
        ".value === n",
        arg=[str(problem.n)],
    )
    assert n.input_value() == str(problem.n)
    mask = "Causal" if problem.causal else "Full"
    assert page.get_by_role("radio", name=mask).is_checked()


def test_tour_from_the_run_page_leads_to_the_step_page(tab):
    page = tab.page
    page.goto(f"{tab.server.url}/?page=run")
    page.locator("#run-result").wait_for()
    settled(page)
    page.get_by_role("button", name="Tour", exact=True).click()
    at(page, 0)
    assert page.get_by_role("tab", name="Step").get_attribute("aria-selected") == "true"


def test_back_close_and_go_on_alone(tab):
    page = tab.open("tour=2")
    at(page, 1)
    page.get_by_role("button", name="Back").click()
    at(page, 0)
    page.get_by_role("button", name="Leave the tour").click()
    assert "tour" not in query_of(page)
    open_controls(page).get_by_role("radio", name="FA-2").check()
    page.wait_for_function(
        "() => document.querySelector('[data-testid=player]').dataset.order === 'fa2'"
    )
    assert page.locator(".fa-notice:visible").count() == 0
