"""The Run page: its records at once, the Step page's Problem on the real kernel, its tabs."""

import csv
from pathlib import Path
from urllib.parse import urlencode

import pytest

from explainer.base.fields import ProblemError
from explainer.engine import record_rows
from explainer.engine.requests import RunRequest
from explainer.learn.registry import lessons
from explainer.problem import Problem
from tests.browser.harness import click, from_menu, keys, open_controls, query_of, resize, settled
from tests.browser.run.running import (
    PAGE,
    RUNS,
    button,
    choose,
    drawn,
    headline,
    open_run,
    query_run,
    run,
    run_result,
    word,
)

CSV = "1, 0\n0, 1\n1, 1\n\n2, 0\n0, 2\n1, 1\n\n1, 2\n3, 4\n5, 6"
WORDS = """(node) => node.innerText.split(/\\s+/).filter((word) => /\\w/.test(word)).length"""


def test_the_first_view_is_a_picture_and_a_sentence_from_the_record(tab):
    """Of RP 11: it was a form and an empty box."""
    resize(tab.page)
    page = open_run(tab)
    assert page.locator(f"{PAGE} :is(table, form, input):visible").count() == 0
    box = page.locator(f"{PAGE} .fa-svg-canvas:visible").bounding_box()
    assert box and box["width"] * box["height"] >= 0.4 * 1280 * 720
    assert page.evaluate("document.documentElement.scrollHeight") <= 724
    parts = ("headline", "sentence", "provenance", "words")
    words = [page.locator(f"{PAGE} .fa-story-{part}:visible").evaluate(WORDS) for part in parts]
    chosen = [
        page.locator(f"{PAGE} .{part}").evaluate(WORDS) for part in ("fa-run-words", "fa-run-note")
    ]
    assert sum(words + chosen) <= 90
    assert "times as fast" in headline(page), "tests/js/records.test.mjs judges the figures"


def test_the_marker_and_the_words_change_headline_and_address(tab):
    page = open_run(tab)
    before = headline(page)
    keys(page, "ArrowRight")  # the page's own key
    page.wait_for_function(f"document.querySelector('{PAGE} h2').textContent !== {before!r}")
    assert query_of(page)["run-chart"].endswith(",16384")
    marker = page.get_by_role("slider", name="Sequence length N")
    marker.focus()
    keys(page, "Home")
    assert query_of(page)["run-chart"].endswith(",256")
    click(page, "backward", "radio")
    settled(page)
    sentence = page.inner_text(f"{PAGE} .fa-story-sentence")
    assert "backward" in f"{headline(page)} {sentence}".lower()
    memory = page.get_by_role("radio", name="memory")
    assert memory.get_attribute("aria-disabled") == "true", "that record has no memory"
    said = headline(page)
    page.reload()
    drawn(page)
    assert headline(page) == said


def test_every_recorded_figure_is_in_the_table(tab):
    page = open_run(tab, **{"run-chart": "time,forward,full,64,fp16,1024"})
    click(page, "As a table, CSV")
    table = page.locator("dialog table")
    rows = [
        row
        for row in record_rows.rows_in("nvidia_h200")
        if (row["d"], row["mask"], row["dtype"]) == (64, "full", "fp16")
    ]
    assert table.locator("tbody tr").count() == len(rows)


