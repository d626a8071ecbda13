"""The kernel and the picture: tile states, O and lse of the kernels are those of the trace."""

from itertools import product

import numpy as np
import pytest
import torch

import kernels
from explainer.problem import Problem
from explainer.trace import trace
from tests.kernels.attention_checks import DEVICE, DTYPES, UNIT_ROUNDOFF, score_error

# n, d, Br, Bc: the default Problem, ragged, Br < Bc, Br > Bc, one row
SHAPES = [(16, 8, 4, 4), (37, 12, 5, 16), (29, 16, 16, 6), (1, 2, 1, 1)]


def run_both(problem):
    traced = trace(problem)
    q, k, v = (
        torch.tensor(np.array(x))[None, None].to(DTYPES[problem.dtype]).to(DEVICE)
        for x in (traced.Q, traced.K, traced.V)
    )
    for given, used in zip((traced.Q, traced.K, traced.V), (q, k, v), strict=True):
        assert np.array_equal(used[0, 0].cpu().float().numpy(), given), "inputs must be exact"
    options = {
        "causal": problem.causal,
        "order": problem.order,
        "block_m": problem.block_q,
        "block_n": problem.block_k,
    }
    o, lse = kernels.flash_attention(q, k, v, return_lse=True, **options)
    return traced, q, k, v, o[0, 0].cpu().float().numpy(), lse[0, 0].cpu().numpy(), options


def assert_output(problem, traced, q, k, v, o, lse):
    """Two correct runs differ by the fp32 arithmetic of a score (δ each), and where that decides
    a rounding of P or O to the dtype, by two units there; FA-1 rounds O at every visit."""
    unit = UNIT_ROUNDOFF[q.dtype]
    delta = 2 * score_error(q, k, problem.scale, 2.0**-24) + 1e-6
    visits = problem.Tc**0.5 if problem.order == "fa1" else 1
    v_max = v.abs().max().item()
    np.testing.assert_allclose(o, traced.O, rtol=0, atol=(4 * unit * visits + delta) * v_max)
    rounded = problem.order == "standard"  # S itself is rounded: a tie may fall either way
    lse_atol = delta + (2 * unit * np.abs(traced.S[np.isfinite(traced.S)]).max() if rounded else 0)
    np.testing.assert_allclose(lse, traced.lse, rtol=0, atol=lse_atol)


@pytest.mark.pairwise  # which tiles a loop visits hangs on shape, order and mask: all triples run
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize(("order", "causal"), list(product(["fa1", "fa2"], [False, True])))
@pytest.mark.parametrize("inputs", ["rising", "random"])
@pytest.mark.parametrize(("n", "d", "block_q", "block_k"), SHAPES)
def test_states_and_output(n, d, block_q, block_k, inputs, order, causal, dtype):
    problem = Problem(
        n=n, d=d, block_q=block_q, block_k=block_k, causal=causal, order=order, dtype=dtype,
        inputs=inputs,
    )  # fmt: skip
    traced, q, k, v, o, lse, options = run_both(problem)
    assert_output(problem, traced, q, k, v, o, lse)

    m, l = (x[0, 0].cpu().numpy() for x in kernels.tile_states(q, k, v, **options))
    assert m.shape == (problem.Tr, problem.Tc, block_q)
    expected = np.full((2, *m.shape), np.nan, np.float32)
    for visit in traced.visits:
        if visit.kind != "skipped":
            expected[0, visit.i, visit.j, : len(visit.m_new)] = visit.m_new
            expected[1, visit.i, visit.j, : len(visit.l_new)] = visit.l_new
    delta = 2 * score_error(q, k, problem.scale, 2.0**-24) + 1e-6
    np.testing.assert_allclose(m, expected[0], rtol=0, atol=delta)
    np.testing.assert_allclose(l, expected[1], rtol=2 * delta)


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize(("n", "d", "block_q", "block_k"), SHAPES)
def test_standard_output(n, d, block_q, block_k, causal, dtype):
    problem = Problem(
        n=n, d=d, block_q=block_q, block_k=block_k, causal=causal, order="standard", dtype=dtype
    )
    traced, q, k, v, o, lse, _ = run_both(problem)
    assert_output(problem, traced, q, k, v, o, lse)
