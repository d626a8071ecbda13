"""Stepping through a Problem by keyboard: every number on the page against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.registry import MAIN
from explainer.algorithms.traffic import compulsory_bytes, requested_bytes
from explainer.base.amounts import amount
from explainer.problem import Problem
from explainer.trace import trace
from tests.browser.expected import complaints, phases
from tests.browser.harness import click, focus, press, read, resize, settled

# That the page shows what the model says; the model itself is judged in tests/js.
WALKS = {
    "tiles": ("", "ArrowRight", "ArrowLeft"),
    "ragged": (
        "n=11&d=6&br=3&bc=5&mask=causal&order=fa1&dtype=fp16&data=random&seed=7",
        *("ArrowRight", "ArrowLeft"),
    ),
    "standard": (
        "n=6&d=16&br=4&bc=3&mask=full&order=standard&data=sentence",
        *("ArrowRight", "ArrowLeft"),
    ),
    "phases": ("n=7&d=4&br=3&bc=2&mask=causal&order=fa1", "ArrowDown", "ArrowUp"),
}


@pytest.mark.parametrize("walk", WALKS)
def test_every_place_forwards_and_back(stage, walk):
    query, forwards, back = WALKS[walk]
    true = trace(Problem.from_query(dict(pair.split("=") for pair in query.split("&") if pair)))
    names = [phases(visit) for visit in true.visits]
    at_each = slice(None) if walk == "phases" else slice(-1, None)
    places = [(k, phase) for k, visit in enumerate(names) for phase in visit[at_each]]
    page = stage.show(f"{query}&step=0&phase={places[0][1]}")
    focus(page)
    asked = len(stage.requests)
    wrong = []
    stated = read(page)
    for key, order in ((forwards, places), (back, places[::-1])):
        for step, phase in order:
            wrong += complaints(true, step, phase, stated)
            stated = press(page, key)
        # One press too many stays where it is: the next round starts from this reading.
    assert not wrong, "\n".join(wrong[:20])
    assert stated["step"] == "0"
    settled(page)
    assert stage.requests[asked:] == []


def test_clickers_ends_and_other_phase_keys(tab):
    page = tab.open("n=16&d=4&br=4&bc=4&mask=full")
    ends = [press(page, key) for key in ("End", "Home", "ArrowRight")]
    assert [(at["step"], at["phase"]) for at in ends] == [
        ("15", "store"),
        ("0", "load"),
        ("1", "output"),
    ]
    here = [press(page, key)["phase"] for key in (",", ",", ".", ".")]
    assert here == ["sum", "exp", "sum", "output"]
    press(page, "End")
    assert press(page, "ArrowRight")["step"] == "15"
    page.keyboard.press("Control+ArrowLeft")  # the browser's own, not the player's
    assert read(page)["step"] == "15"


def rose(visit) -> np.ndarray:
    """The rows whose maximum rises over an earlier one."""
    return (visit.m_new > visit.m_old) & np.isfinite(visit.m_old)


def test_next_goes_by_phases_where_there_is_something_new_and_else_by_tiles(tab):
    """On a page just opened, with nothing clicked, from the very beginning."""
    page = tab.open()
    visits = trace(Problem()).visits
    assert page.locator(".fa-hero").is_visible() and not page.locator(".fa-drawer").is_visible()
    seen = [(read(page)["step"], read(page)["phase"])]
    wanted = [("0", phase) for phase in visits[0].phases]
    rises = next(k for k, v in enumerate(visits) if rose(v).any())
    assert 0 < rises < 5
    wanted += [(str(k), phases(visits[k])[-1]) for k in range(1, rises)]
    wanted += [(str(rises), phase) for phase in phases(visits[rises])]  # α does something here
    wanted += [(str(rises + 1), phases(visits[rises + 1])[-1])]
    hints = {}
    for _ in wanted[1:]:
        hints[seen[-1]] = page.locator(".fa-count-text span").inner_text()
        now = press(page, "PageDown")
        seen.append((now["step"], now["phase"]))
    assert seen == wanted
    assert hints.pop(wanted[wanted.index((str(rises), "load")) - 1]) == "Next: by phases"
    ends = [k for k, h in hints.items() if h == "Next: a whole tile"]
    assert ends == [("0", phases(visits[0])[-1]), (str(rises), phases(visits[rises])[-1])]
    assert page.locator(".fa-hero").bounding_box()["height"] == 0
    assert page.locator(".fa-drawer").is_visible()
    click(page, "Previous (PageUp)")
    back = [(read(page)["step"], read(page)["phase"])]
    for _ in wanted[2:]:
        now = press(page, "PageUp")
        back.append((now["step"], now["phase"]))
    assert back == wanted[-2::-1]
    page.get_by_label("Playing", exact=True).click()
    for grain, place in (("tile", ("1", "output")), ("phase", ("2", "load"))):
        page.get_by_label("What Next and playing move by").select_option(grain)
        click(page, "Next")
        now = read(page)
        assert (now["step"], now["phase"]) == place


def test_the_row_view_says_by_how_much_the_past_shrinks(stage):
    page = stage.show("step=4&phase=exp")
    alpha = float(read(page)["rows"]["9"]["alpha"])
    assert page.locator(".fa-row-view-factor").inner_text() == f"× {alpha:.2f}"
    focus(page)
    press(page, "ArrowDown")  # sum: it has shrunk
    assert not page.locator(".fa-row-view-factor").is_visible()


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
UNDER = """() => {
  const box = (name) => document.querySelector(name).getBoundingClientRect();
  return box(".fa-row-view-ways").bottom - box(".fa-row-view-verdict").top;
}"""


@pytest.mark.parametrize("size", [(1280, 720), (1440, 900)])
def test_words_of_the_drawer_have_their_place(stage, size):
    resize(stage.page, *size)
    page = stage.show("step=4&phase=exp")
    table = page.locator(".fa-panel-row .fa-rows caption")
    for way in ("forget", "lazy"):
        page.locator(f"button[data-way={way}]").click()
        settled(page)
        assert page.evaluate(CUT, ".fa-row-view-verdict, .fa-rows tbody tr") == []
        assert page.evaluate(UNDER) <= 0
        assert table.inner_text() == "Table and picture: with α, as the kernel does"
        assert "with α" in page.locator(".fa-sram .fa-card-head").inner_text()
    page.locator("button[data-way=lazy]").click()
    assert "Q K V O: faint near 0" in page.locator(".fa-legend").inner_text()
    assert not table.is_visible()
    for order in ("fa1", "fa2"):
        page = stage.show(f"order={order}&step=4&phase=exp")
        click(page, "Code", "tab")
        for kind in ("Algorithm", "NumPy", "Triton"):
            click(page, kind, "tab")
            assert page.evaluate(CUT, ".fa-code li, .fa-code code") == []
        drawer, code = (page.locator(s).bounding_box() for s in (".fa-drawer", ".fa-code"))
        assert code["width"] > 0.75 * drawer["width"], "no room left empty beside it"
        click(page, "Algorithm", "tab")
        click(page, "Row", "tab")
    resize(stage.page, 1440, 900)


def test_a_control_keeps_tile_and_phase(tab):
    """And where the phase does not exist, the one before it."""
    page = tab.open("step=2&phase=mask")
    assert (read(page)["i"], read(page)["j"]) == ("1", "1")
    page.locator(".fa-word-all").click()
    click(page, "Full", "radio")
    page.wait_for_selector('[data-testid="player"][data-query*="mask=full"]')
    assert page.locator(".fa-word-mask").inner_text() == "full"  # as its control says
    now = read(page)
    assert (now["i"], now["j"], now["phase"]) == ("1", "1", "scores")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.control") == "all"
    assert not page.locator(".fa-step-controls").is_visible()


def test_the_click_that_closes_a_control_does_nothing_else(stage):
    page = stage.show("step=2&phase=mask")
    page.locator(".fa-word-order").click()
    box = page.locator(".fa-map canvas").bounding_box()
    at = (box["x"] + 5, box["y"] + 5)  # tile (0, 0)
    page.mouse.click(*at)
    assert read(page)["step"] == "2" and not page.locator(".fa-step-controls").is_visible()
    page.keyboard.press("ArrowRight")
    assert read(page)["step"] == "3"
    page.mouse.click(*at)
    assert read(page)["step"] == "0"


def test_space_plays_and_pauses(tab):
    tab.page.clock.install()
    page = tab.open("n=16&d=4&br=2&bc=2")
    page.get_by_label("Playing", exact=True).click()
    page.get_by_label("Playing speed").select_option("8")
    focus(page)
    asked, before = len(tab.requests), read(page)
    page.clock.run_for(10_000)
    assert read(page) == before, "nothing moves by itself"
    assert page.get_by_role("button", name="Play", exact=True).count() == 1
    page.keyboard.press("Space")
    page.wait_for_function(
        "() => Number(document.querySelector('[data-testid=player]').dataset.step) >= 1"
    )
    page.keyboard.press("Space")
    paused = read(page)
    page.clock.run_for(1_000)  # eight beats at this speed
    assert read(page) == paused
    assert page.get_by_role("button", name="Play", exact=True).count() == 1
    assert tab.requests[asked:] == []


def test_transport_scrub_and_phase_rail(stage):
    page = stage.show("n=16&d=4&br=4&bc=4&mask=full&step=3")
    page.get_by_label("Playing", exact=True).click()
    scrub = page.get_by_label("Step", exact=True).and_(page.locator("input"))
    for act, place in (
        (lambda: click(page, "Last tile"), ("15", "store")),
        (lambda: click(page, "Previous (PageUp)"), ("14", "output")),
        (lambda: click(page, "First tile"), ("0", "load")),
        (lambda: click(page, "exp"), ("0", "exp")),
        (lambda: scrub.fill("9"), ("9", "output")),
    ):
        act()
        now = read(page)
        assert (now["step"], now["phase"]) == place
    page.get_by_label("Playing", exact=True).click()


def test_clicking_a_tile_goes_there(tab):
    page = tab.open("n=16&d=4&br=4&bc=4&mask=causal")

    def click(i: int, j: int) -> dict:
        box = page.locator(".fa-map canvas").bounding_box()
        page.mouse.click(
            box["x"] + (j + 0.5) * box["width"] / 4, box["y"] + (i + 0.5) * box["height"] / 4
        )
        return read(page)

    here = click(3, 1)
    assert (here["i"], here["j"]) == ("3", "1")
    assert click(0, 3) == here  # above the diagonal: never visited, so nowhere to go
    here = press(page, "ArrowRight")  # the click also gave the player the keyboard
    assert (here["i"], here["j"]) == ("3", "2")


def test_the_bytes_of_every_order_by_both_conventions(tab):
    """Thin tiles, where FA-2 asks for more than FA-1 and has less to move."""
    query = "n=32&d=16&br=2&bc=32&mask=full"
    page = tab.open(query)
    click(page, "Traffic", "tab")
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
