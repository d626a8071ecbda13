"""The Memory page: five views of one workload, tiles chosen by click, all in the address."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest

from explainer.memory import capacity, mask_work
from explainer.memory.workload import Workload
from explainer.pages.memory import PLAIN, VIEWS
from tests.browser.harness import Held, click, field, frame, keys, query_of, resize, settled

DEFAULT = Workload()


def open_page(tab, **query: str):
    tab.goto(urlencode({"page": "memory", **query}))
    tab.page.wait_for_selector('[data-testid="memory"]')
    return tab.page


def view_of(page, view: str) -> str:
    """The text of a view, once it is shown."""
    page.wait_for_selector(f'[data-testid="memory"][data-view="{view}"]')
    return page.locator(".fa-main:visible").inner_text()


def choose(page, label: str, value: str) -> None:
    """Types into one of the page's menus."""
    box = field(page, label)
    box.fill(value)
    box.press("Enter")


def test_a_switch_shows_the_backward_pass_where_there_is_one(tab):
    page = open_page(tab)
    view_of(page, "levels")
    switch = field(page, "Backward", "radio")
    assert switch.count() == 0
    click(page, "Traffic", "radio")
    view_of(page, "traffic")
    field(page, "Backward", "radio").check()
    page.locator(".fa-passes:visible").wait_for()
    assert query_of(page)["mem-pass"] == "backward"
    page.reload()
    page.locator(".fa-passes:visible").wait_for()
    assert field(page, "Backward", "radio").is_checked()
    click(page, "Capacity", "radio")
    page.locator(".fa-saved:visible").wait_for()
    click(page, "Mask and cache", "radio")
    page.locator(".fa-five-products:visible").wait_for()
    field(page, "Forward", "radio").check()
    page.locator(".fa-kv-cache:visible").wait_for()
    assert "mem-pass" not in query_of(page)


def test_the_last_of_several_quick_choices_is_shown(tab):
    page = open_page(tab)
    held = Held(page)
    for name in ("Round trips", "Traffic", "Tiles", "Capacity"):
        click(page, name, "radio")
    frame(page)
    held.go()
    view_of(page, "capacity")
    assert query_of(page)["mem-view"] == "capacity"


def test_who_is_quicker_than_the_server_keeps_what_was_chosen(tab):
    held = Held(tab.page)
    page = tab.goto("page=memory&mem-view=tiles&mem-h=8")
    page.locator(".fa-figure-page:visible").wait_for()
    choose(page, "Mask", "Causal")
    field(page, "bf16", "radio").check()
    frame(page)
    held.go()
    view_of(page, "tiles")
    now = {"page": "memory", "mem-view": "tiles", "mem-h": "8", "mem-mask": "causal"}
    now["mem-dtype"] = "bf16"
    page.wait_for_function(
        "() => new URLSearchParams(location.search).get('mem-view') === 'tiles'"
        " && new URLSearchParams(location.search).get('mem-dtype') === 'bf16'"
    )
    assert {k: v for k, v in query_of(page).items() if k in now} == now
    mask = field(page, "Mask")
    assert mask.input_value() == "Causal"
    assert page.get_by_role("radio", name="Tiles").is_checked()
    heads = field(page, "Heads H")
    assert heads.input_value() == "8"


def test_the_last_of_two_quick_tiles_is_chosen(tab):
    page = open_page(tab, **{"mem-view": "tiles"})
    view_of(page, "tiles")
    held = Held(page)
    for tile in ("br=16&bc=128", "br=32&bc=16"):
        page.locator(f'[data-pick="{tile}"]').click()
    choose(page, "Mask", "Causal")
    frame(page)
    held.go()
    page.wait_for_selector('[data-pick="br=32&bc=16"][aria-pressed="true"]')
    now = query_of(page)
    assert (now["mem-br"], now["mem-bc"], now["mem-mask"]) == ("32", "16", "causal")


def test_a_bad_value_gets_a_sentence_and_stays_when_the_tab_is_left_and_chosen_again(tab):
    page = open_page(tab)
    choose(page, "Query block Br", "7")
    alert = page.locator(".fa-run-refused:visible")
    alert.wait_for()
    assert alert.inner_text().startswith("br = 7 is not allowed: the query block Br must be")
    click(page, "Step", "tab")
    page.wait_for_selector('[data-testid="player"]:visible')
    held = Held(page)
    click(page, "Memory", "tab")
    frame(page)
    held.go()
    settled(page)
    assert alert.is_visible()
    assert field(page, "Query block Br").input_value() == "7"
    choose(page, "Query block Br", "64")
    view_of(page, "levels")
    assert alert.count() == 0


def test_the_address_holds_the_workload(tab):
    page = open_page(tab)
    choose(page, "Length N", "2048")
    page.wait_for_function("document.querySelector('.fa-finding').textContent.includes('2,048')")
    click(page, "Capacity", "radio")
    view_of(page, "capacity")
    query = query_of(page)
    assert (query["page"], query["mem-n"], query["mem-view"]) == ("memory", "2048", "capacity")
    assert "mem-d" not in query, "what is the page's default is not said"
    page.reload()
    page.wait_for_selector('[data-testid="memory"][data-view="capacity"]')
    assert "N = 2,048" in view_of(page, "capacity")
    assert field(page, "Length N").input_value() == ("2048")


