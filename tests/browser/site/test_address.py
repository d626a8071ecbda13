"""The address is the document: it restores, it follows, and a bad one says so in one sentence."""

from dataclasses import replace
from urllib.parse import urlencode

import pytest

from explainer.base.fields import ProblemError
from explainer.problem import Problem
from explainer.trace import trace
from tests.browser.expected import complaints, phases
from tests.browser.harness import (
    Held,
    click,
    focus,
    frame,
    keys,
    open_controls,
    press,
    query_of,
    read,
    settled,
)
from tests.browser.run.running import button, query_run, run_result, word
from tests.tables import table

TABLE = table(__file__)


def control(page, label: str):
    """The number beside a slider."""
    return open_controls(page).get_by_label(f"number input for {label}")


def judge(page, problem: Problem, step: int, phase: str | None = None) -> None:
    """What is on screen, once it shows this Problem and rests, is this visit of it."""
    query = urlencode(problem.to_query())
    page.wait_for_selector(f'[data-testid="player"][data-query="{query}"]')
    settled(page)
    true = trace(problem)
    there = phases(true.visits[step])
    phase = phase or there[-1 if step else 0]  # a Problem opens where its first tile is loaded
    assert complaints(true, step, phase, read(page)) == []


def test_reload_restores_problem_step_and_phase(tab):
    problem = Problem(n=11, d=6, block_q=4, block_k=3, causal=True, order="fa1", inputs="random")
    page = tab.open(urlencode(problem.to_query()))
    focus(page)
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp"):
        press(page, key)
    before = read(page)
    now = query_of(page)
    assert {k: now[k] for k in problem.to_query()} == problem.to_query()
    assert (now["step"], now["phase"]) == (before["step"], before["phase"])
    page.reload()
    tab.settle()
    assert read(page) == before
    judge(page, problem, 2, before["phase"])
    assert control(page, "Sequence length N").input_value() == "11"
    assert control(page, "Query block Br").input_value() == "4"
    assert page.get_by_role("radio", name="FA-1").is_checked()


def test_address_follows_and_keeps_foreign_keys(tab):
    page = tab.open("mode=teach&lang=x")
    focus(page)
    press(page, "ArrowRight")
    now = query_of(page)
    assert now["step"] == "1" and "phase" not in now  # a whole visit needs no phase
    press(page, "ArrowUp")
    now = query_of(page)
    assert (now["step"], now["phase"], now["lang"]) == ("1", read(page)["phase"], "x")
    assert {k: now[k] for k in Problem().to_query()} == Problem().to_query()


def test_controls_change_the_player_and_the_address(tab):
    page = tab.open("n=16&d=8&br=4&bc=4")
    problem = Problem()
    for name, value, change in TABLE["controls"]:
        if value:
            control(page, name).fill(value)
            keys(page, "Enter")
        else:
            click(page, name, "radio")
        problem = replace(problem, **change)
        judge(page, problem, 0)
        assert query_of(page).items() >= problem.to_query().items()
    assert control(page, "Key block Bc").input_value() == "3"


def test_who_is_quicker_than_the_server_keeps_what_was_chosen(tab):
    held = Held(tab.page, "**/fa/opened*")
    page = tab.open("n=32&d=8&br=8&bc=4", rests=False)
    control(page, "Sequence length N").fill("14")
    keys(page, "Enter")
    page.wait_for_function(
        "() => document.querySelector('[data-testid=player]').dataset.steps < 15"
    )
    held.go()
    problem = Problem(n=14, block_q=8, block_k=4)  # what was chosen, and else what was asked for
    judge(page, problem, 0)
    assert control(page, "Sequence length N").input_value() == "14"
    assert control(page, "Query block Br").input_value() == "8"
    click(page, "Full", "radio")
    judge(page, Problem(n=14, block_q=8, block_k=4, causal=False), 0)


