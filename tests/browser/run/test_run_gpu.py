"""The Run page with a live GPU, for which a recording stands in: points take the places of records
as they are measured, runs wait, can be stopped, and break."""

from collections.abc import Iterator

import pytest

from tests.browser.harness import Server, Watched, click, settled
from tests.browser.run.running import PAGE, button, headline, open_run, run, run_result


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


def test_points_take_the_places_of_records_and_the_sweep_can_be_stopped(page, gpu):
    tab = open_run(page, **{"run-d": "64", "run-dtype": "bf16"})
    provenance = tab.locator(f"{PAGE} .fa-story-provenance:visible")
    assert provenance.inner_text().startswith("recorded on an H200")
    click(tab, "Measure it here")
    go = button(tab)
    go.filter(has_text="Stop measuring").wait_for()
    for points in (2, 4):
        gpu.tell("2")
        tab.get_by_text(f"{points} of 18 points measured on this NVIDIA H200").wait_for()
    provenance.filter(has_text="measured on this NVIDIA H200").wait_for()
    go.click()
    go.filter(has_text="Run the real kernel").wait_for()
    gpu.tell("all")  # also the point that was on its way: its answer is nobody's now
    assert run(tab)["device"] == "NVIDIA H200"


def test_a_live_run_opens_with_its_speed_and_the_roofline(page):
    tab = open_run(page, **{"run-n": "4096", "run-d": "64", "run-dtype": "bf16"})
    found = run(tab)
    assert "times as fast as naive" in headline(tab)
    assert "tensor cores" in found["text"] and "measured on NVIDIA H200" not in headline(tab)
    assert "on record" not in found["text"], "live figures only"
    click(tab, "Correct", "radio")
    assert tab.is_visible(f'{PAGE} [data-claim="correct"]')


def test_each_bar_carries_its_name_and_one_is_ours(page):
    """Of RP 17: FA-4, flash and cuDNN shared one green."""
    methods = {"sdpa_flash": "SDPA flash", "sdpa_cudnn": "SDPA cuDNN", "fa4": "FA-4"}
    query = {"run-n": "4096", "run-d": "64", "run-dtype": "bf16"}
    tab = open_run(page, **query, **{"run-methods": ",".join(["naive", *methods, "hopper"])})
    run(tab)
    bars = tab.locator(f'{PAGE} [data-claim="fast"] [data-tip]')
    assert {*methods.values(), "FA-2 Hopper"} <= {*bars.locator("> b").all_text_contents()}
    hue = "getComputedStyle(x.querySelector('i')).backgroundColor"
    hues = bars.evaluate_all(f"all => all.map((x) => {hue})")
    assert hues.count(hues[-1]) == 1, "the last and shortest is ours"


def test_a_run_says_how_long_it_takes_and_can_be_stopped(page):
    tab = open_run(page, **{"run-seed": "2", "run-data": "random"})
    go = button(tab)
    go.click()
    go.filter(has_text="Stop").wait_for()
    assert "s so far" in tab.inner_text(f"{PAGE} .fa-run-note")
    go.click()
    found = run_result(tab)
    assert found["state"] == "canceled"
    page.server.tell("all")  # the worker's answer is nobody's now
    assert run(tab)["device"] == "NVIDIA H200"


# The last: after it the engine rests.
def test_a_worker_that_breaks_is_a_sentence_and_the_records_stay(page):
    measured = {"run-n": "4096", "run-d": "64", "run-b": "4", "run-h": "32", "run-dtype": "bf16"}
    tab = open_run(page, **{"run-seed": "1", "run-data": "random"} | measured)
    for k in range(2):  # the second falls into the rest after three faults
        button(tab).click()
        found = run_result(tab, k + 1)
        assert found["state"] == "refused"
        note = tab.inner_text(f"{PAGE} .fa-run-note")
        assert note.endswith(".")
        assert "times as fast" in headline(tab)
        assert button(tab).is_enabled(), "it can be tried again"
    click(tab, "Step", "tab")
    settled(tab)
    assert tab.is_visible('[data-testid="player"]'), "nobody's page errs"
