"""Nothing is cut, collides, sticks out of its card, moves or is too small to read, in windows from
a tablet's to 4K, a lecture hall, a frame of another page and a phone: measured on what the browser
laid out."""

import pytest

from explainer.algorithms.registry import MAIN
from tests.browser.harness import focus, press, resize, settled
from tests.tables import table

TIGHT = [(1024, 768), (1280, 720), (1366, 650)]
WIDE = [(1440, 900), (1920, 1080), (3840, 2160)]
STATES = table(__file__)
FEW = ["exp", "standard", "ragged", "dQ"]  # where there is room
RACE = "n=16&mode=compare&clock=bytes&step=3"

# Of every text of the player: is it large enough, in the window, whole, and clear of every other?
# Of every card: does all lie within it that does not scroll?
MEASURE = """
(least) => {
  const wrong = new Set();
  const seen = [];
  const within = (b, room, slack) => b.left >= room.left - 1 && b.right <= room.right + 1
    && b.top >= room.top - slack && b.bottom <= room.bottom + slack;
  const shown = { opacityProperty: true, visibilityProperty: true };
  const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  // Who cuts it off; "" if it can be scrolled to, or was folded away with all that is beside it.
  const cutter = (node, boxes) => {
    for (let up = node; up && up !== document.body; up = up.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(up);
      if (overflowX === "visible" || up.matches("svg")) continue;
      const room = up.getBoundingClientRect();
      const lost = up.scrollWidth > up.clientWidth + 1 || up.scrollHeight > up.clientHeight + 1;
      if (room.height < 2 || (/auto|scroll/.test(overflowX + overflowY) && lost)) return "";
      if (!boxes.every((box) => within(box, room, 2))) return up.className;
    }
    return null;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    const ours = parent.closest(".fa-player, .fa-open-full");
    if (!ours || parent.closest(".fa-sr, select") || !parent.checkVisibility(shown)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 0.5);
    const words = node.textContent.trim();
    if (!words || !boxes.length) continue;
    const size = parseFloat(getComputedStyle(parent).fontSize);
    if (size < least - 0.01 && !parent.closest("sub, sup")) wrong.add(`${words}: ${size} px`);
    const by = cutter(parent, boxes);
    if (by) wrong.add(`${words}: cut by ${by}`);
    if (by === "") continue;
    const grid = parent.closest(".fa-digits");
    const columns = grid && getComputedStyle(grid).gridTemplateColumns.split(" ").length;
    const cell = grid ? grid.clientWidth / columns : Infinity;
    for (const box of boxes) {
      if (!within(box, screen, 1)) wrong.add(`${words}: outside of the window`);
      if (box.width > cell + 0.5) wrong.add(`${words}: wider than its cell`);
      const air = box.height * 0.2; // above the glyphs, and below them
      const [left, right] = [box.left + 1, box.right - 1];
      seen.push({ words, parent, left, right, top: box.top + air, bottom: box.bottom - air });
    }
  }
  const meet = (a, b) => a.parent !== b.parent && a.left < b.right && b.left < a.right
    && a.top < b.bottom && b.top < a.bottom;
  seen.forEach((a, k) => {
    for (const b of seen.slice(k + 1).filter((b) => meet(a, b)))
      wrong.add(`${a.words} / ${b.words}: collide`);
  });
  const clips = (node, card) => {
    for (let up = node.parentElement; up !== card; up = up.parentElement)
      if (getComputedStyle(up).overflowX !== "visible") return true;
    return false;
  };
  for (const card of document.querySelectorAll(".fa-card, .fa-transport")) {
    const box = card.getBoundingClientRect();
    if (card.scrollWidth > card.clientWidth || card.scrollHeight > card.clientHeight)
      wrong.add(`${card.className}: overflows`);
    if (card.matches(".fa-transport") && box.bottom > innerHeight) wrong.add("no transport");
    for (const node of card.querySelectorAll("*")) {
      const b = node.getBoundingClientRect();
      const out = b.right > box.right + 1 || b.left < box.left - 1 || b.bottom > box.bottom + 1;
      if (b.width && out && !node.closest(".fa-sr") && !clips(node, card))
        wrong.add(`${node.getAttribute("class") || node.tagName}: sticks out of ${card.className}`);
    }
  }
  const { scrollWidth, scrollHeight } = document.documentElement;
  if (scrollWidth > innerWidth || scrollHeight > innerHeight) wrong.add("the page scrolls");
  return [...wrong].slice(0, 8);
}
"""


def measured(tab, query: str, least: float = 12) -> list[str]:
    page = tab.show(query)
    return [f"{query} at {page.viewport_size}: {fault}" for fault in page.evaluate(MEASURE, least)]


