"""Stepping through a Problem by keyboard: every number on the page against NumPy."""

from urllib.parse import parse_qsl

import numpy as np
import pytest

from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.quantized import row_errors
from explainer.algorithms.registry import MAIN
from explainer.algorithms.traffic import compulsory_bytes, requested_bytes
from explainer.base.amounts import amount
from explainer.problem import Problem
from explainer.trace import TRACES, trace
from tests.browser.expected import complaints, phases
from tests.browser.harness import click, focus, keys, press, query_of, read, resize, settled, spot
from tests.by_hand import scores, softmax
from tests.tables import table

TABLE = table(__file__)


@pytest.mark.parametrize("walk", TABLE["walks"])
def test_every_place_forwards_and_back(stage, walk):
    query, forwards, back = TABLE["walks"][walk]
    asked_for = dict(parse_qsl(query))
    true = TRACES[asked_for.pop("pass", "forward")](Problem.from_query(asked_for))
    names = [phases(visit) for visit in true.visits]
    at_each = slice(None) if forwards == "ArrowDown" else slice(-1, None)
    places = [(k, phase) for k, visit in enumerate(names) for phase in visit[at_each]]
    page = stage.show(f"{query}&step=0&phase={places[0][1]}")
    focus(page)
    asked = len(stage.requests)
    wrong = []
    stated = read(page)
    for key, order in ((forwards, places), (back, places[::-1])):
        for step, phase in order:
            wrong += complaints(true, step, phase, stated)
            assert phase in page.get_by_test_id("sentence").inner_text()
            stated = press(page, key)
        # One press too many shows the result, from which one leads back to this reading.
        if key == forwards:
            assert page.get_by_test_id("result").is_visible()
            stated = press(page, back)
    assert not wrong, "\n".join(wrong[:20])
    assert stated["step"] == "0"
    settled(page)
    assert stage.requests[asked:] == []


MENU = "Playing, what-ifs, all controls"


def place(page) -> list[str]:
    now = read(page)
    return [now["step"], now["phase"]]


def test_next_moves_by_one_stride_that_is_chosen_once_and_visible(tab):
    """ST 14: it took phases in one tile and whole tiles after it. On a page just opened, with
    nothing clicked."""
    page = tab.open("n=8&d=4&br=4&bc=4")
    visits = trace(Problem(n=8, d=4, block_q=4, block_k=4)).visits
    assert not page.is_visible(".fa-drawer")
    assert page.is_visible(".fa-hero")
    wanted = [[str(k), phase] for k, visit in enumerate(visits) for phase in phases(visit)]
    for there in wanted:
        assert place(page) == there
        assert page.inner_text(".fa-stride") == "Next: one phase"
        keys(page, "PageDown")
    click(page, "Previous (PageUp)")  # from the result
    assert place(page) == wanted[-1]
    assert page.is_visible(".fa-drawer")
    keys(page, "Home")
    page.click(".fa-stride")
    assert page.inner_text(".fa-stride") == "Next: one tile"
    for step in range(1, len(visits)):
        click(page, "Next")
        assert place(page) == [str(step), phases(visits[step])[-1]]


OUTCOME = "() => [...document.querySelectorAll('.fa-result-bytes b')].map((b) => b.textContent)"


def test_a_run_ends_in_a_result_that_leads_on(tab):
    """ST 9: Next looked live there and did nothing. Now: the same O, how far it is from float64,
    the bytes, and what to do now."""
    page = tab.open("step=9")
    keys(page, "ArrowRight")
    assert place(page) == ["9", "store"] and query_of(page)["phase"] == "end"
    result = page.get_by_test_id("result")
    assert result.is_visible() and not page.is_visible(".fa-stage")
    head = page.inner_text(".fa-hero h2")
    assert head == "The same O. 3.56 KiB moved instead of 10.5 KiB."
    assert page.evaluate(OUTCOME) == ["Standard", "10.5 KiB", "FA-2", "3.56 KiB"]
    true = trace(Problem())
    seen = np.where(np.tri(16, dtype=bool), scores(Problem(), true.Q, true.K), -np.inf)
    off = np.abs(softmax(Problem(), seen)[2] @ true.V.astype(float) - true.O).max()
    found = float(page.get_attribute(".fa-result-off b", "data-off"))
    assert abs(found - off) < 1e-9
    assert press(page, "ArrowRight")["step"] == "9" and result.is_visible(), "nothing lies behind"
    page.reload()
    tab.settle()
    assert result.is_visible(), "the address names it"
    press(page, "ArrowLeft")
    assert not result.is_visible() and read(page)["step"] == "9"
    press(page, "ArrowRight")
    result.get_by_role("button", name="Backward").click()
    page.wait_for_selector('[data-testid="player"][data-pass="backward"]')
    keys(page, "End", "ArrowRight")
    assert page.inner_text(".fa-hero h2").startswith("dQ, dK and dV. ")
    press(page, "PageDown")
    page.wait_for_selector(".fa-race")


