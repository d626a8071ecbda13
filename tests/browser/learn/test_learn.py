"""The Learn page: its screens by link and by keyboard, its numbers as computed, print and phone."""

import json
import re

from explainer.learn.claims import CLAIMS
from explainer.learn.course import NUMBERS, PATHS
from explainer.learn.registry import lessons
from tests.browser.harness import click, keys, query_of, resize, settled, spot
from tests.browser.learn.learning import (
    AT_HEADING,
    agree,
    open_page,
    shown,
    told,
    widget,
)
from tests.browser.story import story

LESSONS = {lesson.key: lesson for lesson in lessons()}
PRINTED = """() => {
  const all = [...document.querySelectorAll(".fa-printed *")].filter((n) => n.checkVisibility());
  const said = (nodes) => nodes.map((n) => n.outerHTML.slice(0, 120));
  const last = document.querySelector(".fa-printed").lastElementChild.getBoundingClientRect();
  return {
    boxes: said(all.filter((n) => n.matches(".fa-widget .fa-blocks:empty"))),
    wide: said(all.filter((n) => !n.closest("svg, math, .fa-sr") &&
      n.getBoundingClientRect().right > innerWidth + 1)),
    blank: said(all.filter((n) => n.matches(".fa-moving") && !n.closest("details, .fa-proof") &&
      ![...n.querySelectorAll("*")].some((part) => part.getBoundingClientRect().width > 20))),
    end: last.bottom + scrollY, height: document.documentElement.scrollHeight,
    screens: document.querySelectorAll(".fa-printed > .fa-screen").length,
  };
}"""
FIRST_VIEW_BYTES = 100_000
FONT_BYTES = 45_000
STEP_BYTES = 84_000  # beside it: the Step page keeps the address, hidden or not
ADDED_BYTES = 40_000


def test_a_widgets_numbers_are_the_functions(tab):
    page = open_page(tab, "dot")
    place = widget(page, "dot")
    told(place)
    place.get_by_role("slider", name="The tip of q").focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowDown"):
        keys(page, key)
    told(place, qx="0", qy="2.5")
    page.mouse.move(*spot(place.locator("[data-knob=k] circle").first))
    page.mouse.down()
    page.mouse.move(0, 1000)  # as far as it goes, which is the plane's corner
    page.mouse.up()
    told(place, qx="0", qy="2.5", kx="-2", ky="-1")
    place.get_by_role("combobox").select_option("4")
    told(place, qx="0", qy="2.5", kx="-2", ky="-1", d="4")
    click(place, "Reset")
    told(place)
    page.click(".fa-dot[data-lesson=mask]")
    place = widget(page, "mask")
    place.get_by_role("radio", name="P × 0 or 1").check(force=True)
    place.get_by_role("combobox").first.select_option("padded")
    told(place, way="times", shape="padded")
    page.click(".fa-dot[data-lesson=attention]")
    place = widget(page, "attention")
    place.get_by_role("button", name="look at “was”").press("Enter")
    told(place, word="6")


def test_a_claim_is_decided_by_a_key_and_its_proof_can_be_changed(apart):
    page = open_page(apart(), "claims")
    assert page.locator(".fa-proved [data-widget]").count() == 0, "decide first"
    board = page.locator(".fa-claim-list button")
    assert board.count() == len(CLAIMS) and not page.locator(".fa-claim-card:visible").count()
    board.nth(3).click()
    assert page.inner_text(".fa-deciding h3") == board.nth(3).inner_text()
    board.first.click()
    first = page.inner_text(".fa-deciding h3")
    keys(page, "f")
    assert not page.locator(".fa-claim-list").count(), "the proof is in its place"
    proved = page.locator(".fa-proved")
    assert proved.locator("h3").inner_text() == first
    assert re.match(
        "[✓✗] You said false. It is (true|false): ", proved.locator(".fa-verdict").inner_text()
    )
    place = proved.locator("[data-widget]")
    widget(page, place.get_attribute("data-widget"))
    agree(place)
    place.get_by_role("radio").first.check(force=True)
    settled(page)
    assert page.locator(".fa-deciding h3").count() == 0, "the proof before the next claim"
    click(page, "Next claim")
    assert page.inner_text(".fa-deciding h3") != first and not proved.locator("h3").count()
    assert page.locator(".fa-claim-dots i[class]").count() == 2
    page.get_by_role("button", name=re.compile("^All ")).click()
    assert page.locator(".fa-claim-card:visible").count() == page.locator(".fa-claim-card").count()
    click(page, "One at a time")
    page.reload()
    shown(page, "claims")
    assert page.inner_text(".fa-deciding h3") != first, "what was decided is kept"


