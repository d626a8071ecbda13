"""axe finds nothing serious; the step is in words; keys alone suffice; targets are large enough."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from explainer.views.stories.pages import CHAPTERS
from tests.browser.harness import click, focus, focused, keys, press, read, settled
from tests.browser.run.running import open_run, run
from tests.tables import table

PAGES = table(__file__) | {
    f"page={name}&{name[:3]}-view={chapter}": f'[data-page="{name}"]' if k else None
    for name, chapters in CHAPTERS.items()
    for k, chapter in enumerate(chapters)
}
# Some page of ours is shown.
SHOWN = ", ".join(
    f"{place}:visible"
    for place in (
        '[data-testid="player"][data-step]',
        ".fa-run-view[data-view]",
        '[data-testid="story"][data-steps]',
        '[data-testid="learn"]',
    )
)
TARGETS = """
() => [...document.querySelectorAll("button, select, summary, a, input[type=range]")]
  .filter((node) => node.closest(".fa-player, .fa-bar-top, .fa-run, .fa-picture-page") &&
    !node.matches(".fa-dot")) // the map has the same links, larger
  .map((node) => [node.textContent.trim() || node.className, node.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.width < 24 || box.height < 24))
  .map(([name, box]) => `${name}: ${box.width.toFixed()} × ${box.height.toFixed()}`)
"""


# Only lines come back: what axe says of each node that is well takes longer than the look at it.
SERIOUS = """async ([inside, rules]) => {
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  const { violations } = await axe.run(inside ?? document, options);
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
}"""


def serious(page, inside: str | None = None, rules: list[str] | None = None) -> list[str]:
    """What axe calls serious or critical, one line a node."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(SERIOUS, [inside, rules])


def faults(page, inside: str | None = None) -> list[str]:
    """Return what axe finds in the light, its contrasts in the dark, and targets too small."""
    page.add_style_tag(content="* { transition: none !important; }")  # no colour half way
    found = serious(page, inside) + page.evaluate(TARGETS)
    page.evaluate("document.body.classList.add('dark')")  # what Gradio does in the dark
    return found + [f"dark: {x}" for x in serious(settled(page), inside, ["color-contrast"])]


@pytest.mark.parametrize("query", PAGES)
def test_axe_finds_nothing_serious(tab, query):
    tab.goto(query)
    tab.page.wait_for_selector(SHOWN)
    assert faults(settled(tab.page), PAGES[query]) == []


def test_axe_finds_nothing_serious_in_results_which_are_said(tab):
    page = open_run(tab)
    run(page)
    page.wait_for_function("document.querySelector('.fa-live').textContent.includes('FA-2')")
    found = []
    for name in ("Tiles", "Time", "Why this backend", "Script", "Errors"):
        click(page, name, "radio")
        found += [f"{name}: {line}" for line in serious(settled(page), ".fa-run-panel")]
    found += serious(page) + page.evaluate(TARGETS)
    page.emulate_media(color_scheme="dark")  # as Gradio takes it over from the visitor's system
    page.wait_for_function("document.body.classList.contains('dark')")
    assert found + serious(settled(page)) + page.evaluate(TARGETS) == []


def test_every_step_is_said(tab):
    page = tab.open()
    focus(page)
    live = page.get_by_test_id("sentence")
    assert live.locator("> [aria-live=polite]").count() == 2, "only what changed is read"
    said = {live.inner_text()}
    for k in range(1, 10):
        press(page, "ArrowRight")
        words = live.inner_text()
        assert words.startswith(f"Step {k + 1} of 10") and words not in said
        said.add(words)


MENU = "Playing, what-ifs, all controls"


def tabbed(page) -> str:
    """Return the name of what Tab reaches."""
    keys(page, "Tab")
    return focused(page)


def test_everything_by_keyboard(tab):
    """Tab reaches the player, the problem and the transport, and every one of them acts."""
    page = tab.open()
    focus(page)
    reached = {tabbed(page) for _ in range(30)}
    for name in ("causal", "Next", "load", "Step", "Next: one phase", MENU):
        assert name in reached, sorted(reached)
    page.get_by_role("button", name="Next", exact=True).press("Enter")
    assert read(page)["phase"] == "scores"
    for name in ("Code", "NumPy"):
        page.get_by_role("tab", name=name).press("Enter")
    assert "exp_difference" in page.inner_text("ol.fa-code")
    keys(page, "ArrowRight")
    assert read(page)["step"] == "1", "arrows still step"


def test_tab_goes_as_the_eye_does(tab):
    """Past the bar if one wants, else the pages, then the bar's tools, then the page."""
    page = tab.open()
    names = "Skip to the content,Step,Run,Memory,Parallel,Learn,Forward,Backward,Tour,More"
    assert ",".join(tabbed(page) for _ in range(10)) == names
    keys(page, "Tab")
    assert page.evaluate("Boolean(document.activeElement.closest('#pages > [role=tabpanel]'))")
    page.focus(".fa-skip")
    keys(page, "Enter")
    assert page.evaluate("document.activeElement.ariaLabel") == "Step"
