"""The warps of a tile against the trace of the same tile, and their bytes against arithmetic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explainer.algorithms import tiling
from explainer.algorithms.transfers import PHASES
from explainer.base.fields import WARPS as COUNTS
from explainer.base.fields import ProblemError
from explainer.parallel.warp_loops import ORDERS
from explainer.parallel.warps import warps
from explainer.problem import Problem
from explainer.trace import Visit, trace

# Square, ragged in rows and keys, Br < Bc, Br > Bc, fewer rows or keys than warps, one element.
PROBLEMS = [
    Problem(n=16, d=8, block_q=8, block_k=8, causal=False, inputs="random"),
    Problem(n=16, d=8, block_q=8, block_k=8, causal=True, inputs="rising"),
    Problem(n=21, d=5, block_q=8, block_k=6, causal=True, inputs="random", seed=3),
    Problem(n=21, d=5, block_q=6, block_k=9, causal=False, inputs="random", seed=4, dtype="fp16"),
    Problem(n=11, d=4, block_q=3, block_k=5, causal=True, inputs="spike", dtype="fp16"),
    Problem(n=11, d=4, block_q=7, block_k=1, causal=True, inputs="random", dtype="bf16"),
    Problem(n=70, d=16, block_q=64, block_k=32, causal=False, inputs="random"),
    Problem(n=1, d=1, block_q=1, block_k=1),
]
IDS = [f"{p.n}x{p.d} {p.block_q}/{p.block_k} {p.is_causal} {p.dtype}" for p in PROBLEMS]
# Sums taken in another order; fa1 rounds O to the dtype, where the last bit may then differ.
RELATIVE = {"fp32": 3e-6, "fp16": 2e-3, "bf16": 1.6e-2}


def tiles(problem: Problem) -> list[tuple[int, int]]:
    found = np.argwhere(tiling.kinds(problem) != tiling.KINDS.index("skipped"))
    return [(int(i), int(j)) for i, j in found]


def visit(problem: Problem, split: str, i: int, j: int) -> Visit:
    true = trace(replace(problem, order=ORDERS[split]))
    return next(v for v in true.visits if (v.i, v.j) == (i, j))


def pieces_of(step, tensor: str) -> list:
    return [h for h in step.pieces if h.tensor == tensor]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("problem", PROBLEMS, ids=IDS)
@pytest.mark.parametrize("split", ORDERS)
def test_the_warps_hold_the_tile_of_the_trace_and_end_where_it_does(problem, split, count):
    """Put together, the warps' slices of S, P and O give the trace's, each element once."""
    for i, j in tiles(problem):
        got, true = warps(problem, i, j, split, count), visit(problem, split, i, j)
        np.testing.assert_array_equal(got.m_new, true.m_new)
        np.testing.assert_allclose(got.l_new, true.l_new, rtol=3e-6)
        rtol = RELATIVE[problem.dtype] if split == "k" else 3e-6
        np.testing.assert_allclose(got.O, true.O, rtol=rtol, atol=rtol)
        phases = list(dict.fromkeys(step.phase for step in got.steps))
        assert phases == [p for p in PHASES if p in {*true.phases, "store"}]
        r, c = tiling.rows(problem, i), tiling.cols(problem, j)
        pieces = {}
        for step in got.steps:
            for name in ("S", "P", "O"):
                pieces[name] = pieces_of(step, name) or pieces.get(name)
        if split == "k":  # what a warp knows is of its own keys alone
            own = {x: [h.values for s in got.steps for h in pieces_of(s, x)] for x in "ml"}
            assert len(own["m"]) == len(own["l"]) == min(count, c.stop - c.start)
            np.testing.assert_array_equal(np.maximum.reduce(own["m"]), true.row_max)
            np.testing.assert_allclose(sum(own["l"]), true.row_sum, rtol=3e-6)
        for name, parts in pieces.items():
            whole = np.full(getattr(true, name).shape, np.nan, np.float32)
            for h in parts:
                rows = slice(h.rows[0] - r.start, h.rows[1] - r.start)
                keys = slice(h.keys[0] - c.start, h.keys[1] - c.start) if h.keys else slice(None)
                assert len(h.warps) == 1 and np.isnan(whole[rows, keys]).all()
                whole[rows, keys] = h.values
            slack = RELATIVE[problem.dtype] if name == "O" else 3e-6
            np.testing.assert_allclose(whole, getattr(true, name), rtol=slack, atol=slack)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("problem", PROBLEMS, ids=IDS)
def test_bytes_and_barriers(problem, count):
    for i, j in tiles(problem):
        k, q = (warps(problem, i, j, split, count) for split in "kq")
        rows = min(problem.n, (i + 1) * problem.block_q) - i * problem.block_q
        keys = min(problem.n, (j + 1) * problem.block_k) - j * problem.block_k
        writers = min(count, keys)
        statistics = 4 * writers * rows * (1 + count)  # m once, l once
        assert k.exchanged_bytes == 2 * statistics + 2 * 4 * writers * rows * problem.d
        assert k.barriers == 4
        assert q.exchanged_bytes == 0
        assert q.barriers == 1
        assert [s.phase for s in k.steps] == [s.phase for s in q.steps]
        assert [s.part for s in k.steps] == [s.part for s in q.steps]
        assert all(not s.exchanges for s in q.steps)


def test_a_read_follows_a_barrier_that_follows_the_writes():
    for step_before, step in zip(
        (steps := warps(PROBLEMS[0], 1, 0, "k").steps), steps[1:], strict=False
    ):
        if step.part != "read":
            continue
        assert (step.barriers, step_before.part, step_before.phase) == (1, "write", step.phase)
        assert {x.op for x in step_before.exchanges} == {"write"}
        assert {x.op for x in step.exchanges} == {"read"}
        assert {x.tensor for x in step.exchanges} == {x.tensor for x in step_before.exchanges}
        assert [x.warp for x in step.exchanges] == [0, 1, 2, 3]


def test_slices_as_array_split_makes_them():
    problem = Problem(n=10, d=2, block_q=3, block_k=10, causal=False)
    found = warps(problem, 1, 0, "q", 4)
    assert found.key_slices == ((0, 3), (3, 6), (6, 8), (8, 10))
    assert found.row_slices == ((3, 4), (4, 5), (5, 6), (6, 6))
    assert "0 to 1 rows" in found.steps[0].sentence


@pytest.mark.parametrize(
    ("problem", "i", "j", "count", "words"),
    [
        (PROBLEMS[0], 0, 0, 3, "warps = 3 is not allowed: the number of warps must be one of"),
        (PROBLEMS[0], 2, 0, 4, "i = 2 is not allowed: the row block i must be a whole number from"),
        (PROBLEMS[0], 0, "x\n" * 99, 4, "j = x?x?x?"),
        (PROBLEMS[0], 0, 2, 4, "j = 2 is not allowed: the key block j must be a whole number from"),
        (PROBLEMS[1], 0, 1, 4, "the key block j that row block 0 sees must be a whole number from"),
        (Problem(n=300, block_q=129, block_k=8), 0, 0, 4, "br = 129 is not allowed"),
        (Problem(n=300, block_q=8, block_k=300), 0, 0, 4, "bc = 300 is not allowed"),
        (Problem(n=16384, block_q=1, block_k=1, inputs="random"), 0, 0, 4, "tiles"),
    ],
)
def test_refusals_name_field_value_and_range(problem, i, j, count, words):
    with pytest.raises(ProblemError) as caught:
        warps(problem, i, j, "k", count)
    assert words in str(caught.value) and "\n" not in str(caught.value)
