"""mode=embed: the picture and its transport alone, in a frame of another page."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.harness import click, query_of, read

CHROME = "#top, #pages > .tab-wrapper, .fa-controls, .fa-drawer, .fa-drawer-tabs, .fa-hero, footer"
PLAYER = '[data-testid="player"][data-step][aria-busy="false"]'


@pytest.fixture
def course(tab, tmp_path):
    """A course page from elsewhere with this HTML in it; gives the frame with the picture."""

    def show(code: str):
        path = tmp_path / "course.html"
        path.write_text(code, encoding="utf-8")
        tab.page.goto(path.as_uri())
        tab.requests.remove(path.as_uri())
        frame = tab.page.frames[1]
        frame.wait_for_selector(PLAYER)
        return frame

    return show


def test_picture_and_transport_alone_in_a_frame(course, server):
    address = f"{server.url}/?mode=embed&amp;step=4&amp;phase=exp"
    frame = course(f'<iframe src="{address}" width="640" height="400"></iframe>')
    assert frame.locator(f":is({CHROME}):visible").count() == 0
    for part in (".fa-map", ".fa-frame-s", ".fa-words", ".fa-next"):
        assert frame.is_visible(part), part
    frame.click(".fa-next")
    frame.wait_for_selector('[data-phase="sum"]')
    frame.press(".fa-next", "ArrowRight")
    frame.wait_for_selector('[data-step="5"]')
    link = frame.get_by_role("link", name="open in full")
    link.hover()
    query = parse_qs(urlsplit(link.get_attribute("href")).query)
    assert (
        "mode" not in query and query["step"] == ["5"] and link.get_attribute("target") == "_blank"
    )


def test_a_race_in_a_frame_is_one_in_full_too(tab):
    page = tab.open("n=12&d=4&br=4&bc=3&mode=embed&clock=bytes&step=2")
    assert page.locator('[data-testid="player"]:visible').count() == 3
    assert query_of(page)["mode"] == "embed"
    link = page.get_by_role("link", name="open in full")
    link.hover()
    page.goto(link.get_attribute("href"))
    tab.settle()
    assert page.locator('[data-testid="player"]:visible').count() == 3
    assert page.get_by_role("tab", name="Run").is_visible()
    assert page.get_by_label("What is the same in every lane").input_value() == "bytes"


def test_the_menu_offers_the_code(tab, course):
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = tab.open("n=12&d=4&br=4&bc=3&step=2&phase=max")
    page.get_by_text("More", exact=True).click()
    click(page, "Copy embed code")
    page.get_by_role("button", name="Copied").wait_for()
    page.get_by_text("More", exact=True).click()
    frame = course(page.evaluate("navigator.clipboard.readText()"))
    shown = read(frame)
    assert (shown["step"], shown["phase"], shown["i"]) == ("2", "max", "1")
    assert frame.is_visible(".fa-next") and not frame.is_visible("#top")