@pytest.mark.parametrize(
    "query",
    [
        Problem().to_query(),
        Problem(
            n=37, d=12, block_q=5, block_k=16, order="fa1", dtype="bf16", inputs="random"
        ).to_query(),
        Problem(
            n=3, d=2, block_q=2, block_k=2, order="standard", causal=False, dtype="fp16",
            inputs="own", text=CSV, gain=2.0,
        ).to_query(),
        Problem(n=12, d=4, inputs="random").to_query() | {"pass": "backward"},
    ],
    ids=["fa2", "fa1", "standard", "backward"],
)  # fmt: skip
def test_the_very_problem_of_the_step_page(tab, query):
    page = tab.open(urlencode(query))
    click(open_controls(page), "Run the real kernel")
    found = run_result(page)
    assert query_run(found) == query
    assert (found["right"], found["agrees"]) == ("true", "true")
    assert ("values of dQ, dK and dV in" in found["text"]) == ("pass" in query)
    chip = page.locator(".fa-kernel-chip")
    assert not chip.is_visible(), "it speaks of the picture on the Step page"
    assert query_of(page)["page"] == "run"
    own = {key for key in query_of(page) if key.startswith("run-")}
    assert not own, "the Step page's Problem says it"
    if "pass" in query:
        click(page, "Tiles", "radio")
        assert "computed once more" in page.inner_text(f"{PAGE} .fa-run-panel")
    click(page, "Step", "tab")
    tab.settle()
    assert chip.is_visible() and chip.inner_text() == "✓ kernel agrees"
    assert chip.get_attribute("title").endswith("kernel agrees with this picture ✓")
    for width in (1180, 1280, 1340, 1600, 1900):
        resize(page, width, 900)
        beside(page, chip)
    resize(page, 1440, 900)
    if "pass" in query:
        page.click('.fa-pass [data-pass="forward"]')
    else:
        other = "Full" if query["mask"] == "causal" else "Causal"
        click(open_controls(page), other, "radio")
    chip.wait_for(state="hidden")  # it was said of another Problem, or of the other pass


def test_the_pass_is_in_the_address_of_a_run(tab):
    page = open_run(tab, **{"run-n": "12", "run-d": "4", "run-pass": "backward"})
    word(page, "pass").click()
    page.click(f'{PAGE} .fa-words-choices [data-value="forward"]')
    word(page, "pass").wait_for(state="detached")
    found = run(page)
    assert "dQ" not in found["text"] and "pass" not in query_run(found)
    assert "run-pass" not in query_of(page) and query_of(page)["run-n"] == "12"


def beside(page, chip) -> None:
    """The chip stands between the last tab and the first button, or is not there at all."""
    if not chip.is_visible():
        return
    box, last = chip.bounding_box(), page.get_by_role("tab", name="Learn").bounding_box()
    first = page.get_by_role("button", name="Tour").bounding_box()
    assert last["x"] + last["width"] <= box["x"] and box["x"] + box["width"] <= first["x"]


def test_the_way_from_step_is_a_whole_button_in_sight(tab):
    """Of RP 17: a sliver at the foot of the panel, which had to be scrolled."""
    resize(tab.page)
    go = open_controls(tab.open()).get_by_role("button", name="Run the real kernel")
    box = go.bounding_box()
    assert box["height"] >= 36 and box["y"] + box["height"] <= 720 - 16
    go.click(trial=True)


def test_the_tab_opens_with_what_the_step_page_shows(tab):
    """As a reload of the same address does."""
    page = tab.open("n=8&mask=causal%26window:3,0&hq=2&head=1&dropout=0.2&sink=1.0")
    click(open_controls(page), "Full", "radio")
    tab.settle()
    keys(page, "Escape")  # the controls close before anything else hears a click
    click(page, "Run", "tab")
    word(page, "n").filter(has_text="8").wait_for()
    word(page, "mask").filter(has_text="full").wait_for()
    line = page.inner_text(f"{PAGE} .fa-story-words .fa-words-line")
    assert "2 heads" in line and "a sink of 1" in line and "dropout 0.2" in line
    found = run(page)
    assert found["agrees"] == "true"
    assert query_run(found).items() >= {"hq": "2", "head": "1", "sink": "1"}.items()
    assert not any(key.startswith("run-") for key in query_of(page)), "it is the Step page's"


def test_the_tab_keeps_what_was_chosen_there(tab):
    page = open_run(tab)
    choose(page, "n", " 1,024 ")  # as others write it (RP 10)
    word(page, "n").filter(has_text="1,024").wait_for()
    assert query_of(page)["run-n"] == "1024"
    click(page, "Step", "tab")
    click(page, "Run", "tab")
    settled(page)
    assert word(page, "n").inner_text() == "1,024"
    choose(page, "n", "")  # emptied: as it was
    keys(page, "Escape")
    assert word(page, "n").inner_text() in ("16", "1,024")


def test_a_run_without_a_kernel_claims_no_picture(tab):
    page = open_run(tab, **{"run-methods": "naive"})
    found = run(page)
    assert found["agrees"] == ""
    assert (
        "Naive PyTorch is correct" in found["text"] and "No kernel with tiles ran" in found["text"]
    )
    click(page, "Step", "tab")
    tab.settle()
    assert not page.is_visible(".fa-kernel-chip")


