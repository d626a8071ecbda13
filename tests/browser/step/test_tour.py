"""The tour: keys and buttons, a link per chapter, a light on what it speaks of, and back home."""

from urllib.parse import parse_qsl, urlencode

import pytest
from playwright.sync_api import expect

from explainer.learn.tour import CHAPTERS
from tests.browser.harness import click, keys, open_controls, query_of, read, settled


def chapter(page) -> str:
    return page.get_by_test_id("tour").get_attribute("data-chapter")


def at(page, k: int) -> None:
    """Waits until the page shows what chapter k (from 0) is about."""
    c = CHAPTERS[k]
    order = "fa2" if c.mode else c.problem.order
    page.wait_for_function(
        """([order, step, n, pass, phase, chapter]) => {
          const lanes = [...document.querySelectorAll('[data-testid="player"]')];
          const one = lanes.find(({ dataset: d }) => d.order === order && d.pass === pass);
          const { step: at, phase: of } = one?.dataset ?? {};
          const tour = document.querySelector('[data-testid="tour"]')?.dataset.chapter;
          return one && tour === chapter
            && (lanes.length > 1 || (at === step && (phase === null || of === phase)))
            && new URLSearchParams(location.search).get("n") === n;
        }""",
        arg=[
            order, str(c.step), str(c.problem.n), c.pass_, None if c.mode else c.phase, str(k + 1),
        ],
    )  # fmt: skip


# How much of what the light falls on is on screen, and how much of that the bar leaves free.
SPOT = """() => {
  const box = (node) => node.getBoundingClientRect();
  const name = (part) => box(document.querySelector(`[data-testid=${part}]`));
  const [light, bar] = [name("spot"), name("tour")];
  const inside = (a, b) => Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top))
    * Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left));
  const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const parts = (selector) => [...document.querySelectorAll(selector)]
    .filter((node) => node.checkVisibility({ visibilityProperty: true }));
  const whole = parts(".fa-hbm .fa-caption, .fa-row-view-picture, .fa-panel .fa-rows tbody");
  const cut = whole.map((node) => {
    const share = inside(light, box(node)) / (box(node).width * box(node).height);
    return share > 0 && share < 0.99 ? node.textContent : null;
  }).filter(Boolean);
  const under = parts(".fa-lane-head").filter((node) => inside(box(node), bar)).length;
  const bars = parts(".fa-row-view-picture").some((node) => inside(light, box(node)));
  const [size, hid] = [inside(light, screen), inside(light, bar)];
  return { cut, under, bars, size, free: size - hid,
    bar: inside(bar, screen) / (bar.width * bar.height), width: innerWidth };
}"""
HERE = "n=20&d=6&br=5&bc=4&mask=full&order=fa1&data=random&seed=3&step=7&phase=sum"


def lit(page) -> None:
    """What the chapter speaks of is on screen, lit, and the bar beside it."""
    page.get_by_test_id("spot").wait_for()
    settled(page)
    seen = page.evaluate(SPOT)
    assert seen["size"] > 1_000 and seen["free"] > 0.6 * seen["size"], (chapter(page), seen)
    assert seen["bar"] > 0.99, (chapter(page), seen)
    assert not seen["cut"] and not seen["under"], (chapter(page), seen)
    if CHAPTERS[int(chapter(page)) - 1].spot in ("rows", "row_view"):
        assert seen["bars"], "what it speaks of are the bars too"


def test_from_the_first_chapter_to_the_last_with_space(tab):
    page = tab.open(HERE)
    click(page, "Tour")
    for k, c in enumerate(CHAPTERS):
        at(page, k)
        assert chapter(page) == str(k + 1)
        assert c.text in page.get_by_test_id("tour").inner_text()
        lit(page)
        keys(page, "Space")
    home(page)


