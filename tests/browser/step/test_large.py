"""Long sequences: tiles to N = 16,384, and the numbers of the one that is chosen."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from explainer.algorithms.schedule import schedule
from explainer.problem import Problem
from explainer.trace import one_visit, one_visit_backward
from tests.browser.harness import click, focus, open_controls, press, read

LONG = Problem(n=4096, d=64, block_q=128, block_k=64)


def test_choosing_a_tile_of_the_backward_brings_its_numbers(tab):
    at = 500
    page = tab.open(urlencode(LONG.to_query() | {"pass": "backward", "step": at}))
    click(page, "Show the numbers of this tile")
    page.locator(".fa-frame-ds:visible").wait_for()
    click(page, "Check", "tab")
    visit, _, run = one_visit_backward(LONG, at)
    rows = read(page)["rows"]
    assert len(rows) == 128
    for k, (row, stats) in enumerate(sorted(rows.items(), key=lambda x: int(x[0]))):
        assert int(row) == visit.i * 128 + k
        assert float(stats["D"]) == pytest.approx(float(visit.D[k]), rel=1e-6)
        assert float(stats["lse"]) == pytest.approx(float(run.lse[int(row)]), rel=1e-6)
    row, key = visit.i * 128 + 3, visit.j * 64 + 5
    tab.show(urlencode(LONG.to_query() | {"pass": "backward", "step": at}))
    click(page, "Show the numbers of this tile")
    page.locator(".fa-frame-ds:visible").focus()
    for name in ["ArrowDown"] * 3 + ["ArrowRight"] * 5:
        press(page, name)
    said = page.locator(".fa-sram .fa-remark, [data-testid=sentence]").all_inner_texts()
    assert any(f"dS[{row},{key}]" in x or f"{visit.dS[3, 5]:.2g}" in x for x in said), said
    focus(page)
    assert press(page, "ArrowRight")["step"] == str(at + 1)
    assert page.get_by_role("button", name="Show the numbers of this tile").is_visible()


def test_choosing_a_tile_brings_its_numbers(tab):
    page = tab.open(urlencode(LONG.to_query() | {"step": "300"}))
    assert read(page)["rows"] == {} or all(not r["m_new"] for r in read(page)["rows"].values())
    # The drawer opens at what there is to see.
    traffic = page.get_by_role("tab", name="Traffic", exact=True)
    assert traffic.get_attribute("aria-selected") == "true"
    assert page.locator(".fa-panel-traffic").is_visible()
    click(page, "Show the numbers of this tile")
    page.locator(".fa-rows").wait_for()
    visit, _ = one_visit(LONG, 300)
    rows = read(page)["rows"]
    assert len(rows) == 128
    for k, (row, stats) in enumerate(sorted(rows.items(), key=lambda x: int(x[0]))):
        assert int(row) == visit.i * 128 + k
        for name in ("m_old", "m_new", "l_old", "l_new", "alpha"):
            assert float(stats[name]) == pytest.approx(float(getattr(visit, name)[k]), rel=1e-6)
    focus(page)
    assert press(page, "ArrowRight")["step"] == "301"
    assert page.get_by_role("button", name="Show the numbers of this tile").is_visible()
    box = page.locator(".fa-map canvas").bounding_box()
    page.mouse.click(box["x"] + 0.02 * box["width"], box["y"] + 0.9 * box["height"])
    page.locator(".fa-rows").wait_for()
    now = read(page)
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
