"""Whatever is pointed at, focused or selected lights all that belongs to it; a selection says what
it is made of, lies over nothing, and stands in the address."""

import pytest

from tests.browser.harness import click, focus, keys, press, query_of, read, spot
from tests.tables import table

HERE = "step=4&phase=exp"  # tile (2, 1): rows 8 to 11, keys 4 to 7
# {tensor: what of it is marked over the frames of SRAM}, and the names of all else that is lit
LIT = """() => {
  const shown = [...document.querySelectorAll("[data-linked]")].filter((node) => node.checkVisibility());
  const marks = shown.filter((node) => node.closest(".fa-tile > .fa-marks"));
  return {
    cells: Object.fromEntries(marks.map((node) => [node.dataset.tensor, node.dataset.box])),
    map: shown.filter((node) => node.closest(".fa-map")).map((node) => `${node.dataset.tensor} ${node.dataset.box}`),
    names: [...new Set(shown.map((node) => node.dataset.part).filter(Boolean))],
    self: [...new Set(shown.filter((node) => node.dataset.linked === "self").map((node) => node.dataset.part ?? node.dataset.tensor))],
  };
}"""  # noqa: E501
# What a card would cover: words, names, frames and digits of the tile that it lies in
COVERED = """() => {
  const box = (node) => node.getBoundingClientRect();
  const card = [...document.querySelectorAll(".fa-pick, .fa-pick-words")].find((node) => node.checkVisibility());
  if (!card) return ["there is no card"];
  const text = document.createRange();
  text.selectNodeContents(card);
  const mine = box(card);
  const other = [".fa-frame:not([hidden]) .fa-matrix", ".fa-frame figcaption > *", ".fa-stat-head", ".fa-stat-now", ".fa-row-name", ".fa-card-head > *", ".fa-words", ".fa-map", ".fa-panes", ".fa-transport", ".fa-panel .fa-caption"];
  const over = other.flatMap((selector) => [...document.querySelectorAll(selector)]).filter((node) => {
    const that = box(node);
    return node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && that.width && that.left < mine.right - 1 && that.right > mine.left + 1 && that.top < mine.bottom - 1 && that.bottom > mine.top + 1;
  }).map((node) => node.className || node.textContent);
  const cut = card.scrollHeight > card.clientHeight + 1 || card.scrollWidth > card.clientWidth + 1 ? [`cut: ${card.innerText}`] : [];
  return [...over, ...cut];
}"""  # noqa: E501


def point(page, tensor: str, down: int, across: int) -> tuple[float, float]:
    """The middle of a cell of a frame, counted from its corner."""
    rows, cols = {"Q": (4, 8), "K": (8, 4), "S": (4, 4), "V": (4, 8), "O": (4, 8)}[tensor]
    matrix = page.locator(f".fa-frame-{tensor.lower()} .fa-matrix")
    return spot(matrix, (across + 0.5) / cols, (down + 0.5) / rows)


def lit(page, *cell) -> dict:
    page.mouse.move(*point(page, *cell))
    return page.evaluate(LIT)


def test_every_cell_lights_its_crossing_both_ways(stage):
    page = stage.show(HERE)
    asked = len(stage.requests)
    found = lit(page, "S", 1, 2)  # tests/js/links.test.mjs has all of them
    row, key, dims, outs = "rows 9–9", "keys 6–6", "dims 0–7", "outs 0–7"
    assert found["cells"] == {
        "Q": f"{row}, {dims}",
        "K": f"{key}, {dims}",
        "S": f"{row}, {key}",
        "V": f"{key}, {outs}",
        "O": f"{row}, {outs}",
    }
    assert found["self"] == ["S", "S.9.6"]  # its cells, and its bar in the row view
    assert {"row.9", "m.9", "l.9", "K.1", "phase.scores"} <= set(found["names"])
    assert set(found["map"]) == {
        "S rows 9–9, keys 6–6",
        *(f"{tensor} blocks {k}–{k}" for tensor, k in (("Q", 2), ("K", 1), ("V", 1), ("O", 2))),
    }
    page.mouse.move(2, 2)
    assert page.evaluate(LIT) == {"cells": {}, "map": [], "names": [], "self": []}
    assert read(page)["step"] == "4" and "sel" not in query_of(page)
    # The glossary comes once, for a pointer that rests anywhere: see test_terms.py.
    assert [url for url in stage.requests[asked:] if "/fa/glossary" not in url] == []


def test_a_line_a_bar_a_strip_and_a_row(stage):
    page = stage.show(HERE)
    click(page, "Code", "tab")
    page.locator(".fa-code li").filter(has_text="S = Q").hover()
    found = page.evaluate(LIT)
    assert set(found["cells"]) == {"Q", "K", "S"} and "phase.scores" in found["names"]
    page.click(".fa-progress")
    page.hover(".fa-bar.is-now .fa-read")
    found = page.evaluate(LIT)
    assert set(found["map"]) == {"Q blocks 0–2", "K blocks 0–1", "V blocks 0–1"}
    x, y = spot(page.locator(".fa-map canvas"), 0.4, 0)
    page.mouse.move(x, y - 14)  # the strip K above the map
    found = page.evaluate(LIT)
    assert {"visit.read", "moved.read"} <= set(found["names"])
    assert found["cells"]["K"] == "keys 4–7, dims 0–7" and set(found["self"]) == {"K"}
    click(page, "Code", "tab")
    page.click(".fa-rows tbody tr[data-row='10'] th")
    assert query_of(page)["sel"] == "row.10"
    assert page.inner_text("[data-tab=row]") == "Row 10"
    page.click(".fa-rows tbody tr[data-row='10'] th")
    assert "sel" not in query_of(page)


