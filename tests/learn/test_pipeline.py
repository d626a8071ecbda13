"""The model of FA-3's overlap: nothing used twice at one time, nothing before what it needs."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from explainer.base.cards import CARDS
from explainer.learn import pipeline
from explainer.learn.blocks import values
from explainer.learn.content import SECTIONS
from explainer.learn.pipeline import EXP, MATRIX, SHOWN, TMA, VARIANTS, busy, makespan, run
from explainer.problem import ProblemError
from tests.effort import assert_light

HANDS = (0.0, 0.05, 0.2)
CASES = [(v, tiles, d, h) for v in VARIANTS for tiles in (1, 2, 6, 17) for d in (64, 128)
         for h in HANDS]  # fmt: skip
WIDGET = pipeline.WIDGETS[0]


@pytest.mark.parametrize(("variant", "tiles", "d", "hand"), CASES)
def test_a_unit_does_one_thing_at_a_time_and_needs_come_first(variant, tiles, d, hand):
    slots = run(variant, tiles, d, hand)
    assert len(slots) == len({s.task.key for s in slots}) == tiles * 8
    for unit in (TMA, MATRIX, EXP):
        mine = sorted((s.start, s.end) for s in slots if s.task.unit == unit)
        assert all(b[0] >= a[1] - 1e-12 for a, b in pairwise(mine))
    at = {s.task.key: s for s in slots}
    for s in slots:
        assert s.end == pytest.approx(s.start + s.task.time)
        for need in s.task.needs:
            crossing = 0.0 if at[need].task.unit == s.task.unit else hand
            assert s.start >= at[need].end + crossing - 1e-12


@pytest.mark.parametrize(("variant", "tiles", "d", "hand"), CASES)
def test_data_flow_holds_whatever_the_variant_says(variant, tiles, d, hand):
    """Judged by attention itself, not by the needs that the variant lists."""
    at = {s.task.key: s for s in run(variant, tiles, d, hand)}
    for j in range(tiles):
        for w in range(2):
            assert at["S", w, j].start >= at["K", -1, j].end + hand - 1e-12
            assert at["exp", w, j].start >= at["S", w, j].end + hand - 1e-12
            assert at["PV", w, j].start >= at["exp", w, j].end + hand - 1e-12
            assert at["PV", w, j].start >= at["V", -1, j].end + hand - 1e-12
            if j >= pipeline.STAGES:  # a buffer is not overwritten while somebody reads it
                assert at["K", -1, j].start >= at["S", w, j - pipeline.STAGES].end - 1e-12
                assert at["V", -1, j].start >= at["PV", w, j - pipeline.STAGES].end - 1e-12


@pytest.mark.parametrize("d", [64, 128])
def test_the_work_is_the_same_in_all_variants(d):
    totals = {v: sorted((s.task.key, s.task.time) for s in run(v, SHOWN, d, 0.05))
              for v in VARIANTS}  # fmt: skip
    assert all(t == totals["serial"] for t in totals.values())


@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("tiles", [6, 128])
@pytest.mark.parametrize("hand", HANDS)
def test_each_variant_is_at_least_as_fast_as_the_one_before(d, tiles, hand):
    serial, producer, pingpong, overlap = (makespan(run(v, tiles, d, hand)) for v in VARIANTS)
    assert serial > producer > pingpong >= overlap - 1e-9
    if hand:
        assert pingpong > overlap
    slots = run("overlap", tiles, d, hand)
    for unit in (TMA, MATRIX, EXP):  # and no faster than any one unit allows
        assert overlap >= sum(s.task.time for s in slots if s.task.unit == unit) - 1e-9


@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("tiles", [1, 6])
@pytest.mark.parametrize("hand", HANDS)
def test_the_serial_one_in_closed_form(d, tiles, hand):
    t = pipeline.durations(d)
    work = t["K"] + t["V"] + 2 * (t["S"] + t["exp"] + t["PV"])
    # Five hand-overs a tile: load → S, S → exp and exp → P V of each consumer; one between tiles.
    wanted = tiles * work + (6 * tiles - 1) * hand
    assert makespan(run("serial", tiles, d, hand)) == pytest.approx(wanted)


def test_durations_by_hand():
    """Of one SM of an H100: 989.4 TFLOP/s, 3.9e12 exponentials, 132 SMs."""
    t = pipeline.durations(128)
    assert t["S"] == pytest.approx(2 * 64 * 128 * 128 * 132 / 989.4e12 * 1e6)
    assert t["exp"] == pytest.approx(64 * 128 * 132 / 3.9e12 * 1e6)
    assert t["K"] == pytest.approx(128 * 128 * 2 * 132 / pipeline.l2_bytes_per_s() * 1e6)
    assert pipeline.durations(64)["exp"] == t["exp"]
    assert pipeline.durations(64)["S"] == pytest.approx(t["S"] / 2)
    # "About 3.9": 16 an SM and clock at the clock that the matrix rate implies (2,048 a clock).
    clock = 989.4e12 / (2 * 2048 * 132)
    assert pytest.approx(16 * 132 * clock, rel=0.02) == pipeline.EXP_TFLOPS * 1e12


def test_busy_by_sampling_and_what_the_intro_says():
    slots = run("pingpong", SHOWN, 128, 0.05)
    times = np.linspace(0, makespan(slots), 200_001)
    works = np.zeros(len(times), bool)
    for s in slots:
        if s.task.unit == MATRIX:
            works |= (times >= s.start) & (times < s.end)
    assert busy(slots) == pytest.approx(works.mean(), abs=1e-3)
    assert pipeline.tflops(slots) == pytest.approx(989.4 * busy(slots))
    words = SECTIONS["pipeline"]["words"]
    fewer = CARDS["h100"].tensor_tflops / pipeline.EXP_TFLOPS
    assert f"{round(fewer, -1):.0f} times fewer" in words
    assert len(words.split()) <= 120


def test_overlap_runs_softmax_beside_the_consumers_own_product():
    """In the last variant only: exponentials of tile j while P V of tile j − 1 of the same."""

    def beside(variant: str) -> int:
        at = {s.task.key: s for s in run(variant, SHOWN, 128, 0.05)}
        pairs = ((at["exp", w, j], at["PV", w, j - 1]) for w in (0, 1) for j in range(1, SHOWN))
        return sum(a.start < b.end and b.start < a.end for a, b in pairs)

    assert [beside(v) for v in VARIANTS][:3] == [0, 0, 0]
    assert beside("overlap") > 0


def blocks(**query: object) -> list[dict]:
    return WIDGET.compute(values(WIDGET, {k: str(v) for k, v in query.items()}))


def test_the_widget_steps_and_labels_what_is_published():
    made = {step: blocks(step=step, variant="overlap") for step in (1, 17, 48)}
    for step, found in made.items():
        lanes = dict(next(b for b in found if b["type"] == "timeline")["lanes"])
        assert sum(len(lanes[u]) for u in (TMA, MATRIX, EXP)) == step
        consumers = sum(len(bars) for name, bars in lanes.items() if "consumer" in name)
        assert consumers == step - len(lanes[TMA])
        assert any(str(b.get("words")).startswith(f"Step {step} of 48") for b in found)
        for name, bars in lanes.items():
            assert all(b[0] >= a[1] - 1e-4 for a, b in pairwise(bars)), f"{name}: bars overlap"
            assert all(len(bar[4]) < len(bar[2]) and bar[5] for bar in bars)
    shown = next(b for b in made[48] if b["type"] == "bars")
    assert [i[0].split(":")[0] for i in shown["items"]] == ["model"] * 4 + ["published"] * 4
    assert [i[1] for i in shown["items"][4:]] == [370, 395, 595, 648]
    assert "published" in shown["label"] and shown["limit"] == 989.4


def test_the_widget_is_small_light_kept_and_refuses():
    run.cache_clear()
    assert_light(blocks, 1_000_000, 8_000_000)  # 356,463 lines, 2.6 MB
    runs = run.cache_info().misses
    # the simulation is kept: 34,595 lines, 27 kB
    found = assert_light(blocks, 100_000, 100_000)
    assert run.cache_info().misses == runs
    assert len(json.dumps(found)) < 40_000
    assert all(b.get("label") or b.get("words") for b in found)
    for bad in ({"step": 0}, {"step": 49}, {"hand": 500}, {"d": 96}, {"variant": "magic"}):
        with pytest.raises(ProblemError):
            blocks(**bad)
