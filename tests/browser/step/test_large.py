"""Long sequences: tiles to N = 16,384, and the numbers of the one that is chosen."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from explainer.algorithms.schedule import schedule
from explainer.problem import Problem
from explainer.trace import one_visit, one_visit_backward
from tests.browser.harness import click, focus, open_controls, press, read, settled

LONG = Problem(n=4096, d=64, block_q=128, block_k=64)


def numbers(page) -> dict:
    """The numbers of the tile on screen, once they are asked for and there."""
    click(page, "Show the numbers of this tile")
    page.locator(".fa-sram-row:visible").first.wait_for()
    return read(page)["rows"]


def test_choosing_a_tile_of_the_backward_brings_its_numbers(tab):
    at = 500
    page = tab.open(urlencode(LONG.to_query() | {"pass": "backward", "step": at}))
    rows = numbers(page)
    visit, _, run = one_visit_backward(LONG, at)
    first = visit.i * 128
    assert list(map(int, rows)) == [*range(first, first + 128)]
    for row, stats in rows.items():
        assert float(stats["D"]) == pytest.approx(float(visit.D[int(row) - first]), rel=1e-6)
        assert float(stats["lse"]) == pytest.approx(float(run.lse[int(row)]), rel=1e-6)
    focus(page)
    assert press(page, "ArrowRight")["step"] == str(at + 1)
    assert page.get_by_role("button", name="Show the numbers of this tile").is_visible()


def test_choosing_a_tile_brings_its_numbers(tab):
    page = tab.open(urlencode(LONG.to_query() | {"step": "300"}))
    assert not any(row["m_new"] for row in read(page)["rows"].values())
    # The drawer opens at what there is to see.
    assert page.locator(".fa-panel-traffic").is_visible()
    rows = numbers(page)
    visit, _ = one_visit(LONG, 300)
    assert list(map(int, rows)) == [*range(visit.i * 128, (visit.i + 1) * 128)]
    found = [float(row["l_new"]) for row in rows.values()]
    assert found == pytest.approx(visit.l_new.tolist(), rel=1e-6)
    box = page.locator(".fa-map canvas").bounding_box()
    page.mouse.click(box["x"] + 0.02 * box["width"], box["y"] + 0.9 * box["height"])
    now = read(settled(page))  # the rows of the visit before are in the table until then
    visit, _ = one_visit(LONG, int(now["step"]))
    assert (int(now["i"]), int(now["j"])) == (visit.i, visit.j)
    assert float(now["rows"][str(visit.i * 128)]["m_new"]) == pytest.approx(float(visit.m_new[0]))


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