def test_a_score_and_an_output_are_what_they_are_made_of(stage):
    """A bar for each of its parts; their numbers are judged in tests/js/links.test.mjs."""
    stage.page.mouse.move(2, 2)
    for place, bars, words in (
        ("phase=exp&sel=S.11.6", 8, "S[11,6], the 8 products of row 11"),
        ("phase=output&sel=O.9.4", 4, "P·V:"),
    ):
        page = stage.show(f"step=4&{place}")
        assert page.locator(".fa-pick rect").count() == bars
        assert words in page.get_by_test_id("sentence").inner_text()


def test_by_keyboard_one_stop_for_the_map_and_one_for_the_matrices(stage):
    page = stage.show(HERE)
    page.mouse.move(2, 2)
    focus(page)
    stops = []
    for _ in range(8):
        keys(page, "Tab")
        stops.append(page.evaluate("document.activeElement.ariaLabel?.split(/,| of/)[0]"))
    assert [name for name in stops if name in ("Map", "Q", "K", "S", "V", "O")] == [*("Map", "Q")]
    page.focus(".fa-frame-q")
    names = []
    for _ in range(4 * 8):  # on from the edge of one to the next
        keys(page, "ArrowRight")
        names.append(page.evaluate("document.activeElement.dataset.tensor"))
    assert [*dict.fromkeys(names)] == ["Q", "K", "S", "V", "O"]
    frame_ = page.locator(".fa-frame-s")
    frame_.focus()
    assert page.evaluate(LIT)["cells"]["S"] == "rows 8–8, keys 4–4"
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        assert press(page, key)["step"] == "4"
    assert query_of(page)["sel"] == "S.9.6"
    assert "Selected: S[9,6]" in page.get_by_test_id("sentence").inner_text()
    keys(page, *["ArrowDown"] * 5)  # no further than the edge
    assert query_of(page)["sel"] == "S.11.6"
    assert press(page, "PageDown")["phase"] == "sum"  # a clicker still steps
    press(page, "PageUp")
    assert query_of(page)["sel"] == "S.11.6"
    keys(page, "Escape")
    assert "sel" not in query_of(page)
    assert press(page, "ArrowRight")["step"] == "5"  # the arrows are the player's again
    page.focus(".fa-map")
    keys(page, "ArrowUp", "ArrowLeft", "Enter")
    assert (read(page)["i"], read(page)["j"]) == ("1", "1")
    keys(page, *["ArrowUp"] * 4)
    assert query_of(page)["sel"] == "V.1"
    click(page, "Code", "tab")
    page.focus(".fa-rows")
    keys(page, "ArrowDown")
    assert query_of(page)["sel"] == "row.5"


def test_a_selection_is_in_the_address_and_comes_back(tab):
    page = tab.open(f"{HERE}&sel=S.9.5&way=forget")
    assert page.evaluate(LIT)["cells"]["S"] == "rows 9–9, keys 5–5"
    assert page.get_attribute(".fa-row-view", "data-way") == "forget"
    page.mouse.click(*point(page, "S", 2, 1))
    assert query_of(page)["sel"] == "S.10.5"
    press(page, "ArrowRight")
    page.click(".fa-more summary")
    click(page, "Rescale only when needed")
    asked = query_of(page)
    assert (asked["sel"], asked["way"], asked["step"]) == ("S.10.5", "lazy", "5")
    page.reload()
    tab.settle()
    assert query_of(page) == asked
    assert page.get_attribute(".fa-row-view", "data-way") == "lazy"
    keys(page, "Escape")
    for text in ("S.99.5", "__proto__", "%3Cimg src=x onerror=alert(1)%3E", ""):
        page = tab.show(f"{HERE}&way=constructor&sel={text}")
        assert page.evaluate(LIT)["names"] == []
        assert not {"sel", "way"} & set(query_of(page))


SCREENS = table(__file__)


@pytest.mark.parametrize("screen", SCREENS)
def test_it_covers_nothing_and_a_tap_is_enough(apart, screen):
    *size, more, touch = SCREENS[screen]
    watched = apart(*size, has_touch=touch, reduced_motion="reduce")
    page = watched.open(f"{HERE}{more}")
    click(page, "SRAM") if touch else None
    at = point(page, "S", 1, 1)
    page.touchscreen.tap(*at) if touch else page.mouse.click(*at)
    assert query_of(page)["sel"] == "S.9.5"
    assert page.evaluate(COVERED) == []
    page.touchscreen.tap(*at) if touch else page.mouse.click(*at)
    assert "sel" not in query_of(page)
    places = [f"{HERE}&sel=row.9", "step=4&phase=sum&sel=row.9", "step=0&phase=scores&sel=S.1.3"]
    if not touch and not more:
        places += ["step=4&phase=output&sel=O.9.2", "step=5&phase=store&sel=O.9.2"]
    for place in places:
        page = watched.show(f"{place}{more}")
        page.mouse.move(2, 2)
        assert page.evaluate(COVERED) == [], place
    if more:
        assert page.evaluate("document.body.classList.contains('fa-present')")
        keys(page, "Escape")  # lets go of what is selected, and only then of the hall
        assert page.evaluate("document.body.classList.contains('fa-present')")


def test_cells_too_small_for_digits_answer_too(stage):
    page = stage.show("n=128&d=64&br=32&bc=32&mask=full&step=5&phase=scores")
    page.mouse.move(*spot(page.locator(".fa-frame-k .fa-matrix"), 10.5 / 32, 40.5 / 64))
    assert page.evaluate(LIT)["cells"] == {
        "Q": "rows 32–63, dims 40–40",
        "K": "keys 42–42, dims 40–40",
        "S": "rows 32–63, keys 42–42",
        "V": "keys 42–42, outs 0–63",
    }
