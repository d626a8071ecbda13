"""A paged cache: the pool of pages, its block table, and the page of the key block at work."""

import pytest

from explainer.problem import Problem
from tests.browser.harness import click, query_of, read

PAGED = Problem(cache="paged")
# {class of what is drawn over the map: the middle of each across the pool, from 0 to 1}
MIDDLES = """() => {
  const ghost = document.querySelector(".fa-map .fa-ghost").getBBox();
  const middle = (node) => node.getBBox().x + node.getBBox().width / 2;
  const across = (node) => (middle(node) - ghost.x - 2) / (ghost.width - 5);
  const of = (name) => [...document.querySelectorAll(`.fa-map ${name}`)].filter((node) => node.getBBox().width).map(across);
  return { now: of(".fa-page-now"), K: of(".fa-fill-k.is-now"), V: of(".fa-fill-v.is-now"), other: of(".fa-page-other") };
}"""  # noqa: E501


def test_the_page_of_the_key_block_at_work_is_framed_where_it_lies(stage):
    table, pages = PAGED.block_table, PAGED.pages
    for step, j in ((5, 2), (6, 0)):
        page = stage.show(f"kv=paged&step={step}&phase=load")
        assert read(page)["j"] == str(j)
        place, entry = (table[j] + 0.5) / pages, (j + 0.5) / PAGED.Tc
        seen = page.evaluate(MIDDLES)
        assert seen["now"] == pytest.approx([place, entry], abs=0.01)
        assert seen["K"] == seen["V"] == pytest.approx([place], abs=0.01)
        others = [int(x * pages) for x in seen["other"]]  # in V's strip and in K's
        assert sorted(others) == sorted(2 * [*{*range(pages)} - {*table}])
        assert page.locator(".fa-page-name.is-now").all_text_contents() == [str(table[j])] * 2
        sentence = f"The block table says that key block {j} is in page {table[j]}."
        assert sentence in page.inner_text(".fa-aside")
        assert sentence in page.text_content("[data-testid=sentence]")


def test_the_word_of_pages_opens_their_control(tab):
    page = tab.open("kv=paged")
    click(page, "paged K and V")
    page.locator(".fa-step-controls").get_by_label("Contiguous").click()
    page.wait_for_selector('[data-testid="player"]:not([data-query*="kv="])')
    assert "kv" not in query_of(page)
    assert page.locator(".fa-page-cell").count() == 0