@pytest.mark.parametrize("screen", TIGHT + WIDE, ids=lambda s: f"{s[0]}x{s[1]}")
def test_every_window(stage, screen):
    page = stage.page
    resize(page, *screen)
    wrong = []
    queries = [*STATES.values(), RACE] if screen in TIGHT else [STATES[name] for name in FEW]
    for k, query in enumerate(queries):
        page.emulate_media(color_scheme=("light", "dark")[k % 2])
        wrong += measured(stage, query)
    assert not wrong, "\n".join(wrong)


# Words of two letters or more, stops of Tab and sizes of type in the window
FIRST_VIEW = """() => {
  const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const sizes = new Set();
  let words = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!shown(parent) || parent.closest(".fa-sr, .fa-skip, option, script, style, .tab-container.visually-hidden")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { width, height, top } = range.getBoundingClientRect();
    if (width < 2 || height < 2 || top >= innerHeight || !node.data.trim()) continue;
    words += (node.data.match(/\\p{L}{2,}/gu) ?? []).length;
    sizes.add(getComputedStyle(parent).fontSize);
  }
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")];
  const stops = all.filter((node) => node.tabIndex >= 0 && !node.disabled && shown(node) && node.getClientRects().length);
  return { words, stops: stops.length, sizes: [...sizes] };
}"""  # noqa: E501


def test_the_first_view_is_small(tab):
    """ST 17: 195 words, 43 stops of Tab and 12 sizes of type."""
    for size in ((1280, 720), (1440, 900)):
        resize(tab.page, *size)
        seen = tab.open().evaluate(FIRST_VIEW)
        assert seen["words"] <= 110 and seen["stops"] <= 25 and len(seen["sizes"]) <= 6, seen


def test_a_notice_pushes_nothing_off_screen(tab):
    resize(tab.page)
    tab.tolerate("status of 400")
    found = tab.open("n=0").evaluate(MEASURE, 12)  # it lies over the heading
    assert [x for x in found if "collide" not in x] == []


BOXES = """() => [...document.querySelectorAll(".fa-stage, .fa-stage > .fa-card, .fa-transport")]
  .map((card) => Object.values(card.getBoundingClientRect().toJSON()).map(Math.round).join())"""


@pytest.mark.parametrize("order", MAIN)
def test_stepping_moves_nothing_around(stage, order):
    page = stage.show(f"n=12&d=8&br=4&bc=4&order={order}&step=0&phase=load")
    focus(page)
    before = page.evaluate(BOXES)
    for _ in range(24):
        press(page, "ArrowDown")
        assert page.evaluate(BOXES) == before


def test_the_first_minute(tab):
    page = tab.open()
    for width, height in TIGHT + WIDE[:1]:
        resize(page, width, height)
        settled(page)
        assert page.evaluate(MEASURE, 12) == [], (width, height)


@pytest.mark.parametrize(
    ("mode", "least", "screen"),
    [("present", 24, (1280, 720)), ("embed", 12, (640, 400))],
)
def test_the_hall_and_a_frame_of_another_page(tab, mode, least, screen):
    resize(tab.page, *screen)
    tab.open(f"mode={mode}")
    race = RACE.replace("compare", mode)
    wrong = [fault for query in [*STATES.values(), race] for fault in measured(tab, query, least)]
    assert not wrong, "\n".join(wrong)


def test_a_phone(phone):
    page = phone.open()
    wrong = page.evaluate(MEASURE, 12)
    for query in STATES.values():
        phone.show(query)
        panes = page.locator("[data-pane-of]")
        for pane in panes.all() if panes.first.is_visible() else ():  # the result has none
            pane.tap()
            wrong += [f"{query}: {fault}" for fault in page.evaluate(MEASURE, 12)]
        wrong += [f"{query}: {fault}" for fault in page.evaluate(MEASURE, 12)]
    wrong += measured(phone, RACE)
    assert not wrong, "\n".join(wrong)


TYPE = [".fa-words", ".fa-row-name", ".fa-row-view-names", ".fa-progress", ".fa-bar-top h1"]
PICTURE = [".fa-key-play", ".fa-frame-s", ".fa-map canvas"]
GROWS = """([type, picture]) => {
  const of = (names, size) => names.map((name) => [name, size(document.querySelector(name))]);
  return Object.fromEntries([
    ...of(type, (node) => parseFloat(getComputedStyle(node).fontSize)),
    ...of(picture, (node) => node.clientWidth),
  ]);
}"""


def test_type_and_picture_grow_with_the_window(tab):
    page = tab.open("step=4&phase=exp")
    sizes = []
    for width, height in ((1280, 720), (1920, 1080), (3840, 2160)):
        resize(page, width, height)
        settled(page)
        sizes.append(page.evaluate(GROWS, [TYPE, PICTURE]))
    small, large, huge = sizes
    for name, size in small.items():
        least = 1.1 if name == ".fa-bar-top h1" else 1.4
        assert large[name] >= least * size and huge[name] >= 1.3 * large[name], (name, sizes)
