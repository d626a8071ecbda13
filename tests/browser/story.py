"""What the tests of Memory and Parallel share: both are stories in chapters."""

from collections.abc import Mapping

from tests.browser.harness import settled

PREFIX = {"memory": "mem", "parallel": "par"}


def story(name: str) -> str:
    """The selector of a page's story."""
    return f'[data-testid="story"][data-page="{name}"]'


def show(tab, name: str, query: Mapping[str, str] = {}):
    """Open a page at this place, by keys without its prefix, and wait for its picture."""
    keys = {"mode": "mode"} | {key: f"{PREFIX[name]}-{key}" for key in query if key != "mode"}
    extra = "".join(f"&{keys[key]}={value}" for key, value in query.items())
    tab.goto(f"page={name}{extra}")
    tab.page.wait_for_selector(f"{story(name)} .fa-svg-canvas > *")
    return settled(tab.page)


def at(page, name: str, chapter: str):
    """Wait for a chapter."""
    page.wait_for_selector(f'{story(name)}[data-chapter="{chapter}"]')
    return settled(page)


def headline(page, name: str) -> str:
    return page.inner_text(f"{story(name)} h2")


def step(page, name: str) -> int:
    """The position of the scrubber."""
    return int(page.get_attribute(story(name), "data-step") or 0)
