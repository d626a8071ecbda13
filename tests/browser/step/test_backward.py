"""The backward on the Step page: the switch, every phase by keyboard against the trace, what is
lit, what the drawer says; nothing is asked of the server while stepping."""

import io

import numpy as np
from PIL import Image

from tests.browser.harness import click, focus, keys, press, query_of, read, resize
from tests.browser.site.test_accessible import faults

HERE = "data=random&seed=9&pass=backward"
TILE = f"{HERE}&step=9"  # tile (2, 1): rows 8 to 11, keys 4 to 7


def test_the_switch_keeps_the_tile_and_the_phase(tab):
    page = tab.open(f"{TILE}&phase=exp")
    shown = read(page)
    assert (shown["pass"], shown["i"], shown["j"], shown["phase"]) == ("backward", "2", "1", "exp")
    backward = page.get_by_role("button", name="Backward", exact=True)
    assert backward.get_attribute("aria-pressed") == "true"
    click(page, "Forward")
    page.wait_for_selector('[data-testid="player"][data-pass="forward"]')
    tab.settle()
    shown = read(page)
    assert (shown["i"], shown["j"], shown["phase"], shown["step"]) == ("2", "1", "exp", "4")
    assert "pass" not in query_of(page)
    assert {name for row in shown["rows"].values() for name in row} >= {"m_new", "l_new"}
    keys(page, "b")
    page.wait_for_selector('[data-testid="player"][data-pass="backward"]')
    tab.settle()
    assert read(page)["step"] == "9" and query_of(page)["pass"] == "backward"
    press(page, "r")  # a race of the three backwards, and back to the same pass
    page.wait_for_selector(".fa-race[data-pass=backward][aria-busy=false]")
    tab.settle()
    parts = page.eval_on_selector_all(".fa-lane .fa-meter i", "all => all.map((i) => i.title)")
    assert "dQ" in " ".join(parts) and query_of(page)["pass"] == "backward"
    press(page, "r")
    tab.settle()
    assert read(page)["pass"] == "backward"


LIT = """() => Object.fromEntries([...document.querySelectorAll(
  ".fa-tile > .fa-marks [data-linked]")]
  .map((node) => [node.dataset.tensor, node.dataset.box]))"""


def test_a_slope_lights_its_crossing_and_says_what_it_is(stage):
    """What is linked, and its numbers, are judged in tests/js/backward.test.mjs."""
    page = stage.show(f"{TILE}&phase=dS&sel=dS.9.5")
    row, key, dims, outs = "rows 9–9", "keys 5–5", "dims 0–7", "outs 0–7"
    assert page.evaluate(LIT) == {
        **{"Q": f"{row}, {dims}", "K": f"{key}, {dims}", "S": f"{row}, {key}"},
        **{"dO": f"{row}, {outs}", "V": f"{key}, {outs}", "dS": f"{row}, {key}"},
        **{"dV": f"{key}, {outs}", "dK": f"{key}, {dims}"},
    }
    assert "Selected: dS[9,5]" in page.get_by_test_id("sentence").inner_text()
    page.focus(".fa-frame-ds")
    press(page, "ArrowRight")
    assert query_of(page)["sel"] == "dS.8.5"
    keys(page, "Escape")


# How many numbers of rows there are, and those that lie over a matrix.
COVERED = """() => {
  const all = (name) => [...document.querySelectorAll(name)].filter((it) => it.checkVisibility());
  const boxes = all(".fa-frame .fa-matrix").map((it) => it.getBoundingClientRect());
  const numbers = all(".fa-stat-now").filter((it) => it.textContent);
  const covered = numbers.filter((it) => {
    const range = document.createRange();
    range.selectNodeContents(it);
    const { left, right, top, bottom } = range.getBoundingClientRect();
    return boxes.some((box) => Math.min(right, box.right) - Math.max(left, box.left) > 1
      && Math.min(bottom, box.bottom) > Math.max(top, box.top));
  });
  return [numbers.length, covered.map((it) => it.textContent)];
}"""


def test_numbers_of_rows_have_room_beside_the_matrices(stage):
    resize(stage.page)
    page = stage.show(
        f"{HERE}&step=4&phase=scores"
    )  # where lse of row 0 is -0.068, D of row 2 -0.80
    assert page.evaluate(COVERED) == [8, []]


def test_the_tile_stands_out_of_the_numbers_it_lies_on(stage):
    page = stage.show(f"{HERE}&order=standard&step=6")  # P is dark, and so is the outline
    seen = Image.open(io.BytesIO(page.locator(".fa-cursor").screenshot())).convert("L")
    row = np.asarray(seen)[seen.height // 4]  # across the outline's left side
    assert row[: len(row) // 4].min() < 60 and row[2:10].max() > 150, row


def test_parts_of_dQ_arrive_one_by_one(stage):
    page = stage.show(f"{TILE}&phase=dS")
    parts = "document.querySelectorAll('.fa-part.is-in').length"
    before = page.evaluate(parts)
    focus(page)
    assert press(page, "ArrowDown")["phase"] == "dQ"
    assert page.evaluate(parts) == before + 1
    assert "√d" not in page.text_content("[data-product=dQ] > b"), "FA-1's has the scale"
    now = page.locator(".fa-products .is-now")
    assert now.count() == 1 and now.get_attribute("data-product") == "dQ"
    press(page, "End")
    assert page.evaluate("document.querySelectorAll('.fa-part:not(.is-in)').length") == 0
    stage.show(f"{HERE}&step=13&phase=dQ")
    click(page, "Code", "tab")
    lit = page.locator(".fa-code li.is-now code").all_inner_texts()
    assert [line.strip() for line in lit] == ["dQᵢ += dS Kⱼ"]


def test_a_problem_without_a_backward_texts_so_and_leaves_the_picture(tab):
    page = tab.open("data=random&seed=9&dropout=0.1&step=4")
    tab.tolerate("400")
    keys(page, "b")
    page.wait_for_selector(".fa-notice:not([hidden])")
    assert "dropout" in page.get_by_role("alert").inner_text()
    assert read(page)["pass"] == "forward" and read(page)["step"] == "4"


def test_axe_finds_nothing(stage):
    page = stage.show(f"{TILE}&phase=exp&sel=S.9.5")
    click(page, "Code", "tab")
    assert faults(page, ".fa-mount, .fa-pass") == []
    click(page, "Products", "tab")
    page.evaluate("document.body.classList.remove('dark')")
