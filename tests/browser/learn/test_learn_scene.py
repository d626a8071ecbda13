"""A scene that moves, and the step that ends where nothing new comes."""

from __future__ import annotations

from tests.browser.learn.learning import IDLE, agree, open_page, widget


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
