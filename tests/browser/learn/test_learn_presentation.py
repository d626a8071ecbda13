"""The Learn page in presentation mode: a lesson is two slides, its picture and its question."""

from itertools import combinations

import pytest

from explainer.learn.claims import CLAIMS
from explainer.learn.registry import answer, lessons
from explainer.learn.slides import slide
from explainer.learn.teaching import SESSIONS
from tests.browser.harness import click, keys, query_of, resize, settled
from tests.browser.learn.learning import open_page, shown, told, widget

PLACE = """() => { const screen = document.querySelector(".fa-learn").firstElementChild;
  return [screen.dataset.key, screen.dataset.part]; }"""
# As soon as this slide is there, what the address says of it.
NAMED = """([key, part]) => {
  const screen = document.querySelector(".fa-learn").firstElementChild;
  const query = new URLSearchParams(location.search);
  const is = screen.dataset.key === key && screen.dataset.part === part;
  return is && { lesson: query.get("lesson"), part: query.get("part") };
}"""
# Type of the slide itself; a picture is drawn at the size that its place has.
SIZES = """() => [...document.querySelectorAll(".fa-learn *")].filter((n) => n.checkVisibility() &&
  [...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()) &&
  !n.closest(".fa-sr, math, .fa-widget, svg"))
  .map((n) => parseFloat(getComputedStyle(n).fontSize))"""


def plain(text: str) -> str:
    """A slide's text with spaces and hyphens that break."""
    return text.replace("\xa0", " ").replace("\u2011", "-")


def hall(tab, lesson: str):
    resize(tab.page)
    page = open_page(tab, lesson, mode="present")
    page.wait_for_selector(".fa-learn.is-presenting [data-part]")
    return page


def test_two_presses_a_lesson_and_the_way_back_is_the_way_on(tab):
    first = [lesson.key for lesson in lessons()][:3]
    page = hall(tab, first[0])
    wanted = [[key, part] for key in first for part in ("picture", "question")]
    for k, (lesson, part) in enumerate([*wanted, *wanted[4::-1]]):
        if k:
            keys(page, "PageDown" if k < len(wanted) else "PageUp")
        named = page.wait_for_function(NAMED, arg=[lesson, part]).json_value()
        assert named == {"lesson": lesson, "part": "2" if part == "question" else None}
        settled(page)
        assert page.evaluate(PLACE) == [lesson, part]
        assert min(page.evaluate(SIZES)) >= 24, [lesson, part]
        assert page.evaluate("document.documentElement.scrollHeight") <= 724


def test_sentence_lines_and_picture_share_a_slide(tab):
    lesson = lessons()[0]
    page = hall(tab, lesson.key)
    place = widget(page, lesson.key)
    assert plain(page.inner_text(".fa-headline")) == lesson.headline
    lines = page.locator(".fa-slide li")
    assert [*map(plain, lines.all_inner_texts())] == [*lesson.lines] and lines.first.is_visible()
    assert place.is_visible() and not page.is_visible(".fa-learn .fa-question")
    assert page.inner_text(".fa-ground") == lesson.ground
    headline = page.locator(".fa-headline").bounding_box()
    for below in (lines.first, place):
        assert below.bounding_box()["y"] >= headline["y"] + headline["height"]
    click(page, "On")
    assert page.is_visible(".fa-present-asked") and not place.is_visible()
    page.get_by_role("button", name="Leave").click()
    page.wait_for_function("!document.body.classList.contains('fa-present')")
    assert "mode" not in query_of(page) and page.is_visible(".fa-lesson-text")


def test_the_arrows_move_the_picture_s_steps(tab):
    page = hall(tab, "online")
    place = widget(page, page.get_attribute("[data-widget]", "data-widget"))
    step = place.locator(".fa-scrub").first
    settled(page)
    before = int(step.input_value())
    keys(page, "ArrowDown")
    settled(page)
    assert int(step.input_value()) == before + 1


def test_lessons_asked_for_quickly_on_a_slow_network_leave_one(tab):
    """Their screens come when the lecturer has gone on, the first one's last."""
    first, second, third, *_ = (lesson.key for lesson in lessons())
    page, held, late = hall(tab, first), [], []
    page.route("**/fa/learn?*", lambda route: route.continue_() if late else held.append(route))
    for _ in range(4):
        keys(page, "PageDown")
        page.wait_for_selector(".fa-learn [data-part]")
    shown(page, third)
    late, held[:] = held[::-1], []
    for route in late:
        route.continue_()
    settled(page)
    assert page.evaluate(PLACE) == [third, "picture"] and second != third