def test_the_row_view_says_by_how_much_the_past_shrinks(stage):
    """ST 18: a table of eight columns; now three lines, of m, ℓ and O."""
    page = stage.show("step=4&phase=exp")
    rows = read(page)["rows"]["9"]
    old, alpha = float(rows["l_old"]), float(rows["alpha"])
    lines = page.locator(".fa-row-view-lines dd b").all_inner_texts()
    m = " → ".join(f"{float(rows[name]):.2f}" for name in ("m_old", "m_new"))
    assert lines == [m, f"{old:.2f} × {alpha:.2f} = {old * alpha:.2f}", f"row 9 × {alpha:.2f}"]


FP8 = Problem(dtype="e4m3", inputs="outlier")


def test_fp8_says_what_scales_and_levels_do(stage):
    """While P V is added to O: four errors of the followed row, as its trace has them."""
    address = "dtype=e4m3&data=outlier&step=7"
    page = stage.show(f"{address}&phase=sum")
    assert not page.is_visible(".fa-fp8")
    page = stage.show(f"{address}&phase=output")
    assert page.inner_text("[data-tab=row]") == "What fp8 costs"
    visits = trace(FP8).visits
    row = int(page.inner_text(".fa-fp8 .fa-remark").split()[1]) - 4 * visits[7].i
    shown = page.locator(".fa-fp8 dd b").all_inner_texts()
    for text, parts in zip(shown, row_errors(FP8, visits).values(), strict=True):
        found = float(text.removesuffix(" %").replace("−", "-"))
        assert found == pytest.approx(100 * parts[7][row], rel=0.05, abs=6e-4), text
    assert "P × 256 is rounded to e4m3" in page.get_by_test_id("sentence").inner_text()
    assert page.inner_text(".fa-word-dtype") == "fp8 e4m3"
    click(page, "Code", "tab")
    click(page, "Triton", "tab")
    assert "kernels.attention_fp8" in page.inner_text(".fa-code-card .fa-remark")
    click(page, "Algorithm", "tab")
    page.click("[data-tab=row]")
    page = stage.show(f"{address}&phase=end")
    assert page.inner_text(".fa-hero h2").startswith("O in fp8. ")
    assert not page.get_by_role("button", name="Backward ›").is_visible()
    assert "Triton, in bf16" in page.get_by_test_id("result").inner_text()


# Words that stand outside of their panel or over each other's place, and lines that are cut.
CUT = """(selector) => {
  const drawer = document.querySelector(".fa-drawer").getBoundingClientRect();
  const all = [...document.querySelectorAll(selector)];
  return all.filter((node) => node.checkVisibility()).filter((node) => {
    const box = node.getBoundingClientRect();
    return node.scrollWidth > node.clientWidth + 1 || box.right > drawer.right + 1
      || (!node.closest(".fa-code") && box.bottom > drawer.bottom + 1); // a listing scrolls
  }).map((node) => node.textContent);
}"""


@pytest.mark.parametrize("size", [(1280, 720), (1440, 900)])
def test_words_of_the_drawer_have_their_place(stage, size):
    resize(stage.page, *size)
    for phase in ("max", "exp", "output"):
        page = stage.show(f"step=4&phase={phase}")
        assert page.evaluate(CUT, ".fa-row-view-lines dd, .fa-why p") == []
    page = stage.show("n=256&d=64&br=16&bc=16&data=outlier&dtype=e4m3&step=135&phase=output")
    assert page.evaluate(CUT, ".fa-fp8 dd, .fa-fp8 dt, .fa-fp8 text") == []
    for way in ("forget", "lazy"):
        page = stage.show(f"step=4&phase=exp&way={way}")
        assert page.evaluate(CUT, ".fa-row-view-verdict") == []
        assert "with α" in page.inner_text(".fa-sram .fa-card-head")
    for order in ("fa1", "fa2"):
        page = stage.show(f"order={order}&step=4&phase=exp")
        click(page, "Code", "tab")
        for kind in ("Algorithm", "NumPy", "Triton"):
            click(page, kind, "tab")
            assert page.evaluate(CUT, ".fa-code li, .fa-code code") == []
        table = page.locator(".fa-panel-code .fa-rows")
        assert table.is_visible(), "the eight columns are one tap away"
        click(page, "Algorithm", "tab")
        page.click("[data-tab=row]")
    resize(stage.page, 1440, 900)


def test_a_control_keeps_tile_and_phase(tab):
    """And where the phase does not exist, the one before it."""
    page = tab.open("step=2&phase=mask")
    assert (read(page)["i"], read(page)["j"]) == ("1", "1")
    page.get_by_label(MENU).click()
    page.click(".fa-word-all")
    click(page, "Full", "radio")
    page.wait_for_selector('[data-testid="player"][data-query*="mask=full"]')
    assert page.inner_text(".fa-word-mask") == "full"  # as its control says
    now = read(page)
    assert (now["i"], now["j"], now["phase"]) == ("1", "1", "scores")
    keys(page, "Escape")
    assert page.evaluate("document.activeElement.ariaLabel") == MENU
    assert not page.is_visible(".fa-step-controls")