def test_a_bad_value_gets_one_sentence_and_the_last_picture_stays(tab):
    page = open_page(tab, "rope")
    place = widget(page, "rope")
    before = place.locator(".fa-blocks").inner_text()
    tab.tolerate("400")
    number = place.get_by_label("Position i of q, as a number")
    number.fill("99")
    alert = place.get_by_role("alert")
    alert.wait_for()
    said = "i = 99 is not allowed: Position i of q must be a number from 0 to 31."
    assert alert.inner_text() == said
    assert place.locator(".fa-blocks").inner_text() == before
    number.fill("4")
    alert.wait_for(state="hidden")
    agree(place, i="4")


def test_the_glossary_by_focus_and_escape(tab):
    page = open_page(tab, "online")
    term = page.locator("#learn-online abbr[data-term]").first
    term.focus()
    entry = page.get_by_role("tooltip")
    entry.wait_for()
    assert len(entry.inner_text()) > 20
    assert term.get_attribute("aria-describedby") == entry.get_attribute("id")
    keys(page, "Escape")
    assert not entry.is_visible()
    assert page.is_visible("#learn-online-title"), "Escape closed the entry alone"
    term.hover()
    entry.wait_for()


def test_everything_is_printed_and_the_handout_has_two_pages(tab):
    page = open_page(tab, "handout")
    page.evaluate("() => { window.print = () => { document.title = 'printed'; }; }")
    click(page, "Print everything")
    page.wait_for_function("document.title === 'printed'")  # every widget has come by now
    resize(page, 794, 1123)  # of an A4
    page.emulate_media(media="print")
    seen = page.evaluate(PRINTED)
    assert seen["boxes"] == seen["wide"] == seen["blank"] == [], seen
    assert seen["screens"] > len(lessons()) + 5
    assert seen["end"] <= seen["height"] + 1, "nothing that holds the screens cuts them off"
    whole = len(re.findall(rb"/Type /Page\b", page.pdf(format="A4")))
    assert whole > 20
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".fa-printed").count() == 0
    page.emulate_media(media="screen")
    page.evaluate("document.title = ''")
    click(page, "Print the handout")
    page.wait_for_function("document.title === 'printed'")
    page.emulate_media(media="print")
    assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) == 2


def test_a_bar_of_the_timeline_shows_a_whole_word_or_none(tab):
    page = open_page(tab, "overlap")
    place = widget(page, "overlap")
    for width in (1440, 1024, 390):
        resize(page, width, 800)
        settled(page)
        bars = place.locator(".fa-kit-lane li").evaluate_all(
            """(all) => all.map((n) => [n.scrollWidth <= n.clientWidth,
            getComputedStyle(n).color.endsWith(", 0)")])"""
        )
        assert len(bars) == 48 and all(fits != hidden for fits, hidden in bars)


def test_only_what_scrolls_is_a_stop_whatever_the_width(tab):
    page = open_page(tab, "wild")
    for width in (1440, 390, 1440):
        resize(page, width, 800)
        page.wait_for_function(
            """() => [...document.querySelectorAll(".fa-behind-body .fa-scroll")].every((box) =>
            (box.scrollWidth > box.clientWidth + 1) === (box.tabIndex === 0))"""
        )
        stops = page.locator('.fa-behind-body .fa-scroll[tabindex="0"]').count()
        assert (stops > 0) or width > 390


# {address: bytes on the wire} of what is ours.
SIZES = """() => Object.fromEntries(performance.getEntriesByType("resource")
  .filter(({ name }) => name.includes("/fa/"))
  .map(({ name, transferSize }) => [name, transferSize]))"""


def test_the_first_view_is_small_and_no_plot_library_comes(apart):
    tab = apart(1440, 900)
    sizes = settled(open_page(tab)).evaluate(SIZES)
    assert not any("plotly" in url.lower() for url in tab.requests)
    step = sum(size for url, size in sizes.items() if url.endswith("/step.js"))
    font = sum(size for url, size in sizes.items() if url.endswith(".woff2"))
    assert sum(sizes.values()) - step - font < FIRST_VIEW_BYTES and 0 < step < STEP_BYTES
    assert 0 < font < FONT_BYTES
    mine = {url: size for url, size in sizes.items() if "/fa/learn" in url}
    assert any("learn/entrance.html" in url for url in mine)
    assert sum(mine.values()) < ADDED_BYTES, mine


