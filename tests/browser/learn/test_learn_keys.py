"""The Learn page by keyboard and by ear: what moves a picture, what is said of it, where one is."""

import re

from explainer.learn.course import PATHS
from explainer.learn.glossary import TERMS
from explainer.learn.registry import lessons
from explainer.learn.teaching import TEXTS
from tests.browser.harness import click, keys, resize, settled
from tests.browser.learn.learning import (
    AT_HEADING,
    IDLE,
    open_page,
    shown,
    told,
    widget,
    words,
)

QUESTIONS = {lesson.key: lesson.question for lesson in lessons()}
SAID = ".fa-widget-body > [role=status]"
STOPS = """() => [...document.querySelectorAll(".fa-svg-canvas .fa-knob")].filter(
  (node) => node.getAttribute("tabindex") === "0").map((node) => node.getAttribute("aria-label"))"""
NOW = (
    "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
)
IN_QUESTION = "() => Boolean(document.activeElement.closest('.fa-question, .fa-present-asked'))"


def sentences(said: str) -> set[str]:
    return set(re.split(r"(?<=[.;:?!])\s+", said))


def heard(place) -> set[str]:
    """The sentences of a live region; there are some."""
    found = place.inner_text()
    assert found
    return sentences(found)


def to_lesson(page, key: str) -> None:
    page.click(f".fa-dot[data-lesson={key}]")
    shown(page, key)
    page.wait_for_function(IDLE, arg=key)
    settled(page)


def test_a_handle_goes_to_its_ends_and_by_tens_and_its_picture_is_said(tab):
    page = open_page(tab, "dot")
    place = widget(page, "dot")
    said, handle = place.locator(SAID), place.locator(".fa-knob").first
    assert said.inner_text() == "", "nothing was moved yet"
    low, high, step = -2.0, 5.0, 0.5
    handle.focus()
    for key, wanted in (("End", high), ("ArrowLeft", high - step), ("Home", low)):
        keys(page, key)
        assert f"{wanted:g}".replace("-", "−") in handle.get_attribute("aria-valuetext"), key
    settled(page)
    assert heard(said) <= sentences(words("dot", kx=str(low)))
    to_lesson(page, "tiled")
    step = page.get_by_role("slider", name="Step")
    step.press("End")
    assert step.get_attribute("aria-valuetext") == f"{step.input_value()} of {step.input_value()}"
    settled(page)
    first, last = (sentences(words("tiled", step=at)) for at in ("21", step.input_value()))
    assert heard(page.locator(SAID)) == last - first, "what was heard is not said again"


def test_rows_and_cards_are_one_stop_and_arrows_go_along(tab):
    page = open_page(tab, "attention")
    widget(page, "attention")
    stop = page.locator(".fa-kit [data-group][tabindex='0']")
    assert stop.get_attribute("aria-label") == "look at “it”"
    stop.focus()
    keys(page, "ArrowRight")
    assert page.evaluate(NOW) == "look at “was”"
    keys(page, "Enter")
    settled(page)
    assert page.evaluate(NOW) == "look at “was”", "the keyboard stays where it was"
    assert stop.get_attribute("aria-label") == "look at “was”" and stop.count() == 1
    keys(page, "Home")
    assert page.evaluate(NOW) == "look at “The”"


def test_a_dot_says_its_lesson_and_the_question_is_two_keys_away(tab):
    resize(tab.page)
    page = open_page(tab, "dot")
    page.focus(".fa-dot[aria-current]")
    keys(page, "ArrowRight")
    tip = page.evaluate("() => getComputedStyle(document.activeElement, '::after').content")
    assert tip == f'"{page.evaluate(NOW)}"' and lessons()[1].title in tip
    for lesson in ("matmul", "attention", "online"):
        page.press(f".fa-dot[data-lesson={lesson}]", "Enter")
        shown(page, lesson)
        assert page.evaluate(AT_HEADING, lesson)
        keys(page, "Tab")
        assert page.evaluate(NOW) == "To the question"
        keys(page, "Enter")
        assert page.evaluate(IN_QUESTION), lesson


def test_the_hall_takes_the_keyboard_and_gives_it_back(tab):
    resize(tab.page)
    page = open_page(tab, "dot")
    page.press(".fa-to-present", "Enter")
    page.wait_for_selector(".fa-learn.is-presenting [data-part]")
    assert page.evaluate(NOW) == page.inner_text(".fa-headline")
    keys(page, "PageDown")
    assert page.evaluate(IN_QUESTION)
    keys(page, "Escape")
    page.wait_for_selector(".fa-learn:not(.is-presenting)")
    assert page.evaluate(NOW) == "Present"