@pytest.mark.parametrize(
    ("address", "said"),
    [("mask=causal%26window:5,0", "sliding window"), ("run-mask=chunk:4", "chunk:4")],
)
def test_the_mask_of_an_address_is_a_word_of_the_run_page(tab, address, said):
    page = tab.page
    page.goto(f"{tab.server.url}/?page=run&{address}")
    settled(page)
    assert word(page, "mask").inner_text() == said


def test_run_pressed_before_the_server_answers_runs_what_the_address_asks_for(tab):
    held = Held(tab.page, "**/fa/opened*")
    page = tab.page
    page.goto(f"{tab.server.url}/?page=run&run-n=8&run-d=4&run-br=4&run-bc=4")
    button(page).click()
    frame(page)
    held.go()
    asked = query_run(run_result(page))
    assert (asked["n"], asked["d"]) == ("8", "4")
    assert query_of(page)["run-n"] == "8"


def test_a_tab_chosen_before_the_server_answers_stays(tab):
    held = Held(tab.page, "**/fa/opened*")
    page = tab.open("n=16&d=8&br=4&bc=4", rests=False)
    click(page, "Memory", "tab")
    held.go()
    page.wait_for_selector('[data-page="memory"]:visible')
    settled(page)
    assert page.get_by_role("tab", name="Memory").get_attribute("aria-selected") == "true"
    assert query_of(page)["page"] == "memory"


@pytest.mark.parametrize("query", TABLE["bad"], ids="&".join)
def test_bad_address_is_one_sentence_and_the_page_goes_on(tab, query):
    tab.tolerate("status of 400")
    page = tab.open(urlencode(query))
    alerts = page.locator("[role=alert]:visible")
    assert alerts.count() == 1
    if len(query) == 1:
        with pytest.raises(ProblemError) as refused:
            Problem.from_query(query)
        assert alerts.locator("span").inner_text() == str(refused.value)
    text = alerts.locator("span").inner_text()
    assert text.endswith(".") and text.count(". ") == 0 and len(text) < 240
    assert page.evaluate("window.pwned") is None
    judge(page, Problem(), 0)
    focus(page)
    keys(page, "ArrowRight")
    judge(page, Problem(), 1)
    if len(query) == 1:  # else the controls keep what was asked: a Problem, only too many tiles
        click(open_controls(page), "Full", "radio")
        judge(page, Problem(causal=False), 4)  # tile (1, 0) stays on screen
        assert alerts.count() == 0


def test_back_and_forward_lead_between_the_pages(tab):
    page = tab.open("n=16&d=8&br=4&bc=4&step=3")
    click(page, "Memory", "tab")
    page.click('[data-page="memory"] [data-chapter="trips"]')
    page.wait_for_selector('[data-page="memory"][data-chapter="trips"]:visible')
    assert query_of(page)["mem-view"] == "trips"
    page.go_back()
    page.wait_for_selector('[data-testid="player"]:visible')
    now = query_of(page)
    assert "page" not in now and now["step"] == "3" and now["mem-view"] == "trips"
    focus(page)
    press(page, "ArrowRight")
    page.go_forward()
    page.wait_for_selector('[data-page="memory"][data-chapter="trips"]:visible')
    now = query_of(page)
    assert now["page"] == "memory" and now["mem-view"] == "trips" and now["step"] == "4"


DEAF = """
let heard = 0;
addEventListener("click", (event) => {
  if (event.target.closest?.("[data-tab-id=learn]") && !heard++) event.stopImmediatePropagation();
}, true);
"""


def test_an_address_opens_its_page_though_the_tab_misses_the_first_click(tab):
    """As Gradio's does where it comes before the tabs are ready."""
    page = tab.page
    page.add_init_script(DEAF)
    page.goto(f"{tab.server.url}/?page=learn&lesson=dot")
    settled(page)
    assert page.get_by_role("tab", name="Learn").get_attribute("aria-selected") == "true"
    assert page.is_visible("#learn-dot-title")
