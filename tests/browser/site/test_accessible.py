"""axe finds nothing serious; the step is in words; keys alone suffice; targets are large enough."""

from __future__ import annotations

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from explainer.views.stories.pages import CHAPTERS
from tests.browser.harness import focus, press, read, settled
from tests.browser.run.running import open_run, run

PAGES = [
    "step=4",
    "step=4&phase=exp&sel=S.9.5",
    "order=standard&step=17&n=64&d=64&br=16&bc=16",
    "mode=compare&step=5",
    "tour=4",
    "mode=present&step=4",
    "page=run",
    "page=run&run-view=masks",
    "page=run&run-view=yours",
    "page=learn",
    "page=learn&lesson=claims",
    "page=learn&lesson=online",
]
# Where another address has scanned the whole of a page: what is new.
ONLY = {
    "page=learn&lesson=claims": ".fa-screen",
    "page=learn&lesson=online": ".fa-lesson-body",
    "order=standard&step=17&n=64&d=64&br=16&bc=16": ".fa-mount",
    "step=4&phase=exp&sel=S.9.5": ".fa-mount",
    "mode=compare&step=5": ".fa-mount",
    "tour=4": ".fa-mount, .fa-tour",
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


def in_the_dark(page) -> None:
    """The other scheme, as Gradio takes it over when the visitor's system changes."""
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.body.classList.contains('dark')")
    settled(page)


@pytest.mark.parametrize("query", PAGES)
def test_axe_finds_nothing_serious(context, server, watch, query):
    page = watch(context).page
    page.emulate_media(color_scheme="light")
    page.goto(f"{server.url}/?{query}")
    page.wait_for_selector(SHOWN)
    settled(page)
    page.add_style_tag(content="* { transition: none !important; }")  # no colour half way
    found, small = serious(page, ONLY.get(query)), page.evaluate(TARGETS)
    page.evaluate("document.body.classList.add('dark')")  # what Gradio does in the dark
    settled(page)
    found += [f"dark: {line}" for line in serious(page, ONLY.get(query), ["color-contrast"])]
    assert not found, "\n".join(found)
    assert not small, "\n".join(small)


@pytest.mark.parametrize("name", CHAPTERS)
def test_axe_finds_nothing_serious_in_any_chapter(tab, name):
    page = tab.page
    page.emulate_media(color_scheme="light")
    found, small, inside = [], [], None
    for chapter in CHAPTERS[name]:
        page.goto(f"{tab.server.url}/?page={name}&{name[:3]}-view={chapter}")
        page.wait_for_selector(f'[data-page="{name}"][data-chapter="{chapter}"]')
        page.add_style_tag(content="* { transition: none !important; }")  # no colour half way
        found += [f"{chapter}: {line}" for line in serious(settled(page), inside)]
        small += page.evaluate(TARGETS)
        page.evaluate("document.body.classList.add('dark')")
        dark = serious(settled(page), inside, ["color-contrast"])
        found += [f"{chapter}, dark: {line}" for line in dark]
        inside = f'[data-page="{name}"]'  # the rest was looked at
    assert not found, "\n".join(found)
    assert not small, "\n".join(small)


def test_axe_finds_nothing_serious_in_results_which_are_said(tab):
    page = tab.page
    page.emulate_media(color_scheme="light")
    open_run(tab)
    run(page)
    page.wait_for_function("document.querySelector('.fa-live').textContent.includes('FA-2')")
    found, small = [], []
    for name in ("Tiles", "Time", "Why this backend", "Script", "Errors"):
        page.get_by_role("radio", name=name, exact=True).click()
        found += [f"{name}: {line}" for line in serious(settled(page), ".fa-run-panel")]
    found, small = [*found, *serious(page)], page.evaluate(TARGETS)
    in_the_dark(page)
    found += [f"dark: {line}" for line in serious(page)]
    small += page.evaluate(TARGETS)
    assert not found, "\n".join(found)
    assert not small, "\n".join(small)


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


def test_everything_by_keyboard(tab):
    """Tab reaches the player, the problem and the transport, and every one of them acts."""
    page = tab.open()
    focus(page)
    reached = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "(({ ariaLabel, textContent }) => ariaLabel || textContent)(document.activeElement)"
            )
        )
    for name in ("causal", "Next", "load", "Step", "Next: one phase", MENU):
        assert name in reached, sorted(reached)
    page.get_by_role("button", name="Next", exact=True).focus()
    page.keyboard.press("Enter")
    assert read(page)["phase"] == "scores"
    page.get_by_role("tab", name="Code").focus()
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="NumPy").focus()
    page.keyboard.press("Enter")
    assert "exp_difference" in page.locator("ol.fa-code").inner_text()
    page.keyboard.press("ArrowRight")
    assert read(page)["step"] == "1", "arrows still step"


def test_tab_goes_as_the_eye_does(tab):
    """Past the bar if one wants, else the pages, then the bar's tools, then the page."""
    page = tab.open()
    seen = []
    for _ in range(10):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "(({ innerText, ariaLabel }) => ariaLabel ?? innerText)(document.activeElement)"
            )
        )
    names = [
        "Skip to the content",
        "Step",
        "Run",
        "Memory",
        "Parallel",
        "Learn",
        "Forward",
        "Backward",
        "Tour",
        "More",
    ]
    assert seen == names
    page.keyboard.press("Tab")
    assert page.evaluate("Boolean(document.activeElement.closest('#pages > [role=tabpanel]'))")
    page.locator(".fa-skip").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.ariaLabel") == "Step"


def test_reduced_motion_has_no_transitions(apart):
    page = apart(1440, 900, reduced_motion="reduce").open()
    moving = page.evaluate(
        "() => [...document.querySelectorAll('.fa-player *')].filter((node) => "
        "parseFloat(getComputedStyle(node).transitionDuration) > 0).length"
    )
    assert moving == 0