def test_the_glossary_is_narrowed_as_one_types(tab):
    page = open_page(tab, "glossary")
    place = page.get_by_role("region", name="Glossary")
    assert place.locator("dt").count() == len(TERMS)
    place.get_by_role("searchbox", name="Find a term").fill("Warp")
    wanted = {t.key for t in TERMS if "warp" in f"{t.symbol}, {t.name}{t.words}".lower()}
    assert place.locator("dt:visible").count() == len(wanted) > 2
    assert place.get_by_role("status").inner_text() == f"{len(wanted)} terms"
    assert place.locator("h3:visible").count() < 3, "no heading without a term"


def test_the_source_texts_are_reached_from_their_head(tab):
    page = open_page(tab, "sources")
    ways = page.get_by_role("navigation", name="To a text").get_by_role("button")
    assert ways.all_inner_texts() == [name for name, _ in TEXTS.values()]
    ways.nth(2).press("Enter")
    assert page.evaluate(NOW).startswith("Chapter: ")
    keys(page, "Tab", "Enter")
    assert page.evaluate(NOW).startswith("Post: ")


def test_the_keyboard_is_never_lost_to_the_page(apart):
    """After what takes away the button that was pressed, the next thing to do has the keyboard."""
    page = open_page(apart())
    names = page.eval_on_selector_all(".fa-path-go", "all => all.map((a) => a.ariaLabel)")
    assert len(set(names)) == len(names) == len(PATHS)
    page.press("a[href$='lesson=claims']", "Enter")
    shown(page, "claims")
    first = page.inner_text(".fa-deciding h3")
    page.get_by_role("button", name="Skip", exact=True).press("Enter")
    second = page.evaluate(NOW)
    assert second == page.inner_text(".fa-deciding h3") != first
    keys(page, "ArrowLeft")
    assert page.evaluate(NOW) == first, "back to what was skipped"
    keys(page, "t")
    live = page.locator(".fa-claim-one [aria-live]")
    assert live.count() == 1 and live.inner_text() == page.inner_text(".fa-proved .fa-verdict")
    page.get_by_role("button", name="All ").press("Enter")
    assert page.evaluate(NOW) == "One at a time"
    assert page.is_hidden(".fa-keys-hint"), "they do nothing here"


def test_who_comes_back_finds_the_lesson_as_it_was_left(tab):
    page = open_page(tab, "trips")
    place, form = widget(page, "trips"), page.locator("#learn-trips [data-question]")
    place.get_by_role("combobox").first.select_option("2048")
    settled(page)
    said = place.locator(".fa-picture-block > .fa-sr").inner_text()
    assert place.locator(SAID).inner_text(), "what is new is said"
    form.locator("input").fill("1")
    form.get_by_role("button", name="Check").press("Enter")
    assert page.evaluate(NOW) == form.get_by_role("button", name="Try again").inner_text()
    keys(page, "Enter")
    asked = form.locator("legend").inner_text()
    form.locator("input").fill("17.5")
    page.press(".fa-links a", "Enter")
    back = page.locator(".fa-to-lesson:visible")
    back.wait_for()
    settled(page)
    back.press("Enter")
    shown(page, "trips")
    place = widget(page, "trips")
    assert form.locator("legend").inner_text() == asked, "the variant"
    assert form.locator("input").input_value() == "17.5"
    assert place.get_by_role("combobox").first.input_value() == "2048"
    assert place.locator(".fa-picture-block > .fa-sr").inner_text() == said
    click(place, "Reset")
    told(place)


def test_of_two_boxes_the_right_one_is_marked(tab):
    page = open_page(tab, "versions")
    form, question = page.locator("#learn-versions [data-question]"), QUESTIONS["versions"]
    boxes = form.locator("input")
    boxes.first.fill(f"{question.answer[0]:g}")
    click(form, "Check")
    assert form.locator(".fa-verdict").inner_text() == "Fill every box first."
    boxes.last.fill("12345")
    click(form, "Check")
    marks = form.locator(".fa-number-answer label span").all_inner_texts()
    assert [mark[-1] for mark in marks] == ["✓", "✗"]
    assert boxes.last.get_attribute("aria-invalid") == "true"
    boxes.last.fill("1")
    assert form.locator(".fa-number-answer").inner_text().count("✗") == 0
