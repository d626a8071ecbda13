"""Tile kinds against the dense mask that they summarise."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from explainer.algorithms import tiling
from tests import by_hand
from tests.test_problem import problems


@given(problems(most_n=40, most_d=1))
def test_kinds_are_those_of_the_dense_mask(problem):
    n, br, bc = problem.n, problem.block_q, problem.block_k
    padded = np.zeros((problem.Tr * br, problem.Tc * bc), bool)
    padded[:n, :n] = by_hand.seen(problem)
    found = tiling.kinds(problem)
    assert found.shape == (problem.Tr, problem.Tc)
    for i in range(problem.Tr):
        for j in range(problem.Tc):
            tile = padded[i * br : (i + 1) * br, j * bc : (j + 1) * bc]
            expected = "skipped" if not tile.any() else "full" if tile.all() else "partial"
            assert tiling.KINDS[found[i, j]] == expected, (i, j)
    assert sum(tiling.counts(problem).values()) == problem.Tr * problem.Tc


@given(problems(most_n=60, most_d=1))
def test_blocks_partition_rows_and_keys(problem):
    rows = np.arange(problem.n)
    for part, count in ((tiling.rows, problem.Tr), (tiling.cols, problem.Tc)):
        np.testing.assert_array_equal(
            np.concatenate([rows[part(problem, b)] for b in range(count)]), rows
        )
