"""Rung 14 in a browser: a variant is chosen by keyboard and by touch, and what it shows is ours."""

from __future__ import annotations

import pytest

from explainer.learn.variants import VARIANTS, levels
from tests.browser.harness import read, settled
from tests.browser.learn.learning import agree, open_page, widget
from tests.browser.site.test_accessible import serious

PHONE = {"width": 390, "height": 844}
DRAWN = """(node) => {
  const image = node.querySelector(".fa-cells-block .fa-picture");
  const count = (path) => path.getAttribute("d").split("M").length - 1;
  const hidden = image.querySelector("path.is-hidden");
  const kept = [...image.querySelectorAll("path:not(.is-hidden)")];
  return { kept: kept.reduce((n, path) => n + count(path), 0), hidden: hidden ? count(hidden) : 0 };
}"""

TYPE = """(card) => [...card.querySelectorAll("*")].filter((n) => n.checkVisibility() &&
  [...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()) &&
  !n.closest(".fa-sr, math")).map((n) => parseFloat(getComputedStyle(n).fontSize))"""


def drawn(place, key: str) -> None:
    """The picture has a cell wherever the variant has one."""
    cells = "".join(levels(key))
    found = place.evaluate(DRAWN)
    assert found["hidden"] == cells.count(".")
    assert found["kept"] == len(cells) - cells.count(".")


def test_a_variant_is_chosen_by_keyboard(tab):
    page = open_page(tab, "gqa")
    place = widget(page, "variants")
    agree(place)
    drawn(place, "window")
    assert serious(page, "#learn-gqa") == []
    place.get_by_role("radio", name="Window").focus()
    for name in ("Documents", "Block-sparse", "ALiBi", "RoPE", "Linear", "GQA"):
        page.keyboard.press("ArrowRight")
        settled(page)
        assert place.get_by_role("radio", name=name, exact=True).is_checked()
        key = next(key for key, v in VARIANTS.items() if v.title == name)
        agree(place, what=key)
        drawn(place, key)
        marked = place.locator("tr.is-chosen th")
        assert marked.inner_text().replace("\u2011", "-").endswith(name)
    place.get_by_role("slider", name="Query i").focus()
    page.keyboard.press("Home")
    agree(place, what="gqa", row="0")


def test_a_lecturer_chooses_a_variant_and_the_clicker_goes_on(tab):
    page = tab.page
    page.set_viewport_size({"width": 1280, "height": 720})
    open_page(tab, "gqa", mode="present")
    settled(page)
    place = widget(page, "variants")
    place.locator("label", has_text="RoPE").click()
    agree(place, what="rope")
    card = page.locator("#learn-gqa")
    sizes = card.evaluate(TYPE)
    assert sizes and min(sizes) >= 24
    for _ in range(8):
        if card.get_attribute("data-part") == "question":
            break
        page.keyboard.press("PageDown")
        settled(page)
    assert card.get_attribute("data-part") == "question"


@pytest.mark.parametrize("key", ["alibi", "documents"])
def test_a_variant_is_chosen_by_touch_and_stepped(browser, watch, key):
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    tab = watch(context)
    page = open_page(tab, "gqa")
    place = widget(page, "variants")
    card = place.locator("label", has_text=VARIANTS[key].title)
    card.scroll_into_view_if_needed()
    assert card.bounding_box()["height"] >= 44
    card.tap()
    settled(page)
    agree(place, what=key)
    place.locator("a.fa-run-link").click()
    page.wait_for_selector('[data-testid="player"][data-step][aria-busy="false"]')
    settled(page)
    seen = read(page)
    assert (seen["phase"], seen["kind"]) == ("mask", "partial")
    context.close()
