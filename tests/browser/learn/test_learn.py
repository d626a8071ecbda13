"""The Learn page: every rung by link and by keyboard, its numbers as computed, print and phone."""

from __future__ import annotations

import re

import pytest

from explainer.learn.registry import ORDER
from tests.browser.harness import frame, query_of, settled
from tests.browser.learn.learning import (
    AT_HEADING,
    IDLE,
    IN_CONTENTS,
    agree,
    open_page,
    widget,
)

LINKED = ("dot", "online", "when_not", "claims", "handout")  # all are gone to by keyboard below
PHONE = {"width": 390, "height": 844}
A4 = {"width": 794, "height": 1123}
PRINTED = """() => {
  const all = [...document.querySelectorAll(".fa-learn *")].filter((n) => n.checkVisibility());
  const said = (nodes) => nodes.map((n) => n.outerHTML.slice(0, 120));
  const last = document.querySelector("#learn-handout").getBoundingClientRect();
  return {
    boxes: said(all.filter((n) => n.matches("[data-reveal], .fa-widget:empty"))),
    wide: said(all.filter((n) => !n.closest("svg, math, .fa-sr, .fa-lane-axis") &&
      n.getBoundingClientRect().right > innerWidth + 1)),
    end: last.bottom + scrollY, height: document.documentElement.scrollHeight,
  };
}"""
FIRST_VIEW_BYTES = 100_000
STEP_BYTES = 60_000  # beside it: the Step page keeps the address, hidden or not
ADDED_BYTES = 40_000


@pytest.mark.parametrize("rung", LINKED)
def test_a_rung_has_a_link(tab, rung):
    page = open_page(tab, rung)
    assert query_of(page)["rung"] == rung
    current = page.locator('.fa-toc a[aria-current="location"]')
    assert current.get_attribute("href") == f"#learn-{rung}"
    assert current.evaluate(IN_CONTENTS), "the contents follow"


def test_every_rung_by_keyboard_from_the_contents(tab):
    page = open_page(tab)
    links = page.locator(".fa-toc ol a")
    ladder = links.evaluate_all("(all) => all.map((link) => link.hash)")[: len(ORDER)]
    assert ladder == [f"#learn-{key}" for key in ORDER]
    links.first.focus()
    for k in range(links.count()):
        link = links.nth(k)
        assert link.evaluate("node => node === document.activeElement"), "Tab goes link by link"
        target = link.get_attribute("href")[1:]
        page.keyboard.press("Enter")
        page.wait_for_function(AT_HEADING, arg=f"{target}-title")
        assert link.get_attribute("aria-current") == "location"
        link.focus()
        page.keyboard.press("Tab")
    assert query_of(page)["rung"] == target.removeprefix("learn-")


def test_who_knows_the_ground_is_sent_to_level_0_first(tab):
    page = open_page(tab)
    first = page.locator(".fa-toc a").first
    assert first.inner_text() == "Level 0"
    first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function(AT_HEADING, arg="learn-level0-title")
    current = page.locator('.fa-toc a[aria-current="location"]')
    assert current.get_attribute("href") == "#learn-level0" and current.count() == 1
    assert page.evaluate("getComputedStyle(document.activeElement).textDecorationLine") != "none"


def test_a_widgets_numbers_are_the_functions(tab):
    page = open_page(tab, "dot")
    place = widget(page, "dot")
    agree(place)
    place.get_by_role("slider", name="a, place 1").focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    agree(place, a1="-1")
    place.get_by_label("b, place 2, as a number").fill("2.5")
    place.get_by_label("Numbers in a random vector, d").select_option("16")
    agree(place, a1="-1", b2="2.5", d="16")
    place.get_by_role("button", name="Reset").click()
    agree(place)
    page.locator('.fa-toc a[href="#learn-mask"]').click()
    place = widget(page, "mask")
    place.get_by_role("radio", name="multiply P by 0/1").check(force=True)
    place.get_by_role("switch").check()
    place.get_by_role("button", name="Next step").click()
    agree(place, step="4", way="times", padded="1")


def test_the_online_widget_ends_with_its_last_block(tab):
    page = open_page(tab, "online")
    place = widget(page, "online")
    step = place.get_by_role("slider", name="Blocks that have arrived")
    for wanted in ("3", "4", "4", "4"):
        place.get_by_role("button", name="Next step").click()
        page.wait_for_function(IDLE, arg="online")
        assert step.input_value() == wanted
    agree(place, step="4")
    place.get_by_role("button", name="Previous step").click()
    agree(place, step="3")


