"""Long sequences: tiles to N = 16,384, and the numbers of the one that is chosen."""

from __future__ import annotations

from urllib.parse import urlencode

import numpy as np
import pytest

from explainer.algorithms.schedule import schedule
from explainer.problem import Problem
from explainer.trace import one_visit, one_visit_backward, trace, trace_backward
from explainer.web.wire import pack_visit_backward
from tests.browser.harness import click, focus, open_controls, press, read
from tests.browser.site.hostile import send
from tests.web.test_wire import decode

LONG = Problem(n=4096, d=64, block_q=128, block_k=64)


@pytest.mark.parametrize("order", ["fa2", "fa1", "standard", "fa2_split"])
@pytest.mark.parametrize(
    "rules", [{}, {"mask": "causal&window:4,0", "sink": 0.5}], ids=["causal", "window"]
)
def test_one_visit_is_that_of_the_whole_trace(order, rules):
    given = {"n": 37, "d": 5, "block_q": 6, "block_k": 7, "inputs": "random", "dtype": "bf16"}
    problem = Problem(order=order, **given, **rules)
    whole = trace(problem).visits
    for step, expected in enumerate(whole):
        found, before = one_visit(problem, step)
        for name in ("m_old", "m_new", "l_old", "l_new", "alpha", "S", "P", "O"):
            value = getattr(expected, name)
            assert (getattr(found, name) is None) == (value is None)
            if value is not None:
                np.testing.assert_array_equal(getattr(found, name), value)
        if order == "fa2" and not schedule(problem)[step].first:
            np.testing.assert_array_equal(before.m_new, expected.m_old)


@pytest.mark.parametrize("order", ["fa2", "fa1", "standard"])
@pytest.mark.parametrize(
    "given",
    [
        {"n": 37, "d": 5, "block_q": 6, "block_k": 7, "dtype": "bf16"},
        {"n": 23, "block_q": 5, "block_k": 3, "mask": "full", "score": "softcap:2", "sink": 1.5},
        {"n": 20, "d": 4, "mask": "block:4x4,0.0,2.1,4.1"},  # keys that no row sees
    ],
    ids=["ragged", "sink", "unseen"],
)
def test_one_visit_of_the_backward_is_that_of_the_whole_trace(order, given):
    """All that the wire says of a visit, against the whole trace's own visits and gradients."""
    problem = Problem(order=order, inputs="random", **given)
    t = trace_backward(problem)
    sums: dict = {}
    for step, v in enumerate(t.visits):
        got = decode(pack_visit_backward(problem, step))[1]
        r = slice(0) if v.i is None else slice(v.i * problem.block_q, (v.i + 1) * problem.block_q)
        c = slice(None)
        if v.j is not None:
            c = slice(v.j * problem.block_k, (v.j + 1) * problem.block_k)
        true = {"D": v.D, "S": v.scores, "slope": v.slope, "P": v.P, "dP": v.dP, "dS": v.dS}
        true |= {"part_dQ": v.part_dQ, "acc_dQ": v.dQ, "acc_dK": v.dK, "acc_dV": v.dV}
        true |= {name: getattr(t, name)[r] for name in ("Q", "dO")}
        true |= {name: getattr(t, name)[c] for name in "KV"}
        if v.kind != "skipped":
            blocks = {"dQ": ("i", v.i), "dK": ("j", v.j), "dV": ("j", v.j)}
            own = [
                x for x in blocks if getattr(v, x) is not None or (v.stage, x) == ("scale", "dQ")
            ]
            true |= {f"before_{x}": sums.get((x, *blocks[x])) for x in own}
            if v.stage not in ("dV", "dP"):
                true["O"] = t.O[r]
        written = {x.tensor for x in v.transfers if x.op == "write"} if v.stage != "D" else set()
        for name, block in {"dQ": r, "dK": c, "dV": c}.items():
            whole = order == "fa1" and name == "dQ"  # which is written back at every visit
            if name in written and not whole:
                true[name] = getattr(t, name)[block]
        for name, expected in true.items():
            assert (name in got) == (expected is not None), (step, name)
            if expected is not None:
                np.testing.assert_array_equal(got[name], expected, f"{step} {name}")
        for x, at in {"dQ": ("i", v.i), "dK": ("j", v.j), "dV": ("j", v.j)}.items():
            if getattr(v, x) is not None:
                sums[(x, *at)] = getattr(v, x)


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


@pytest.mark.parametrize("at", ["-1", "x", "1e9", "99999", "", "１"])
def test_no_such_visit_is_a_sentence(server, at):
    query = urlencode(LONG.to_query() | {"at": at})
    status, text = send(server, "GET", f"/fa/visit?{query}")
    assert status == 400 and "the step must be a whole number from 0 to 1,055." in text
