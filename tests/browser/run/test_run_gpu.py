"""The Run page with a live GPU, for which a recording stands in: curves grow, can be stopped, and
what breaks is answered from the record."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from explainer.engine import recorded
from tests.browser.harness import Server, Watched, click
from tests.browser.run.test_run import open_run, run


@pytest.fixture(scope="module")
def gpu() -> Iterator[Server]:
    with Server("tests/browser/run/gpu_stand_in.py") as running:
        yield running


@pytest.fixture
def page(gpu, context):
    watched = Watched(context.new_page(), gpu)
    gpu.tell("none")
    yield watched
    gpu.tell("all")
    assert not watched.verdict()
    watched.page.close()


POINTS = """() => {
  const traces = [...document.querySelectorAll(".js-plotly-plot")].at(-3)?.data ?? [];
  return traces.reduce((sum, t) => sum + t.x.length, 0);
}"""


def points_drawn(page) -> int:
    """Markers of the first figure, the time."""
    return page.evaluate(POINTS)


def drawn(page, points: int) -> None:
    """Waits for so many markers."""
    page.wait_for_function(f"(wanted) => ({POINTS})() === wanted", arg=points)


def test_points_appear_as_they_are_measured(page, gpu):
    tab = open_run(page, **{"run-d": "64", "run-dtype": "bf16", "run-methods": "fa2,hopper"})
    click(tab, "Sweep")
    tab.get_by_role("button", name="Stop the sweep").wait_for()
    note = tab.locator('[data-testid="sweep-note"]')
    for points in (2, 4):
        gpu.tell("2")
        drawn(tab, 2 * points)
        assert not note.is_visible()
    gpu.tell("all")
    note.wait_for()
    drawn(tab, 2 * 18)
    assert "18 points measured on NVIDIA H200" in note.inner_text()
    said = tab.locator(".fa-run-page .fa-main").inner_text()
    for other in ("masks", "backward"):  # which say that they are
        recorded = tab.locator(f"[data-testid={other}-recorded]").inner_text()
        assert "recorded on NVIDIA H200" in recorded and recorded in said
        said = said.replace(recorded, "")
    assert "recorded" not in said, "live figures only"


def test_a_sweep_can_be_stopped_and_a_run_follows(page, gpu):
    tab = open_run(page, **{"run-d": "128", "run-dtype": "bf16", "run-methods": "fa2"})
    click(tab, "Sweep")
    gpu.tell("3")
    drawn(tab, 3)
    click(tab, "Stop the sweep")
    note = tab.locator('[data-testid="sweep-note"]')
    note.wait_for()
    assert note.inner_text().startswith("Stopped after 3 of 18 points")
    assert "FA-2" in note.inner_text(), "the legend stays"
    gpu.tell("all")  # also the point that was on its way: its answer is nobody's now
    assert run(tab)["device"] == "NVIDIA H200"
    assert points_drawn(tab) == 3, "no point is measured any more"


def test_a_live_run_shows_speed_roofline_and_nothing_recorded(page):
    tab = open_run(page, **{"run-n": "4096", "run-d": "64", "run-dtype": "bf16"})
    text = run(tab)["text"]
    assert "× naive, TFLOP/s · NVIDIA H200" in text and "of the card's 989.4 TFLOP/s" in text
    tab.get_by_text("Why? The roofline").wait_for()
    assert tab.locator('[data-testid="run-recorded"]').count() == 0


def test_a_run_says_how_long_it_takes_and_can_be_cancelled(page):
    tab = open_run(page, **{"run-seed": "2", "run-data": "random"})
    click(tab, "Run")
    cancel = tab.get_by_role("button", name="Cancel the run")
    cancel.wait_for()
    assert "s so far" in tab.locator("#run-result").inner_text()
    cancel.click()
    tab.locator('[data-testid="run-cancelled"]').wait_for()
    cancel.wait_for(state="hidden")
    assert "Canceled after" in tab.locator("#run-result").inner_text()
    page.server.tell("all")  # the worker's answer is nobody's now
    assert run(tab)["device"] == "NVIDIA H200"


# The last: after it the engine rests.
def test_a_worker_that_breaks_is_a_sentence_and_the_record(page):
    measured = {"run-n": "4096", "run-d": "64", "run-b": "4", "run-h": "32", "run-dtype": "bf16"}
    tab = open_run(page, **{"run-seed": "1", "run-data": "random"} | measured)
    for _ in range(2):  # the second falls into the rest after three faults
        click(tab, "Run")
        alert = tab.locator(".fa-run-refused")
        alert.wait_for()
        assert alert.inner_text().endswith(".")
        old = tab.locator('[data-testid="run-recorded"]')
        old.wait_for()
        assert recorded.about()[1:] in old.inner_text()
    click(tab, "Step", "tab")
    assert tab.locator('[data-testid="player"]').is_visible(), "nobody's page errs"
