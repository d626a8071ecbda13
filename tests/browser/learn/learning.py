"""The Learn page in a browser: opening it, and what its widgets show against what is computed."""

from explainer.learn.registry import answer
from tests.browser.harness import settled

# This screen of the page is shown, and its heading can be seen.
SHOWN = """(key) => {
  const root = document.querySelector(".fa-learn");
  return root?.dataset.screen === key && root.firstElementChild.getBoundingClientRect().height > 0;
}"""
AT_HEADING = """(key) => document.activeElement.id === `learn-${key}-title`"""
IDLE = """(key) => {
  const w = document.querySelector(`[data-widget="${key}"] > *`);
  return w && !w.hasAttribute("aria-busy") && w.querySelector(".fa-blocks > *");
}"""


def open_page(tab, lesson: str = "", **query: str):
    more = "".join(f"&{k}={v}" for k, v in query.items())
    tab.page.goto(f"{tab.server.url}/?page=learn{f'&lesson={lesson}' * bool(lesson)}{more}")
    shown(tab.page, lesson or "entrance")
    return tab.page


def shown(page, key: str) -> None:
    """Wait until this screen of the page is shown."""
    page.wait_for_function(SHOWN, arg=key)


def widget(page, key: str):
    """The widget with its blocks, and their pictures, which come in scripts of their own."""
    page.wait_for_function(IDLE, arg=key)
    settled(page)
    return page.locator(f'[data-widget="{key}"]')


def tables(place) -> list[list[list[str]]]:
    """The texts of every table of facts in a widget: rows of cells."""
    return place.evaluate(
        """(node) => [...node.querySelectorAll(".fa-facts")].map((table) =>
        [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)))"""
    )


def agree(place, **query: str) -> None:
    """What the widget shows is what the server's own function gives for these controls."""
    blocks = answer({"w": place.get_attribute("data-widget"), **query})["blocks"]
    said = [b.get("label") or b["words"] for b in blocks]
    settled(place.page)
    seen = place.locator(".fa-block-of").evaluate_all(
        "(all) => all.map((block) => (block.querySelector('figcaption b, a') ?? "
        "block.querySelector('span:not(.fa-sign)')).textContent)"
    )
    assert seen == said
    assert tables(place) == [b["rows"] for b in blocks if b["type"] == "table"]


def words(key: str, **query: str) -> str:
    """What the server says of a picture."""
    (block,) = answer({"w": key, **query})["blocks"]
    return block["words"]


def told(place, **query: str) -> None:
    """The picture says in words what the server's own function says of these controls."""
    settled(place.page)
    said = place.locator(".fa-picture-block > .fa-sr").inner_text()
    assert said == words(place.get_attribute("data-widget"), **query)
