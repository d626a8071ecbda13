"""The Learn page on a phone: picture first, the question a sheet, nothing too wide."""

from __future__ import annotations

import re

from explainer.learn.registry import rungs
from tests.browser.harness import settled
from tests.browser.learn.learning import SHOWN, open_page, widget
from tests.browser.learn.test_learn_fits import GO

PHONE = {"width": 390, "height": 844}
SMALL = {"width": 360, "height": 740}
# Words, keys and answers that a phone's edge, or what clips them, cuts off on either side; and
# answers too small for a finger.
CUT = """() => {
  const edges = (node) => {
    let [left, right] = [0, innerWidth];
    for (let at = node.parentElement; at; at = at.parentElement) {
      const { overflowX } = getComputedStyle(at), box = at.getBoundingClientRect();
      if (overflowX === "visible" || box.width < 2) continue; // for who cannot see
      [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
    }
    return [left - 1, right + 1];
  };
  const isCut = (node) => {
    const { left, right } = node.getBoundingClientRect(), [from, to] = edges(node);
    return left < from || right > to;
  };
  const isLow = (node) => node.matches(".fa-check button, .fa-click-grid button, " +
    ".fa-number-answer input") && node.getBoundingClientRect().height < 47.5;
  const isBelow = (svg) => {
    const box = svg.getBBox();
    return box.y + box.height > svg.viewBox.baseVal.height + 2;
  };
  const low = [...document.querySelectorAll(".fa-learn .fa-easel")].filter(isBelow);
  const all = [...document.querySelectorAll(".fa-learn :is(text, p, li, button, input, b)")]
    .filter((n) => n.checkVisibility() && !n.closest(".fa-scroll, .fa-sr, .fa-bits-block"))
    .filter((n) => isCut(n) || isLow(n)).map((n) => n.outerHTML.slice(0, 90));
  return [...low.map((n) => `lower than its place: ${n.ariaLabel}`), ...all];
}"""


def test_a_plot_is_read_where_it_is_touched(browser, watch):
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = open_page(watch(context), "backward")
    place = widget(page, "backward")
    place.get_by_role("slider", name="Step").press("End")
    plot = place.locator(".fa-plot-box")
    plot.evaluate("node => node.scrollIntoView({ block: 'center' })")
    box = plot.bounding_box()
    read = []
    for share in (0.95, 0.2):
        page.touchscreen.tap(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        read.append(int(plot.get_attribute("aria-valuenow")))
    most = int(plot.get_attribute("aria-valuemax"))
    assert 0.9 * most < read[0] <= most and read[1] < 0.3 * most
    context.close()


def test_a_phone_scrolls_down_only(browser, watch):
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    tab = watch(context)
    for key in ("", "versions", "formats", "online", "wild", "glossary", "handout", "claims"):
        page = open_page(tab, key)
        settled(page)
        wide = page.evaluate(
            """() => [...document.querySelectorAll(".fa-learn *")].filter((n) =>
            n.checkVisibility() && !n.closest(".fa-scroll, .fa-sr, .fa-bits-block") &&
            n.getBoundingClientRect().right > innerWidth + 1)
            .map((n) => n.outerHTML.slice(0, 120))"""
        )
        assert not wide, (key, "\n".join(wide[:5]))
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        small = page.evaluate(
            """() => [...document.querySelectorAll(".fa-learn *")].filter((n) => n.checkVisibility()
            && !n.closest(".fa-sr, math") && [...n.childNodes].some((c) => c.nodeType === 3 &&
            c.textContent.trim()) && parseFloat(getComputedStyle(n).fontSize) < 11).length"""
        )
        assert small == 0
    context.close()


def test_no_rung_is_wider_than_a_phone_and_its_answers_are_large(browser, watch):
    """Words and answers of all rungs, on two phones; also what a sheet or a picture cuts off, at
    the left or at the right, counts."""
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    tab, found = watch(context), {}
    page = open_page(tab, rungs()[0].key)
    for rung in rungs():
        page.evaluate(GO, rung.key)
        page.wait_for_function(SHOWN, arg=rung.key)
        page.wait_for_function("document.querySelector('.fa-learn .fa-blocks > *')")
        for phone in (SMALL, PHONE):
            page.set_viewport_size(phone)
            if wrong := settled(page).evaluate(CUT):
                found[f"{rung.key}, {phone['width']}"] = wrong[:3]
    for way in ("left", "right"):
        page.evaluate(
            "(way) => { const p = document.querySelector('.fa-rung-text p');"
            "p.style.cssText = `position:relative;${way}:-60px`; }",
            way,
        )
        assert page.evaluate(CUT), f"a paragraph that is cut at the {way} is found"
    page.evaluate(GO, "attention")
    page.wait_for_function(SHOWN, arg="attention")
    page.wait_for_function("document.querySelector('.fa-learn .fa-easel > *')")
    settled(page).evaluate(
        "document.querySelector('.fa-easel').setAttribute('viewBox', '0 0 358 716')"
    )
    assert "lower than its place" in page.evaluate(CUT)[0], "a picture over what follows is found"
    context.close()
    assert not found, "\n".join(f"{name}: {wrong}" for name, wrong in found.items())


def test_on_a_phone_the_picture_is_first_and_the_question_a_sheet(browser, watch):
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = open_page(watch(context), "memory")
    place = widget(page, page.locator("[data-widget]").get_attribute("data-widget"))
    text = page.locator(".fa-rung-body > .fa-rung-text")
    assert place.bounding_box()["y"] < text.bounding_box()["y"]
    sheet = page.locator(".fa-question.is-sheet")
    options = sheet.locator(".fa-option")
    assert min(options.nth(k).bounding_box()["height"] for k in range(options.count())) >= 48
    box, bar = sheet.bounding_box(), page.locator(".fa-screen-foot").bounding_box()
    assert box["y"] + box["height"] <= bar["y"] + 1 and bar["y"] + bar["height"] <= 844 + 1
    options.first.tap()
    sheet.locator(".fa-verdict", has_text=re.compile("[✓✗]")).wait_for()
    sheet.locator(".fa-sheet-handle").tap()
    assert sheet.bounding_box()["height"] <= 48, "folded, the picture is free"
    page.locator(".fa-rung-next").tap()
    page.wait_for_function("document.querySelector('.fa-learn').dataset.screen !== 'memory'")
    context.close()