def test_leaving_the_tab_takes_the_lesson_from_the_address_and_coming_back_brings_it(tab):
    page = open_page(tab, "fusion")
    place = widget(page, "fusion")
    place.get_by_role("radio").last.check(force=True)
    settled(page)
    click(page, "Step", "tab")
    page.wait_for_selector('[data-testid="player"][data-step]:visible')
    assert not {"page", "lesson"} & set(query_of(page))
    click(page, "Learn", "tab")
    page.wait_for_selector("#learn-fusion:visible")
    assert query_of(page)["lesson"] == "fusion"
    assert place.get_by_role("radio").last.is_checked(), "as it was left"
    click(page, "Memory", "tab")
    page.wait_for_selector(story("memory"))
    page.reload()
    page.wait_for_selector(story("memory"))
    click(page, "Learn", "tab")
    shown(page, "fusion")


def test_back_leads_back(tab):
    page = open_page(tab, "memory")
    page.click(".fa-dot[data-lesson=dot]")
    shown(page, "dot")
    page.locator(".fa-screen-head a", has_text="Map").click()
    shown(page, "entrance")
    assert "lesson" not in query_of(page)
    for key in ("dot", "memory"):
        page.go_back()
        shown(page, key)
        assert query_of(page)["lesson"] == key
    page.go_forward()
    shown(page, "dot")


def test_a_link_to_another_page_brings_the_way_back(tab):
    page = open_page(tab, "online")
    page.press(".fa-links a", "Enter")
    back = page.get_by_role("link", name=f"Back to lesson {NUMBERS['online']}, ")
    back.wait_for()
    page.wait_for_selector('[data-testid="player"][data-step]:visible')
    arrived = (
        "document.activeElement.matches('[role=tabpanel]') && document.activeElement.ariaLabel"
    )
    settled(page)
    assert page.evaluate(arrived) == "Step", "the keyboard is where the link leads"
    page.go_back()
    shown(page, "online")
    settled(page)
    assert page.evaluate("document.activeElement.closest('.fa-learn') !== null"), "and Back"
    page.go_forward()
    back.wait_for()
    settled(page)
    assert page.evaluate(arrived) == "Step", "and Forward"
    for name in ("Memory", "Step"):
        click(page, name, "tab")
        assert back.is_visible()
    page.press(".fa-menu summary", "Enter")
    explained = page.locator(".fa-explains:visible a")
    explained.first.focus()
    keys(page, "Escape")
    assert page.evaluate("document.activeElement.textContent") == "More"
    keys(page, "Enter")
    wanted = [lesson for lesson in lessons() if any(link.page == "step" for link in lesson.links)]
    assert explained.count() == len(wanted)
    explained.last.click()
    shown(page, wanted[-1].key)
    settled(page)
    assert page.evaluate(AT_HEADING, wanted[-1].key), "Learn was opened only now"
    assert not back.is_visible(), "it is Learn already"
    click(page, "Step", "tab")
    back.click()
    shown(page, "online")
    settled(page)
    assert page.evaluate(AT_HEADING, "online")
    assert query_of(page)["lesson"] == "online" and query_of(page)["page"] == "learn"


def test_the_entrance_tells_how_far_each_path_is(apart):
    page = open_page(apart())
    assert page.locator(".fa-path.is-chosen, .fa-halt.is-stop").count() == 0, "nothing is chosen"
    start = page.locator(".fa-path-go.is-main")
    assert start.evaluate("n => n.textContent") == (
        f"Start with {NUMBERS['attention']} {LESSONS['attention'].title}"
    )
    done = [lesson for lesson in lessons() if lesson.key in PATHS[0].lessons]
    known = {lesson.question.key: "right" for lesson in done}
    page.evaluate("(known) => localStorage.setItem('fa-learn', JSON.stringify(known))", known)
    page.reload()
    shown(page, "entrance")
    cards = page.locator(".fa-path")
    assert f"{len(done)} of {len(done)} done" in cards.nth(0).inner_text()
    assert cards.nth(0).locator("a.fa-path-again").inner_text() == "Again"
    assert PATHS[0].done in cards.nth(0).inner_text()
    assert start.evaluate_all("all => all.map((n) => n.closest('.fa-path').dataset.path)") == [
        "hour"
    ]
    cards.nth(1).get_by_role("button", name="1 hour").click()
    left = [lesson for lesson in lessons() if lesson.key in PATHS[1].lessons and lesson not in done]
    assert f"{sum(lesson.minutes for lesson in left)} minutes left" in cards.nth(1).inner_text()
    assert page.locator(".fa-halt.is-done").count() == len(done)
    cards.nth(2).get_by_role("button", name="The course").click()
    assert (
        page.locator(".fa-path-go.is-main").evaluate("n => n.closest('.fa-path').dataset.path")
        == "course"
    )
    click(page, "Forget my answers")
    assert page.locator(".fa-halt.is-done").count() == 0