def test_a_bad_address_is_said_and_the_page_shows_its_own(tab):
    page = open_run(tab, **{"run-n": "banana"})
    alert = page.locator(f"{PAGE} .fa-notice")
    assert "n = banana is not allowed" in alert.inner_text()
    assert word(page, "n").inner_text() == "16"


def test_what_is_typed_or_pasted_runs_and_can_be_mended_and_taken_back(tab):
    """Tab leaves the last field: the choices close, unless it is refused, which stays with why."""
    page = open_run(tab)
    box = page.get_by_role("textbox", name="Sentence, or Q, K, V as CSV")
    refusal = page.locator("[popover] [role=alert]:visible")
    for text in (CSV.replace("3, 4", "3, x"), CSV, "a dog", "", CSV):
        if not box.is_visible():
            click(page, "All settings")
        box.fill(text)
        keys(page, "Tab")
        if "x" in text:
            refusal.wait_for()
            assert "cell 2 in row 2 of V is “x”" in refusal.inner_text()
        else:
            box.wait_for(state="hidden")
            data = "own Q, K, V" if text == CSV else "sentence"
            page.locator(f"{PAGE} .fa-words-line", has_text=data).wait_for()
    keys(page, "Escape")
    found = run(page)
    asked = query_run(found)
    assert asked["text"] == CSV and (asked["n"], asked["d"]) == ("3", "2")
    assert found["right"] == "true"


def test_larger_problem_typed_in_and_restored_from_its_link(tab):
    page = open_run(tab)
    choose(page, "n", "150")
    word(page, "n").filter(has_text="150").wait_for()
    for size in ("64", "32"):
        word(page, "tiles").click()
        block = page.locator(f"{PAGE} [data-field={'br' if size == '64' else 'bc'}]")
        click(block, size)
        keys(page, "Escape")
        word(page, "tiles").filter(has_text=size).wait_for()
    problem = Problem(n=150, block_q=64, block_k=32)
    assert run(page)["query"] == urlencode(problem.to_query())
    now, wanted = query_of(page), RunRequest(problem).to_query()
    del wanted["order"]
    assert {k: now[f"run-{k}"] for k in wanted} == wanted
    assert now["n"] == "16", "the Step page keeps its own"
    page.reload()
    word(page, "tiles").filter(has_text="64 × 32").wait_for()
    assert word(page, "n").inner_text() == "150"


def test_too_much_for_the_interpreter_is_a_sentence_and_a_way_out(tab):
    page = open_run(tab, **{"run-n": "16384", "run-br": "64", "run-bc": "64"})
    note = page.locator(f"{PAGE} .fa-run-note")
    if not note.locator("a").count():
        pytest.skip("a GPU is here: it runs")
    assert "65,536" in note.inner_text() and button(page).is_disabled()
    assert "times as fast" in headline(page), "the record stays"
    note.get_by_role("link").click()
    page.wait_for_function("!location.search.includes('run-n=16384')")
    drawn(page)
    assert button(page).is_enabled()


def test_nonsense_is_a_sentence_beside_the_word_and_the_page_goes_on(tab):
    page = open_run(tab)
    for value in ("<img src=x onerror=window.pwned=1>", "7.5"):
        choose(page, "n", value)
        with pytest.raises(ProblemError) as refused:
            Problem.from_query({"n": value})
        page.locator(f"{PAGE} .fa-words-refusal").filter(has_text=str(refused.value)).wait_for()
        keys(page, "Escape")
    assert page.evaluate("window.pwned") is None
    assert run(page)["agrees"] == "true"


def test_methods_are_judged_and_what_cannot_run_says_why(tab):
    methods = "naive,standard,fa1,fa2,sdpa_flash"
    given = {"run-n": "40", "run-br": "auto", "run-bc": "8", "run-h": "2", "run-methods": methods}
    page = open_run(tab, **given)
    assert word(page, "methods").inner_text() == "5 methods"
    found = run(page)
    assert (found["right"], found["agrees"]) == ("true", "true")
    if "interpreter" in found["device"]:
        assert "1 method needs a GPU." in found["text"]
    click(page, "Time", "radio")
    with page.expect_download() as saved:
        click(page, "CSV")
    lines = list(csv.DictReader(Path(saved.value.path()).read_text().splitlines()))
    assert [line["method"] for line in lines] == methods.split(",")
    assert saved.value.suggested_filename == "flashattention-40-8-causal-fp32-live.csv"


