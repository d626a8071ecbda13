"""The Parallel page: its playheads, its switches, and a launch to record."""

import re

import pytest

from tests.browser.harness import click, keys, query_of, resize, settled
from tests.browser.story import at, show, step, story

NAME = "parallel"
STORY = story(NAME)


def test_the_warps_step_by_keys_at_once(tab):
    """Of RP 17: the arrows and Space were dead until the picture was focused."""
    page = show(tab, NAME, {"view": "warps"})
    before = step(page, NAME)
    keys(page, "ArrowRight")
    settled(page)
    assert step(page, NAME) == before + 1
    assert "m is known" in page.text_content(f"{STORY} .fa-svg-canvas")
    click(page, "8 warps", "radio")
    page.wait_for_selector(f"{STORY} .fa-svg-canvas:has-text('8.5 KiB')")


def test_two_launches_are_as_long_as_their_times(tab):
    """Of RP 12: 5.18 ms and 171 µs were drawn equally wide."""
    page = show(tab, NAME)
    drawn = page.locator(f"{STORY} .fa-svg-canvas").evaluate(
        "(svg) => [...svg.querySelectorAll('rect[rx]')].map((one) => one.width.baseVal.value)"
    )
    assert max(drawn) / min(drawn) == pytest.approx(5.27e3 / 166, rel=0.02)


@pytest.mark.parametrize(
    ("size", "mode", "words"),
    [
        ((1280, 720), "", ["first the rows of 32 to 64 tiles", "then those of 2 to 32"]),
        ((1280, 720), "present", ["32 to 64 tiles", "2 to 32"]),
        ((390, 844), "", ["32 to 64 tiles", "2 to 32"]),
    ],
)
def test_the_bars_of_the_schedule_say_which_rows_run_first(tab, size, mode, words):
    """In a hall and on a phone a sentence has no room on them."""
    resize(tab.page, *size)
    page = show(tab, NAME, {"view": "schedule"} | ({"mode": mode} if mode else {}))
    texts = page.locator(f"{STORY} .fa-svg-canvas text").all_text_contents()
    resize(page)
    assert [text for text in texts if re.search("to (32|64)", text)] == words


def test_a_word_of_the_problem_changes_the_picture(tab):
    tab.tolerate("status of 400")
    page = show(tab, NAME)
    page.locator(f"{STORY} .fa-story-words button", has_text="16").first.click()
    field = page.locator(f"{STORY} [popover] input:visible").first
    field.fill("1,32")
    field.press("Enter")
    page.wait_for_selector(f"{STORY} [role=alert]:visible")
    field.fill("128")
    field.press("Enter")
    page.wait_for_selector(f"{STORY} h2:has-text('128 of 132')")
    assert query_of(page)["par-h"] == "128"


def test_a_launch_can_be_recorded_and_a_machine_without_a_gpu_says_so(tab):
    page = show(tab, NAME, {"view": "schedule"})
    page.click(f"{STORY} .fa-story-more")
    click(page, "Record this launch on this server's GPU")
    page.wait_for_selector(f"{STORY} .fa-notice:has-text('needs an NVIDIA GPU')")


def test_a_row_of_the_map_is_chosen_for_the_bars(tab):
    """At the position that was shown; the address has the row."""
    page = show(tab, NAME, {"view": "devices"})
    before = step(page, NAME)
    page.press(f"{STORY} [data-knob=row4]", "Enter")
    page.wait_for_selector(f"{STORY} .fa-svg-canvas:has-text('Row 17')")
    assert (query_of(page)["par-row"], step(page, NAME)) == ("17", before)
    click(page, "Head–tail", "radio")
    page.wait_for_selector(f"{STORY} h2:has-text('no GPU waits')")
    assert query_of(page)["par-row"] == "17"
    click(page, "decoding")
    at(page, NAME, "decoding")
    page.click(f"{STORY} .fa-next")  # from another chapter to the first layout
    page.wait_for_selector(f"{STORY} h2:has-text('Contiguous rows')")


def test_the_number_of_gpus_and_the_tile_are_words_of_the_problem(tab):
    page = show(tab, NAME, {"view": "devices", "h": "32"})
    for word, choice, shown in (("gpus", "2", "two GPUs wait 31"), ("side", "2 × 2", "wait 32")):
        page.click(f'{STORY} [data-word="{word}"].fa-problem-word')
        click(page.locator(".fa-words-choices"), choice)
        page.wait_for_selector(f"{STORY} h2:has-text('{shown}')")
    assert page.inner_text(f"{STORY} .fa-words-line").startswith("2 GPUs, 32 tokens, 8 wide")
    assert "heads" not in page.inner_text(f"{STORY} .fa-words-line")
    assert {"par-gpus": "2", "par-side": "2"}.items() <= query_of(page).items()


def test_the_weights_of_the_parts_have_one_precision(tab):
    """On a phone too, where one of them has room for fewer digits."""
    resize(tab.page, 390, 844)
    page = show(tab, NAME, {"view": "decoding"})
    texts = page.locator(f"{STORY} .fa-svg-canvas text").all_text_contents()
    found = [text[:-2] for text in texts if re.fullmatch(r"[\d.]+ %", text)]
    resize(page, 1440, 900)
    assert len(found) == 4 and len({len(x.partition(".")[2]) for x in found}) == 1
