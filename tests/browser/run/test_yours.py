"""Your kernel: the first wrong tile of the file that the app was started with, as it is saved."""

import pytest

from tests.browser.harness import Server, Watched, click, keys, settled
from tests.check.planted import NUMPY, plant

VIEW = '[data-testid="yours"]'
MINE = f"{VIEW} .fa-yours-row.is-wrong tr.is-wrong td"


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(plant("l_not_rescaled", NUMPY), encoding="utf-8")
    return path


@pytest.fixture
def live(browser, mine):
    """The view in an app that follows the file."""
    with Server("app.py", "--kernel", str(mine)) as server:
        watched = Watched(browser.new_page(), server)
        watched.goto("page=run&run-view=yours")
        yield watched.page
        assert watched.verdict() == []
        watched.page.close()


def shows(page, headline: str) -> str:
    """Wait for the headline; return all that the page says."""
    page.get_by_role("heading", name=headline).wait_for()
    return page.inner_text('[data-testid="run"]')


def test_the_view_follows_the_file(live, mine):
    text = shows(live, "Your ℓ goes wrong in tile (1, 1)")
    assert "does not rescale ℓ by α" in text and "mine.py, checked on this machine" in text
    assert live.locator(f"{VIEW} td.is-wrong").count() == 1
    assert not live.is_visible(".fa-run-go") and "checked again" in text
    click(live, "See this tile on Step", "link")
    player = live.locator('[data-testid="player"]')
    live.wait_for_selector('[data-testid="player"][data-step="2"][data-phase="sum"]')
    assert [player.get_attribute(f"data-{x}") for x in ("i", "j")] == ["1", "1"]
    live.go_back()
    mine.write_text("def attention(:", encoding="utf-8")
    assert "mine.py, line 1" in shows(live, "Your file does not run")
    mine.write_text(plant(None, NUMPY), encoding="utf-8")
    shows(live, "Your kernel is right, tile by tile")
    assert live.locator(f"{VIEW} .is-wrong").count() == 0


def test_run_and_step_show_it_beside_the_others(live, mine):
    shows(live, "Your ℓ goes wrong in tile (1, 1)")
    click(live, "Run it beside FA-2")
    text = shows(live, "Yours is not correct here")
    assert "the first tile is (1, 1)" in text
    live.goto(live.url.partition("?")[0] + "?mode=compare&step=2")
    lane = live.get_by_test_id("yours-lane")
    lane.wait_for()
    crosses = lane.locator(".fa-lane-cross:visible")
    assert "The first tile that differs is (1, 1)." in lane.inner_text() and crosses.count() == 1
    keys(live, "End")
    live.wait_for_selector('[data-testid="yours-lane"][data-done="true"]')
    assert lane.locator(".fa-lane-cross:visible").count() == 6
    click(live, "Backward")
    lane.wait_for(state="detached")


def test_without_a_file_the_view_shows_an_example_and_the_command(phone):
    phone.goto("page=run&run-view=yours")
    page = settled(phone.page)
    assert "--kernel my_attention.py" in shows(page, "Your O goes wrong in tile (1, 1)")
    assert page.inner_text(MINE) == "0.00"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    click(page, "Masks", "radio")
    assert page.is_visible(".fa-run-go")