def test_claims_tabs_and_a_tile_by_the_keyboard(tab):
    page = open_run(tab)
    run(page)
    assert "matches Step in every tile" in headline(page)
    click(page, "Tiles", "radio")
    seen = page.get_by_role("group", name="m and ℓ after each tile of FA-2")
    assert seen.locator("tbody tr").count() == 10, "what the kernel reported, beside Step's"
    for name in ("Tiles", "Time", "Roofline", "Why this backend", "Script", "Errors"):
        click(page, name, "radio")
        panel = page.locator(f"{PAGE} .fa-run-panel")
        assert len(panel.inner_text()) > 20
    same = page.locator(f'{PAGE} [data-claim="same"]')
    same.locator("[aria-pressed=true]").focus()
    keys(page, "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight")
    assert "tile (3, 3)" in same.inner_text() and "|Δm|" in same.inner_text()
    keys(page, "Tab")
    assert page.evaluate("document.activeElement.textContent") == "Show it on Step"
    keys(page, "Enter")
    page.wait_for_selector('[data-testid="player"][data-i="3"][data-j="3"]:visible')


def test_masks_are_chosen_by_their_pictures(tab):
    page = open_run(tab, **{"run-view": "masks"})
    assert "times as fast as FlexAttention" in headline(page)
    page.get_by_role("button", name="Sliding window").focus()
    keys(page, "Enter")
    word(page, "mask").filter(has_text="sliding window").wait_for()
    assert query_of(page)["run-mask"] == "causal&window:5,0"
    found = run(page)
    assert query_run(found)["mask"] == "causal&window:5,0" and found["right"] == "true"


def test_a_link_of_the_lesson_shows_the_record_and_starts_nothing(tab):
    (link,) = (
        x for lesson in lessons() if lesson.key == "saves" for x in lesson.links if x.page == "run"
    )
    page = tab.goto(link.query)
    drawn(page)
    assert "Full attention over 4,096 tokens" in page.inner_text(f"{PAGE} .fa-story-sentence")
    assert page.get_attribute(PAGE, "data-runs") == "0"


def test_a_chart_is_saved_as_a_picture(tab):
    """Of RP 16: Step's picture was saved."""
    page = open_run(tab)
    with page.expect_download() as saved:
        page.evaluate("document.dispatchEvent(new CustomEvent('fa:save', { detail: 'svg' }))")
    assert saved.value.suggested_filename == "flashattention-run-record.svg"
    assert "22 ×" in Path(saved.value.path()).read_text()


@pytest.mark.parametrize("view", ["record", "masks"])
def test_a_phone_scrolls_down_only(tab, view):
    resize(tab.page, 390, 844)
    page = open_run(tab, **{"run-view": view})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    resize(page, 1440, 900)


def test_tab_closes_the_choices_of_a_word_at_the_end_of_the_document(tab):
    """They stayed open over the page: nothing took the focus that they lost."""
    page = open_run(tab)
    page.locator(f"{PAGE} .fa-story-words .fa-problem-word").first.press("Enter")
    choices = page.locator(f"{PAGE} .fa-story-words .fa-words-popover")
    choices.wait_for()
    for _ in range(4):
        if choices.is_visible():
            keys(page, "Tab")
    choices.wait_for(state="hidden")


# What can be pressed and sticks out of the screen, is cut by its box, or lies under another part.
HIDDEN_CONTROLS = """() => {
  const all = [...document.querySelectorAll(".fa-run-view :is(button, [role=radio])")];
  const shown = all.filter((node) => node.checkVisibility());
  return shown.filter((node) => {
    scrollBy(0, node.getBoundingClientRect().top - innerHeight / 2);
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const over = (x) => node.contains(document.elementFromPoint(x, (top + bottom) / 2));
    const isCut = node.scrollWidth > node.clientWidth;
    return isCut || left < 0 || right > innerWidth || !over(left + 2) || !over(right - 2);
  }).map((node) => node.textContent);
}"""