def test_the_click_that_closes_a_control_does_nothing_else(stage):
    page = stage.show("step=2&phase=mask")
    page.click(".fa-word-order")
    at = spot(page.locator(".fa-map canvas"), 0.02, 0.02)  # tile (0, 0)
    page.mouse.click(*at)
    assert read(page)["step"] == "2" and not page.is_visible(".fa-step-controls")
    keys(page, "ArrowRight")
    assert read(page)["step"] == "3"
    page.mouse.click(*at)
    assert read(page)["step"] == "0"


def test_space_plays_and_pauses(tab):
    tab.page.clock.install()
    page = tab.open("n=16&d=4&br=2&bc=2")
    page.get_by_label(MENU).click()
    page.get_by_label("Playing speed").select_option("8")
    focus(page)
    asked, before = len(tab.requests), read(page)
    page.clock.run_for(10_000)
    assert read(page) == before, "nothing moves by itself"
    assert page.get_by_role("button", name="Play", exact=True).count() == 1
    keys(page, "Space")
    page.wait_for_function(
        "() => Number(document.querySelector('[data-testid=player]').dataset.step) >= 1"
    )
    keys(page, "Space")
    paused = read(page)
    page.clock.run_for(1_000)  # eight beats at this speed
    assert read(page) == paused
    assert page.get_by_role("button", name="Play", exact=True).count() == 1
    assert tab.requests[asked:] == []


def test_buttons_keys_and_the_scrubber_lead_to_their_places(stage):
    page = stage.show("n=16&d=4&br=4&bc=4&mask=full&step=3")
    page.get_by_label(MENU).click()
    page.get_by_label("Step", exact=True).and_(page.locator("input")).fill("9")
    assert place(page) == ["9", "output"]
    for name, *there in TABLE["buttons"]:
        click(page, name)
        assert place(page) == there, name
    page.get_by_label(MENU).click()
    for name, *there in TABLE["keys"]:
        press(page, name)
        assert place(page) == there, name


def test_clicking_a_tile_goes_there(tab):
    page = tab.open("n=16&d=4&br=4&bc=4&mask=causal")

    def to(i: int, j: int) -> dict:
        page.mouse.click(*spot(page.locator(".fa-map canvas"), (j + 0.5) / 4, (i + 0.5) / 4))
        return read(page)

    here = to(3, 1)
    assert (here["i"], here["j"]) == ("3", "1")
    assert to(0, 3) == here  # above the diagonal: never visited, so nowhere to go
    here = press(page, "ArrowRight")  # the click also gave the player the keyboard
    assert (here["i"], here["j"]) == ("3", "2")


def test_the_bytes_of_every_order_by_both_conventions(tab):
    """Thin tiles, where FA-2 asks for more than FA-1 and has less to move."""
    query = "n=32&d=16&br=2&bc=32&mask=full"
    page = tab.open(query)
    page.click(".fa-progress")
    card = page.locator(".fa-traffic")
    for order in MAIN:
        line = card.locator(f".fa-bar-line[data-part^='bytes.{order}.']")
        sizes = [
            requested_bytes(32, 16, "full", "fp32", order, 2, 32),
            compulsory_bytes(32, 16, "fp32", order),
        ]
        assert line.all_inner_texts() == [amount(size) for size in sizes]
    heads = card.locator(".fa-bar-heads b")
    assert heads.all_inner_texts() == [*CONVENTIONS]
    card.locator("[data-term=compulsory]").first.hover()
    page.get_by_role("tooltip").get_by_text(CONVENTIONS["compulsory"]).wait_for()


def test_standard_attention_shows_no_p_before_its_sum_and_no_alpha(stage):
    """P is there when it is stored."""
    page = stage.show("order=standard&step=18&phase=exp")
    click(page, "Code", "tab")
    heads = page.locator(".fa-rows thead th:visible")
    assert [text.split()[0] for text in heads.all_inner_texts()] == ["row", "m", "ℓ"]
    assert page.locator(".fa-rows thead th.is-now:visible").count() == 0
    tile, weights = page.locator(".fa-tile"), page.locator(".fa-frame-s canvas")
    assert "weights = exp(S − m)" in tile.inner_text().replace("\n", " ")
    before = weights.evaluate("canvas => canvas.toDataURL()")
    for phase in ("sum", "store"):
        click(page, phase)
    page.get_by_text("P₂₀, P₂₁, P₂₂ and P₂₃ are written to HBM").first.wait_for()
    assert "P₂ = exp(S − m)/ℓ" in tile.inner_text().replace("\n", " ")
    assert weights.evaluate("canvas => canvas.toDataURL()") != before
