"""Random masks, scores and sinks: O, lse, m and l against dense float64."""

import pytest
import torch

import kernels
from tests.kernels.attention_checks import (
    assert_attention,
    interpreter_only,
    score_error,
)
from tests.kernels.random_masks import Case, run_all

CASES, ON_GPU = 300, 2000
TOGETHER, TOGETHER_ON_GPU = 10, 20


def run(c: Case, number: int) -> None:
    """One case through the kernel and its judges."""
    q, k, v = c.tensors(number)
    how = c.rules(number)
    blocks = {"block_m": c.block_m, "block_n": c.block_n}
    assert_attention(q, k, v, **how, order=c.order, **blocks)
    if c.order == "standard":
        return
    found = kernels.tile_states(q, k, v, **how, order=c.order, **blocks)
    want = kernels.reference_states(q, k, **how, **blocks)
    delta = score_error(q, k, how) + 2e-6
    for mine, true, atol, rtol in zip(found, want, (delta, 0), (0, 2 * delta), strict=True):
        torch.testing.assert_close(mine.cpu().double(), true, atol=atol, rtol=rtol, equal_nan=True)


@interpreter_only
@pytest.mark.parametrize("first", range(0, CASES, TOGETHER))
def test_in_the_interpreter(first, pytestconfig):
    run_all(run, first, TOGETHER, pytestconfig, 40 if pytestconfig.getoption("--full") else 20)


@pytest.mark.gpu
@pytest.mark.parametrize("first", range(0, ON_GPU, TOGETHER_ON_GPU))
def test_on_a_gpu(first, pytestconfig):
    run_all(run, first, TOGETHER_ON_GPU, pytestconfig, 400, ("fp16", "bf16"))