def test_a_phone_shows_every_word_and_every_view_of_a_run(apart):
    """Of RP 5: pressing the button at the foot changed nothing in sight."""
    tab = apart(390, 844, is_mobile=True, has_touch=True)
    page = open_run(tab)
    assert page.evaluate(HIDDEN_CONTROLS) == []
    memory = page.get_by_role("radio", name="memory")
    assert not memory.is_visible(), "one word of a choice, until it is tapped"
    click(page, "time", "radio")
    memory.click()
    assert query_of(page)["run-chart"].startswith("memory,forward")
    run(page)
    page.wait_for_selector(f"{PAGE} .fa-run-claim")
    click(page, "Recorded times", "radio")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    run(page)
    assert page.locator(f"{PAGE} h2").evaluate("(h) => h.getBoundingClientRect().top >= 0")
    assert page.evaluate(HIDDEN_CONTROLS) == []


# Texts of the page whose type is smaller than a hall can read.
SMALL = """() => [...document.querySelectorAll(".fa-run-view *")].filter((node) =>
  node.checkVisibility() && !node.closest(".fa-sr, defs") &&
  [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()) &&
  parseFloat(getComputedStyle(node).fontSize) < 15).map((node) => node.outerHTML.slice(0, 99))"""


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768)])
def test_the_hall_sees_the_chart_then_one_claim_after_another(tab, size):
    page = tab.page
    resize(page, *size)
    open_run(tab)
    run(page)
    from_menu(page, "Present")
    settled(page)
    titles = []
    for _ in range(4):
        titles.append(page.locator(f"{PAGE} .fa-run-claim h3:visible").first.inner_text())
        assert page.evaluate(SMALL) == []
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight + 4")
        keys(page, "PageDown")
        settled(page)
    assert titles == ["Correct", "Same as Step", "Fast", "Small"]
    click(page, "Recorded times", "radio")
    before = headline(page)
    keys(page, "ArrowRight")
    page.wait_for_function(f"document.querySelector('{PAGE} h2').textContent !== {before!r}")
    assert page.evaluate(SMALL) == []
    keys(page, "Escape")
    button(page).wait_for()
    assert "mode" not in query_of(page)


def test_the_hall_reads_your_kernel(tab):
    page = tab.page
    resize(page)
    tab.goto("page=run&run-view=yours&mode=present")
    page.wait_for_selector('[data-testid="yours"] td')
    settled(page)
    assert page.evaluate(SMALL.replace("< 15", "< 23.7")) == []
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight + 4")


def test_a_lecturer_who_only_presses_next_sees_the_chart_the_masks_and_the_run(tab):
    chart = "time,forward,causal,128,bf16,32768"
    page = open_run(tab, mode="present", **{"run-chart": chart})
    keys(page, "PageDown")
    page.wait_for_function(f"document.querySelector('{PAGE} h2').textContent.includes('256 GiB')")
    keys(page, "PageDown")
    page.wait_for_selector(f'{PAGE}[data-view="masks"]')
    ended = page.evaluate(RUNS)
    keys(page, "PageDown")
    run_result(page, ended + 1)
    claim = page.locator(f"{PAGE} .fa-run-claim h3:visible")
    for title in ("Correct", "Same as Step"):
        claim.filter(has_text=title).wait_for()
        keys(page, "PageDown")
    claim.filter(has_text="Fast").wait_for()
    keys(page, "PageUp", "PageUp", "PageUp")
    page.wait_for_selector(f'{PAGE}[data-view="masks"]')
    keys(page, "PageUp", "PageDown", "PageDown")
    claim.filter(has_text="Correct").wait_for()
    assert page.evaluate(RUNS) == ended + 1, "what has run is shown, not run again"


def test_a_press_before_step_is_there_is_not_lost(tab):
    """Step's script comes later than a run's result: what was pressed waits for it."""
    held = []
    tab.page.route("**/js/step.js", lambda route: held.append(route))
    tab.goto(urlencode({"page": "run", "run-n": 8, "run-br": 4, "run-bc": 4}))
    page = tab.page
    button(page).click()
    page.wait_for_function(f"{RUNS} > 0")
    click(page, "Step through it")
    page.wait_for_selector(PAGE, state="hidden")
    assert not page.locator('[data-testid="player"]').count()
    for route in held:
        route.continue_()
    page.wait_for_selector('[data-testid="player"][data-query*="n=8"]')
    page.unroute("**/js/step.js")
