"""The Memory page: what is in its address, its playhead, its tables."""

from explainer.views.stories.pages import make_chapter
from tests.browser.harness import click, keys, query_of, settled
from tests.browser.story import at, headline, show, step, story

NAME = "memory"
STORY = story(NAME)


def test_place_switch_and_words_are_in_the_address_and_come_back(tab):
    page = show(tab, NAME, {"view": "levels"})
    fused = headline(page, NAME)
    click(page, "Standard", "radio")
    page.wait_for_function(f"document.querySelector('{STORY} h2').textContent !== {fused!r}")
    keys(page, "ArrowRight")
    click(page, "trips")
    at(page, NAME, "trips")
    click(page, "where")
    at(page, NAME, "where")
    page.focus(f"{STORY} .fa-scrub")
    keys(page, "End")
    settled(page)
    query, said = query_of(page), headline(page, NAME)
    assert query["mem-kernel"] == "standard" and query["mem-at"] == "5"
    page.reload()
    at(page, NAME, "where")
    assert headline(page, NAME) == said != fused
    show(tab, NAME, {"view": "trips", "n": "8192"})
    assert "2 GiB" in headline(tab.page, NAME)
    page = show(tab, NAME, {"view": "capacity"})
    assert step(page, NAME) > 0, "where the chapter starts"
    keys(page, "Home")
    settled(page)
    page.reload()
    at(page, NAME, "capacity")
    assert step(page, NAME) == 0


def test_a_bad_value_is_refused_in_a_sentence(tab):
    tab.tolerate("status of 400")
    tab.goto("page=memory&mem-br=7")
    notice = tab.page.locator(f"{STORY} .fa-notice")
    notice.wait_for()
    assert notice.inner_text().startswith("br = 7 is not allowed: the query block Br must be")


def test_the_figures_are_a_table_with_links_and_a_file(tab):
    page = show(tab, NAME)
    page.click(f"{STORY} .fa-story-more")
    dialog = page.locator("dialog.fa-story-dialog")
    dialog.wait_for()
    assert "34,603,008" in dialog.locator("table").inner_text()
    assert dialog.locator("a[href*='lesson=memory']").count() == 1
    with page.expect_download() as found:
        click(page, "Download CSV")
    assert found.value.path().read_text().startswith("Level,")
    keys(page, "Escape")
    dialog.wait_for(state="detached")


def test_the_tables_are_titled_with_the_headline_of_the_position(tab):
    page = show(tab, NAME, {"view": "traffic"})
    assert "57 times" in headline(page, NAME)
    page.click(f"{STORY} .fa-story-more")
    dialog = page.locator("dialog.fa-story-dialog")
    dialog.wait_for()
    assert headline(page, NAME) in dialog.inner_text()
    keys(page, "Escape")
    dialog.wait_for(state="detached")


def test_a_length_that_was_not_measured_has_no_circles_and_names_beside_the_lines(tab):
    page = show(tab, NAME, {"view": "traffic", "n": "32768"})
    panels = make_chapter(NAME, {"chapter": "traffic", "n": "32768"})["picture"]["panels"]
    measured = [x for panel in panels for one in panel["series"] for x in one["circles"]]
    canvas = page.locator(f"{STORY} .fa-svg-canvas")
    circles = canvas.locator('circle[r="4.5"]')
    hollow = circles.evaluate_all("all => all.filter((x) => x.style.fill.includes('paper')).length")
    assert hollow == sum(x is not None for x in measured)
    names = canvas.get_by_text("Standard", exact=True)
    middle = canvas.bounding_box()["y"] + canvas.bounding_box()["height"] / 2
    assert names.count() == len(panels)
    assert all(name.bounding_box()["y"] < middle for name in names.all())


def test_traffic_encodes_an_algorithm_as_a_colour_and_what_was_measured_as_a_ring(tab):
    """Of RP 12: it had eight encodings; no line is dashed or of a colour of its own."""
    page = show(tab, NAME, {"view": "traffic"})
    panels = make_chapter(NAME, {"chapter": "traffic"})["picture"]["panels"]
    inks = {f"var(--fa-{one['ink']})" for panel in panels for one in panel["series"]}
    looks = page.locator(f"{STORY} .fa-svg-canvas [data-knob]").first.evaluate(
        """(knob) => [...knob.querySelectorAll("path, circle")].map(({ localName, style }) =>
          [localName, style.stroke, style.fill, style.strokeDasharray])"""
    )
    rings = [look for look in looks if look[0] == "circle" and look[1] in inks]
    assert {stroke for _, stroke, _, _ in rings} == inks and len(inks) == 3
    assert {fill for _, _, fill, _ in rings} == {"var(--fa-paper)"}
    dashed = [look for look in looks if look[3] not in ("", "none")]
    assert [stroke for _, stroke, _, _ in dashed] == ["var(--fa-hatch)"], "the playhead alone"


def test_the_name_of_s_can_be_read_where_it_leaves_s(tab):
    page = show(tab, NAME, {"view": "levels", "n": "32768", "kernel": "standard"})
    note = page.get_by_text("written, then read again")
    style = note.evaluate("node => [getComputedStyle(node).fill, getComputedStyle(node).stroke]")
    assert style[1] not in ("none", style[0])


def word(page, name: str):
    return page.locator(f'{STORY} [data-word="{name}"].fa-problem-word')


def test_the_words_name_the_mask_of_the_picture(tab):
    page = show(tab, NAME, {"view": "masks"})
    assert "sliding window" in headline(page, NAME)
    assert word(page, "mask").inner_text() == "causal&window:1024,0"
    page.focus(f"{STORY} .fa-scrub")
    for key, shown in (("Home", "full"), ("ArrowRight", "causal")):
        keys(page, key)
        assert word(page, "mask").inner_text() == shown
    for title, place in (("Full", 0), ("Causal", 1)):
        word(page, "mask").click()
        click(page.locator(".fa-words-choices"), title)
        page.wait_for_function(f"document.querySelector('{STORY}').dataset.step === '{place}'")
        assert word(page, "mask").inner_text() == title.lower()
        keys(page, "Escape")
    assert step(page, NAME) == 1


def test_a_length_may_be_typed_in_thousands(tab):
    page = show(tab, NAME)
    word(page, "n").click()
    page.fill(".fa-words-typed:visible", "32k")
    keys(page, "Enter")
    word(page, "n").filter(has_text="32,768").wait_for()


def test_the_keyboard_stays_in_the_picture_when_a_small_map_becomes_the_large_one(tab):
    page = show(tab, NAME, {"view": "tiles"})
    page.focus(f"{STORY} [data-knob='d 128']")
    keys(page, "Enter")
    page.wait_for_selector(f"{STORY} [data-knob='d 64']")
    settled(page)
    assert page.locator(f"{STORY} [data-knob]:focus").count() == 1
