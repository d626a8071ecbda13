"""One rung, one screen: nothing of a rung scrolls, in any size, theme or in a lecture hall.

``overflowing`` measures one, ``unfitting`` all of them on a page that goes from rung to rung.
"""

from __future__ import annotations

import pytest

from explainer.learn.registry import rungs
from tests.browser.harness import settled
from tests.browser.learn.learning import SHOWN, open_page

SIZES = ((1280, 720), (1440, 900))
# What of the screen is higher or wider than its place: {its class: px}. In a lecture hall the page
# clips a picture, so each of its parts is held against the picture's place.
OVER = """() => {
  const found = {}, root = document.documentElement;
  const put = (name, by) => { if (by > 1) found[name] = Math.round(by); };
  const named = (node) => node.className.split?.(" ").at(0) || node.tagName;
  const parts = document.querySelectorAll(".fa-rung, .fa-rung-body > *, .fa-learn .fa-scroll");
  for (const node of [root, ...parts].filter((one) => one.checkVisibility())) {
    put(named(node), node.scrollHeight - node.clientHeight);
    put(named(node), node.scrollWidth - node.clientWidth);
  }
  const slide = document.querySelector(".is-presenting [data-part=picture] > .fa-rung-body");
  if (!slide) return found;
  const place = slide.querySelector(":scope > .fa-widget"), box = place.getBoundingClientRect();
  for (const node of place.querySelectorAll("text, p, li, td, th, button, .fa-control")) {
    const at = node.getBoundingClientRect();
    if (!at.width || node.closest(".fa-sr") || !node.checkVisibility()) continue;
    put(named(node), Math.max(at.right - box.right, at.bottom - box.bottom) - 2);
    put(named(node), Math.max(box.left - at.left, box.top - at.top) - 2);
  }
  const end = (one) => slide.querySelector(one).getBoundingClientRect();
  put("lines", end(".fa-slide ul").bottom - end(".fa-ground").top);
  return found;
}"""
GO = """(key) => {
  const link = Object.assign(document.createElement("a"), { href: `?page=learn&rung=${key}` });
  document.querySelector(".fa-learn").append(link);
  link.click();
}"""


def overflowing(tab, key: str, hall: bool = False) -> dict[str, int]:
    """{part: px too large} of a rung as it is now."""
    page = open_page(tab, key, **({"mode": "present"} if hall else {}))
    page.wait_for_function("document.querySelector('.fa-learn .fa-blocks > *')")
    settled(page)
    return page.evaluate(OVER)


def unfitting(tab, hall: bool) -> dict[str, dict]:
    """{rung, slide, width: what is too large there}, from rung to rung within one page. Each is
    measured in one size as it comes there, then as the window takes the other, which stays for the
    next."""
    found, keys, sizes = {}, [rung.key for rung in rungs()], [*SIZES]
    page = open_page(tab, keys[0], **({"mode": "present"} if hall else {}))
    for key in keys:
        page.evaluate(GO, key)
        page.wait_for_function(SHOWN, arg=key)
        page.wait_for_function("document.querySelector('.fa-learn .fa-blocks > *')")
        for slide in ("picture", "question") if hall else ("desk",):
            if slide == "question":
                page.keyboard.press("PageDown")
            for width, height in sizes:
                page.set_viewport_size({"width": width, "height": height})
                if over := settled(page).evaluate(OVER):
                    found[f"{key}, {slide}, {width}"] = over
            sizes.reverse()
    return found


@pytest.mark.parametrize("hall", [False, True], ids=["desk", "hall"])
def test_every_rung_fits(browser, watch, hall):
    context = browser.new_context(viewport=dict(zip(("width", "height"), SIZES[0], strict=True)))
    found = unfitting(watch(context), hall)
    context.close()
    assert not found, "\n".join(f"{name}: {over}" for name, over in found.items())


def test_what_does_not_fit_is_found(tab):
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    page = open_page(tab, "fusion")
    page.wait_for_function(SHOWN, arg="fusion")
    settled(page)
    before = page.evaluate(OVER)
    page.evaluate("document.querySelector('.fa-rung-text p').style.minHeight = '900px'")
    after = page.evaluate(OVER)
    assert sum(after.values()) > sum(before.values()) + 100
    assert "HTML" not in after, "the page itself never scrolls"


def test_the_frame_fits_and_only_bodies_may_scroll(tab):
    """Head, foot, entrance: in both sizes the page itself has nothing below its window."""
    for width, height in SIZES:
        tab.page.set_viewport_size({"width": width, "height": height})
        for key in ("", "online", "claims", "handout"):
            page = open_page(tab, key)
            settled(page)
            over = page.evaluate(
                "document.documentElement.scrollHeight - document.documentElement.clientHeight"
            )
            assert over <= 0, (key, width, over)
            if not key:
                lowest = page.locator(".fa-halt").evaluate_all(
                    "(all) => Math.max(...all.map((n) => n.getBoundingClientRect().bottom))"
                )
                assert lowest < page.locator(".fa-screen-foot").bounding_box()["y"]
