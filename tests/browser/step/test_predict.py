"""Predict, then see: the answers are those of NumPy, and nothing ever blocks."""

from dataclasses import replace
from urllib.parse import urlencode

from explainer.algorithms.registry import MAIN
from explainer.algorithms.traffic import both, traffic
from explainer.problem import Problem
from tests.browser.harness import click, focus, from_menu, keys, press, query_of

PROBLEM = Problem(n=19, d=6, block_q=4, block_k=5, inputs="random", order="fa1", seed=3)


def test_shown_at_once_and_left_by_its_own_ways(tab):
    page = tab.open("predict=1&step=0&phase=load")
    options = page.locator(".fa-choices button")
    low = "all => all.map((node) => node.getBoundingClientRect().height).filter((h) => h < 44)"
    assert page.eval_on_selector_all(".fa-answers button, .fa-predict-close", low) == []
    assert page.locator(".fa-choices kbd").all_inner_texts() == ["1", "2", "3"]
    assert options.locator("span").all_inner_texts() == ["6", "8", "10"]
    focus(page)
    keys(page, "2")
    verdict = page.locator(".fa-verdict")
    click(page, "Show me")
    assert verdict.inner_text().startswith("✗ Not so: 6 of 16 lie")
    assert options.first.is_disabled()
    page = tab.show("step=3&sel=row.10")
    focus(page)
    keys(page, "ArrowLeft", "ArrowRight")
    question = page.inner_text(".fa-question")
    assert question.startswith("Row 9 brings ℓ = 2.80. In tile 5 of 10 (Q₂, K₁)")
    assert page.get_attribute(".fa-rows tr.is-followed", "data-row") == "9"
    assert page.inner_text(".fa-sram-row.is-followed .fa-row-name") == "9"
    assert "sel" not in query_of(page), "no other row is boxed"
    page.fill(".fa-predict-slider input", "3.2")
    assert page.inner_text(".fa-predict-slider output") == "3.20"
    click(page, "Show me")
    assert "= 3.17, you said 3.20. 1 of 2 right" in verdict.inner_text()
    for leave in ("Escape", "button"):
        if leave == "Escape":
            keys(page, "Escape")
        else:
            click(page, "No more questions")
        assert page.is_visible(".fa-row-view") and "predict" not in query_of(page)
        page.click(".fa-menu summary")
        button = page.get_by_role("button", name="Predict")
        assert button.get_attribute("aria-pressed") == "false"
        button.click()


# How many colours the fifteen tiles to come have between them: a hatch has many.
COLOURS = """() => {
  const map = document.querySelector(".fa-map canvas");
  const side = map.width / 4;
  const found = new Set();
  for (let k = 1; k < 16; k++) {
    const [x, y] = [(k % 4) * side, Math.floor(k / 4) * side].map(Math.round);
    const data = map.getContext("2d").getImageData(x + 1, y + 1, side - 4, side - 4).data;
    for (let at = 0; at < data.length; at += 4) found.add(data.slice(at, at + 4).join());
  }
  return found.size;
}"""


def test_nothing_gives_an_answer_away(tab):
    """Until they are passed all tiles look alike, and none is counted."""
    page = tab.open("n=16&d=8&br=4&bc=4&mask=causal&data=random&seed=9&step=0&phase=load")
    assert page.evaluate(COLOURS) > 2 and page.locator(".fa-skip-word").count() == 6
    from_menu(page, "Predict")
    assert page.evaluate(COLOURS) <= 2, "empty cells and the gaps between them"
    assert page.locator(".fa-skip-word").count() == 0
    assert "skipped" not in page.inner_text(".fa-hbm")
    focus(page)
    press(page, "End")
    assert page.evaluate(COLOURS) > 2, "what is over is seen"
    page = tab.open("predict=1&mode=compare&clock=bytes&n=32&br=8&bc=8&step=0")
    assert page.locator(".fa-meter:visible, .fa-lane-status:visible").count() == 0
    page.focus(".fa-race")
    keys(page, "End")
    assert page.locator(".fa-meter:visible").count() == 3


def test_which_lane_is_first(tab):
    """By bytes it is the one that moves the fewest: FA-2, whose tiles are twice as high as wide."""
    problem = Problem(n=32, d=8, block_q=8, block_k=4)
    totals = {o: both(traffic(replace(problem, order=o))) for o in MAIN}
    assert min(totals, key=totals.get) == "fa2"
    query = problem.to_query() | {"predict": "1", "mode": "compare", "clock": "bytes"}
    page = tab.open(urlencode(query))
    page.locator(".fa-choices button", has_text="FA-2").click()
    page.focus(".fa-race")
    keys(page, "End")
    assert page.inner_text(".fa-race .fa-verdict").startswith("✓ Right")
