"""The Learn page in a lecture hall: a rung is two slides, its picture and its question."""

from __future__ import annotations

from itertools import pairwise

import pytest

from explainer.learn.claims import CLAIMS
from explainer.learn.hall import slide
from explainer.learn.registry import rungs
from explainer.learn.teaching import LESSONS
from tests.browser.harness import query_of, settled
from tests.browser.learn.learning import SHOWN, open_page, told, widget

HALL = {"width": 1280, "height": 720}
PLACE = """() => { const screen = document.querySelector(".fa-learn").firstElementChild;
  return [screen.dataset.key, screen.dataset.part]; }"""
# Type of the slide itself; a picture is drawn at the size that its place has.
SIZES = """() => [...document.querySelectorAll(".fa-learn *")].filter((n) => n.checkVisibility() &&
  [...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()) &&
  !n.closest(".fa-sr, math, .fa-widget, svg"))
  .map((n) => parseFloat(getComputedStyle(n).fontSize))"""


def hall(tab, rung: str):
    tab.page.set_viewport_size(HALL)
    page = open_page(tab, rung, mode="present")
    page.wait_for_selector(".fa-learn.is-presenting [data-part]")
    return page


def test_two_presses_a_rung_and_the_way_back_is_the_way_on(tab):
    keys = [rung.key for rung in rungs()][:3]
    page = hall(tab, keys[0])
    wanted = [[key, part] for key in keys for part in ("picture", "question")]
    seen = []
    for key in ("PageDown",) * 5 + ("PageUp",) * 5:
        page.wait_for_selector(".fa-learn [data-part]")
        settled(page)
        seen.append(page.evaluate(PLACE))
        assert min(page.evaluate(SIZES)) >= 24, seen[-1]
        assert page.evaluate("document.documentElement.scrollHeight") <= 724
        page.keyboard.press(key)
    settled(page)
    assert seen[:6] == wanted and [*seen[6:], page.evaluate(PLACE)] == wanted[4::-1]


def test_sentence_lines_and_picture_share_a_slide(tab):
    rung = rungs()[0]
    page = hall(tab, rung.key)
    place = widget(page, rung.widget)
    assert page.locator(".fa-headline").inner_text() == rung.headline
    lines = page.locator(".fa-slide li")
    assert lines.all_inner_texts() == list(rung.lines) and lines.first.is_visible()
    assert place.is_visible() and not page.locator(".fa-learn .fa-question").is_visible()
    assert page.locator(".fa-ground").inner_text() == rung.ground
    page.get_by_role("button", name="On", exact=True).click()
    assert page.locator(".fa-hall-asked").is_visible() and not place.is_visible()
    page.get_by_role("button", name="Leave").click()
    page.wait_for_function("!document.body.classList.contains('fa-present')")
    assert "mode" not in query_of(page) and page.locator(".fa-rung-text").first.is_visible()


def test_the_arrows_move_the_picture_s_steps(tab):
    page = hall(tab, "online")
    place = widget(page, page.locator("[data-widget]").get_attribute("data-widget"))
    step = place.locator(".fa-scrub").first
    settled(page)
    before = int(step.input_value())
    page.keyboard.press("ArrowDown")
    settled(page)
    assert int(step.input_value()) == before + 1


def test_rungs_asked_for_quickly_on_a_slow_network_leave_one(tab):
    """Their screens come when the lecturer has gone on, the first one's last."""
    first, second, third, *_ = (rung.key for rung in rungs())
    page, held, late = hall(tab, first), [], []
    page.route("**/fa/learn?*", lambda route: route.continue_() if late else held.append(route))
    for _ in range(4):
        page.keyboard.press("PageDown")
        page.wait_for_selector(".fa-learn [data-part]")
    page.wait_for_function(SHOWN, arg=third)
    late, held[:] = held[::-1], []
    for route in late:
        route.continue_()
    settled(page)
    assert page.evaluate(PLACE) == [third, "picture"] and second != third


