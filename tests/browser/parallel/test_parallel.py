"""The Parallel page: one slider answers why FA-1 was slow; real schedules beside simulated ones."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from explainer.pages.parallel import CASES, PLAIN, VIEWS
from explainer.pages.workload import parse
from explainer.parallel import additions, durations, real_schedules, split_keys
from tests.browser.harness import click, field, keys, query_of, settled


def open_page(tab, **query: str):
    tab.goto(urlencode({"page": "parallel", **query}))
    tab.page.wait_for_selector('[data-testid="parallel"]')
    return tab.page


def finding(page) -> str:
    return page.locator(".fa-finding:visible").first.inner_text()


def test_one_slider_answers_why_fa1_was_slow_at_batch_one(tab):
    page = open_page(tab, **{"par-h": "8"})
    page.wait_for_selector(".fa-main:visible .js-plotly-plot >> nth=1")
    assert "FA-1 has 8 programs for the 132 SMs" in finding(page)
    assert "leaves 124 of them idle" in finding(page)
    page.get_by_role("slider", name="Batch B").focus()
    keys(page, *["ArrowRight"] * 15)
    page.wait_for_function(
        "document.querySelector('.fa-figure-page .fa-finding:not([hidden])') && "
        "[...document.querySelectorAll('.fa-finding')].some((n) => n.textContent.includes("
        "'B × H = 128: FA-1 has 128 programs'))"
    )
    assert query_of(page)["par-b"] == "16"


def test_a_switch_shows_the_key_blocks_of_the_backward_pass(tab):
    page = open_page(tab, **{"par-mask": "causal"})
    page.wait_for_selector('[data-view="grid-figures"]')
    field(page, "Backward", "radio").check()
    card = page.locator(".fa-additions:visible")
    card.wait_for()
    w = parse({"mask": "causal"}, PLAIN)
    found = additions.compare_orders(additions.of_workload(w))
    assert f"{found.unequal:,} of {found.entries:,} entries" in card.inner_text()
    assert "one per head and key block" in finding(page)
    s = durations.schedule(w, "fa2", pass_="backward")
    assert f"{s.makespan:,.0f} visits" in page.locator(".fa-facts").inner_text()
    assert query_of(page)["par-pass"] == "backward"
    click(page, VIEWS["warps"], "radio")
    settled(page)
    assert field(page, "Backward", "radio").count() == 0


def test_the_real_schedule_stands_under_the_simulated_one(tab):
    page = open_page(tab, **{"par-view": "real", "par-case": "fa1-full"})
    for case in ("fa1-full", *(other for other in CASES if other != "fa1-full")):
        click(page, CASES[case], "radio")
        settled(page)
        off = float(page.locator('[data-view="real"]').get_attribute("data-off"))
        assert off == pytest.approx(real_schedules.of_case(case).makespan, abs=1e-6)
        assert abs(off) <= 0.10
        assert "recorded on NVIDIA H200" in page.locator('[data-view="real-figures"]').inner_text()
        assert page.get_by_role("button", name="Record this launch here").count() == 0
        assert query_of(page).get("par-case", PLAIN["case"]) == case


def test_warps_step_with_the_keys_of_the_player(tab):
    page = open_page(tab, **{"par-view": "warps"})
    page.wait_for_selector('[data-testid="warps"][data-step="0"][aria-busy="false"]')
    warps = page.locator('[data-testid="warps"]')
    warps.focus()
    page.keyboard.press("End")
    steps = int(warps.get_attribute("data-steps"))
    assert warps.get_attribute("data-step") == str(steps - 1)
    lanes = {
        split: page.locator(f'[data-testid="warps"] [data-split="{split}"]').evaluate(
            "node => ({ ...node.dataset })"
        )
        for split in "kq"
    }
    assert (lanes["k"]["bytes"], lanes["k"]["barriers"]) == ("3328", "4")
    assert (lanes["q"]["bytes"], lanes["q"]["barriers"]) == ("0", "1")
    assert query_of(page)["par-step"] == str(steps - 1)
    page.reload()
    page.wait_for_selector(f'[data-testid="warps"][data-step="{steps - 1}"]')
    page.locator('[data-testid="warps"]').focus()
    page.keyboard.press("Home")
    assert warps.get_attribute("data-step") == "0"
    assert "par-step" not in query_of(page)


def test_decoding_splits_the_keys(tab):
    page = open_page(tab, **{"par-view": "decode", "par-n": "16384", "par-h": "1"})
    page.wait_for_selector('[data-view="decode"]')
    rows = split_keys.recorded_rows(parse({"n": "16384", "h": "1"}, PLAIN))
    best = min(rows, key=lambda r: r["median_ms"])
    assert f"splitting the keys into {best['splits']} parts took" in finding(page)
    table = page.locator(".fa-combine table")
    assert table.locator("tbody tr").count() == 5
