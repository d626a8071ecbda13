"""Every chapter of Memory and Parallel: mostly its picture, on a desk, in a lecture hall and on a
phone."""

import pytest

from explainer.learn.glossary import TERMS
from explainer.views.stories.pages import CHAPTERS
from tests.browser.harness import keys, query_of, resize, settled, spot
from tests.browser.story import at, headline, show, step, story
from tests.tables import table

CASES = [(page, name) for page, chapters in CHAPTERS.items() for name in chapters]
TITLES = {x.key: f"{x.symbol} · {x.name}" if x.symbol else x.name for x in TERMS}
AFTER = {"memory": '[data-testid="story"][data-page="parallel"]', "parallel": ".fa-learn"}
RESTS = '[data-moving="false"][aria-busy="false"]'
LINES = "node => node.clientHeight / parseFloat(getComputedStyle(node).lineHeight)"
HALL = 24 * 0.99  # px, as DESIGN.md has it
WORDS = """(node) => node.innerText.split(/\\s+/).filter((word) => /\\w/.test(word)).length"""
SIZES = """(story) => [...document.querySelectorAll(`${story} *`)].filter((node) =>
  node.checkVisibility() && !node.closest('.fa-sr, .fa-knob') &&
  [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()))
  .map((node) => node.getBoundingClientRect().width &&
    parseFloat(getComputedStyle(node).fontSize)).filter(Boolean)"""


@pytest.mark.parametrize(("name", "chapter"), CASES)
def test_a_chapter_is_mostly_its_picture_large_in_a_hall_and_no_wider_than_a_phone(
    tab, name, chapter
):
    """Of RP 11: first views were forms and tables."""
    resize(tab.page)
    page = show(tab, name, {"view": chapter})
    assert page.evaluate("document.documentElement.scrollHeight") <= 724
    box = page.locator(f"{story(name)} .fa-svg-canvas").bounding_box()
    assert box and box["width"] * box["height"] >= 0.4 * 1280 * 720
    assert page.locator(f"{story(name)} h2").evaluate(LINES) <= 1.5
    said = ("headline", "sentence", "provenance", "words", "label")
    words = [page.locator(f"{story(name)} .fa-story-{part}").evaluate(WORDS) for part in said]
    assert sum(words) <= 90
    show(tab, name, {"view": chapter, "mode": "present"})
    assert page.evaluate("document.documentElement.scrollHeight") <= 724
    assert min(page.evaluate(SIZES, story(name))) >= HALL
    keys(page, "Escape")
    page.wait_for_function("!new URLSearchParams(window.location.search).has('mode')")
    resize(page, 390, 844)
    show(tab, name, {"view": chapter})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


# What has the keyboard, where the fixed bar lies over it.
UNDER_BAR = """() => {
  const all = [...document.querySelectorAll(".fa-story-bar")];
  const bar = all.find((node) => node.checkVisibility());
  const node = document.activeElement;
  const isUnder = node.getBoundingClientRect().bottom > bar.getBoundingClientRect().top + 1;
  return !bar.contains(node) && isUnder ? node.textContent : "";
}"""


@pytest.mark.parametrize("name", ["run", *CHAPTERS])
def test_a_phone_in_presentation_keeps_its_layout_and_can_leave(tab, name):
    """The type of a hall made the pictures unreadable, and nothing but a keyboard led out."""
    resize(tab.page, 390, 844)
    page = tab.goto(f"page={name}&mode=present")
    page.wait_for_selector(".fa-picture-page .fa-svg-canvas text:visible")
    settled(page)
    sizes = page.evaluate(SIZES, ".fa-picture-page")
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.click(".fa-picture-page:visible .fa-key-leave")
    resize(page, 1280, 720)
    assert max(sizes) < HALL and wide <= 390
    assert "mode" not in query_of(page)


@pytest.mark.parametrize("name", CHAPTERS)
def test_on_a_phone_the_bar_lies_over_no_word_that_has_the_keyboard(tab, name):
    resize(tab.page, 390, 844)
    page = show(tab, name)
    words = page.locator(f"{story(name)} .fa-problem-word")
    page.locator(
        f"{story(name)} [data-knob], {story(name)} [role=radio][tabindex='0']"
    ).last.focus()
    hidden, reached = [], 0
    while reached < words.count():
        keys(page, "Tab")
        hidden.append(page.evaluate(UNDER_BAR))
        reached += page.evaluate("document.activeElement.matches('.fa-problem-word')")
    resize(page, 1280, 720)
    assert not any(hidden), hidden


@pytest.mark.parametrize(("name", "chapter"), [("memory", "tiles"), ("parallel", "warps")])
def test_a_step_keeps_the_nodes_of_the_picture(tab, name, chapter):
    page = show(tab, name, {"view": chapter})
    nodes = page.locator(f"{story(name)} .fa-svg-canvas *")
    nodes.evaluate_all("(nodes) => nodes.forEach((node) => { node.wasHere = true; })")
    keys(page, "ArrowRight")
    fresh = nodes.evaluate_all("(nodes) => nodes.filter((node) => !node.wasHere).length")
    assert fresh < nodes.count() / 4