def test_a_claim_answered_shows_its_demonstration(tab):
    page = open_page(tab, "claims")
    card = page.get_by_role("region", name="Keys padded with zeros do no harm")
    shown = card.locator("[data-reveal]")
    assert not shown.is_visible()
    button = card.get_by_role("button", name="True")
    button.focus()
    page.keyboard.press("Enter")
    assert card.locator(".fa-verdict").inner_text().startswith("✗ Not so. It is false.")
    assert card.get_by_text("Source: ").is_visible() and shown.is_visible()
    place = card.locator("[data-widget]")
    place.scroll_into_view_if_needed()  # it is asked for when it is near the screen
    widget(page, place.get_attribute("data-widget"))
    agree(place)
    place.get_by_label("Length N").select_option("1023")
    agree(place, n="1023")
    card.get_by_role("button", name="False").click()
    assert card.locator(".fa-verdict").inner_text().startswith("✓ Right.")


def test_a_bad_value_gets_one_sentence_and_the_last_picture_stays(tab):
    page = open_page(tab, "lab-number")
    key = page.locator("#learn-lab-number [data-widget]").get_attribute("data-widget")
    place = widget(page, key)
    before = place.locator(".fa-blocks").inner_text()
    tab.tolerate("400")
    place.get_by_label("Number x").fill("1e99")
    alert = place.get_by_role("alert")
    alert.wait_for()
    said = "x = 1e99 is not allowed: Number x must be a number from -1e+40 to 1e+40."
    assert alert.inner_text() == said
    assert place.locator(".fa-blocks").inner_text() == before
    place.get_by_label("Number x").fill("0.5")
    alert.wait_for(state="hidden")
    agree(place, x="0.5")


def test_the_glossary_by_focus_and_escape(tab):
    page = open_page(tab, "online")
    term = page.locator("#learn-online abbr[data-term]").first
    term.focus()
    entry = page.get_by_role("tooltip")
    entry.wait_for()
    assert len(entry.inner_text()) > 20
    assert term.get_attribute("aria-describedby") == entry.get_attribute("id")
    page.keyboard.press("Escape")
    assert not entry.is_visible()
    assert page.locator("#learn-online-title").is_visible(), "Escape closed the entry alone"
    term.hover()
    entry.wait_for()


def test_an_entry_stays_with_its_word_when_the_focus_scrolls(tab):
    """Once the glossary is here an entry is shown before the browser has scrolled to its word."""
    page = open_page(tab, "online")
    first, last = (page.locator("#learn-online abbr[data-term]").nth(k) for k in (0, -1))
    entry = page.get_by_role("tooltip")
    first.focus()
    entry.wait_for()
    page.evaluate("window.scrollTo(0, 0)")
    for term in (last, first, last):
        page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        frame(page)
        term.focus()
        frame(page)
        assert entry.is_visible()
        box, word = entry.bounding_box(), term.bounding_box()
        above, below = word["y"] - box["y"] - box["height"], box["y"] - word["y"] - word["height"]
        gap = max(above, below)
        assert 0 <= gap <= 12, "beside the word, wherever that has gone"


def test_everything_is_printed_and_the_handout_has_two_pages(tab):
    page = open_page(tab, "handout")
    page.evaluate("() => { window.print = () => { document.title = 'printed'; }; }")
    page.get_by_role("button", name="Print everything").click()
    page.wait_for_function("document.title === 'printed'")  # every widget has come by now
    page.set_viewport_size(A4)
    page.emulate_media(media="print")
    seen = page.evaluate(PRINTED)
    assert seen["boxes"] == [] and seen["wide"] == [], seen
    assert seen["end"] <= seen["height"] + 1, "nothing that holds the cards cuts them off"
    whole = len(re.findall(rb"/Type /Page\b", page.pdf(format="A4")))
    assert whole > 20
    page.evaluate("document.querySelector('.fa-learn').classList.add('is-handout')")
    assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) == 2


def test_a_bar_of_the_timeline_shows_a_whole_word_or_none(tab):
    page = open_page(tab, "pipeline")
    place = widget(page, "pipeline")
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 800})
        settled(page)
        words = place.locator(".fa-bar-words").evaluate_all(
            """(all) => all.map((n) => [n.textContent, n.clientWidth, n.scrollWidth,
            n.getBoundingClientRect().right <= n.parentElement.getBoundingClientRect().right])"""
        )
        shown = [word for word, width, needed, inside in words if width]
        assert all(width >= needed and inside for _, width, needed, inside in words if width)
        assert len(shown) >= 48 // 2, f"{width}: numbers of tiles can be read"


