"""The Learn page on a phone: picture first, the question a sheet, nothing too wide."""

from __future__ import annotations

import re

from tests.browser.harness import settled
from tests.browser.learn.learning import open_page, widget

PHONE = {"width": 390, "height": 844}


def test_a_plot_is_read_where_it_is_touched(browser, watch):
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = open_page(watch(context), "lab-accumulate")
    plot = widget(page, "accumulate").locator(".fa-plot-box").first
    plot.evaluate("node => node.scrollIntoView({ block: 'center' })")
    box = plot.bounding_box()
    read = []
    for share in (0.95, 0.2):
        page.touchscreen.tap(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        read.append(int(plot.get_attribute("aria-valuenow")))
    assert read[0] == int(plot.get_attribute("aria-valuemax")) and read[1] < read[0]
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
