"""A scene's knob: dragged and moved with the keys, it sets its control and keeps the focus."""

from __future__ import annotations

from tests.browser.harness import settled
from tests.browser.learn.learning import IDLE, agree, open_page, widget


def test_a_knob_is_dragged_and_moved_with_the_keys(tab):
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    page = open_page(tab, "windows")
    number = page.locator(".fa-learn .fa-control input[type=number]")
    handle = page.locator(".fa-scene-handle")
    handle.wait_for()
    settled(page)
    before = int(number.input_value())
    box = page.locator(".fa-scene-grip").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=4)
    page.mouse.up()
    settled(page)
    dragged = int(number.input_value())
    assert dragged > before + 3
    assert handle.get_attribute("aria-valuenow") == str(dragged)
    handle.press("ArrowLeft")
    settled(page)
    assert int(number.input_value()) == dragged - 1
    assert handle.evaluate("(node) => node === document.activeElement")


def test_the_online_widget_ends_with_its_last_block(tab):
    page = open_page(tab, "online")
    place = widget(page, "online")
    step = place.locator("input.fa-scrub")
    for wanted in ("4", "4", "4"):
        place.get_by_role("button", name="Next step").click()
        page.wait_for_function(IDLE, arg="online")
        assert step.input_value() == wanted
    agree(place, step="4")
    place.get_by_role("button", name="Previous step").click()
    agree(place, step="3")


def test_a_scene_moves_for_whom_motion_is_no_trouble_alone(tab):
    page = open_page(tab, "windows")
    handle = page.locator(".fa-scene-handle")
    handle.wait_for()
    settled(page)
    page.evaluate(
        "() => { window.moved = 0; addEventListener('transitionrun', ({ target }) => {"
        " window.moved += Boolean(target.closest('.fa-scene')); }); }"
    )
    handle.press("ArrowRight")
    settled(page)
    assert page.evaluate("moved") == 0
    page.emulate_media(reduced_motion="no-preference")
    handle.press("ArrowRight")
    page.wait_for_function("moved > 0")
    settled(page)
