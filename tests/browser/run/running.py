"""What the tests of the Run page share."""

from urllib.parse import parse_qsl, urlencode

from tests.browser.harness import keys, settled

PAGE = '[data-testid="run"]'
RUNS = f"Number(document.querySelector('{PAGE}')?.dataset.runs ?? 0)"  # that have ended


def open_run(tab, **query: str):
    """The app at its Run page."""
    tab.goto(urlencode({"page": "run", **query}))
    return drawn(tab.page)


def drawn(page):
    """The page, once its picture is there and rests."""
    page.wait_for_selector(f"{PAGE} :is(.fa-svg-canvas text, .fa-run-masks button):visible")
    return settled(page)


def button(page):
    """The page's one button."""
    return page.locator(f"{PAGE} .fa-run-go")


def run_result(page, runs: int = 1) -> dict:
    """What the page says of a run once so many have ended, and its text."""
    page.wait_for_function(f"(runs) => {RUNS} >= runs", arg=runs)
    settled(page)
    return page.locator(PAGE).evaluate("node => ({ ...node.dataset, text: node.innerText })")


def run(page) -> dict:
    """What the page says of a run of what it shows."""
    ended = page.evaluate(RUNS)
    button(page).click()
    return run_result(page, ended + 1)


def query_run(found: dict) -> dict[str, str]:
    """The Step page's query of what was run."""
    return dict(parse_qsl(found["query"], strict_parsing=True))


def headline(page) -> str:
    return page.inner_text(f"{PAGE} h2")


def word(page, name: str):
    """A word of the line that says the Problem."""
    return page.locator(f'{PAGE} .fa-story-words [data-word="{name}"].fa-problem-word')


def choose(page, name: str, value: str) -> None:
    """Open a word and type another value."""
    word(page, name).click()
    page.fill(f"{PAGE} .fa-words-typed", value)
    keys(page, "Enter")
