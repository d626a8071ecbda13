"""The bytes that the real kernels move are the bytes of the trace, for every tensor."""

from itertools import product

import pytest

import kernels
from explainer.algorithms.traffic import traffic
from explainer.problem import Problem

pytestmark = pytest.mark.skipif(
    not kernels.INTERPRETED, reason="loads and stores are counted in the interpreter"
)

# n, d, Br, Bc: aligned, ragged, Br < Bc, Br > Bc, one tile, one row
SHAPES = [(16, 8, 4, 4), (37, 12, 5, 16), (37, 16, 16, 5), (33, 8, 33, 33), (1, 3, 1, 1)]


@pytest.mark.pairwise  # which tiles a loop visits hangs on shape, order and mask: all triples run
@pytest.mark.parametrize(
    ("order", "causal"), list(product(["standard", "fa1", "fa2"], [False, True]))
)
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize(("n", "d", "block_q", "block_k"), SHAPES)
def test_counted_is_traced(n, d, block_q, block_k, dtype, causal, order):
    problem = Problem(
        n=n, d=d, block_q=block_q, block_k=block_k, causal=causal, order=order, dtype=dtype
    )
    counted = kernels.count_traffic(
        n, d, block_m=block_q, block_n=block_k, causal=causal, order=order, dtype=dtype
    )
    assert {tensor: both for tensor, both in counted.items() if any(both)} == traffic(problem)


def test_closed_forms():
    """FACTS: FA-2 moves Q + Tr (K + V) + O + lse, standard attention 4Nd + 4N² elements."""
    n, d, block_m, block_n = 32, 8, 8, 16
    options = {"block_m": block_m, "block_n": block_n, "causal": False, "dtype": "fp16"}
    matrix = n * d * 2
    fa2 = kernels.count_traffic(n, d, order="fa2", **options)
    assert fa2["Q"] == (matrix, 0) and fa2["O"] == (0, matrix) and fa2["lse"] == (0, 4 * n)
    assert fa2["K"] == fa2["V"] == (n // block_m * matrix, 0)
    standard = kernels.count_traffic(n, d, order="standard", **options)
    assert sum(map(sum, standard.values())) == 2 * (4 * n * d + 4 * n * n)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"order": "fa3"}, "order = 'fa3'"),
        ({"dtype": "fp8"}, "dtype = 'fp8'"),
        ({"n": 0}, "n = 0"),
        ({"n": 2000, "order": "standard"}, "at most 1,024"),
        ({"n": 16384, "block_m": 16, "block_n": 16}, "tiles"),
    ],
)
def test_bad_arguments(changed, words):
    good = {"n": 8, "d": 4, "block_m": 4, "block_n": 4, "causal": True, "order": "fa2"}
    with pytest.raises(ValueError, match=words):
        kernels.count_traffic(**{**good, "dtype": "fp32", **changed})
