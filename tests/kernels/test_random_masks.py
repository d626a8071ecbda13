"""Random masks, scores and sinks: O, lse, m and l against dense float64, and FlexAttention's O."""

from __future__ import annotations

import random

import pytest
import torch

import kernels
from kernels.measure import flex
from kernels.spec import masks, scores
from tests.kernels.attention_checks import (
    DEVICE,
    assert_attention,
    make_qkv,
    modified_error,
    score_error,
)
from tests.kernels.random_masks import NAMES, Case, run_all
from tests.kernels.random_masks import mask as random_mask

CASES, ON_GPU = 300, 2000
TOGETHER, TOGETHER_ON_GPU = 10, 20


def run(c: Case, number: int) -> None:
    """One case through the kernel and its judges."""
    q, k, v = c.tensors(number)
    how = c.rules(number)
    how["scale"] = c.d**-0.5 if c.scale is None else c.scale
    blocks = {"block_m": c.block_m, "block_n": c.block_n}
    assert_attention(q, k, v, **how, order=c.order, **blocks)
    if c.order == "standard":
        return
    found = kernels.tile_states(q, k, v, **how, order=c.order, **blocks)
    want = kernels.reference_states(q, k, **how, **blocks)
    factor, added = modified_error(q, k, c.score, how["sink"])
    delta = score_error(q, k, how["scale"], 2.0**-24) * factor + 4 * 2.0**-24 * added + 2e-6
    for mine, true, atol, rtol in zip(found, want, (delta, 0), (0, 2 * delta), strict=True):
        torch.testing.assert_close(mine.cpu().double(), true, atol=atol, rtol=rtol, equal_nan=True)


@pytest.mark.skipif(not kernels.INTERPRETED, reason="on a GPU the next test runs more of them")
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
assert {word.partition(":")[0] for word in ALONE} == set(NAMES) - {"causal"}


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


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mask", ["causal", "causal&window:30,0|prefix:9", "block:32x16,0.0-1,2.3"])
def test_a_kept_launch_with_tables_and_a_sink(mask, seed):
    """Other addresses, another sink, the same prepared call: three times each."""
    for dtype in ("fp16", "bf16"):
        for turn in range(3):
            q, k, v = make_qkv(200, 64, heads=4, dtype=dtype, seed=3 * seed + turn)
            sink = torch.randn(4, device=DEVICE)
            how = {"mask": mask, "score": "softcap:20&alibi", "sink": sink}
            for order in ("fa2", "fa1", "standard"):
                assert_attention(q, k, v, **how, order=order)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
@pytest.mark.parametrize(
    ("mask", "score", "sink"),
    [
        ("causal", "alibi", None),
        ("causal", "softcap:30", None),
        ("causal&window:100,0", "none", 0.5),
        ("causal|prefix:70", "scale:0.5", None),
        ("causal&document:0,100,256,300", "none", None),
        ("chunk:90&causal|global:8", "none", -1.0),
        ("dilated:7&window:200,90|window:20,20", "softcap:5&alibi", None),
    ],
)
def test_flex_attention_agrees(mask, score, sink, dtype):
    agree_with_flex(mask, score, sink, dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(24))
def test_flex_attention_agrees_on_random_masks(seed, pytestconfig):
    if not pytestconfig.getoption("--full"):
        pytest.skip("FlexAttention compiles for seconds: only under --full")
    agree_with_flex(random_mask(random.Random(seed), 384), "none", None, ("fp16", "bf16")[seed % 2])


def agree_with_flex(mask: str, score: str, sink: float | None, dtype: str) -> None:
    """Each is within the rule of the float64 truth, so that both differ by twice that at most."""
    torch._dynamo.reset()
    q, k, v = make_qkv(384, 64, batch=2, heads=4, dtype=dtype)
    o, _ = assert_attention(q, k, v, mask=mask, score=score, sink=sink)
    asked = masks.parse(mask), scores.parse(score), sink
    compiled = torch.compile(flex.flex_attention, dynamic=False)
    other = flex.attention(q, k, v, *asked, compiled)()
    truth, _ = kernels.reference_attention(q, k, v, mask=mask, score=score, sink=sink)
    naive = kernels.naive_attention(q, k, v, mask=mask, score=score, sink=sink)
    allowed = 2 * (naive.double() - truth).abs().max().item() + 2 * torch.finfo(q.dtype).eps
    assert (o.double() - other.double()).abs().max().item() <= 2 * allowed
