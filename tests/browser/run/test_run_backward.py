"""The Run page with the backward pass: the pass goes along from the Step page, into the address and
back; the gradients' tiles; the chip beside the pass that was run."""

from __future__ import annotations

from urllib.parse import urlencode

from explainer.problem import Problem
from tests.browser.harness import click, open_controls, query_of
from tests.browser.run.running import PAGE, open_run, query_run, run, run_result, word

PROBLEM = Problem(n=12, d=4, inputs="random")


def test_the_pass_of_the_step_page_is_run_and_agrees_with_its_picture(tab):
    page = tab.open(urlencode(PROBLEM.to_query() | {"pass": "backward"}))
    click(open_controls(page), "Run the real kernel")
    found = run_result(page)
    assert query_run(found) == PROBLEM.to_query() | {"pass": "backward"}
    assert (found["right"], found["agrees"]) == ("true", "true")
    assert not any(k.startswith("run-") for k in query_of(page)), "the Step page's Problem says it"
    assert "values of dQ, dK and dV in" in found["text"]
    click(page, "Tiles", "radio")
    assert "computed once more" in page.locator(f"{PAGE} .fa-run-panel").inner_text()
    chip = page.locator(".fa-kernel-chip")
    click(page, "Step", "tab")
    tab.settle()
    assert chip.is_visible() and chip.inner_text() == "✓ kernel agrees"
    page.locator('.fa-pass [data-pass="forward"]').click()
    chip.wait_for(state="hidden")  # it was said of the other pass


def test_the_pass_is_in_the_address_of_a_run(tab):
    page = open_run(tab, **{"run-n": "12", "run-d": "4", "run-pass": "backward"})
    word(page, "pass").click()
    page.locator(f'{PAGE} .fa-words-choices [data-value="forward"]').click()
    word(page, "pass").wait_for(state="detached")
    found = run(page)
    assert "dQ" not in found["text"] and "pass" not in query_run(found)
    assert "run-pass" not in query_of(page) and query_of(page)["run-n"] == "12"
