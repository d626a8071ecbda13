"""Three lanes on one transport: each agrees with NumPy at every tick. Both clocks are judged in
tests/js/race.test.mjs."""

from urllib.parse import urlencode

from explainer.algorithms.registry import MAIN as ORDERS
from explainer.algorithms.traffic import both, traffic
from explainer.base.amounts import amount
from explainer.problem import Problem
from explainer.trace import trace
from tests.browser.expected import complaints, phases
from tests.browser.harness import Held, click, focus, keys, open_controls, query_of, resize, settled
from tests.by_hand import drawn

LANES = """
() => [...document.querySelectorAll('[data-testid="player"]')].map((lane) => {
  const rows = {};
  for (const tr of lane.querySelectorAll("[data-row]")) {
    rows[tr.dataset.row] = {};
    for (const cell of tr.querySelectorAll("[data-stat]"))
      rows[tr.dataset.row][cell.dataset.stat] = cell.dataset.value;
  }
  const meters = [...lane.querySelectorAll(".fa-meter i")].map((part) => part.title);
  return { ...lane.dataset, rows, meters };
})
"""


def of(problem: Problem, order: str) -> Problem:
    return Problem.from_query(problem.to_query() | {"order": order})


def test_lanes_agree_with_numpy_at_every_tick_and_ask_the_server_nothing(stage):
    (problem,) = drawn(1)
    page = stage.show(urlencode(problem.to_query() | {"mode": "compare"}))
    page.focus(".fa-race")
    before = len(stage.requests)
    true = {order: trace(of(problem, order)) for order in ORDERS}
    work = {o: [k for k, v in enumerate(t.visits) if v.phases] for o, t in true.items()}
    wrong = []
    for tick in range(max(map(len, work.values()))):
        lanes = page.evaluate(LANES)
        assert [lane["order"] for lane in lanes] == list(ORDERS)
        for lane in lanes:
            found, steps = true[lane["order"]], work[lane["order"]]
            step = steps[min(tick, len(steps) - 1)]
            phase = phases(found.visits[step])[-1]
            wrong += [f"{lane['order']}: {w}" for w in complaints(found, step, phase, lane)]
            assert lane["done"] == str(tick >= len(steps) - 1).lower()
        keys(page, "ArrowRight")
    assert wrong == []
    keys(page, "End", "Home", "ArrowDown", "End")
    assert settled(page) and stage.requests[before:] == []
    for lane in page.evaluate(LANES):
        assert int(lane["reads"]) + int(lane["writes"]) == both(traffic(of(problem, lane["order"])))
        assert len(lane["meters"]) == len(traffic(of(problem, lane["order"])))


def test_a_race_ends_in_a_verdict_and_a_skipped_tile_takes_no_tick(stage):
    """ST 6: FA-1's skipped tiles counted as time. ST 10: there was no verdict."""
    page = stage.show("mode=compare")
    assert page.inner_text(".fa-race h2") == "Three algorithms, one problem"
    page.focus(".fa-race")
    keys(page, "End")
    totals = {order: both(traffic(Problem(order=order))) for order in ORDERS}
    least = min(totals.values())
    shares = [round(100 * least / totals[order]) for order in ("standard", "fa1")]
    words = page.inner_text(".fa-race .fa-hero")
    assert totals["fa2"] == least and words.startswith(f"FA-2 wins: {amount(least)}, ")
    assert f"{shares[0]}% of Standard's and {shares[1]}% of FA-1's" in words
    visits = len([v for v in trace(Problem(order="fa1")).visits if v.phases])
    assert f"FA-1 takes {visits} steps and FA-2 takes {visits} steps" in words


def test_compare_from_the_button_link_and_back(tab):
    page = tab.open("n=12&d=4&br=4&bc=3&order=fa1&step=3")
    click(page, "Compare", "tab")
    tab.settle()
    assert query_of(page)["mode"] == "compare"
    assert len(page.evaluate(LANES)) == 3
    page.get_by_label("What is the same in every lane").select_option("bytes")
    page.focus(".fa-race")
    keys(page, *["ArrowRight"] * 5)
    before = page.evaluate(LANES)
    settled(page)
    page.reload()
    tab.settle()
    page.wait_for_function("() => document.querySelectorAll('[data-testid=player]').length === 3")
    assert page.evaluate(LANES) == before
    click(open_controls(page), "Full", "radio")
    page.wait_for_function("() => document.querySelector('[data-order=fa1]').dataset.steps == 12")
    keys(page, "Escape")
    page.click("[data-tab=row]")
    tab.settle()
    assert len(page.evaluate(LANES)) == 1
    assert "mode" not in query_of(page)
    focus(page)
    keys(page, "ArrowRight")
    assert page.evaluate(LANES)[0]["step"] == "1"


NAMES = """() => [...document.querySelectorAll(".fa-lane[data-order=standard] .fa-name-v")]
  .map((node) => getComputedStyle(node).fill)"""


def test_standard_names_its_blocks(tab):
    resize(tab.page)
    page = tab.open("mode=compare")
    page.focus(".fa-race")
    keys(page, "End")
    assert set(page.evaluate(NAMES)) == {"rgb(16, 24, 32)"}, "dark letters on a bright block"
    keys(page, "c")
    assert page.is_visible(".fa-step-controls")
    settled(page)
    assert page.locator("ul[role=listbox]:visible").count() == 0, "no menu unfolds over the others"


def test_what_a_race_still_waits_for_does_not_bring_it_back(tab):
    page = tab.open("n=12&d=4&br=4&bc=3&order=fa1&mode=compare")
    held = Held(page, "**/fa/trace?*")
    click(open_controls(page), "Full", "radio")
    keys(page, "Escape")
    page.click("[data-tab=row]")
    held.go()
    page.wait_for_function(
        "() => document.querySelector('[data-testid=player]').dataset.steps == 12"
    )
    now = query_of(page)
    assert "mode" not in now and now["mask"] == "full"
    assert len(page.evaluate(LANES)) == 1
