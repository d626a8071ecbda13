"""The Run page: the Step page's Problem on the real kernel."""

from __future__ import annotations

import csv
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pytest

from explainer.base.fields import ProblemError
from explainer.engine import recorded
from explainer.engine.requests import RunRequest
from explainer.learn.registry import lessons
from explainer.problem import Problem
from tests.browser.harness import click, field, keys, open_controls, query_of, resize, settled


def run_result(page) -> dict:
    """What the report says of itself, once it is there, and its text."""
    page.wait_for_selector('[data-testid="run-result"]')
    report = page.locator('[data-testid="run-result"]')
    return report.evaluate("node => ({ ...node.dataset, text: node.innerText })")


def run(page) -> dict:
    """What the report says of a run of what the page shows."""
    click(page, "Run")
    return run_result(page)


def open_run(tab, **query: str):
    """The app at its Run page."""
    tab.goto(urlencode({"page": "run", **query}))
    field(tab.page, "Length N").wait_for()
    return settled(tab.page)


CSV = "1, 0\n0, 1\n1, 1\n\n2, 0\n0, 2\n1, 1\n\n1, 2\n3, 4\n5, 6"


@pytest.mark.parametrize(
    "problem",
    [
        Problem(),
        Problem(n=37, d=12, block_q=5, block_k=16, order="fa1", dtype="bf16", inputs="random"),
        Problem(
            n=3, d=2, block_q=2, block_k=2, order="standard", causal=False, dtype="fp16",
            inputs="own", text=CSV, gain=2.0,
        ),
    ],
    ids=lambda p: p.order,
)  # fmt: skip
def test_the_very_problem_of_the_step_page(tab, problem):
    page = tab.open(urlencode(problem.to_query()))
    click(open_controls(page), "Run the real kernel")
    found = run_result(page)
    asked = dict(parse_qs(found["query"], strict_parsing=True))
    assert {k: v[0] for k, v in asked.items()} == problem.to_query()
    assert (found["right"], found["agrees"]) == ("true", "true")
    if "interpreter" in found["device"]:
        assert "interpreter: not a speed" in found["text"]
        page.locator('[data-testid="run-not-recorded"]').wait_for()
    chip = page.locator(".fa-kernel-chip")
    assert not chip.is_visible(), "it speaks of the picture on the Step page"
    assert query_of(page)["page"] == "run"
    assert not any(k.startswith("run-") for k in query_of(page)), "the Step page's Problem says it"
    click(page, "Step", "tab")
    tab.settle()
    assert chip.is_visible() and chip.inner_text() == "✓ kernel agrees"
    assert chip.get_attribute("title").endswith("kernel agrees with this picture ✓")
    for width in (1180, 1280, 1340, 1600, 1900):
        resize(page, width, 900)
        beside(page, chip)
    resize(page, 1440, 900)
    open_controls(page).get_by_role("radio", name="Full" if problem.is_causal else "Causal").check()
    chip.wait_for(state="hidden")  # it was said of another Problem


def test_the_tab_opens_with_what_the_step_page_shows(tab):
    """As a reload of the same address does."""
    page = tab.open("n=8&mask=causal%26window:3,0&hq=2&head=1&dropout=0.2&sink=1.0")
    click(open_controls(page), "Full", "radio")
    tab.settle()
    page.keyboard.press("Escape")  # the controls close before anything else hears a click
    click(page, "Run", "tab")
    wait_for_size(page, "Length N", "8")
    wait_for_size(page, "Mask", "Full")
    assert field(page, "Heads H").input_value() == "2"
    page.locator(".fa-run-page").get_by_role("button", name="Run", exact=True).click()
    found = run_result(page)
    assert found["agrees"] == "true"
    assert "H = 2 · head 1" in found["text"]
    assert "full, sink 1, Hk = 1, dropout 0.2" in found["text"]
    assert not any(key.startswith("run-") for key in query_of(page)), "it is the Step page's"


def test_the_tab_keeps_what_was_run_there(tab):
    page = open_run(tab, n="8", **{"run-n": "6"})
    click(page, "Step", "tab")
    tab.settle()
    click(page, "Run", "tab")
    field(page, "Length N").wait_for()  # the hidden page keeps its fields: their value says nothing
    page.wait_for_url("**page=run**")
    wait_for_size(page, "Length N", "6")
    page.reload()
    wait_for_size(page, "Length N", "6")
    assert query_of(page)["n"] == "8" and query_of(page)["run-n"] == "6"


