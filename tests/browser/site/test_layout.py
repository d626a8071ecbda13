"""Nothing to scroll before stepping, and nothing sticks out of its card."""

from __future__ import annotations

import pytest

from tests.browser.harness import focus, press

# 1024 × 768: a tablet, or a display of 1280 pixels at 125 %
SCREENS = [(1024, 768, "light"), (1280, 720, "dark"), (1440, 900, "light")]
QUERIES = [
    "n=16&d=8&br=4&bc=4&step=4",
    "n=16&d=8&br=4&bc=4&order=standard&step=17",
    "n=11&d=6&br=4&bc=3&order=fa1&data=random",
    "n=64&d=64&br=16&bc=16&step=5",
    "n=6&d=16&br=2&bc=2&data=sentence&step=3",
    "n=4096&d=64&br=128&bc=64&mask=full",
]

MEASURE = """
() => {
  const page = document.documentElement;
  const cards = [...document.querySelectorAll(".fa-card, .fa-transport")].map((card) => {
    const box = card.getBoundingClientRect();
    const sticking = [...card.querySelectorAll("*")].filter((node) => {
      if (node.closest(".fa-sr") || !node.getClientRects().length) return false;
      for (let up = node.parentElement; up !== card; up = up.parentElement)
        if (getComputedStyle(up).overflowX !== "visible") return false; // scrolls or clips itself
      const b = node.getBoundingClientRect();
      const across = b.right > box.right + 1 || b.left < box.left - 1;
      return b.width && (across || b.bottom > box.bottom + 1);
    });
    return {
      name: card.className,
      over: [card.scrollWidth - card.clientWidth, card.scrollHeight - card.clientHeight],
      sticking: sticking.slice(0, 3).map((n) => n.getAttribute("class") || n.tagName),
    };
  });
  return {
    cards,
    across: page.scrollWidth - window.innerWidth,
    down: page.scrollHeight - window.innerHeight,
    bar: document.querySelector(".fa-transport").getBoundingClientRect().bottom,
  };
}
"""


def overflowing(found: dict) -> list[dict]:
    return [c for c in found["cards"] if max(c["over"]) > 0 or c["sticking"]]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda s: f"{s[0]}x{s[1]}-{s[2]}")
def test_stepping_needs_no_scroll(tab, screen):
    width, height, scheme = screen
    tab.page.set_viewport_size({"width": width, "height": height})
    tab.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    wrong = []
    page = tab.open(QUERIES[0])
    for query in QUERIES:
        tab.show(query)
        focus(page)
        for key in ("ArrowRight", "ArrowUp", "End"):
            press(page, key)
            found = page.evaluate(MEASURE)
            where = f"{query} after {key}"
            if found["bar"] > height or found["down"] > 0 or found["across"] > 0:
                wrong.append(f"{where}: scrolls, {found['bar']=} {found['down']=}")
            wrong += [f"{where}: {card}" for card in overflowing(found)]
    assert page.evaluate("document.body.classList.contains('dark')") == (scheme == "dark")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("order", ["fa2", "fa1", "standard"])
def test_stepping_moves_nothing_around(stage, order):
    page = stage.show(f"n=12&d=8&br=4&bc=4&order={order}&step=0&phase=load")
    focus(page)
    sizes = set()
    for _ in range(24):
        press(page, "ArrowDown")
        sizes.add(
            page.evaluate(
                "() => [...document.querySelectorAll("
                "'.fa-stage, .fa-stage > .fa-card, .fa-transport')]"
                ".map((card) => { const b = card.getBoundingClientRect();"
                " return [b.x, b.y, b.width, b.height].map(Math.round); }).join(' ')"
            )
        )
    assert len(sizes) == 1, "\n".join(sorted(sizes))


def test_a_notice_does_not_push_the_transport_off_screen(tab):
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    tab.tolerate("status of 400")
    found = tab.open("n=0").evaluate(MEASURE)
    assert found["bar"] <= 720 and found["down"] <= 0
    assert overflowing(found) == []


def test_phone_does_not_scroll_sideways(apart):
    tab = apart(390, 844, is_mobile=True, has_touch=True)
    tab.open(QUERIES[0])
    found = {q: tab.show(q).evaluate(MEASURE) for q in QUERIES}
    assert {q: f["across"] for q, f in found.items() if f["across"] > 0} == {}
    assert {q: overflowing(f) for q, f in found.items() if overflowing(f)} == {}