def test_a_clicker_shows_the_answer_and_its_reason(tab):
    """Of a number, of cells, of a loop to be put in order; the reload stays on the slide."""
    for key in ("trips", "attention", "online"):
        page = hall(tab, key)
        page.keyboard.press("PageDown")
        settled(page)
        page.reload()
        page.wait_for_selector(".fa-learn.is-presenting [data-part=question]")
        settled(page)
        assert not page.locator(".fa-learn .fa-question").is_visible() and "part" in query_of(page)
        wanted = slide(next(rung for rung in rungs() if rung.key == key))
        asked, why = page.locator(".fa-hall-asked"), page.locator(".fa-hall-why")
        assert asked.locator("h3").inner_text() == wanted["words"]
        places = asked.locator("li" if "options" in wanted else "td")
        seen = places.evaluate_all(
            "(all) => all.map((node) => parseFloat(getComputedStyle(node).fontSize))"
        )
        assert min(seen) >= 36
        for press in (".", "b", "a"):
            sign = asked.locator(".fa-hall-sign:visible").filter(has_text="✓")
            assert why.inner_text() == "" and sign.count() == 0
            page.keyboard.press(press)
            assert why.inner_text().endswith(
                wanted.get("why") or wanted["options"][wanted["answer"]][1]
            )
            right = wanted["answer"] if "cells" in wanted else [wanted["answer"]]
            assert sign.count() == len(right)
            page.keyboard.press(press)
    assert page.evaluate(PLACE) == ["online", "question"]


def test_the_picture_has_the_hall_s_state_and_the_desk_its_own(tab):
    """Closed on the desk, open in the hall: heads of K and V; the desk's choice comes back."""
    tab.page.set_viewport_size(HALL)
    page = open_page(tab, "gqa")
    menu = widget(page, "heads").locator("select").first
    menu.select_option("16")
    for wanted, press in ((16, None), (4, "hall"), (16, "Escape")):
        if press == "hall":
            page.locator(".fa-to-hall").click()
        elif press:
            page.keyboard.press(press)
        settled(page)
        assert menu.input_value() == str(wanted)
        told(widget(page, "heads"), hk=str(wanted))


def test_a_lecture_follows_its_list_and_ends(tab):
    stops = LESSONS["lecture45"].stops
    page = hall(tab, "lecturers")
    page.keyboard.press("Escape")
    page.locator("a[href*='path=lecture45']").nth(len(stops) - 2).click()
    page.wait_for_selector(".fa-learn.is-presenting [data-part=picture]")
    seen = []
    for _ in range(6):
        settled(page)
        seen.append(page.evaluate(PLACE))
        page.keyboard.press("PageDown")
        page.wait_for_selector(".fa-learn [data-part]")
    keys = [key for key, _ in stops[-2:]]
    assert (
        seen
        == [[key, part] for key in keys for part in ("picture", "question")] + [["end", "all"]] * 2
    )
    assert min(page.evaluate(SIZES)) >= 24


def test_the_claims_come_one_a_press_then_their_verdicts(tab):
    page = hall(tab, "claims")
    first, second, *_ = CLAIMS
    words, verdict = page.locator(".fa-hall-claim h3"), page.locator(".fa-hall-verdict")
    assert first.words in words.inner_text() and verdict.inner_text() == ""
    page.keyboard.press("PageDown")
    assert first.words in words.inner_text() and first.why in verdict.inner_text()
    page.keyboard.press("PageDown")
    assert second.words in words.inner_text() and verdict.inner_text() == ""
    for key in (".", "b", "f" if second.truth else "t"):
        page.keyboard.press(key)
        told = "" if key == "b" else f"{second.truth}. {second.why}"
        assert verdict.inner_text() == told, "no sign that may mean the room or the claim"
    assert page.locator(".fa-hall-answer").inner_text() == ". hides the answer"
    settled(page)
    assert min(page.evaluate(SIZES)) >= 24 and page.evaluate(PLACE) == ["claims", "verdict"]


def test_the_map_in_the_hall_names_its_groups_alone(tab):
    tab.page.set_viewport_size(HALL)
    page = tab.page
    page.goto(f"{tab.server.url}/?tab=learn&mode=present")  # as pages are also called
    page.wait_for_selector(".fa-learn.is-presenting [data-part]")
    settled(page)
    assert query_of(page)["page"] == "learn" and min(page.evaluate(SIZES)) >= 24
    assert not page.locator(".fa-halt-title").first.is_visible()
    boxes = [h3.bounding_box() for h3 in page.locator(".fa-course-map h3").all()]
    for one, after in pairwise(boxes):
        assert one["x"] + one["width"] <= after["x"] + 1


@pytest.mark.parametrize("key", ["formulas", "wild"])
def test_what_stands_behind_the_rungs_scrolls_by_presses(tab, key):
    page = hall(tab, key)
    settled(page)
    assert min(page.evaluate(SIZES)) >= 24
    at = "document.querySelector('.fa-screen').scrollTop"
    before = page.evaluate(at)
    page.keyboard.press("PageDown")
    settled(page)
    assert page.evaluate(at) > before + 24


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
