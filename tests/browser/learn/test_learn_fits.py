"""One rung, one screen: nothing of a rung scrolls, in any size, theme or in a lecture hall.

``overflowing`` measures one; ``every_rung_fits`` holds once all rungs are written for their screen.
``python -m tests.browser.learn.test_learn_fits`` says which ones do not fit, and by how much.
"""

from __future__ import annotations

from playwright.sync_api import sync_playwright

from explainer.learn.registry import rungs
from tests.browser.harness import Server, Watched, launch, settled
from tests.browser.learn.learning import SHOWN, open_page

SIZES = ((1280, 720), (1440, 900))
# What of the screen is higher or wider than its place: {its class: px}.
OVER = """() => {
  const found = {}, root = document.documentElement;
  const parts = document.querySelectorAll(".fa-rung, .fa-rung-body > *, .fa-learn .fa-scroll");
  for (const node of [root, ...parts]) {
    if (!node.checkVisibility()) continue;
    const by = Math.max(node.scrollHeight - node.clientHeight, node.scrollWidth - node.clientWidth);
    if (by > 1) found[node.className.split(" ").at(0) || node.tagName] = by;
  }
  return found;
}"""


def overflowing(tab, key: str, hall: bool = False) -> dict[str, int]:
    """{part: px too large} of a rung as it is now."""
    page = open_page(tab, key, **({"mode": "present"} if hall else {}))
    page.wait_for_function("document.querySelector('.fa-learn .fa-blocks > *')")
    settled(page)
    return page.evaluate(OVER)


def every_rung_fits(browser, watch) -> None:
    found = {}
    for scheme in ("light", "dark"):
        for width, height in SIZES:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            tab = watch(context)
            for hall in (False, True) if scheme == "light" else (False,):
                for rung in rungs():
                    if over := overflowing(tab, rung.key, hall):
                        found[f"{rung.key}, {width} × {height}, {scheme}, hall {hall}"] = over
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


if __name__ == "__main__":
    with sync_playwright() as play, Server() as server:
        chromium = launch(play)
        every_rung_fits(chromium, lambda context: Watched(context.new_page(), server))
