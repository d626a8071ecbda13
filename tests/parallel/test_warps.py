"""The bytes and barriers of a tile's warps against arithmetic."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from explainer.algorithms import tiling
from explainer.base.fields import WARPS as COUNTS
from explainer.parallel.warps import warps
from explainer.problem import Problem
from tests.test_problem import problems


def tiles(problem: Problem) -> list[tuple[int, int]]:
    found = np.argwhere(tiling.kinds(problem) != tiling.KINDS.index("skipped"))
    return [(int(i), int(j)) for i, j in found]


@settings(max_examples=60)
@given(problems(most_n=24, most_d=6), st.sampled_from(COUNTS))
def test_bytes_and_barriers(problem, count):
    for i, j in tiles(problem):
        k, q = (warps(problem, i, j, split, count) for split in "kq")
        rows = min(problem.n, (i + 1) * problem.block_q) - i * problem.block_q
        keys = min(problem.n, (j + 1) * problem.block_k) - j * problem.block_k
        writers = min(count, keys)
        statistics = 4 * writers * rows * (1 + count)  # m once, l once
        assert k.moved == 2 * statistics + 2 * 4 * writers * rows * problem.d
        assert k.barriers == 4
        assert q.moved == 0
        assert q.barriers == 1
        assert [s.phase for s in k.steps] == [s.phase for s in q.steps]
        assert [s.part for s in k.steps] == [s.part for s in q.steps]
        assert all(not s.exchanged for s in q.steps)


def test_a_read_follows_a_barrier_that_follows_the_writes():
    for step_before, step in zip(
        (steps := warps(Problem(block_q=8, block_k=8), 1, 0, "k").steps), steps[1:], strict=False
    ):
        if step.part != "read":
            continue
        assert (step.barriers, step_before.part, step_before.phase) == (1, "write", step.phase)
        assert [*step_before.exchanged] == [*step.exchanged] == [0, 1, 2, 3]


def test_slices_as_array_split_makes_them():
    problem = Problem(n=10, d=2, block_q=3, block_k=10, causal=False)
    keys, rows = (warps(problem, 1, 0, split, 4) for split in "kq")
    assert keys.slices == ((0, 3), (3, 6), (6, 8), (8, 10))
    assert rows.slices == ((0, 1), (1, 2), (2, 3), (3, 3))
    assert "0 to 1 rows" in rows.steps[0].sentence