def test_the_self_test_advises_where_to_start(apart):
    page = open_page(apart(), "start")
    forms = page.locator("[data-question]")
    for k, answer in enumerate(("32", "24", "[½, ½]", "values")):
        forms.nth(k).get_by_role("radio", name=answer, exact=True).check(force=True)
        click(forms.nth(k), "Check")
    advice = page.locator(".fa-advice")
    assert advice.inner_text() == f"Start at {NUMBERS['safe']} Safe softmax."
    forms.nth(4).get_by_role("radio", name="0", exact=True).check(force=True)
    click(forms.nth(4), "Check")
    assert "3.4 × 10³⁸" in forms.nth(4).locator(".fa-verdict").inner_text()
    assert advice.inner_text() == f"Start at {NUMBERS['safe']} Safe softmax."
    click(page, "Map", "link")
    shown(page, "entrance")
    assert page.get_attribute(".fa-halt.is-start", "data-lesson") == "safe"
    go = page.get_by_role("region", name="The course").locator(".fa-path-go")
    assert go.evaluate("n => n.textContent").startswith("Start with 1.6 "), "the course too"


def test_after_the_hour_the_course_goes_on_behind_what_is_known(apart):
    """Foundations that the hour begins after are not what comes next."""
    page = open_page(apart())
    done = {q.key: "right" for q in (LESSONS[key].question for key in PATHS[1].lessons)}
    page.evaluate("(known) => localStorage.setItem('fa-learn', JSON.stringify(known))", done)
    page.reload()
    shown(page, "entrance")
    left = [key for key in PATHS[2].lessons if key not in PATHS[1].lessons]
    after = next(k for k in left if PATHS[2].lessons.index(k) > PATHS[2].lessons.index("attention"))
    go = page.get_by_role("region", name="The course").locator(".fa-path-go")
    assert go.get_attribute("href") == f"?page=learn&lesson={after}"


def test_answers_are_saved_as_one_file_and_noted_alone_where_solutions_are_hidden(apart):
    page = open_page(apart(), "memory", solutions="hidden")
    question, form = LESSONS["memory"].question, page.locator("[data-question]")
    wrong = (question.answer + 1) % len(question.options)
    form.locator("input").nth(wrong).check(force=True)
    click(form, "Check")
    assert form.locator(".fa-verdict").inner_text() == "Your answer is noted."
    assert not form.get_by_role("button", name="Hint").count()
    assert page.locator(".fa-dot.is-done").count() == 1, "answered, right or wrong"
    click(page, "Map", "link")
    shown(page, "entrance")
    with page.expect_download() as download:
        click(page, "Save my answers")
    found = json.loads(download.value.path().read_text(encoding="utf-8"))
    (row,) = found["answers"]
    assert (found["right"], found["answered"], row["right"], row["tries"]) == (0, 1, False, 1)
    assert row["lesson"].startswith("2.2 ") and row["question"] == question.words
    assert row["answer"] == question.options[wrong][0]


def test_a_lesson_s_frame_and_its_code_for_a_course_page_are_that_lesson_s(apart):
    tab = apart(1280, 720)
    page = open_page(tab, "online")
    widget(page, "online")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_text("More", exact=True).first.click()
    click(page, "Copy embed code")
    page.get_by_role("button", name="Copied").wait_for()
    code = page.evaluate("navigator.clipboard.readText()")
    (address,) = re.findall('src="([^"]*)"', code)
    with page.expect_download() as download:
        page.locator("[data-save=svg]").evaluate("node => node.click()")
    assert download.value.suggested_filename == "flashattention-online.svg"
    svg = download.value.path().read_text(encoding="utf-8")
    assert "Online softmax" in svg and "α" in svg
    page.goto(address.replace("&amp;", "&"))
    shown(page, "online")
    assert page.is_visible("#learn-online [data-question]")
    assert not page.locator("#top:visible, .fa-screen-foot:visible").count()
    link = page.get_by_role("link", name="open in full").locator("visible=true")
    assert "lesson=online" in link.get_attribute("href")
    assert "mode=" not in link.get_attribute("href")
