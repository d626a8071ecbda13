"""A phone, by touch alone: panes that follow the phase, and every mode entered, used and left."""

import re

from tests.browser.harness import query_of, read, resize, settled

PANES = {"hbm": ".fa-hbm .fa-map", "sram": ".fa-frame-s", "rows": ".fa-row-view-picture"}
IN_WINDOW = """(selector) => [...document.querySelectorAll(selector)].filter((node) =>
  node.checkVisibility({ visibilityProperty: true })).map((node) => node.getBoundingClientRect())
  .filter((b) => b.width && b.top >= 0 && b.left >= 0)
  .filter((b) => b.bottom <= innerHeight && b.right <= innerWidth).length"""
SMALL = """() => [...document.querySelectorAll("button, select, summary, [type=range]")]
  .filter((node) => node.closest(".fa-player, .fa-bar-top") && !node.closest(".fa-rail")
    && node.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .map((node) => [node.textContent.trim() || node.className, node.getBoundingClientRect()])
  .filter(([, b]) => b.height && b.height < 43.5).map(([name, b]) => `${name}: ${b.height}`)"""
# The corners of all controls that show their number or slide it, which something lies over or cuts
CUT = """() => [...document.querySelectorAll(".fa-step-controls input")].filter((node) => node.checkVisibility())
  .flatMap((node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const corners = [[left + 5, top + 5], [right - 5, top + 5], [left + 5, bottom - 5], [right - 5, bottom - 5]];
    return corners.filter(([x, y]) => document.elementFromPoint(x, y) !== node).map(() => node.ariaLabel);
  })"""  # noqa: E501
# Names of rows and bars of products that are not within the band of their row
OUTSIDE = """() => {
  const band = document.querySelector(".fa-row-band").getBoundingClientRect();
  const all = document.querySelectorAll(".fa-row-name:not(:empty), .fa-pick rect");
  return [...all].filter((node) => {
    const range = document.createRange();
    range.selectNode(node.firstChild ?? node);
    const { left, right } = range.getBoundingClientRect();
    return left < band.left + 1 || right > band.right - 1;
  }).map((node) => node.outerHTML);
}"""
SWIPE = """([x0, x1]) => {
  const stage = document.querySelector(".fa-stage");
  const at = (x) => [new Touch({ identifier: 1, target: stage, clientX: x, clientY: 300 })];
  const tell = (name, touches) => stage.dispatchEvent(new TouchEvent(name, touches));
  tell("touchstart", { touches: at(x0), changedTouches: at(x0) });
  tell("touchend", { touches: [], changedTouches: at(x1) });
}"""


def pane(page) -> str:
    return page.get_attribute(".fa-player", "data-pane")


def seen(page, selector: str) -> bool:
    return bool(page.evaluate(IN_WINDOW, selector))


def test_next_and_picture_are_on_screen_together_on_every_pane(phone):
    page = phone.open("step=4&phase=exp")
    for name, picture in PANES.items():
        page.tap(f"[data-pane-of={name}]")
        assert seen(page, ".fa-next") and seen(page, picture), name
        assert page.evaluate(SMALL) == [], name
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), name
    assert seen(page, ".fa-row-view .fa-remark")


def test_the_menu_lies_over_the_transport_and_its_end_can_be_reached(phone):
    page = phone.open("step=4")
    page.tap(".fa-menu summary")
    last = page.locator(".fa-menu [data-save]").last
    last.scroll_into_view_if_needed()
    assert seen(page, ".fa-menu [data-save=npz]")
    x, y = last.evaluate(
        "n => { const b = n.getBoundingClientRect(); return [b.left + 9, b.top + 9] }"
    )
    assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).dataset.save", [x, y])


def test_on_its_side_the_picture_is_whole_between_bar_and_transport(phone):
    page = phone.open("step=4&phase=exp")
    resize(page, 844, 390)
    for name, picture in PANES.items():
        page.tap(f"[data-pane-of={name}]")
        settled(page)
        page.locator(picture).first.evaluate("(node) => node.scrollIntoView({ block: 'start' })")
        box, bar = (page.locator(x).first.bounding_box() for x in (picture, ".fa-transport"))
        assert box["height"] > 100 and box["y"] + box["height"] <= bar["y"], name
        assert seen(page, ".fa-next") and bar["height"] < 70, name
        assert page.evaluate(SMALL) == [], name


