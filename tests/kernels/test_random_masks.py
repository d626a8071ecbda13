"""Random masks, scores and sinks: O, lse, m and l against dense float64."""

from __future__ import annotations

import pytest
import torch

import kernels
from kernels.spec.predicates import PREDICATES
from tests.kernels.attention_checks import (
    assert_attention,
    interpreter_only,
    make_qkv,
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


ALONE = [
    "window:4,3",
    "dilated:3",
    "prefix:5",
    "global:4",
    "document:0,4,9",
    "chunk:6",
    "block:4x5,0.0-1,2.2",
]
assert {word.partition(":")[0] for word in ALONE} == {*PREDICATES} - {"full", "causal"}


@pytest.mark.parametrize("order", ["fa2", "fa1", "standard"])
@pytest.mark.parametrize("mask", ALONE)
def test_queries_that_stand_before_the_first_key(mask, order):
    """Rows below 0: whole numbers divide otherwise in a kernel than in Python."""
    q, k, v = make_qkv(30, 8, n_k=17)
    assert_attention(q, k, v, mask=mask, order=order, block_m=8, block_n=8)


@pytest.mark.gpu
@pytest.mark.parametrize("first", range(0, ON_GPU, TOGETHER_ON_GPU))
def test_on_a_gpu(first, pytestconfig):
    run_all(run, first, TOGETHER_ON_GPU, pytestconfig, 400, ("fp16", "bf16"))
