"""The trace over devices: the storyboard's table, one softmax, the race, the lesson's numbers."""

from dataclasses import replace

import numpy as np
import pytest

from explainer import trace
from explainer.base.fields import ProblemError
from explainer.base.records import load, rows_where
from explainer.parallel import devices
from explainer.problem import Problem
from kernels.spec import layouts

SMALL = Problem(n=32, d=8, block_q=4, block_k=4, mask="causal", inputs="random")
MASKS = ("causal", "full", "causal&window:5,0", "window:3,9")
TILES = {
    "contiguous": [[3, 0, 0, 0], [3, 4, 0, 0], [3, 4, 4, 0], [3, 4, 4, 4]],
    "head-tail": [[3, 2, 2, 2]] * 4,
}


@pytest.mark.parametrize("layout, makespan, busy", [("contiguous", 15, 0.6), ("head-tail", 9, 1)])
def test_table_of_the_storyboard(layout, makespan, busy):
    run = devices.trace(SMALL, 4, layout)
    assert run.tiles.tolist() == TILES[layout]
    assert (run.makespan, run.busy) == (makespan, busy)
    assert (run.hop_bytes, run.hops, run.hop_bytes * run.hops * 4) == (512, 3, 6144)
    assert len(run.visits) == 36


@pytest.mark.parametrize("layout", layouts.LAYOUTS)
def test_row_25_ends_as_one_softmax_does(layout):
    """Whatever the order of the parts; the first bars are the storyboard's."""
    visits = devices.trace(SMALL, 4, layout).visits
    last = {one.step: one for one in visits if one.visit.i == 25 // SMALL.block_q}
    parts = [last[step] for step in sorted(last)]
    m, l = ([float(getattr(one.visit, name)[1]) for one in parts] for name in ("m_new", "l_new"))
    assert (round(m[-1], 2), round(l[-1], 2)) == (1.77, 7.57)
    first = {"contiguous": [(0.92, 1.10), (1.24, 4.49), (1.77, 4.92)], "head-tail": [(1.04, 3.77)]}
    for got, want in zip(zip(m, l, strict=True), first[layout], strict=False):
        assert tuple(round(x, 2) for x in got) == want
    owners = {"contiguous": [3, 2, 1, 0], "head-tail": [1, 0, 3, 2]}
    assert [one.owner for one in parts] == owners[layout]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("layout", layouts.LAYOUTS)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_is_the_attention_of_one_device(count, layout, mask):
    """O and lse of every row; each visible tile once, on the device that holds its rows, at a tick
    in which that device does nothing else."""
    problem = replace(SMALL, block_k=2, mask=mask)
    run, one = devices.trace(problem, count, layout), trace.trace(problem)
    np.testing.assert_allclose(run.O, one.O, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(run.lse, one.lse, rtol=1e-6)
    tiles = {(v.visit.i, v.visit.j) for v in run.visits}
    assert tiles == {(v.i, v.j) for v in one.visits if v.j is not None}
    assert len({(v.device, v.tick) for v in run.visits}) == len(run.visits) == len(tiles)
    for v in run.visits:
        assert (v.device, v.owner) == (run.of_rows[v.visit.i], run.of_keys[v.visit.j])
        assert run.starts[v.step] <= v.tick < run.starts[v.step + 1]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("layout", layouts.LAYOUTS)
def test_each_device_visits_the_tiles_that_the_kernels_are_called_for(layout, mask):
    """In the same step: the calls of `kernels.ring_attention`, tile by tile."""
    problem = replace(SMALL, block_k=2, mask=mask)
    counts = layouts.counts(32, 4, layout)
    runs = layouts.runs(counts, layout)
    at = [np.concatenate([np.arange(*run) for run in each]) for each in runs]
    called = np.zeros((4, 4, 32, 32), bool)
    for device, steps in enumerate(layouts.plan(counts, counts, layout, problem.mask)):
        for step, parts in enumerate(steps):
            for part in parts:
                rows = at[device][part.rows]
                keys = at[layouts.source(device, step, 4)][part.keys]
                called[device, step][np.ix_(rows, keys)] = part.mask.keep(len(rows), len(keys))
    tiles = called.reshape(4, 4, 8, 4, 16, 2).any((3, 5))
    visits = devices.trace(problem, 4, layout).visits
    assert {*zip(*tiles.nonzero(), strict=True)} == {
        (v.device, v.step, v.visit.i, v.visit.j) for v in visits
    }


def test_a_tile_on_two_devices_is_refused():
    with pytest.raises(ProblemError, match="on two GPUs"):
        devices.trace(Problem(n=32, block_q=8, block_k=4), 4, "head-tail")


def test_race_on_one_clock():
    free = {one.method: one for one in devices.race(SMALL, 4, 0.0)}
    methods = ["contiguous", "head-tail", "all-gather", "ulysses"]
    assert [free[name].makespan for name in methods] == [15, 9, 9, 9]
    slow = {one.method: one for one in devices.race(SMALL, 4, 3.0)}
    assert slow["head-tail"].exposed == 2  # of steps with 3, 2 and 2 tiles, which hide their hop
    assert slow["all-gather"].exposed == 6 and slow["all-gather"].makespan == 15
    assert slow["ulysses"].received * 2 == slow["head-tail"].received  # of P = 4: 4/P of it


def limit(gpus: int) -> float:
    """The share of time that GPUs with contiguous rows compute under a causal mask, as tiles get
    ever smaller: the last one computes its own triangle and a square of each other one's keys."""
    return gpus / (2 * gpus - 1)


@pytest.mark.parametrize("gpus", [2, 4])
def test_contiguous_rows_keep_gpus_busy_no_longer_than_the_limit(gpus):
    busy = devices.trace(
        Problem(n=64, block_q=1, block_k=1, inputs="random"), gpus, "contiguous"
    ).busy
    assert limit(gpus) < busy < 1.05 * limit(gpus)


def test_parts_in_bf16_are_to_be_merged_in_fp32():
    """As the lesson says: in fp32 the error stays that of the parts, in bf16 it adds up."""
    error = {(row["parts"], row["into"]): row["mean"] for row in load(devices.RECORD)["merges"]}
    assert error[32, "fp32"] < 1.05 * error[2, "fp32"] and error[32, "bf16"] > 2 * error[2, "bf16"]


def test_recorded_speed_of_contiguous_rows_is_near_the_limit():
    """Of the longest causal sequence; each method stands beside one GPU with the same kernels."""
    found = {(one.n, one.mask, one.method): one for one in devices.recorded_rows()}
    longest = max(n for n, *_ in found)
    speed = found[longest, "causal", "ring contiguous"].speedup["forward"]
    assert speed == pytest.approx(limit(2), rel=0.1)
    rows = {row["method"]: row["forward"]["median_ms"] for row in recorded(longest)}
    for method, base in (("ring head-tail", "ours"), ("context_parallel cudnn alltoall", "cudnn")):
        half = rows[f"one GPU {base}"] / 2
        assert found[longest, "causal", method].speedup["forward"] == half / rows[method]


def recorded(n: int) -> list[dict]:
    return rows_where(devices.RECORD, n=n, mask="causal")