def test_the_pane_follows_the_phase_unless_the_visitor_just_chose_one(phone):
    page = phone.page
    page.clock.install()
    phone.open()
    assert pane(page) == "hbm"
    page.tap(".fa-next")
    assert (read(page)["phase"], pane(page)) == ("scores", "sram")
    page.evaluate(SWIPE, [80, 300])  # to the pane on the left
    assert pane(page) == "hbm"
    page.tap(".fa-next")
    assert pane(page) == "hbm"
    page.clock.fast_forward(5001)
    page.tap(".fa-next")
    assert pane(page) == "sram"
    page.evaluate(SWIPE, [300, 80])
    assert pane(page) == "rows"


def test_the_card_of_sram_shows_every_matrix_and_row(phone):
    phone.page.emulate_media(reduced_motion="reduce")
    page = phone.open()
    button = page.locator("[data-pane-of=sram]")
    for query in ("order=fa1&step=0&phase=output", "order=standard&step=20"):
        phone.show(query)
        button.tap()
        assert seen(page, ".fa-frame-o") and seen(page, ".fa-frame-v")
    phone.show("n=58&step=62&phase=exp&sel=S.40.29")
    button.tap()
    assert page.evaluate(OUTSIDE) == []
    phone.show("n=58&br=50&step=0&phase=scores&sel=S.10.3")
    button.tap()
    names = page.locator(".fa-row-name").filter(has_text=re.compile(r"\d")).all_inner_texts()
    assert names[:5] == ["0", "5", "10", "15", "20"] and page.evaluate(OUTSIDE) == []


def test_a_sheet_shows_its_controls_whole_and_is_left_by_touch(phone):
    page = phone.open("step=4&phase=exp")
    page.tap(".fa-word-tiles")
    assert page.evaluate(CUT) == []
    sheet = page.locator(".fa-step-controls")
    for name in ("Query block Br", "Key block Bc"):
        assert sheet.get_by_label(f"range slider for {name}").bounding_box()["width"] > 320
    page.get_by_label("number input for Key block Bc").fill("8")
    page.wait_for_selector('[data-testid="player"][data-query*="bc=8"]')
    done = sheet.get_by_role("button", name="Done")
    assert done.bounding_box()["height"] >= 44
    done.tap()
    assert not sheet.is_visible()
    assert page.evaluate("document.activeElement.dataset.control") == "tiles"


def test_the_hall_and_predict_are_used_and_left_by_touch(phone):
    page = phone.open("step=4&phase=exp&sel=S.9.5")
    page.tap(".fa-menu summary")
    page.get_by_role("button", name="Present").tap()
    assert not seen(page, "#top") and seen(page, ".fa-next") and seen(page, PANES["sram"])
    assert page.locator(".fa-sram").bounding_box()["width"] > 340 and seen(page, ".fa-pick")
    page.tap(".fa-next")
    assert read(page)["phase"] == "sum"
    page.get_by_role("button", name="Leave presentation mode").tap()
    assert seen(page, ".fa-start-tour") and "mode" not in query_of(page)

    page.get_by_text("More", exact=True).tap()
    assert page.evaluate(SMALL) == []
    page.get_by_role("button", name="Predict").tap()
    page.tap(":is(.fa-choices .fa-link, .fa-predict-slider input):visible")
    assert pane(page) == "rows" and seen(page, ".fa-question") and seen(page, ".fa-next")
    page.tap(".fa-next")
    page.locator(".fa-verdict:visible").get_by_text("right").first.wait_for()
    page.get_by_text("More", exact=True).tap()
    page.get_by_role("button", name="Predict").tap()
    settled(page)
    assert not seen(page, ".fa-question")


def test_a_race_stands_on_one_screen(phone):
    page = phone.open("mode=compare&step=3")
    assert page.evaluate(IN_WINDOW, ".fa-lane .fa-map") == 3 and seen(page, ".fa-race .fa-key-next")
    page.get_by_role("button", name="Next tile").tap()
    page.locator(".fa-step-text").get_by_text("Tick 5 of 24").wait_for()
    assert page.evaluate(SMALL) == []
