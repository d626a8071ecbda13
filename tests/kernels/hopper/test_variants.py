"""Masks by a table, scores and sinks in the Hopper kernel, on a card, against float64."""

import math
from itertools import product

import pytest
import torch

from kernels import hopper
from kernels.hopper import folding
from kernels.spec import scores
from tests.kernels.attention_checks import hopper_only, make_qkv, of_each_width
from tests.kernels.hopper.conftest import PROBLEMS
from tests.kernels.hopper.test_hopper import judge
from tests.kernels.hopper.test_tables import interval_masks

SIZES = PROBLEMS["variants, sizes"]  # n_q, n_k, heads, k_heads
SCORES = ("none", "softcap:30", "alibi", "scale:0.5&softcap:5&scale:2", "scale:2&alibi&scale:0.5")
CASES = [*product((64, 128, 192, 256), ("bf16", "fp16"), SCORES)]


def roundings(score: str) -> int:
    """Count how often a score is rounded. ALiBi: the slope and its quotient by the scale, two
    products, their sum, the sum with S, a row's shift and what is left without it, the scale, m
    times it, the sum with log₂ l, ln 2 and the product with it."""
    return 13 if "alibi" in score else 4


@hopper_only
@pytest.mark.parametrize(("d", "dtype", "score"), CASES)
def test_random_masks(d, dtype, score):
    for turn, (n_q, n_k, heads, k_heads) in enumerate(SIZES):
        q, k, v = make_qkv(
            n_q, d, n_k=n_k, batch=2, heads=heads, k_heads=k_heads, dtype=dtype, seed=turn
        )
        for mask in (*interval_masks(6, n_q, n_k, seed=turn), "causal", "full"):
            o, lse = judge(q, k, v, mask=str(mask), score=score, roundings=roundings(score))
            again = hopper.flash_attention(q, k, v, mask=str(mask), score=score, return_lse=True)
            assert torch.equal(o, again[0]) and torch.equal(lse, again[1]), "repeats are bit-equal"


@hopper_only
@pytest.mark.parametrize("score", ["none", "softcap:30", "alibi"])
@pytest.mark.parametrize(("d", "dtype"), [(64, "bf16"), (128, "fp16")])
def test_sinks(d, dtype, score):
    q, k, v = make_qkv(400, d, n_k=333, batch=2, heads=4, dtype=dtype)
    for mask in ("causal", "full", "causal&window:100,0", "causal&document:0,90,91,200"):
        for sink in (1.5, [-30.0, 0.0, 5.0, 20.0]):
            how = {"mask": mask, "score": score, "sink": sink}
            judge(q, k, v, **how, roundings=roundings(score))


@hopper_only
@of_each_width
def test_many_tiles_large_logits_and_strides(d):
    """More tiles than multiprocessors, of unequal work; a few heads are judged."""
    q, k, v = make_qkv(4096, d, batch=1, heads=24, dtype="bf16")
    for mask in ("causal&window:700,0", "causal&document:0,100,1000,1024,3333", "window:50,300"):
        o, lse = hopper.flash_attention(q, k, v, mask=mask, return_lse=True)
        for h in (0, 11, 23):
            part = [x[:, h : h + 1] for x in (q, k, v)]
            mine, mine_lse = judge(*part, mask=mask)
            assert torch.equal(mine, o[:, h : h + 1]) and torch.equal(mine_lse, lse[:, h : h + 1])
    judge(*make_qkv(515, d, dtype="bf16", q_by=5.0, kv_by=3.0), mask="causal&window:99,0")
    q, k, v = (x.transpose(1, 2) for x in make_qkv(6, d, batch=2, heads=400, dtype="bf16"))
    judge(q, k, v, mask="causal|prefix:100", score="softcap:20")


@pytest.mark.parametrize(("score", "kind"), PROBLEMS["variants, folded"])
def test_which_scores_are_folded(score, kind):
    assert folding.kind(scores.parse(score)) == kind


@pytest.mark.parametrize("score", ["scale:3&softcap:5&scale:0.5", "alibi&scale:3", "scale:2&alibi"])
def test_what_is_folded_is_the_score(score):
    """The kernel's own formula, in float64, gives the judge's scores but for what rows share."""
    score, heads, scale = scores.parse(score), 4, 0.3
    product = torch.randn(5, 7, dtype=torch.float64)
    rows, keys = torch.arange(5)[:, None] + 2, torch.arange(7)[None, :]
    folded = folding.fold(score, None, scale, heads, torch.device("cpu"))
    for head in range(heads):
        s, shift = product, 0.0
        if folding.kind(score) == "softcap":
            s, shift = 1 / (1 + torch.exp2(s * folded.inner)), 0.5
        elif folding.kind(score) == "alibi":
            slope = folded.slopes[head].double()
            s, shift = s + slope * (keys - 2), slope * (rows - 2)
        s = (s - shift) * folded.scale_log2 * math.log(2)
        want = score.apply(product * scale, rows, keys, head, heads)
        torch.testing.assert_close(s, want, atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("sink", [[1.0], float("nan"), [1.0, 2.0, float("inf")]])
def test_a_sink_is_a_number_or_one_a_head(sink):
    with pytest.raises(ValueError, match="sink = "):
        folding.sinks(sink, 3)
