"""Figures on screen: their kind beside them in every mode, a place before they are drawn, one scale
at every width, nothing cut off without a cue."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from explainer.algorithms import traffic
from explainer.base.kinds import WORDS
from explainer.memory.workload import Workload
from explainer.pages import memory, parallel
from explainer.views import drawings
from tests.browser.harness import Held, frame, settled

VIEWS = {"memory": memory.VIEWS, "parallel": parallel.VIEWS}


def show(tab, name: str, view: str, **query: str):
    """The page with this view, as its address asks for it."""
    query = {"page": name, f"{name[:3]}-view": view, **query}
    tab.page.goto(f"{tab.server.url}/?{urlencode(query)}")
    tab.page.wait_for_selector(f'[data-view="{view}"]', state="attached")
    return tab.page


# Of a card, a headline and a chart on screen, what it says of the kind of its figures.
KINDS_SEEN = r"""() => {
  const seen = (n) => n.checkVisibility() && n.getBoundingClientRect().height > 0;
  const all = (n, what) => [...n.querySelectorAll(what)].filter(seen);
  const bare = (text) => text.replaceAll(/\s+/g, "");
  const held = all(document, ".fa-run .fa-card, .fa-run .fa-finding");
  const charts = all(document, ".js-plotly-plot").map((n) => [n.layout.meta.kind]
    .filter((kind) => bare(n.querySelector(".gtitle").textContent).includes(bare(kind))));
  return [...held.map((n) => all(n, ".fa-kind").map((k) => k.textContent)), ...charts];
}"""


def every_view(tab, name: str, mode: str = ""):
    """(view, page) for each view of this page, one after the other, as a visitor goes on; each
    figure that is shown says of what kind it is."""
    first, *_ = VIEWS[name]
    page = show(tab, name, first, mode=mode)
    for view, label in VIEWS[name].items():
        if view != first and mode:
            page.keyboard.press("PageDown")
        elif view != first:
            page.get_by_role("radio", name=label, exact=True).check()
        page.wait_for_selector(f'[data-view="{view}"]', state="attached")
        found = settled(page).evaluate(KINDS_SEEN)
        assert found, view
        for kinds in found:
            assert kinds and all(kind.startswith(WORDS) for kind in kinds), (view, found)
        yield view, page


SMALL = """() => [...document.querySelectorAll(".fa-kind")].filter((n) =>
  n.checkVisibility() && parseFloat(getComputedStyle(n).fontSize) < 24).length"""


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_fits_a_hall_and_its_kinds_are_large(tab, name):
    """Its kinds in other modes: here on a phone, in test_accessible on a desk."""
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    for view, page in every_view(tab, name, "present"):
        assert page.evaluate("document.documentElement.scrollHeight") <= 724, view
        assert page.evaluate(SMALL) == 0, view


PLACES = """() => [...document.querySelectorAll(".fa-plot")].filter((n) => n.checkVisibility())
  .map((n) => {
    const { x, y, width, height } = n.getBoundingClientRect();
    const icon = [...n.querySelectorAll("svg:not(.main-svg)")].some((svg) =>
      svg.clientWidth > 8 && svg.checkVisibility({ visibilityProperty: true }));
    const words = getComputedStyle(n, "::before").content;
    return { box: [x, y, width, height], words, icon };
  })"""


@pytest.mark.parametrize("mode", ["", "present"])
@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("memory", "traffic"),
        ("parallel", "grid"),
    ],
)
def test_a_chart_has_its_place_before_it_is_drawn(tab, name, view, mode):
    library = Held(tab.page, "**/PlotlyPlot-*.js")
    page = show(tab, name, view, mode=mode)
    page.wait_for_function(f"({PLACES})().length === 2")
    frame(page)
    before = page.evaluate(PLACES)
    assert all("being drawn" in place["words"] and not place["icon"] for place in before)
    assert "plots" in page.evaluate("document.documentElement.dataset.pending").split()
    library.go()
    after = settled(page).evaluate(PLACES)
    assert all(place["words"] == "none" for place in after)
    for was, now in zip(before, after, strict=True):
        assert now["box"] == pytest.approx(was["box"], abs=0.5)


# Every arrow's width on screen and the bytes that its title names; what of them is cut off.
ARROWS = r"""() => [...document.querySelectorAll(".fa-trip")].map((arrow) => {
  const line = arrow.querySelector("line");
  const box = arrow.getBoundingClientRect();
  const card = arrow.closest(".fa-card").getBoundingClientRect();
  const px = line.getScreenCTM().a;
  return {
    px,
    units: parseFloat(line.getAttribute("stroke-width")),
    bytes: Number(arrow.querySelector("title").textContent.replaceAll(/.*\(|\D/g, "")),
    isIn: box.left >= card.left && box.right <= card.right,
    type: px * parseFloat(getComputedStyle(arrow.querySelector("text")).fontSize),
  };
})"""


@pytest.mark.parametrize("mode", ["", "present"])
def test_round_trips_have_one_scale_at_every_width(tab, mode):
    page = show(tab, "memory", "trips", mode=mode)
    plans = [traffic.launches(Workload().problem(order)) for order in ("standard", "fa2")]
    moved = [n for plan in plans for _, m in plan for both in m.values() for n in both if n]
    for width in (360, 390, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 844})
        arrows = settled(page).evaluate(ARROWS)
        assert len(arrows) == len(moved)
        px = [a["px"] for a in arrows]
        assert max(px) == pytest.approx(min(px), rel=1e-3), width
        to_scale = [a for a in arrows if a["units"] > drawings.SMALLEST]
        rate = [a["units"] * a["px"] / a["bytes"] for a in to_scale]
        assert len(rate) > 1 and max(rate) == pytest.approx(min(rate), rel=0.01), width
        assert all(a["isIn"] for a in arrows), f"cut off at {width}"
        assert min(a["type"] for a in arrows) >= 11, width


CUT = """() => [...document.querySelectorAll(".js-plotly-plot")]
  .filter((n) => n.checkVisibility()).flatMap((n) => {
    const { left, right } = n.getBoundingClientRect();
    return [...n.querySelectorAll(".gtitle, .xtitle")].filter((title) => {
      const box = title.getBoundingClientRect();
      return box.left < left - 1 || box.right > right + 1;
    }).map((title) => title.textContent);
  })"""
# A wide table has a shadow where it goes on, under a cover that comes along with its end (local).
SHADED = """() => [...document.querySelectorAll(".fa-run-table")]
  .filter((n) => n.checkVisibility() && n.scrollWidth > n.clientWidth + 1)
  .map((n) => getComputedStyle(n).backgroundAttachment)"""


def test_nothing_is_cut_off_on_a_phone_without_a_cue(tab):
    tables = []
    tab.page.set_viewport_size({"width": 390, "height": 844})
    for name in VIEWS:
        for view, page in every_view(tab, name):
            assert page.evaluate(CUT) == [], view
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
            tables += page.evaluate(SHADED)
    assert tables and set(tables) == {"local, scroll"}


def test_a_page_holds_its_place_until_the_server_answers(tab):
    held = Held(tab.page)
    tab.page.goto(f"{tab.server.url}/?page=memory")
    tab.page.locator(".fa-awaited:visible").wait_for()
    held.go()
    tab.page.wait_for_selector('[data-testid="memory"]')
    assert tab.page.locator(".fa-figure-page:visible .fa-awaited").count() == 0
