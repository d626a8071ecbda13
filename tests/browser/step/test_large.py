"""Long sequences: tiles to N = 16,384, and the numbers of the one that is chosen."""

from urllib.parse import urlencode

import numpy as np

from explainer.algorithms.schedule import schedule
from explainer.problem import Problem
from explainer.trace import one_visit, one_visit_backward
from tests.browser.harness import click, focus, open_controls, press, read, settled, spot

LONG = Problem(n=4096, d=64, block_q=128, block_k=64)


def numbers(page) -> dict[str, np.ndarray]:
    """{statistic: of each row} of the tile on screen, once they are asked for and there."""
    click(page, "Show the numbers of this tile")
    page.wait_for_selector(".fa-sram-row:visible")
    return {name: np.array(values, float) for name, values in columns(page).items()}


def columns(page) -> dict[str, list[str]]:
    """{what is said of the rows: of each}, in the order of the table."""
    rows = read(page)["rows"]
    names = next(iter(rows.values()))
    return {"row": list(rows)} | {name: [row[name] for row in rows.values()] for name in names}


def test_choosing_a_tile_of_the_backward_brings_its_numbers(tab):
    at = 500
    page = tab.open(urlencode(LONG.to_query() | {"pass": "backward", "step": at}))
    found = numbers(page)
    visit, _, run = one_visit_backward(LONG, at)
    rows = visit.i * 128 + np.arange(128)
    assert found["row"].tolist() == rows.tolist()
    np.testing.assert_allclose([found["D"], found["lse"]], [visit.D, run.lse[rows]], 1e-6)
    focus(page)
    assert press(page, "ArrowRight")["step"] == str(at + 1)
    assert page.get_by_role("button", name="Show the numbers of this tile").is_visible()


def test_choosing_a_tile_brings_its_numbers(tab):
    page = tab.open(urlencode(LONG.to_query() | {"step": "300"}))
    assert not any(row["m_new"] for row in read(page)["rows"].values())
    # The drawer opens at what there is to see.
    assert page.is_visible(".fa-panel-traffic")
    found = numbers(page)
    visit, _ = one_visit(LONG, 300)
    assert found["row"].tolist() == [*range(visit.i * 128, (visit.i + 1) * 128)]
    np.testing.assert_allclose(found["l_new"], visit.l_new, 1e-6)
    page.mouse.click(*spot(page.locator(".fa-map canvas"), 0.02, 0.9))
    now = read(settled(page))  # the rows of the visit before are in the table until then
    visit, _ = one_visit(LONG, int(now["step"]))
    assert (int(now["i"]), int(now["j"])) == (visit.i, visit.j)
    np.testing.assert_allclose(np.array(columns(page)["m_new"], float), visit.m_new, 1e-6)


def test_from_the_menu_to_the_largest_and_stepping(tab):
    page = tab.open()
    open_controls(page).get_by_label("Large N").click()
    click(page, "N = 16,384", "option")
    problem = Problem(n=16384, d=64, block_q=128, block_k=64)
    steps = len(schedule(problem))
    page.wait_for_function(
        "(n) => document.querySelector('[data-testid=player]').dataset.steps == n", arg=steps
    )
    before = len(tab.requests)
    focus(page)
    for key in ("ArrowRight", "End", "ArrowLeft", "Home"):
        press(page, key)
    assert press(page, "End")["step"] == str(steps - 1)
    assert tab.requests[before:] == []