def beside(page, chip) -> None:
    """The chip stands between the last tab and the first button, or is not there at all."""
    if not chip.is_visible():
        return
    box, last = chip.bounding_box(), page.get_by_role("tab", name="Learn").bounding_box()
    first = page.get_by_role("button", name="Tour").bounding_box()
    assert last["x"] + last["width"] <= box["x"] and box["x"] + box["width"] <= first["x"]


def test_a_run_without_a_kernel_claims_no_picture(tab):
    page = open_run(tab, **{"run-methods": "naive"})
    found = run(page)
    assert found["agrees"] == ""
    assert "Naive PyTorch is right; no kernel with tiles ran." in found["text"]
    click(page, "Step", "tab")
    tab.settle()
    assert not page.locator(".fa-kernel-chip").is_visible()


def test_a_bad_address_is_said_where_results_stand(tab):
    page = tab.goto("page=run&run-n=banana")
    alert = page.locator("#run-result .fa-run-refused")
    alert.wait_for()
    assert "n = banana is not allowed" in alert.inner_text()
    assert "default problem" in alert.inner_text() and field(page, "Length N").input_value() == "16"


def test_typed_and_pasted_data_is_what_runs(tab):
    page = open_run(tab)
    form = page.locator(".fa-run-page")
    form.get_by_role("button", name="Own data, scores, sink").click()
    field = form.get_by_label("Sentence, or Q, K, V as CSV")
    field.click()
    page.keyboard.type("a dog")
    assert "Sentence “a dog”" in run(page)["text"]
    field.fill(CSV)
    page.wait_for_function("document.querySelector('[aria-label=\"Length N\"]').value === '3'")
    click(page, "Run")
    page.get_by_text("N = 3 · d = 2 · Br = 3 · Bc = 3 · causal · fp32 · Own Q, K, V").wait_for()


def test_larger_problem_typed_in_and_restored_from_its_link(tab):
    page = open_run(tab)
    field(page, "Query block Br").click()
    click(page, "64", "option")
    for label, value in (("Length N", "150"), ("Key block Bc", "32")):
        field(page, label).fill(value)
        field(page, label).press("Tab")
    problem = Problem(n=150, block_q=64, block_k=32)
    assert run(page)["query"] == urlencode(problem.to_query())
    now, wanted = query_of(page), RunRequest(problem).to_query()
    del wanted["order"]
    assert {k: now[f"run-{k}"] for k in wanted} == wanted
    assert now["n"] == "16", "the Step page keeps its own"
    page.reload()
    page.wait_for_selector("#run-result")
    page.wait_for_function(
        "() => document.querySelector('[aria-label=\"Length N\"]')?.value == 150"
    )
    assert field(page, "Query block Br").input_value() == "64"


def test_too_much_for_the_interpreter_is_a_sentence(tab):
    page = open_run(tab, **{"run-n": "16384", "run-br": "64", "run-bc": "64"})
    click(page, "Run")
    alert = page.locator(".fa-run-refused")
    alert.wait_for()
    assert "65,536" in alert.inner_text() and alert.inner_text().endswith(".")
    none = page.locator('[data-testid="run-not-recorded"]')
    none.wait_for()
    assert "Nothing like N = 16,384, d = 8" in none.inner_text()
    none.get_by_role("link", name="Set the controls to it").click()
    page.wait_for_selector("#run-result .fa-run")
    wait_for_size(page, "Head dim. d", "64")
    settled(page)
    click(page, "Run")
    old = page.locator('[data-testid="run-recorded"]')
    old.wait_for()  # a GPU would have run it: what one took is below
    assert "Your problem was measured there" in old.inner_text()


def wait_for_size(page, label: str, value: str) -> None:
    wanted = (
        "([label, value]) => document.querySelector(`[aria-label='${label}']`)?.value === value"
    )
    page.wait_for_function(wanted, arg=[label, value])


def test_run_and_sweep_are_in_sight_on_a_small_screen(tab):
    page = tab.page
    resize(page)
    open_run(tab)
    for name in ("Run", "Sweep"):
        box = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 720


