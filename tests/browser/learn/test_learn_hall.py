"""The Learn page in a lecture hall: one card or part of a card at a time, in large type."""

from __future__ import annotations

import pytest

from tests.browser.harness import query_of, settled
from tests.browser.learn.learning import open_page, widget

HALL = {"width": 1280, "height": 720}
SIZES = """() => [...document.querySelectorAll(".fa-learn *")].filter((n) => n.checkVisibility() &&
  [...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()) &&
  !n.closest(".fa-sr, math")).map((n) => parseFloat(getComputedStyle(n).fontSize))"""
CARDS_SEEN = "() => [...document.querySelectorAll('.fa-learn .fa-card')]" \
             ".filter((n) => n.checkVisibility()).map((n) => n.id)"  # fmt: skip


def test_a_lecture_hall_sees_one_card_in_large_type(tab):
    page = tab.page
    page.set_viewport_size(HALL)
    open_page(tab, "softmax", mode="present")
    page.wait_for_function(f"({CARDS_SEEN})().length === 1")
    seen = []
    for _ in range(9):
        (card,) = page.evaluate(CARDS_SEEN)
        seen.append(card)
        sizes = page.evaluate(SIZES)
        assert sizes and min(sizes) >= 24, card
        assert page.evaluate("document.documentElement.scrollHeight") <= 724
        page.keyboard.press("ArrowRight")
        settled(page)
    assert list(dict.fromkeys(seen))[:3] == ["learn-softmax", "learn-cat", "learn-attention"]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    page.wait_for_selector(".fa-toc:visible")
    assert "mode" not in query_of(page)


def test_cards_asked_for_quickly_on_a_slow_network_leave_one(tab):
    """Their widgets' answers come when the lecturer has gone on, the first card's last."""
    page, held = tab.page, []
    page.set_viewport_size(HALL)
    late = []
    page.route("**/fa/learn?*", lambda route: route.continue_() if late else held.append(route))
    page.goto(f"{tab.server.url}/?page=learn&rung=dot&mode=present")
    page.wait_for_selector("#learn-dot[data-part]:visible")
    page.wait_for_function("document.documentElement.dataset.pending.includes('card')")
    for rung in ("matmul", "softmax"):
        page.keyboard.press("ArrowRight")
        page.wait_for_selector(f"#learn-{rung}[data-part]:visible")
    late, held[:] = held[::-1], []
    for route in late:
        route.continue_()
    settled(page)
    assert page.evaluate(CARDS_SEEN) == ["learn-softmax"]


def test_a_lecture_ends_with_the_formulas_and_every_press_moves(tab):
    page = tab.page
    page.set_viewport_size(HALL)
    open_page(tab, "formulas", mode="present")
    page.wait_for_function(f"({CARDS_SEEN})().length === 1")
    widget(page, "formulas")
    scrolled = "document.querySelector('#learn-formulas').scrollTop"
    before = -100
    for _ in range(8):  # to its end, and no further: what follows is to be read, not shown
        now = page.evaluate(scrolled)
        if now == before:
            break
        assert now - before > 24
        before = now
        page.keyboard.press("ArrowRight")
        settled(page)
    assert page.evaluate(CARDS_SEEN) == ["learn-formulas"]


PLACE = """() => { const card = document.querySelector(".fa-card[data-part]");
  return [card.id, card.dataset.part, Math.round(card.scrollTop)]; }"""


def test_the_way_back_in_a_lecture_hall_is_the_way_on(tab):
    page = tab.page
    page.set_viewport_size(HALL)
    open_page(tab, "dot", mode="present")
    page.wait_for_function(f"({PLACE})()[1] === 'text'")
    page.keyboard.press("ArrowUp")
    assert page.locator("#learn-dot .fa-scrub").first.input_value() == "1", "its control is unseen"
    seen = []
    for key in ("PageDown",) * 5 + ("PageUp",) * 5:
        seen.append(page.evaluate(PLACE))
        page.keyboard.press(key)
        settled(page)
    assert seen[4] == ["learn-dot", "question", 0] and seen[3][2] > seen[2][2] > 0
    assert seen[6:] == seen[1:5][::-1], "what lies below is come back to first"


@pytest.mark.parametrize("rung", ["lab-number", "claims", "wild"])
def test_a_lecture_hall_sees_what_stands_behind_the_ladder(tab, rung):
    page = tab.page
    page.set_viewport_size(HALL)
    open_page(tab, rung, mode="present")
    page.wait_for_function(f"({CARDS_SEEN})().length === 1")
    assert page.evaluate(CARDS_SEEN) == [f"learn-{rung}"]
    assert min(page.evaluate(SIZES)) >= 24
    if rung == "claims":
        page.keyboard.press("ArrowRight")
        page.wait_for_function("document.activeElement.matches('.fa-claim-words')")
        assert page.evaluate(CARDS_SEEN) == [""]


@pytest.mark.parametrize("query", ["", "page=run", "page=memory", "page=learn"])
def test_who_leaves_the_hall_has_the_dark_back(browser, watch, query):
    context = browser.new_context(viewport=HALL, color_scheme="dark")
    tab = watch(context)
    page = tab.page
    page.goto(f"{tab.server.url}/?{query}")
    page.wait_for_selector("#pages [role=tabpanel]:visible")
    settled(page)
    dark = "document.body.classList.contains('dark')"
    assert page.evaluate(dark)
    page.locator(".fa-start-present").click()
    page.wait_for_function(f"document.body.classList.contains('fa-present') && !{dark}")
    page.keyboard.press("Escape")
    page.wait_for_function(f"!document.body.classList.contains('fa-present') && {dark}")
    context.close()
