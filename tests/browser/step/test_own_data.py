"""A typed sentence, pasted Q, K and V, louder logits: what is shown is what NumPy makes of them."""

from __future__ import annotations

from urllib.parse import urlencode

import numpy as np

from explainer.problem import Problem
from explainer.trace import trace
from tests.browser.harness import click, keys, open_controls, query_of
from tests.browser.run.test_run import run_result
from tests.browser.site.test_address import judge

CSV = "1, 0\n0, 1\n1, 1\n\n2, 0\n0, 2\n1, 1\n\n1, 2\n3, 4\n5, 6"


def unfold(page):
    open_controls(page)
    page.get_by_role("button", name="Own data, scores, sink").first.click()
    field = page.get_by_label("Sentence, or Q, K, V as CSV")
    field.wait_for()
    return field


def choose(page, name: str) -> None:
    open_controls(page).get_by_label("Start from").click()
    click(page, name, "option")


def test_a_typed_sentence_names_the_rows(tab):
    page = tab.open()
    choose(page, "Six-word sentence")
    unfold(page).click()
    page.keyboard.type("to be or not")
    problem = Problem(n=4, block_q=2, block_k=2, inputs="sentence", text="to be or not")
    judge(page, problem, 0)
    assert "be" in page.locator(".fa-sram-rows").inner_text()
    assert query_of(page)["text"] == "to be or not"
    page.reload()
    tab.settle()
    judge(page, problem, 0)


def test_what_is_pasted_or_deleted_is_noticed_at_once(tab, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = tab.open("n=12&data=random")
    field = unfold(page)
    page.evaluate("text => navigator.clipboard.writeText(text)", CSV)
    field.click()
    page.keyboard.press("Control+V")
    judge(page, Problem(n=3, d=2, block_q=2, block_k=2, inputs="own", text=CSV), 0)
    assert page.get_by_label("Start from").input_value() == "Own Q, K, V"
    keys(page, *["Backspace"] * 3)
    tab.tolerate("status of 400")
    page.locator(".fa-notice span", has_text="text = ").wait_for()
    page.keyboard.type(", 7")
    whole = f"{CSV[:-3]}, 7"
    judge(page, Problem(n=3, d=2, block_q=2, block_k=2, inputs="own", text=whole), 0)
    tab.problems[:] = tab.problems[:1]  # a refusal for each key


def test_pasted_matrices_and_the_kernel_on_them(tab):
    problem = Problem(n=3, d=2, block_q=2, block_k=2, inputs="own", text=CSV, gain=2.0)
    page = tab.open(urlencode(problem.to_query()))
    judge(page, problem, 0)
    np.testing.assert_array_equal(trace(problem).V, [[1, 2], [3, 4], [5, 6]])
    click(open_controls(page), "Run the real kernel")
    found = run_result(page)
    assert (found["right"], found["agrees"]) == ("true", "true")
    assert found["query"] == urlencode(problem.to_query())
