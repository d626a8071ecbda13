"""The glossary on every page: the pointer rests on a symbol or a word and its entry is shown."""

import pytest

from explainer.learn.glossary import TERMS
from tests.browser.harness import click, from_menu, keys, resize, settled

TITLES = {t.key: f"{t.symbol} · {t.name}" if t.symbol else t.name for t in TERMS}
WORDS = {t.key: t.words for t in TERMS}
REST_MS = 700  # longer than the pointer must rest, and than an entry takes to go
# Where a piece of text stands: the first visible place of it inside of what the selector finds.
PLACE = """([selector, text, at]) => {
  for (const node of document.querySelectorAll(selector)) {
    if (!node.checkVisibility()) continue;
    const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const start = walk.currentNode.data.indexOf(text);
      if (start < 0) continue;
      walk.currentNode.parentElement.scrollIntoView({ block: "center" });
      const range = document.createRange();
      range.setStart(walk.currentNode, start + at);
      range.setEnd(walk.currentNode, start + at + 1);
      const box = range.getBoundingClientRect();
      if (box.width) return [box.left + box.width / 2, box.top + box.height / 2];
    }
  }
  return null;
}"""


def rest(page, selector: str, text: str, at: int = 0) -> list[str] | None:
    """The pointer rests on this character; the lines of the entry shown, None if there is none."""
    page.mouse.move(2, 300)
    page.wait_for_function(PLACE, arg=[selector, text, at])
    page.clock.run_for(REST_MS)
    place = page.evaluate(PLACE, [selector, text, at])
    page.mouse.move(*place)
    page.clock.run_for(REST_MS)
    page.wait_for_function("!/rest|entry/.test(document.documentElement.dataset.pending)")
    entry = page.locator(".fa-term")
    if not (entry.count() and entry.is_visible()):
        return None
    return [line for line in entry.locator("> :not([hidden])").all_inner_texts() if line]


def shows(page, key: str, *where) -> list[str]:
    lines = rest(page, *where)
    assert lines and lines[:2] == [TITLES[key], WORDS[key]], (where, lines)
    return lines[2:]


def fifth_step(tab):
    page = tab.page
    page.clock.install()
    page.goto(f"{tab.server.url}/?step=5")
    page.wait_for_selector('[data-testid="player"][data-step="5"]')
    return settled(page)


@pytest.fixture
def step(tab):
    page = fifth_step(tab)
    page.mouse.move(2, 300)
    page.mouse.move(4, 300)
    return page


def test_what_the_step_page_writes_has_its_entry(step):
    click(step, "Code", "tab")
    shows(step, "m", '[data-column="m_new"]', "m new")
    shows(step, "l", 'th[data-column="l_old"]', "ℓ old")
    shows(step, "alpha", 'th[data-column="alpha"]', "α")
    shows(step, "hbm", ".fa-hbm h2", "HBM")
    shows(step, "sram", ".fa-sram h2", "SRAM")
    shows(step, "V", "figcaption", "V₂")
    shows(step, "exp", "[data-go=exp]", "exp")
    assert rest(step, ".fa-hbm", "16 × 16 scores") is None
    shows(step, "Tc", ".fa-code", "Tc")
    shows(step, "lse", ".fa-code", "lse")
    step.click(".fa-progress")
    shows(step, "fa1", ".fa-bar-name", "FA-1")
    assert rest(step, ".fa-bar-total", "KiB", 1) is None
    step.click(".fa-word-n")
    shows(step, "N", "[data-testid=block-info]", "N")


def test_an_entry_takes_in_the_browsers_own_title_and_gives_it_back(step):
    box = step.locator(".fa-frame-s")
    title = box.get_attribute("title")
    assert title.startswith("P")
    assert shows(step, "P", ".fa-frame-s figcaption", "P") == [title]
    assert box.get_attribute("title") is None
    keys(step, "Escape")
    assert not step.is_visible(".fa-term")
    assert box.get_attribute("title") == title


def test_stepping_asks_the_server_nothing(tab, step):
    click(step, "Code", "tab")  # the table of rows stands there
    shows(step, "m", '[data-column="m_new"]', "m new")
    before = len(tab.requests)
    step.focus('[data-testid="player"]')
    keys(step, *["ArrowLeft"] * 4)
    shows(step, "l", 'th[data-column="l_old"]', "ℓ")
    assert not [url for url in tab.requests[before:] if "/fa/" in url]
    assert sum("glossary" in url for url in tab.requests) == 1


@pytest.mark.parametrize(
    "query, found",
    [
        ("page=run", [("causal", ".fa-story-sentence", "Causal")]),
        (
            "page=memory",
            [
                ("hbm", ".fa-story-headline", "HBM"),
            ],
        ),
        ("page=learn&lesson=softmax", [("softmax", "#learn-softmax p", "Softmax")]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_page_has_its_entries(tab, query, found):
    page = tab.page
    page.clock.install()
    page.goto(f"{tab.server.url}/?{query}")
    page.wait_for_selector("#pages [role=tabpanel]:visible")
    settled(page)
    for key, *where in found:
        shows(page, key, *where)


def test_an_entry_never_covers_its_word(tab):
    """Not even where there is room neither below nor above."""
    page = tab.page
    page.clock.install()
    resize(page, 1000, 190)
    page.goto(f"{tab.server.url}/?page=memory")
    page.wait_for_selector("#pages [role=tabpanel]:visible")
    settled(page)
    shows(page, "hbm", ".fa-story-headline", "HBM")
    x, y = page.evaluate(PLACE, [".fa-story-headline", "HBM", 0])
    entry = page.locator(".fa-term").bounding_box()
    outside = not entry["x"] <= x <= entry["x"] + entry["width"]
    assert outside or not entry["y"] <= y <= entry["y"] + entry["height"]


def test_keys_and_symbols_in_a_dialog(tab, step):
    button = step.locator(".fa-menu summary")
    from_menu(step, "Keys and symbols")
    dialog = step.get_by_role("dialog", name="Keys and symbols")
    dialog.wait_for()
    said = dialog.inner_text()
    for term in TERMS:
        if term.symbol:
            assert f"{term.symbol}, {term.name}" in said and term.words in said
        elif term.name.startswith("phase "):
            assert term.words in said
    for listed in ("Home End", "PageUp PageDown", ", .", "side by side"):
        assert listed in said
    keys(step, "Escape")
    dialog.wait_for(state="detached")
    assert button.evaluate("node => node === document.activeElement")


def test_without_a_server_the_dialog_says_so(tab):
    # By keyboard alone: a pointer that rests anywhere asks for the glossary too.
    tab.tolerate("503")
    tab.page.route("**/fa/glossary*", lambda route: route.fulfill(status=503, body="busy"))
    step = fifth_step(tab)
    from_menu(step, "Keys and symbols")
    dialog = step.get_by_role("dialog", name="Keys and symbols")
    dialog.get_by_text("The server did not answer").wait_for()
    assert "Home End" in dialog.inner_text()
    dialog.get_by_role("button", name="Close").press("Enter")
    step.unroute("**/fa/glossary*")
    from_menu(step, "Keys and symbols")
    dialog.get_by_text("running maximum").wait_for()
