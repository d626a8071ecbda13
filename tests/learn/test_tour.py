"""What the chapters say is true of the Problem and the place that they show."""

from __future__ import annotations

import numpy as np
import pytest

from explainer.algorithms import tiling
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import least, total, traffic
from explainer.learn.tour import CHAPTERS, chapters
from explainer.memory import tile_choices
from explainer.memory.traffic_series import DRAM, gains
from explainer.memory.workload import Workload
from explainer.problem import Problem
from explainer.trace import trace


def chapter(word: str):
    return next(c for c in CHAPTERS if word in c.title)


SPIKE, FULL, SMALL_TILES = (chapter(w).problem for w in ("whole row", "race", "Small tiles"))


def of(problem: Problem, **changes: object) -> Problem:
    return Problem.from_query(problem.to_query() | {k: str(v) for k, v in changes.items()})


@pytest.mark.parametrize("c", CHAPTERS, ids=lambda c: c.title)
def test_short_and_at_a_place_that_exists(c):
    assert len(c.text.split()) <= 60
    assert Problem.from_query(c.query()) == c.problem
    steps = schedule(c.problem)
    if c.mode is None:
        assert c.step < len(steps) and c.phase in steps[c.step].phases
    assert chapters()[CHAPTERS.index(c)]["query"]["step"] == str(c.step)
    assert 10 <= len(CHAPTERS) <= 12


def test_the_spike_is_where_the_tour_looks():
    visit = trace(SPIKE).visits[chapter("whole row").step]
    assert visit.S.max() == pytest.approx(30, rel=0.01) and visit.S.max() == trace(SPIKE).S.max()
    with np.errstate(over="ignore"):
        assert np.isinf(np.exp(visit.S.max().astype(np.float16)))
        assert f"{np.finfo(np.float16).max:,.0f}" == "65,504" and "65,504" in chapter("whole").text


def test_the_first_chapter_says_why():
    c = CHAPTERS[0]
    assert c.problem.order == "standard" and c.title.startswith("Why")
    n, d, size = 16_384, 64, 2
    assert n * n * size == 512 * 2**20 and "N = 16,384 in fp16 they take 512 MiB" in c.text
    assert n * n / (4 * n * d) == 64 and "64 times as much as Q, K, V and O" in c.text
    step = schedule(c.problem)[c.step]
    assert step.stage == "scores" and [t.tensor for t in step.transfers if t.op == "write"] == ["S"]
    assert all(s.stage != "scores" for s in schedule(c.problem)[c.step + 1 :]), "all S is written"


def test_every_row_rises_at_the_new_maximum():
    of_two = (chapter("first"), chapter("new maximum"))
    first, then = (trace(c.problem).visits[c.step] for c in of_two)
    assert np.isneginf(first.m_old).all()
    assert (first.i, first.j + 1) == (then.i, then.j)
    assert len(then.m_new) == 4 and (then.m_new > then.m_old).all()
    last = schedule(chapter("last tile").problem)[chapter("last tile").step]
    assert last.i == then.i and "store" in last.phases


def test_six_skipped_four_crossed_six_full():
    assert tiling.counts(Problem()) == {"full": 6, "partial": 4, "skipped": 6}


def test_ragged_in_both_directions():
    c = chapter("ragged")
    step = schedule(c.problem)[c.step]
    visit = trace(c.problem).visits[c.step]
    assert visit.S.shape == (2, 4) and step.kind == "partial"


def test_small_tiles_as_told():
    text = chapter("Small tiles").text
    for tile, told in ((32, "0.41"), (64, "0.30")):
        sizes = {"br": tile, "bc": tile}
        fa2, standard = (total(of(SMALL_TILES, order=o, **sizes)) for o in ("fa2", "standard"))
        assert f"{fa2 / standard:.2f}" == told and told in text
    p = SMALL_TILES
    once = {o: least(p.n, p.d, p.dtype, o) for o in ("fa2", "standard")}
    assert f"{once['standard'] / once['fa2']:.0f} times" == "17 times" and "17 times" in text
    dram = [gains(Workload(d=p.d, block_q=s, block_k=s))[DRAM] for s in (16, 32, 64, 128)]
    assert f"{min(dram):.0f} to {max(dram):.0f} times fewer" in text and "4,096" in text
    cells = {(c["block_m"], c["block_n"]): c["tflops"] for c in tile_choices.cells(Workload(d=p.d))}
    assert cells[32, 32] / max(cells.values()) == pytest.approx(0.25, abs=0.01)
    assert cells[128, 64] == max(cells.values()) and "a quarter of the speed of 128 × 64" in text


def test_small_tiles_race_when_only_standard_is_left():
    sums = {o: total(of(SMALL_TILES, order=o)) for o in ("standard", "fa1", "fa2")}
    visits = max(len(schedule(of(SMALL_TILES, order=o))) for o in sums)
    quantum = -(-max(sums.values()) // visits)
    step = chapter("Small tiles").step
    over = {o: -(-bytes_ // quantum) - 1 <= step for o, bytes_ in sums.items()}
    assert over == {"standard": False, "fa1": True, "fa2": True}


def test_who_spends_on_what_and_who_is_first():
    spent = {order: traffic(of(FULL, order=order)) for order in ("standard", "fa1", "fa2")}
    sums = {o: {t: r + w for t, (r, w) in moved.items()} for o, moved in spent.items()}
    assert set(sorted(sums["standard"], key=sums["standard"].get)[-2:]) == {"S", "P"}
    assert max(sums["fa1"], key=sums["fa1"].get) == "O"
    assert set(sorted(sums["fa2"], key=sums["fa2"].get)[-2:]) == {"K", "V"}
    totals = {order: sum(s.values()) for order, s in sums.items()}
    assert min(totals, key=totals.get) == "fa2"
    quantum = -(-max(totals.values()) // len(schedule(of(FULL, order="standard"))))
    tick = chapter("race").step
    assert -(-totals["fa2"] // quantum) - 1 <= tick < -(-totals["fa1"] // quantum) - 1
