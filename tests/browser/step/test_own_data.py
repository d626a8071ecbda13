"""A typed sentence, pasted Q, K and V, louder logits: what is shown is what NumPy makes of them."""

from explainer.problem import Problem
from tests.browser.harness import click, keys, open_controls, query_of
from tests.browser.run.test_run import CSV
from tests.browser.site.test_address import judge


def unfold(page):
    open_controls(page)
    page.get_by_role("button", name="Own data").first.click()
    field = page.get_by_label("Sentence, or Q, K, V as CSV")
    field.wait_for()
    return field


def choose(page, name: str) -> None:
    open_controls(page).get_by_label("Start from").click()
    click(page, name, "option")


def test_a_typed_sentence_names_the_rows(tab):
    page = tab.open()
    choose(page, "Six-word sentence")
    judge(page, Problem(n=6, block_q=2, block_k=2, inputs="sentence"), 0)
    unfold(page).click()
    page.keyboard.type("to be or not")
    problem = Problem(n=4, block_q=2, block_k=2, inputs="sentence", text="to be or not")
    judge(page, problem, 0)
    assert "be" in page.inner_text(".fa-sram-rows")
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
    keys(page, "Control+V")
    judge(page, Problem(n=3, d=2, block_q=2, block_k=2, inputs="own", text=CSV), 0)
    assert page.get_by_label("Start from").input_value() == "Own Q, K, V"
    keys(page, *["Backspace"] * 3)
    tab.tolerate("status of 400")
    page.locator(".fa-notice span", has_text="text = ").wait_for()
    page.keyboard.type(", 7")
    whole = f"{CSV[:-3]}, 7"
    judge(page, Problem(n=3, d=2, block_q=2, block_k=2, inputs="own", text=whole), 0)
    tab.problems[:] = tab.problems[:1]  # a refusal for each key