def test_the_backward_has_its_own_beginning_and_follows_the_forward(tab):
    first = next(k for k, c in enumerate(CHAPTERS) if c.pass_ == "backward")
    here = HERE.replace("phase=sum", "phase=dP&pass=backward")
    page = tab.open(here)
    click(page, "Tour")
    at(page, first)
    bar = page.get_by_test_id("tour")
    assert f"Backward, 1 of {len(CHAPTERS) - first}" in bar.inner_text()
    keys(page, "PageUp")
    at(page, first - 1)
    assert f"{first} of {first}" in bar.inner_text()
    click(bar, "Backward")
    at(page, first)
    assert query_of(page)["pass"] == "backward"
    keys(page, "Escape")
    home(page, here)


def home(page, here: str = HERE) -> None:
    """The tour is over, and the visitor's own Problem, visit and phase are there as they were."""
    page.get_by_test_id("tour").wait_for(state="hidden")
    page.wait_for_function("() => document.querySelector('[data-query*=\"n=20&\"][data-step]')")
    settled(page)
    query = query_of(page)
    was = dict(parse_qsl(here))
    assert {k: query.get(k) for k in was} == was
    assert "tour" not in query and not page.get_by_test_id("spot").is_visible()
    assert (read(page)["pass"], read(page)["order"]) == (was.get("pass", "forward"), "fa1")
    assert (read(page)["step"], read(page)["phase"]) == ("7", was["phase"])
    assert page.get_by_label("number input for Sequence length N").input_value() == "20"


def test_who_leaves_is_back_home(tab):
    page = tab.open(HERE)
    click(page, "Tour")
    at(page, 0)
    for key, k in (("PageDown", 1), ("PageUp", 0), ("Space", 1), ("Shift+Space", 0)):
        keys(page, key)
        at(page, k)
    keys(page, "ArrowLeft")  # the player's own keys stay its own
    assert (chapter(page), read(page)["step"]) == ("1", str(CHAPTERS[0].step - 1))
    click(page, "Leave the tour")
    home(page)


def test_escape_leaves_the_tour_before_the_hall(tab):
    page = tab.open("mode=present&tour=3")
    at(page, 2)
    keys(page, "Escape")
    page.get_by_test_id("tour").wait_for(state="hidden")
    assert query_of(page)["mode"] == "present"


def test_by_touch_alone_on_a_phone(phone):
    page = phone.open(HERE)
    page.get_by_role("button", name="Tour", exact=True).tap()
    for k in range(3):
        at(page, k)
        lit(page)
        assert page.evaluate(SPOT)["width"] == 390
        small = page.eval_on_selector_all(
            ".fa-tour button",
            "buttons => buttons.filter((b) => b.getBoundingClientRect().height < 44).length",
        )
        assert small == 0
        if k < 2:
            page.get_by_test_id("tour").get_by_role("button", name="Next").tap()
    page.get_by_role("button", name="Leave the tour").tap()
    home(page)


@pytest.mark.parametrize("k", [6, 11, 20])
def test_a_chapter_is_a_link_which_the_controls_follow(tab, k):
    page = tab.open(urlencode({"tour": k + 1}))
    at(page, k)
    problem = CHAPTERS[k].problem
    n = open_controls(page).get_by_label("number input for Sequence length N")
    expect(n).to_have_value(str(problem.n))
    mask = "Causal" if problem.is_causal else "Full"
    assert page.get_by_role("radio", name=mask).is_checked()


def test_tour_from_the_run_page_leads_to_the_step_page(tab):
    page = tab.goto("page=run")
    page.wait_for_selector("[data-testid=run] h2")
    settled(page)
    click(page, "Tour")
    at(page, 0)
    assert page.get_by_role("tab", name="Step").get_attribute("aria-selected") == "true"


def test_back_close_and_go_on_alone(tab):
    page = tab.open("tour=2")
    at(page, 1)
    click(page, "Back")
    at(page, 0)
    click(page, "Leave the tour")
    assert "tour" not in query_of(page)
    click(open_controls(page), "FA-2", "radio")
    page.wait_for_function(
        "() => document.querySelector('[data-testid=player]').dataset.order === 'fa2'"
    )
    assert page.locator(".fa-notice:visible").count() == 0
