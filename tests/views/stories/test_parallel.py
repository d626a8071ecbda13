"""Parallel's chapters against the schedules, the records and the trace that they speak of."""

import re
from typing import Any, cast

import numpy as np
import pytest

from explainer.base.kinds import measured
from explainer.base.records import load
from explainer.memory.workload import Workload
from explainer.parallel import durations, launch
from explainer.parallel.simulator import Schedule, read_schedule
from explainer.views.stories import parallel_schedule, parallel_sms, parallel_warps, placed

W = Workload(block_q=128)
RECORD = load("placement_nvidia_h200")["rows"]


def row_of(order: str, causal: bool, heads: int = 16) -> dict:
    same = {"order": order, "causal": causal, "n": 4096, "heads": heads}
    (row,) = (r for r in RECORD if same.items() <= r.items())
    return row


def test_a_card_shows_which_programs_run_and_how_far_they_are():
    found: Any = parallel_sms.chapter(W, {})
    for k, (card, order) in enumerate(zip(found["picture"]["cards"], ("fa1", "fa2"), strict=True)):
        programs = np.array(row_of(order, False)["programs"])  # SM, start and end in ns
        assert card["span"] == pytest.approx((programs[:, 2].max() - programs[:, 1].min()) / 1e3)
        for beat in found["beats"]:
            now = 1e3 * beat["time"] + programs[:, 1].min()
            runs = (programs[:, 1] <= now) & (now < programs[:, 2])
            fills = np.array(beat["fills"][k]).reshape(132, card["slots"])
            assert (fills >= 0).sum() == runs.sum()
            assert set(np.flatnonzero((fills >= 0).any(axis=1))) == set(programs[runs, 0])
            assert f"{(programs[:, 2] <= now).sum():,} done" == beat["done"][k]


@pytest.mark.parametrize("rows", ["causal", "full"])
def test_the_lanes_are_the_simulated_and_the_recorded_schedule(rows):
    found: Any = parallel_schedule.chapter(W, {"rows": rows})
    row = row_of("fa2", rows == "causal")
    w = durations.workload_of(row)
    schedules = durations.schedule(w, "fa2"), read_schedule(row)
    for lane, s in zip(found["picture"]["lanes"], schedules, strict=True):
        bars = np.array(lane["programs"])[:, 2:4]
        times = np.transpose([s.start, s.end]) - s.start.min()
        np.testing.assert_allclose(np.sort(bars, 0), np.sort(times, 0), atol=0.01)
        assert lane["ends"] == sorted(lane["ends"], reverse=True)
        assert f"{100 * s.tail:.1f}\u00a0%" in lane["tail"][2]
    off = 100 * abs(schedules[0].makespan / schedules[1].makespan - 1)
    assert f"{off:.1f} %" in found["sentence"] and "never seen" in found["sentence"]


@pytest.mark.parametrize(("order", "rows"), [("fa2", "causal"), ("fa2", "full"), ("fa1", "causal")])
def test_words_on_the_bars_name_what_runs_first_and_what_then(order, rows):
    found: Any = parallel_schedule.chapter(W, {"order": order, "rows": rows})
    row = row_of(order, rows == "causal")
    s = read_schedule(row)
    visits = launch.programs(durations.workload_of(row), order).visits
    first, later, begun = [], [], set()
    for p in np.argsort(s.start, kind="stable"):
        place = (s.sm[p], s.slot[p])
        (later if place in begun else first).append(int(visits[p]))
        begun.add(place)
    named = [
        [[int(x) for x in re.findall(r"\d+", words)] for words in wording]
        for wording in found["picture"]["lanes"][-1]["order"]
    ]
    if (order, rows) == ("fa2", "causal"):
        assert max(later) <= min(first)
        lane = found["picture"]["lanes"][-1]
        for (share, begin, end), one in zip(lane["rooms"], (first, later), strict=True):
            sm = np.argsort(s.last_ends, kind="stable")[::-1][int(share * 132)]
            runs = (s.sm == sm) & (s.start < end) & (s.end > begin)
            assert begin < end and set(visits[runs]) <= set(one), "only what the words name"
        assert named == 2 * [[[min(first), max(first)], [min(later), max(later)]]]
    else:  # All programs are alike
        assert named == []


def test_words_on_the_bars_are_left_out_where_the_rows_are_mixed():
    schedule = Schedule(
        start=np.array([0.0, 0, 4, 2]),
        end=np.array([4.0, 2, 8, 6]),
        sm=np.array([0, 1, 0, 1]),
        slot=np.zeros(4, int),
        sms=2,
        slots=1,
    )
    label = parallel_schedule.label_order
    assert label(schedule, np.array([2, 8, 4, 6])) == []
    assert label(schedule, np.array([2, 2, 4, 6])) == [
        ["first the rows of 2 tiles", "then those of 4 to 6"],
        ["2 tiles", "4 to 6"],
    ]


def test_a_launch_of_which_few_sms_are_drawn_has_rooms_for_its_words():
    many = Workload(card="t4", n=8192, block_q=16, block_k=16, batch=8, heads=8)
    lane = cast(Any, parallel_schedule.chapter(many, {}))["picture"]["lanes"][0]
    assert lane["rows"] == 4 and all(begin < end for _, begin, end in lane["rooms"])


def test_a_changed_record_changes_the_picture(monkeypatch):
    before: Any = parallel_schedule.chapter(W, {})
    late = row_of("fa2", True)
    programs = [[sm, start, end + 100_000] for sm, start, end in late["programs"]]
    monkeypatch.setattr(placed, "find_row", lambda *_: late | {"programs": programs})
    after: Any = parallel_schedule.chapter(W, {})
    assert after["sentence"] != before["sentence"]
    assert after["picture"]["lanes"][1]["span"] > before["picture"]["lanes"][1]["span"] + 99


def test_a_launch_that_ran_just_now_is_shown_in_its_own_tiles():
    row = row_of("fa2", False)
    found: Any = parallel_schedule.chapter(Workload(), {"rows": "full"}, row, measured("a card"))
    assert "measured on a card" in found["provenance"]
    assert found["picture"]["lanes"][1]["span"] == pytest.approx(row["makespan_us"], rel=1e-3)
    assert parallel_schedule.parse_launch(W, {"order": "fa1", "rows": "causal"}) == (
        Workload(block_q=128, mask="causal"),
        "fa1",
    )


def test_the_warps_say_the_bytes_and_the_numbers_of_their_tile():
    found: Any = parallel_warps.chapter(W, {})
    k, q = found["picture"]["lanes"]
    # m and ℓ: four warps write 8 numbers and read 32 each; PV: they write 8 × 8 and read a quarter
    assert (
        k["total"] == "3.25 KiB" == f"{(2 * 4 * (4 * 8 + 4 * 32) + 2 * 4 * 4 * 64) / 1024:.3g} KiB"
    )
    assert q["total"] == "0 B"
    for beat in found["beats"]:
        one, other = (lane["matrix"] for lane in beat["lanes"])
        assert one == other, "one tile, shared out in two ways"
        for marked, count in zip((lane["marked"] for lane in beat["lanes"]), (32, 8), strict=True):
            assert len(marked) in (0, count)
    start = found["beats"][found["start"]]
    assert [x["size"] for x in start["lanes"][0]["shared"]] == ["32 B"] * 4
    assert not start["lanes"][1]["shared"]
