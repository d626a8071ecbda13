"""Nothing is cut, collides or is too small to read, in windows from a tablet's to 4K, a lecture
hall, a frame of another page and a phone: measured on what the browser laid out."""

from __future__ import annotations

import pytest

from tests.browser.harness import settled

SCREENS = [(1024, 768), (1280, 720), (1366, 650), (1440, 900), (1920, 1080), (3840, 2160)]
FRAMES = [(640, 400), (800, 500), (1280, 720)]
STATES = {
    "cold": "step=0&phase=load",
    "exp": "step=4&phase=exp",
    "store": "step=5&phase=store",
    "standard": "order=standard&step=17",
    "fa1": "order=fa1&step=9&phase=output",
    "large": "n=4096&d=64&br=128&bc=64&mask=full&step=300",
    "wide": "n=64&d=16&br=8&bc=8&step=9&phase=exp",
    "ragged": "n=14&d=8&br=4&bc=5&mask=full&step=11&phase=mask",
}
RACE = "n=16&mode=compare&clock=bytes&step=3"

# Of every text of the player: is it large enough, in the window, whole, and clear of every other?
MEASURE = """
(least) => {
  const wrong = [];
  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent.closest(".fa-player, .fa-open-full") || parent.closest(".fa-sr, option, select")) continue;
    if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const words = node.textContent.trim();
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 0.5);
    if (!words || !boxes.length) continue;
    const size = parseFloat(getComputedStyle(parent).fontSize);
    if (size < least - 0.01 && !parent.closest("sub, sup")) wrong.push(`${words}: ${size} px`);
    let scrolls = false;
    let folded = false;
    for (let up = parent; up && up !== document.body; up = up.parentElement) {
      const style = getComputedStyle(up);
      const flows = style.overflowX !== "visible";
      if (!flows || up.matches("svg")) continue;
      const lost = up.scrollWidth > up.clientWidth + 1 || up.scrollHeight > up.clientHeight + 1;
      if (/auto|scroll/.test(style.overflowX + style.overflowY)) { scrolls ||= lost; continue; }
      const room = up.getBoundingClientRect();
      folded ||= room.height < 2;
      const out = boxes.some((b) => b.left < room.left - 1 || b.right > room.right + 1 || b.top < room.top - 2 || b.bottom > room.bottom + 2);
      if (!scrolls && !folded && out) wrong.push(`${words}: cut by ${up.getAttribute("class")}`);
    }
    if (scrolls || folded) continue;
    const digit = parent.closest(".fa-digits");
    for (const box of boxes) {
      if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) wrong.push(`${words}: outside of the window`);
      if (digit && box.width > parent.getBoundingClientRect().width + 0.5) wrong.push(`${words}: wider than its cell`);
      const slack = box.height * 0.2; // a line is higher than its glyphs
      seen.push({ words, parent, left: box.left + 1, right: box.right - 1, top: box.top + slack, bottom: box.bottom - slack });
    }
  }
  seen.forEach((a, k) => seen.slice(k + 1).forEach((b) => {
    if (a.parent === b.parent || a.left >= b.right || b.left >= a.right || a.top >= b.bottom || b.top >= a.bottom) return;
    wrong.push(`${a.words} / ${b.words}: collide`);
  }));
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) wrong.push("the page scrolls sideways");
  if (page.scrollHeight > innerHeight) wrong.push("the page scrolls down");
  return [...new Set(wrong)].slice(0, 8);
}
"""


def measured(tab, query: str, least: float = 12) -> list[str]:
    page = tab.show(query)
    return [f"{query} at {page.viewport_size}: {fault}" for fault in page.evaluate(MEASURE, least)]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda s: f"{s[0]}x{s[1]}")
def test_every_window(tab, screen):
    page = tab.page
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    tab.open()
    wrong = page.evaluate(MEASURE, 12)  # the first minute
    for k, query in enumerate([*STATES.values(), RACE]):
        page.emulate_media(color_scheme=("light", "dark")[k % 2])
        wrong += measured(tab, query)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("screen", [(1280, 720), (1920, 1080)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_the_hall(tab, screen):
    tab.page.set_viewport_size({"width": screen[0], "height": screen[1]})
    tab.open("mode=present")
    race = RACE.replace("compare", "present")
    wrong = [line for query in [*STATES.values(), race] for line in measured(tab, query, 24)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("frame", FRAMES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_a_frame_of_another_page(tab, frame):
    tab.page.set_viewport_size({"width": frame[0], "height": frame[1]})
    tab.open("mode=embed")
    race = RACE.replace("compare", "embed")
    wrong = [line for query in [*STATES.values(), race] for line in measured(tab, query)]
    assert not wrong, "\n".join(wrong)


def test_a_phone(browser, watch):
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    context = browser.new_context(**phone)
    tab = watch(context)
    tab.open()
    wrong = tab.page.evaluate(MEASURE, 12)
    for pane in ("hbm", "sram", "rows"):
        for query in [*STATES.values(), RACE]:
            tab.show(query)
            chosen = tab.page.locator(f"[data-pane-of={pane}]:visible")
            if chosen.count():
                chosen.tap()
                settled(tab.page)
            wrong += [f"{query} on {pane}: {fault}" for fault in tab.page.evaluate(MEASURE, 12)]
    context.close()
    assert not wrong, "\n".join(wrong)


GROWS = """() => Object.fromEntries(
  [".fa-words", ".fa-row-name", ".fa-key-play", ".fa-frame-s", ".fa-map canvas", ".fa-story-names", ".fa-legend", ".fa-bar-top h1"]
    .map((name) => [name, document.querySelector(name)])
    .map(([name, node]) => [name, node.textContent ? parseFloat(getComputedStyle(node).fontSize) : node.clientWidth]))"""


def test_type_and_picture_grow_with_the_window(tab):
    page = tab.page
    sizes = []
    for width, height in ((1280, 720), (1920, 1080), (3840, 2160)):
        page.set_viewport_size({"width": width, "height": height})
        tab.open("step=4&phase=exp")
        sizes.append(page.evaluate(GROWS))
    small, large, huge = sizes
    for name, size in small.items():
        least = 1.1 if name == ".fa-bar-top h1" else 1.4
        assert large[name] >= least * size and huge[name] >= 1.3 * large[name], (name, sizes)


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        (".fa-player .fa-aside { font-size: 11px !important }", "11 px"),
        (".fa-player .fa-formula { margin-top: -40px !important }", "collide"),
        (".fa-step .fa-count-text { width: 40px; overflow: hidden }", "cut by"),
        (".fa-step .fa-bus { translate: -500px 0 }", "outside of the window"),
        (".fa-step .fa-digits { letter-spacing: 6px !important }", "wider than its cell"),
    ],
)
def test_a_fault_is_seen(stage, fault, seen):
    stage.page.set_viewport_size({"width": 1280, "height": 720})
    assert measured(stage, STATES["exp"]) == []
    style = stage.page.add_style_tag(content=fault)
    found = stage.page.evaluate(MEASURE, 12)
    style.evaluate("(node) => node.remove()")
    assert any(seen in line for line in found), found
