"""What ST 5, 7, 11, 12, 16 and 19 to 23 named; the other findings are named where they are held."""

import re

import numpy as np

from explainer.problem import Problem
from explainer.trace import trace
from tests.browser.expected import phases
from tests.browser.harness import click, keys, press, query_of, read, settled
from tests.browser.step.test_mask_builder import open_builder

NUMBER = re.compile(r"−?\d+\.\d+")


def decimals(texts: list[str]) -> set[int]:
    return {len(x.partition(".")[2]) for text in texts for x in NUMBER.findall(text)}


def test_a_tile_and_its_sentence_write_scores_m_and_l_to_one_precision(tab):
    """ST 12: S had one decimal where m had three; then the sentence and the row had one more."""
    for query in ("step=0", "step=4", "step=4&gain=30"):
        page = tab.open(f"{query}&phase=max")
        cells = page.inner_text(".fa-frame-s")
        rows = page.locator(".fa-stat-now:visible").all_inner_texts()
        formula = page.inner_text(".fa-formula")
        assert all(map(NUMBER.search, (cells, " ".join(rows), formula)))
        press(page, "ArrowDown")
        m = page.inner_text(".fa-row-view-lines").split("\n")[1]
        assert len(decimals([cells, *rows, formula, m])) == 1, (cells, rows, formula, m)


def test_next_answers_the_question_by_a_whole_tile(tab):
    """ST 5: it began tile 5 by phases while the question was about tile 6, and "0 5" of a slider
    stayed without it."""
    page = tab.open("predict=1&step=3")
    for step in (4, 5, 6):
        slider = page.locator(".fa-predict-slider")
        assert slider.is_visible() == slider.locator("input").is_visible()
        click(page, "Next")
        now = read(page)
        assert (now["step"], now["phase"]) == (str(step), phases(trace(Problem()).visits[step])[-1])
        question = page.inner_text(".fa-question")
        assert f"tile {step + 2} of 10" in question or question.startswith("Nothing to guess")


def test_the_backward_opens_with_its_purpose_however_one_comes(tab):
    """ST 11: only its tour told what dO is, why P is computed again, why D, and why dQ leaves."""
    page = tab.open("")
    for way in ("key", "address"):
        if way == "key":
            press(page, "b")
            page.wait_for_selector('[data-testid="player"][data-pass="backward"]')
            settled(page)
        else:
            page = tab.open("pass=backward")
        asked = page.locator(".fa-purposes dt:visible").all_inner_texts()
        assert [re.search(r"dO|P|D|dQ", question)[0] for question in asked] == [
            "dO",
            "P",
            "D",
            "dQ",
        ]
        assert page.inner_text(".fa-hero h2").startswith("Training asks")


def test_products_of_the_backward_stand_in_the_order_of_its_phases(tab):
    """ST 16: dK stood before dQ, which is computed first."""
    page = tab.open("pass=backward&step=4&phase=dQ")
    named = page.eval_on_selector_all("[data-product]", "all => all.map((x) => x.dataset.product)")
    order = page.eval_on_selector_all(".fa-rail button", "all => all.map((x) => x.dataset.go)")
    products = [phase for phase in order if phase in ("dV", "dP", "dQ", "dK")]
    assert [x for x in named if x in products] == products and len(products) == 4


def test_a_newly_chosen_score_shows_what_it_does(tab):
    """ST 19: ALiBi's slope was 1/256, and a soft cap of 50 lay far above scores near 1."""
    plain = trace(Problem()).S
    for name in ("ALiBi", "softcap"):
        page = tab.open("step=4&phase=max")
        open_builder(page)
        page.click(".fa-masks summary")
        page.locator(".fa-masks").get_by_label(name).first.check()
        settled(page)
        click(page.locator(".fa-masks"), "Use this mask")
        page.wait_for_selector('[data-testid="player"][data-query*="score"]')
        settled(page)
        changed = trace(Problem.from_query(query_of(page))).S
        seen = np.tri(16, dtype=bool)
        assert np.abs(changed[seen] - plain[seen]).max() > 0.3, name


def test_what_is_rare_is_found_by_its_name(tab):
    """ST 20: heads, RoPE and dropout hid under “Own data, scores, sink”."""
    page = tab.open("")
    press(page, "c")
    controls = page.locator(".fa-step-controls")
    controls.get_by_role("button", name="Heads, RoPE, dropout").click()
    for name in ("Query heads H", "Key heads Hk", "RoPE base (0: none)", "Dropout"):
        controls.get_by_label(name).first.wait_for()  # the section unfolds
    keys(page, "Escape")


def test_a_clicker_blanks_the_hall(tab):
    """ST 21: the key “b” that a clicker sends led to the backward pass."""
    page = tab.open("step=4&phase=max&mode=present")
    keys(page, "b")
    assert page.evaluate("'blank' in document.documentElement.dataset")
    keys(page, "b")
    assert not page.evaluate("'blank' in document.documentElement.dataset")
    assert page.get_by_test_id("player").get_attribute("data-pass") == "forward"
    keys(page, "Escape")


def test_a_mouse_at_rest_leaves_the_line_of_code_in_the_hall(tab):
    """ST 21: what a resting mouse lay over took the place of the line."""
    page = tab.open("step=4&phase=load&mode=present")
    page.mouse.move(640, 500)
    lines = []
    for phase in phases(trace(Problem()).visits[4])[1:]:
        assert press(page, "ArrowDown")["phase"] == phase
        lines.append(page.inner_text(".fa-drawer .is-now > code:visible"))
    assert len(set(lines)) >= 4, lines
    page.mouse.move(1, 1)
    keys(page, "Escape")


def test_m_and_l_stay_on_a_phone_while_o_is_summed(phone):
    """ST 22: they vanished at “output”."""
    phone.goto("step=4&phase=output")
    page = settled(phone.page)
    shown = page.locator(".fa-stat-now:visible").all_inner_texts()
    assert len([x for x in shown if NUMBER.search(x)]) == 8


def test_the_end_of_an_address_is_that_of_its_last_tile(tab):
    """`phase=end` alone kept step 0, and said of its 384 B that they were all that moved."""
    page = tab.open("phase=end")
    assert read(page)["step"] == "9" and "ended" in read(page)
    assert page.inner_text(".fa-hero h2") == "The same O. 3.56 KiB moved instead of 10.5 KiB."