def test_a_tile_is_chosen_on_the_map_and_its_code_read(tab):
    page = open_page(tab, **{"mem-view": "tiles"})
    view_of(page, "tiles")
    cell = page.locator('[data-pick="br=32&bc=32"]')
    cell.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-pick="br=32&bc=32"][aria-pressed="true"]')
    query = query_of(page)
    assert (query["mem-br"], query["mem-bc"]) == ("32", "32")
    button = page.get_by_role("button", name="Read its PTX")
    button.click()
    dialog = page.locator("dialog.fa-listing")
    dialog.wait_for()
    marked = dialog.locator("mark")
    assert marked.count() > 0
    assert all("mma" in text for text in marked.all_inner_texts())
    assert "registers" in dialog.locator("b").inner_text()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert button.evaluate("node => node === document.activeElement")
    click(page, "Registers", "radio")
    page.wait_for_function("document.querySelector('.fa-tile-map h2').textContent === 'Registers'")
    assert query_of(page)["mem-show"] == "registers"


def test_the_map_is_one_stop_and_arrows_move_on_it(tab):
    page = open_page(tab, **{"mem-view": "tiles", "mem-n": "64"})
    view_of(page, "tiles")
    stops = page.locator(".fa-tile-table .fa-cell[tabindex='0']")
    assert stops.count() == 1
    stops.focus()
    # 64 is the longest side that N leaves: to the right is nothing
    keys(page, "ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft")
    here = "document.activeElement.dataset.pick"
    assert page.evaluate(here) == "br=64&bc=32"
    assert stops.count() == 1 and stops.get_attribute("data-pick") == "br=64&bc=32"
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-pick="br=64&bc=32"][aria-pressed="true"]')
    assert page.evaluate(here) == "br=64&bc=32", "the keyboard is where it was"


def test_the_step_pages_problem_can_be_taken_over(tab):
    page = open_page(tab, n="64", d="32", br="16", bc="16", mask="causal", dtype="fp32")
    click(page, "Take the Step page's Problem")
    page.wait_for_function("document.querySelector('.fa-finding').textContent.includes('N = 64,')")
    page.wait_for_url("**mem-dtype=fp32**")


def test_what_is_shown_can_be_downloaded_and_read_as_a_table(tab):
    page = open_page(tab, **{"mem-view": "capacity"})
    view_of(page, "capacity")
    page.locator(".fa-figures summary").click()
    with page.expect_download() as found:
        page.get_by_role("button", name="JSON").locator("visible=true").click()
    rows = json.loads(found.value.path().read_text())["rows"]
    standard = {(r["n"], r["bytes"]) for r in rows if r["form"] == "Standard, forward"}
    assert standard >= {*capacity.curve(DEFAULT, "standard")}
    assert page.get_by_role("table").locator("visible=true").count() == 2


@pytest.mark.parametrize("query", ["", "page=memory"])
def test_no_plot_library_before_a_plot_is_shown(tab, query):
    page = tab.goto(query)
    page.wait_for_selector('[data-testid="memory"], [data-testid="player"][data-step]:visible')
    settled(page)
    assert not any("plotly" in url.lower() for url in tab.requests)


HALL_SIZES = """() => [...document.querySelectorAll(".fa-main *")].filter((n) =>
  n.checkVisibility() &&
  [...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()) &&
  !n.closest(".fa-trips, .fa-sr, caption, .modebar-container, .js-plotly-plot"))
  .map((n) => parseFloat(getComputedStyle(n).fontSize))"""


def is_large_and_whole(page) -> bool:
    """Is all type legible from the last row, and nothing to be scrolled to?"""
    sizes = settled(page).evaluate(HALL_SIZES)
    return (
        min(sizes, default=0) >= 24
        and page.evaluate("document.documentElement.scrollHeight") <= 724
    )


def test_a_lecture_hall_sees_one_view_in_large_type_after_another(tab):
    resize(tab.page)
    page = open_page(tab, mode="present")
    for view in (*VIEWS, list(VIEWS)[-1]):  # the last one stays
        view_of(page, view)
        assert is_large_and_whole(page), view
        page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    view_of(page, list(VIEWS)[-2])
    page.keyboard.press("Escape")
    page.wait_for_selector(".fa-controls:visible")
    page.wait_for_function("!new URLSearchParams(window.location.search).has('mode')")


@pytest.mark.parametrize("view", ["trips", "traffic", "capacity", "work"])
def test_a_hall_opens_at_the_view_and_pass_of_its_address(tab, view):
    resize(tab.page)
    query = {"mem-view": view, "mem-pass": "backward", "mem-mask": "causal"}
    view_of(open_page(tab, mode="present", **query), view)
    assert is_large_and_whole(tab.page)


def test_plain_is_a_workload():
    assert Workload.from_query({k: v for k, v in PLAIN.items() if k not in ("view", "show")}) == (
        DEFAULT
    )


def test_a_preset_is_scaled_to_n_and_any_text_is_taken(tab):
    page = open_page(tab, **{"mem-view": "work", "mem-n": "1024"})
    view_of(page, "work")
    choose(page, "Mask", "Sliding window")
    page.wait_for_function(
        "() => new URLSearchParams(location.search).get('mem-mask') === 'causal&window:320,0'"
    )
    mask = field(page, "Mask")
    assert mask.input_value() == "Sliding window: causal&window:320,0"
    choose(page, "Mask", "prefix:100 & causal")
    page.get_by_test_id("memory").get_by_text("causal&prefix:100 keeps").wait_for()
    w = Workload(n=1024, mask="causal&prefix:100")
    assert f"{mask_work.work(w).scores:,}" in view_of(page, "work")