@pytest.mark.parametrize(
    ("name", "chapter"),
    [("memory", "trips"), *(("parallel", x) for x in ("sms", "schedule", "devices"))],
)
def test_a_playhead_follows_keys_and_pointer(tab, name, chapter):
    page = show(tab, name, {"view": chapter})
    head = page.locator(f"{story(name)} [data-knob=time]")
    before = step(page, name)
    head.focus()
    keys(page, "ArrowRight", "ArrowRight", "ArrowLeft")
    settled(page)
    assert step(page, name) == before + 1
    assert page.inner_text(".fa-story-label b") in head.get_attribute("aria-valuetext")
    x, y = spot(head, 0.5, 0.1)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + (-300 if name == "memory" else 500), y)
    page.mouse.up()
    settled(page)
    assert abs(step(page, name) - before) > 4


@pytest.mark.parametrize("name", CHAPTERS)
def test_next_leads_through_every_chapter_and_on(tab, name):
    page = show(tab, name)
    for chapter in CHAPTERS[name]:
        at(page, name, chapter)
        while page.locator(f'{story(name)}[data-chapter="{chapter}"]:visible').count():
            page.click(f"{story(name)} .fa-next")
            page.wait_for_selector(f"{story(name)}{RESTS}", state="attached")
    page.wait_for_selector(AFTER[name])


def test_a_clicker_leads_a_lecture_to_both_layouts_of_devices_and_back(tab):
    """Next ended at contiguous rows: head–tail and the record needed a switch."""
    resize(tab.page)
    name = "parallel"
    page = show(tab, name, {"view": "devices", "mode": "present"})

    def clicked(key: str) -> tuple[str | None, str, int]:
        keys(page, key)
        page.wait_for_selector(f"{story(name)}{RESTS}")
        assert min(page.evaluate(SIZES, story(name))) >= HALL
        chapter = page.get_attribute(story(name), "data-chapter")
        return chapter, query_of(page).get("par-layout", "contiguous"), step(page, name)

    places = [("contiguous", 15), ("head-tail", 6), ("head-tail", 9), ("compared", 3)]
    assert [clicked("PageDown") for _ in places] == [("devices", *place) for place in places]
    assert "head–tail 98" in headline(page, name)
    assert clicked("PageDown") == ("devices", "compared", 3), "the end of the lecture"
    page.reload()
    at(page, name, "devices")
    places = [("head-tail", 6), ("contiguous", 9)]
    assert [clicked("PageUp") for _ in places] == [("devices", *place) for place in places]
    assert clicked("PageUp")[0] == "decoding"
    show(tab, name, {"view": "devices", "at": "15", "mode": "present"})
    assert clicked("ArrowRight") == ("devices", "head-tail", 6), "what other clickers send"
    assert [clicked("ArrowRight")[2] for _ in range(3)] == [7, 8, 9]
    assert clicked("Space") == ("devices", "compared", 3)
    assert [clicked("ArrowLeft")[2] for _ in range(3)] == [2, 1, 0]
    assert clicked("ArrowLeft") == ("devices", "head-tail", 6)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_mouse_leads_a_lecture_by_keys_that_show_while_it_moves(tab, name):
    """A hall had no keys but a keyboard's."""
    resize(tab.page)
    page = show(tab, name, {"mode": "present"})
    following = page.locator(f"{story(name)} .fa-next")
    shown = "(node) => getComputedStyle(node).opacity"
    page.wait_for_function("!('pointing' in document.documentElement.dataset)")
    assert following.evaluate(shown) == "0"
    picture = page.locator(f"{story(name)} .fa-svg-canvas").bounding_box()
    page.mouse.move(picture["x"] + 300, picture["y"] + 100)
    page.mouse.move(picture["x"] + 320, picture["y"] + 110)
    assert float(following.evaluate(shown)) > 0.5
    box = following.bounding_box()
    assert box["y"] > picture["y"] + picture["height"] and box["height"] >= 44
    first, after = [*CHAPTERS[name]][:2]
    while page.get_attribute(story(name), "data-chapter") == first:
        following.click()
        page.wait_for_selector(f"{story(name)}{RESTS}")
    assert page.get_attribute(story(name), "data-chapter") == after
    page.mouse.move(0, 0)


@pytest.mark.parametrize(("name", "chapter", "terms"), table(__file__))
def test_a_term_is_explained_where_it_first_stands(tab, name, chapter, terms):
    page = show(tab, name, {"view": chapter})
    marked = page.locator(f"{story(name)} :is(abbr, tspan)[data-term]")
    keys_ = marked.evaluate_all("(nodes) => nodes.map((node) => node.dataset.term)")
    assert sorted(keys_) == terms, "each once"
    for one in (marked.first, marked.last):  # in the headline, and in the picture
        one.focus()
        page.locator(".fa-term").get_by_text(TITLES[one.get_attribute("data-term")]).wait_for()


@pytest.mark.parametrize(("name", "chapter"), [("memory", "masks"), ("parallel", "devices")])
def test_on_a_phone_next_scrolls_to_what_changes(tab, name, chapter):
    resize(tab.page, 390, 844)
    page = show(tab, name, {"view": chapter})
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate("scrollY") == 0
    canvas = page.locator(f"{story(name)} .fa-svg-canvas")
    before = set(canvas.locator("text").all_text_contents())
    page.click(f"{story(name)} .fa-next")
    settled(page)
    bar = page.locator(f"{story(name)} .fa-story-bar").bounding_box()["y"]
    fresh = [x for x in canvas.locator("text").all() if x.text_content() not in before]
    tops = [x.bounding_box()["y"] for x in fresh]
    assert tops and 0 < min(tops) < bar
    resize(page, 1280, 720)
    assert page.evaluate("scrollY") == 0, "a desk has no bar over the picture"