def test_a_clicker_shows_the_answer_and_its_reason(tab):
    """Of a number, of cells, of a loop to be put in order; the reload stays on the slide."""
    for key in ("trips", "mask", "online"):
        page = hall(tab, key)
        keys(page, "PageDown")
        settled(page)
        page.reload()
        page.wait_for_selector(".fa-learn.is-presenting [data-part=question]")
        settled(page)
        assert not page.is_visible(".fa-learn .fa-question") and "part" in query_of(page)
        wanted = slide(next(lesson for lesson in lessons() if lesson.key == key))
        asked, why = page.locator(".fa-present-asked"), page.locator(".fa-present-why")
        assert plain(asked.locator("h3").inner_text()) == wanted["words"]
        places = asked.locator("li" if "options" in wanted else "td")
        seen = places.evaluate_all(
            "(all) => all.map((node) => parseFloat(getComputedStyle(node).fontSize))"
        )
        assert min(seen) >= 36
        if "cells" in wanted:
            assert straight(asked), key
        for press in (".", "b", "a"):
            sign = asked.locator(".fa-present-sign:visible").filter(has_text="✓")
            assert why.inner_text() == "" and sign.count() == 0
            keys(page, press)
            assert plain(why.inner_text()).endswith(
                wanted.get("why") or wanted["options"][wanted["answer"]][1]
            )
            right = wanted["answer"] if "cells" in wanted else [wanted["answer"]]
            assert sign.count() == len(right)
            keys(page, press)
    assert page.evaluate(PLACE) == ["online", "question"]


def straight(asked) -> bool:
    """Whether the texts of each column of a grid stand below each other: what is right shows in
    nothing before it is asked for."""
    middles = """(rows) => rows.map((row) => [...row.querySelectorAll("td > span:first-child")]
      .map((span) => { const at = span.getBoundingClientRect(); return at.left + at.right; }))"""
    columns = zip(*asked.locator("tbody tr").evaluate_all(middles), strict=True)
    return all(max(column) - min(column) < 1 for column in columns)


def test_the_picture_has_the_hall_s_state_and_the_desk_its_own(tab):
    """Closed on the desk, open in the hall: heads of K and V; the desk's choice comes back."""
    resize(tab.page)
    page = open_page(tab, "gqa")
    menu = widget(page, "gqa").locator("select").first
    menu.select_option("16")
    for wanted, press in ((16, None), (4, "hall"), (16, "Escape")):
        if press == "hall":
            page.click(".fa-to-present")
        elif press:
            keys(page, press)
        settled(page)
        assert menu.input_value() == str(wanted)
        told(widget(page, "gqa"), hk=str(wanted))


def test_a_slide_that_comes_is_as_the_course_has_it(tab):
    """Whatever was done with its picture at the desk, which has it back; what stands at the desk
    goes into the hall as it is."""
    resize(tab.page)
    page = open_page(tab, "trips")
    default = answer({"w": "trips"})["blocks"][0]["words"]
    words = page.locator(".fa-lesson-body > .fa-widget .fa-picture-block > .fa-sr")
    widget(page, "trips").get_by_role("combobox").first.select_option("2048")
    settled(page)
    own = words.inner_text()
    assert own != default
    page.click(".fa-to-present")
    for press, wanted in (
        (None, own),
        ("PageUp", None),
        ("PageDown", None),
        ("PageDown", default),
    ):
        if press:
            keys(page, press)
            page.wait_for_selector(".fa-learn [data-part]")
        settled(page)
        assert wanted is None or words.inner_text() == wanted, press
    keys(page, "Escape")
    settled(page)
    assert words.inner_text() == own


def test_a_lecture_follows_its_list_and_ends(tab):
    stops = SESSIONS["lecture45"].stops
    page = hall(tab, "lecturers")
    keys(page, "Escape")
    page.locator("a[href*='path=lecture45']").nth(len(stops) - 1).click()
    page.wait_for_selector(".fa-learn.is-presenting [data-part=picture]")
    seen = []
    for k in range(6):
        settled(page)
        seen.append(page.evaluate(PLACE))
        if k == 1:  # who leaves for a moment goes on with the list
            keys(page, "Escape")
            page.wait_for_function("!document.querySelector('.fa-learn.is-presenting')")
            page.click(".fa-to-present")
            page.wait_for_selector(".fa-learn.is-presenting [data-part=picture]")
            keys(page, "PageDown")
        keys(page, "PageDown")
        page.wait_for_selector(".fa-learn [data-part]")
    last = [key for key, _ in stops[-2:]]
    assert (
        seen
        == [[key, part] for key in last for part in ("picture", "question")] + [["end", "all"]] * 2
    )
    assert min(page.evaluate(SIZES)) >= 24