def test_typed_nonsense_is_a_sentence_and_the_page_goes_on(tab):
    page = open_run(tab)
    for value in ("<img src=x onerror=window.pwned=1>", "7.5"):
        field(page, "Length N").fill(value)
        field(page, "Length N").press("Tab")
        click(page, "Run")
        with pytest.raises(ProblemError) as refused:
            Problem.from_query({"n": value})
        page.get_by_role("alert").filter(has_text=str(refused.value)).wait_for()
    assert page.evaluate("window.pwned") is None
    field(page, "Length N").fill("16")
    field(page, "Length N").press("Tab")
    assert run(page)["agrees"] == "true"


def test_methods_chosen_by_hand_are_judged_and_what_cannot_run_says_why(tab):
    page = open_run(tab, **{"run-n": "40", "run-br": "auto", "run-bc": "8", "run-h": "2"})
    for name in ("Standard", "FA-1", "SDPA flash"):
        page.get_by_role("checkbox", name=name, exact=True).check()
    found = run(page)
    assert (found["right"], found["agrees"]) == ("true", "true")
    methods = ["naive", "standard", "fa1", "fa2", "sdpa_flash"]
    assert set(query_of(page)["run-methods"].split(",")) == set(methods)
    text = found["text"]
    if "interpreter" in found["device"]:
        assert "All 4 methods that ran are right" in text and "1 needs a GPU." in text
    assert "H = 2" in text and "the first and the last head" in text
    page.wait_for_selector(".js-plotly-plot")
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").first.click()
    lines = list(csv.DictReader(Path(saved.value.path()).read_text().splitlines()))
    assert [line["method"] for line in lines] == methods
    assert saved.value.suggested_filename == "flashattention-40-8-causal-fp32-live.csv"


def test_a_link_shows_the_recorded_sweep_and_starts_nothing(tab):
    (link,) = (
        x for lesson in lessons() if lesson.key == "saves" for x in lesson.links if x.page == "run"
    )
    page = tab.goto(link.query)
    page.get_by_role("region", name="Sweep, d = 128, bf16").wait_for(state="attached")
    settled(page)
    note = page.locator('[data-testid="sweep-note"]')
    assert "d = 128, bf16, mask = full, was recorded" in note.inner_text()
    top = note.bounding_box()["y"]
    assert 0 <= top < 60 or page.evaluate("scrollY + innerHeight >= document.body.scrollHeight")
    assert page.locator(".fa-live").inner_text() in note.inner_text(), "and says so"
    assert (
        field(page, "Length N").input_value() == "4096"
        and not page.locator(".fa-stop:visible").count()
    )
    click(page, "Sweep")
    page.wait_for_function("!location.search.includes('run-sweep')")


def test_fields_keep_the_keyboard(tab):
    """A menu whose choice is taken, in either way; a group of radio buttons is one stop."""
    page = open_run(tab)
    mask = field(page, "Mask")
    mask.focus()
    keys(page, "ArrowDown", "ArrowDown", "Enter")
    page.wait_for_function("document.querySelector('[aria-label=Mask]').value.includes('window:')")
    assert mask.input_value() == "Sliding window: causal&window:5,0"
    here = "document.activeElement.ariaLabel ?? document.activeElement.value"
    assert page.evaluate(here) == "Mask" and mask.get_attribute("aria-expanded") == "false"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(here) == "fp16"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(here) == "backward"
    field(page, "Length N").fill("77")
    page.keyboard.press("Enter")
    page.wait_for_function(f"({here}) === 'Length N'")
    assert field(page, "Length N").input_value() == "77"


def test_sweep_without_a_gpu_shows_the_record_and_says_so(tab):
    page = open_run(tab, **{"run-mask": "window:4,0", "run-score": "alibi", "run-sink": "1.0"})
    if "interpreter" not in run(page)["device"]:
        pytest.skip("a GPU is here: the sweep is live")
    click(page, "Sweep")
    note = page.locator('[data-testid="sweep-note"]')
    note.wait_for()
    assert recorded.about() in note.inner_text() and "d = 64, bf16" in note.inner_text()
    asked = "d = 8, fp32, mask = window:4,0, score = alibi, sink = 1 was never measured"
    assert asked in note.inner_text(), "all that the run asks of the scores"
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length >= 4")
    assert page.get_by_role("region", name="Sweep, d = 64").inner_text().count("FA-2") == 18
