"""Present mode: nothing but the picture, type from 24 px up, light, nothing to scroll."""

from __future__ import annotations

import pytest

from tests.browser.harness import focus, press, query_of, read, wait

SMALL = """
() => {
  const small = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest(".fa-sr, script, style, [hidden]")) continue;
    const range = document.createRange();
    range.selectNode(node);
    const box = range.getBoundingClientRect();
    const style = getComputedStyle(parent);
    if (!box.width || box.top > innerHeight || style.visibility === "hidden") continue;
    const words = node.textContent.trim().slice(0, 20);
    if (parseFloat(style.fontSize) < 24) small.push(`${words} ${style.fontSize}`);
  }
  const page = document.documentElement;
  return { small, down: page.scrollHeight - innerHeight, across: page.scrollWidth - innerWidth };
}
"""
STICKING = """
() => [
  ...document.querySelectorAll(".fa-sram .fa-matrix, .fa-sram td, .fa-hbm text"),
].filter((node) => {
  const card = node.closest(".fa-card").getBoundingClientRect();
  const box = node.getBoundingClientRect();
  return box.width && (box.right > card.right + 1 || box.left < card.left - 1);
}).length
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "query", ["", "order=fa1&step=9", "order=standard&step=17", "tour=4", "n=64&d=64&br=16&bc=16"]
)
def test_type_and_room(browser, watch, query, scheme):
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=scheme)
    tab = watch(context)
    page = tab.open(f"mode=present&{query}")
    wait(page, 600)
    focus(page)
    for key in ("PageDown", "ArrowUp"):
        press(page, key)
        found = page.evaluate(SMALL)
        assert found == {"small": [], "down": 0, "across": 0}
        assert page.evaluate(STICKING) == 0
    assert not page.evaluate("document.body.classList.contains('dark')")
    context.close()


def test_clicker_keys_and_escape(tab):
    page = tab.open("step=2")
    page.get_by_role("button", name="Present").click()
    assert not page.get_by_role("tab", name="Run").is_visible()
    assert press(page, "PageDown")["step"] == "3"
    assert press(page, "PageUp")["step"] == "2"
    assert query_of(page)["mode"] == "present"
    page.keyboard.press("Escape")
    assert page.get_by_role("tab", name="Run").is_visible()
    assert read(page)["step"] == "2"
    assert "mode" not in query_of(page)
