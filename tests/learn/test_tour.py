"""What the chapters say is true of the Problem and the place that they show."""

import re

import numpy as np
import pytest

from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import both, compulsory_bytes, requested_bytes, traffic
from explainer.base.amounts import amount
from explainer.learn.tour import CHAPTERS, Chapter, chapters
from explainer.memory import tile_choices
from explainer.memory.traffic_series import DRAM, gains, points
from explainer.memory.workload import Workload
from explainer.problem import Problem
from explainer.trace import trace, trace_backward


def chapter(word: str) -> Chapter:
    return next(c for c in CHAPTERS if word in c.title)


SPIKE, FULL, SMALL_TILES = (chapter(w).problem for w in ("whole row", "race", "Small tiles"))


def of(problem: Problem, **changes: object) -> Problem:
    return Problem.from_query(problem.to_query() | {k: str(v) for k, v in changes.items()})


@pytest.mark.parametrize("c", CHAPTERS, ids=lambda c: c.title)
def test_short_and_at_a_place_that_exists(c):
    assert len(c.text.split()) <= 60
    assert Problem.from_query(c.query()) == c.problem
    steps = schedule(c.problem, c.pass_)
    if c.mode is None:
        assert c.step < len(steps) and c.phase in steps[c.step].phases
    told = chapters()[CHAPTERS.index(c)]
    assert told["query"]["step"] == str(c.step) and told["pass"] == c.pass_
    assert told["query"].get("pass", "forward") == c.pass_


def test_the_forward_first_and_both_short():
    passes = [c.pass_ for c in CHAPTERS]
    assert passes == sorted(passes, reverse=True), "one pass after the other"
    assert 10 <= passes.count("forward") <= 12 and 7 <= passes.count("backward") <= 9


def test_the_spike_is_where_the_tour_looks():
    visit = trace(SPIKE).visits[chapter("whole row").step]
    assert visit.S.max() == pytest.approx(30, rel=0.01) and visit.S.max() == trace(SPIKE).S.max()
    with np.errstate(over="ignore"):
        assert np.isinf(np.exp(visit.S.max().astype(np.float16)))


def test_the_first_chapter_says_why():
    c = CHAPTERS[0]
    assert c.problem.order == "standard" and c.title.startswith("Why")
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


def test_ragged_in_both_directions():
    c = chapter("ragged")
    step = schedule(c.problem)[c.step]
    visit = trace(c.problem).visits[c.step]
    assert visit.S.shape == (2, 4) and step.kind == "partial"


def test_small_tiles_as_told():
    text = chapter("Small tiles").text
    for tile, told in ((32, "0.41"), (64, "0.30")):
        sizes = {"br": tile, "bc": tile}
        fa2, standard = (
            both(traffic(of(SMALL_TILES, order=o, **sizes))) for o in ("fa2", "standard")
        )
        assert f"{fa2 / standard:.2f}" == told and told in text
    p = SMALL_TILES
    once = {o: compulsory_bytes(p.n, p.d, p.dtype, o) for o in ("fa2", "standard")}
    assert f"{once['standard'] / once['fa2']:.0f} times" == "17 times" and "17 times" in text
    dram = [
        gains(points(Workload(d=p.d, block_q=s, block_k=s)))[1][DRAM] for s in (16, 32, 64, 128)
    ]
    assert f"{min(dram):.0f} to {max(dram):.0f} times fewer" in text and "4,096" in text
    cells = {(c["block_m"], c["block_n"]): c["tflops"] for c in tile_choices.cells(Workload(d=p.d))}
    assert cells[32, 32] / max(cells.values()) == pytest.approx(0.25, abs=0.01)
    assert cells[128, 64] == max(cells.values()) and "a quarter of the speed of 128 × 64" in text