def test_a_plot_is_read_where_it_is_touched(browser, watch):
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = open_page(watch(context))
    plot = widget(page, "dot").locator(".fa-plot-box")
    plot.evaluate("node => node.scrollIntoView({ block: 'center' })")
    box = plot.bounding_box()
    read = []
    for share in (0.95, 0.2):
        page.touchscreen.tap(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        read.append(int(plot.get_attribute("aria-valuenow")))
    assert read[0] == int(plot.get_attribute("aria-valuemax")) and read[1] < read[0]
    context.close()


def test_only_what_scrolls_is_a_stop_whatever_the_width(tab):
    page = open_page(tab, "pipeline")
    widget(page, "pipeline")
    code = page.locator("#learn-wild ~ * .fa-code-block .fa-scroll").first
    for width, stop in ((1440, "-1"), (390, "0"), (1440, "-1")):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("([n, at]) => n.getAttribute('tabindex') === at",
                               arg=[code.element_handle(), stop])  # fmt: skip
    page.locator("#learn-pipeline .fa-reset").focus()
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('.fa-scroll')")


def test_the_keyboard_goes_as_the_eye_does(tab):
    """Attention's question stands above its picture."""
    page = open_page(tab, "attention")
    widget(page, "attention")
    seen = []
    while not seen or seen[-1] != "Reset":
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent"))
        assert len(seen) < 20
    assert "Check" in seen


def test_a_phone_scrolls_down_only(browser, watch):
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = open_page(watch(context), "versions")
    widget(page, "versions")
    for key in ("formats", "lab-number", "wild", "glossary", "handout"):
        page.evaluate(f"document.getElementById('learn-{key}').scrollIntoView()")
        settled(page)
    wide = page.evaluate(
        """() => [...document.querySelectorAll(".fa-learn *")].filter((n) => n.checkVisibility() &&
        !n.closest(".fa-scroll, .fa-sr, .fa-bits-block") &&
        n.getBoundingClientRect().right > innerWidth + 1).map((n) => n.outerHTML.slice(0, 120))"""
    )
    assert not wide, "\n".join(wide[:5])
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.locator("summary", has_text="Contents").locator("visible=true").tap()
    page.locator('.fa-toc a[href="#learn-cat"]').tap()
    page.wait_for_function(AT_HEADING, arg="learn-cat-title")
    small = page.evaluate(
        """() => [...document.querySelectorAll(".fa-learn *")].filter((n) => n.checkVisibility() &&
        !n.closest(".fa-sr, math") && [...n.childNodes].some((c) => c.nodeType === 3 &&
        c.textContent.trim()) && parseFloat(getComputedStyle(n).fontSize) < 11).length"""
    )
    assert small == 0
    context.close()


def test_the_first_view_is_small_and_no_plot_library_comes(browser, watch):
    sizes = first_view(browser, watch)
    step = sum(size for url, size in sizes.items() if url.endswith("/step.js"))
    assert sum(sizes.values()) - step < FIRST_VIEW_BYTES and 0 < step < STEP_BYTES
    mine = {url: size for url, size in sizes.items() if "/fa/learn" in url}
    assert any("learn.html" in url for url in mine) and len(mine) > 2
    assert sum(mine.values()) < ADDED_BYTES, mine


def first_view(browser, watch) -> dict[str, int]:
    """{address: bytes on the wire} of what is ours, until the page rests."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    tab = watch(context)
    wire = context.new_cdp_session(tab.page)
    wire.send("Network.enable")
    urls: dict[str, str] = {}
    sizes: dict[str, int] = {}
    wire.on(
        "Network.requestWillBeSent", lambda e: urls.update({e["requestId"]: e["request"]["url"]})
    )
    wire.on(
        "Network.loadingFinished", lambda e: sizes.update({e["requestId"]: e["encodedDataLength"]})
    )
    page = open_page(tab)
    page.wait_for_function(IDLE, arg="dot")
    settled(page)
    assert not any("plotly" in url.lower() for url in tab.requests)
    context.close()
    return {url: sizes.get(key, 0) for key, url in urls.items() if "/fa/" in url}


def test_leaving_the_tab_takes_the_rung_from_the_address(tab):
    page = open_page(tab, "fusion")
    page.get_by_role("tab", name="Step", exact=True).click()
    page.wait_for_selector('[data-testid="player"][data-step]:visible')
    assert not {"page", "rung"} & set(query_of(page))