def test_the_claims_come_one_a_press_then_their_verdicts(tab):
    page = hall(tab, "claims")
    first, second, *_ = CLAIMS
    words, verdict = page.locator(".fa-present-claim h3"), page.locator(".fa-present-verdict")
    assert first.words in plain(words.inner_text()) and verdict.inner_text() == ""
    for key in ("PageDown", "PageUp", "b"):  # as a clicker asks for an answer
        keys(page, key)
        assert (first.why in verdict.inner_text()) == (key != "PageUp")
    keys(page, "PageDown")
    assert second.words in plain(words.inner_text()) and verdict.inner_text() == ""
    keys(page, "f" if second.truth else "t")
    assert verdict.inner_text().startswith(f"{second.truth}.")
    votes = page.locator(".fa-present-votes")
    assert votes.locator(".is-right").inner_text().split()[1] == str(second.truth)
    voted = votes.locator("[aria-pressed=true]").inner_text().split()
    assert voted[1] == str(not second.truth)
    assert page.inner_text(".fa-present-place") == f"Claim 2 of {len(CLAIMS)}"
    settled(page)
    assert min(page.evaluate(SIZES)) >= 24 and page.evaluate(PLACE) == ["claims", "verdict"]


def test_the_map_in_the_hall_names_all_lessons_and_a_lecture_s_own(tab):
    """A line each, none cut, none on another; of a list what it leaves out stands aside."""
    resize(tab.page)
    page, stops = tab.page, {key for key, _ in SESSIONS["lecture45"].stops}
    lines = """(all) => all.map((node) => { const range = document.createRange();
      range.selectNodeContents(node);
      const { left, right, top, bottom, height } = range.getBoundingClientRect();
      return [left, right, top + 3, bottom - 3, height]; })"""
    for path in ("", "&path=lecture45"):
        page.goto(f"{tab.server.url}/?tab=learn&mode=present{path}")  # as pages are also called
        page.wait_for_selector(".fa-learn.is-presenting [data-part]")
        settled(page)
        assert query_of(page)["page"] == "learn" and min(page.evaluate(SIZES)) >= 24
        boxes = page.eval_on_selector_all(".fa-course-map h3, .fa-halt-title", lines)
        assert len(boxes) == 7 + len(lessons()) and max(box[4] for box in boxes) < 45
        for (l, r, t, b, _), (left, right, top, bottom, _) in combinations(boxes, 2):
            assert min(r, right) <= max(l, left) or min(b, bottom) <= max(t, top)
        assert max(b for *_, b, _ in boxes) < 720 - 72 and max(r for _, r, *_ in boxes) < 1280
        own = page.eval_on_selector_all(
            ".fa-halt:not(.is-aside)", "(all) => all.map((node) => node.dataset.lesson)"
        )
        assert {*own} == (stops if path else {lesson.key for lesson in lessons()})
    keys(page, "PageDown")
    shown(page, SESSIONS["lecture45"].stops[0][0])
    assert query_of(page)["path"] == "lecture45"


@pytest.mark.parametrize("key", ["formulas", "wild"])
def test_what_stands_behind_the_lessons_scrolls_by_presses(tab, key):
    page = hall(tab, key)
    settled(page)
    assert min(page.evaluate(SIZES)) >= 24
    at = "document.querySelector('.fa-screen').scrollTop"
    before = page.evaluate(at)
    keys(page, "PageDown")
    settled(page)
    assert page.evaluate(at) > before + 24


@pytest.mark.parametrize("query", ["", "page=run", "page=memory", "page=learn"])
def test_who_leaves_the_hall_has_the_dark_back(apart, query):
    tab = apart(color_scheme="dark")
    page = tab.page
    page.goto(f"{tab.server.url}/?{query}")
    page.wait_for_selector("#pages [role=tabpanel]:visible")
    settled(page)
    dark = "document.body.classList.contains('dark')"
    assert page.evaluate(dark)
    page.click(".fa-menu summary")
    page.click(".fa-start-present")
    page.wait_for_function(f"document.body.classList.contains('fa-present') && !{dark}")
    keys(page, "Escape")
    page.wait_for_function(f"!document.body.classList.contains('fa-present') && {dark}")