@pytest.mark.parametrize(
    ("word", "finished"),
    [("Small tiles", {"fa1", "fa2"}), ("race", {"fa2"}), ("Against standard", {"fa2"})],
)
def test_a_race_is_shown_when_these_have_finished(word, finished):
    """A tick moves so many bytes that standard attention takes one for each visit."""
    c = chapter(word)
    orders = {"standard", "fa2"} | ({"fa1"} if c.pass_ == "forward" else set())
    sums = {o: both(traffic(of(c.problem, order=o), c.pass_)) for o in orders}
    quantum = -(-sums["standard"] // len(schedule(of(c.problem, order="standard"), c.pass_)))
    assert {o for o in orders if -(-sums[o] // quantum) - 1 <= c.step} == finished


def test_who_spends_on_what():
    spent = {order: traffic(of(FULL, order=order)) for order in ("standard", "fa1", "fa2")}
    sums = {o: {t: r + w for t, (r, w) in moved.items()} for o, moved in spent.items()}
    assert set(sorted(sums["standard"], key=sums["standard"].get)[-2:]) == {"S", "P"}
    assert max(sums["fa1"], key=sums["fa1"].get) == "O"
    assert set(sorted(sums["fa2"], key=sums["fa2"].get)[-2:]) == {"K", "V"}


# ---- the backward -------------------------------------------------------------------------------


def visited(word: str):
    """The chapter, its visit with numbers, and the whole pass."""
    c = chapter(word)
    t = trace_backward(c.problem)
    return c, t.visits[c.step], t


def test_standard_attention_reads_the_P_that_it_kept():
    c, visit, _ = visited("P again")
    assert c.problem.order == "standard"
    assert ("P", "read") in {(t.tensor, t.op) for t in visit.transfers if t.phase == c.phase}


def test_D_comes_before_all_tiles():
    c, visit, _ = visited("small kernel first")
    assert visit.stage == "D" and {x.tensor for x in visit.transfers} == {"O", "dO", "D", "dQ"}
    assert schedule(c.problem, "backward")[c.problem.Tr].stage is None


@pytest.mark.parametrize("word", ["computed again", "fills", "and dS", "added", "column ends"])
def test_blocks_and_parts_are_those_that_the_text_names(word):
    c, visit, _ = visited(word)
    blocks = {"QO": visit.i, "KV": visit.j}
    for name, digit in re.findall("([QKVO])([₀-₃])", c.text):
        assert "₀₁₂₃".index(digit) == next(x for names, x in blocks.items() if name in names)
    assert visit.stage is None
    in_column, in_row = (
        [k for k, s in enumerate(schedule(c.problem, "backward")) if s.stage is None and of(s)]
        for of in (lambda s: s.j == visit.j, lambda s: s.i == visit.i)
    )
    if word == "fills":
        assert in_column.index(c.step) == 1 and len(in_column) == 3
        assert "the second of the three row blocks" in c.text
    if word == "added":
        assert in_row.index(c.step) == 1 and len(in_row) == 3
        assert "three key blocks add: this is the second" in c.text
        adds = [x for x in visit.transfers if x.op == "add"]
        assert [x.tensor for x in adds] == ["dQ"] and adds[0].nbytes == 4 * 4 * 8, "in fp32"
    if word == "column ends":
        stored = [x for x in visit.transfers if x.op == "write"]
        assert in_column[-1] == c.step and {x.tensor for x in stored} == {"dK", "dV"}
        assert f"{amount(sum(x.nbytes for x in stored))}," in c.text


def test_one_gradient_travels():
    c, visit, t = visited("Keys outside")
    added = {x.tensor for v in t.visits if v.stage is None for x in v.transfers if x.op == "add"}
    assert added == {"dQ"} and visit.kind == "full" and c.problem.order == "fa2"
    tiles = [(v.j, v.i) for v in t.visits if v.stage is None]
    assert tiles == sorted(tiles), "down each column"


def test_against_standard_as_told():
    c = chapter("Against standard")
    p, of_order = c.problem, ("fa2", "standard")
    sizes = p.n, p.d, p.mask, p.dtype
    fa2, standard = (requested_bytes(*sizes, o, p.block_q, p.block_k, "backward") for o in of_order)
    assert f"{fa2 / standard:.2f} times standard attention's bytes" in c.text
    once = [compulsory_bytes(p.n, p.d, p.dtype, o, p.mask, "backward") for o in of_order]
    assert f"compulsory bytes are {once[1] / once[0]:.0f} times fewer" in c.text
    moved = traffic(of(p, order="standard"), "backward")
    assert {"P", "dP", "dS"} <= moved.keys() and not {"lse", "S"} & moved.keys()
