"""Masks by a table, scores and sinks in the Hopper kernel, on a card, against float64."""

import math

import pytest
import torch

import kernels
from kernels import hopper
from kernels.hopper import folding
from kernels.spec import masks, scores
from tests.kernels.attention_checks import UNIT_ROUNDOFF, make_qkv, score_error
from tests.kernels.hopper.test_hopper import hopper_only
from tests.kernels.hopper.test_tables import interval_masks

ROUNDOFF = 2.0**-24  # of the fp32 that scores are computed in
SIZES = [
    # n_q, n_k, heads, k_heads
    (300, 517, 4, 4),
    (517, 300, 4, 1),
    (1024, 1024, 6, 2),
    (1, 700, 8, 8),
    (1283, 1283, 2, 2),
    (129, 2000, 160, 40),
]
SCORES = ("none", "softcap:30", "alibi", "scale:0.5&softcap:5&scale:2", "scale:2&alibi&scale:0.5")
CASES = [(d, dtype, score) for d in (64, 128) for dtype in ("bf16", "fp16") for score in SCORES]


def attention(q, k, v, mask, score, sink):
    """O, lse and S of dense attention by the definition, all in the dtype of q."""
    (_, heads, n_q, d), n_k = q.shape, k.shape[2]
    k, v = (x.repeat_interleave(heads // x.shape[1], 1) for x in (k, v))
    rows = torch.arange(n_q, device=q.device)[:, None] + (n_k - n_q)
    keys = torch.arange(n_k, device=q.device)[None, :]
    s = (q * d**-0.5) @ k.transpose(-1, -2)
    for h in range(heads):
        s[:, h] = score.apply(s[:, h], rows, keys, h, heads).to(q.dtype)
    s.masked_fill_(~torch.from_numpy(mask.keep(n_q, n_k).copy()).to(q.device), float("-inf"))
    logits = s
    if sink is not None:
        column = torch.tensor(sink, dtype=q.dtype, device=q.device).view(1, heads, 1, 1)
        logits = torch.cat([s, column.expand(*s.shape[:3], 1)], dim=-1)
    lse = torch.logsumexp(logits, dim=-1)
    p = torch.softmax(logits, dim=-1)[..., :n_k].nan_to_num()
    return p @ v, lse, s


def allowed(q, k, v, expected, mask, score, sink) -> tuple[float, float]:
    """Errors of O and lse by the rule of `attention_checks.tolerance`.

    A score's own arithmetic, in fp32 too, costs as much again, of the size of what is added: of the
    cap, of ALiBi's penalty over a warpgroup's 64 rows, and of the largest score of a row. ALiBi
    rounds 13 times: the slope and its quotient by the scale, two products, their sum, the sum with
    S, a row's shift and what is left without it, the scale, m times it, the sum with log₂ l, ln 2
    and the product with it.
    """
    o, _, s = expected
    naive = attention(q, k, v, mask, score, sink)[0].double()
    top = s.amax(-1)
    sizes = [top.masked_fill(top.isinf(), 0.0).abs().max().item(), *map(abs, sink or ())]
    factor = 1.0
    for name, numbers in score.steps:
        factor *= numbers[0] if name == "scale" else 1.0
        sizes += [numbers[0]] if name == "softcap" else []
        sizes += [64 * scores.slope(0, q.shape[1])] if name == "alibi" else []
    delta = score_error(q, k, max(factor, 1.0) * q.shape[-1] ** -0.5, ROUNDOFF)
    times = 13 if any(name == "alibi" for name, _ in score.steps) else 4
    delta += times * ROUNDOFF * max(factor, 1.0) * sum(sizes)
    epsilon = 2 * (UNIT_ROUNDOFF[q.dtype] + ROUNDOFF + delta) * v.abs().max().item()
    return 2 * (naive - o).abs().max().item() + epsilon, delta + 2e-6


def judge(q, k, v, mask, score="none", sink=None, **more):
    """The kernel's O and lse against dense attention in float64; returns its errors and limits."""
    o, lse = hopper.flash_attention(
        q, k, v, mask=str(mask), score=score, sink=sink, return_lse=True, **more
    )
    told = f"mask = {mask}, score = {score}, sink = {sink}, {tuple(q.shape)}, {tuple(k.shape)}"
    score, sink = scores.parse(score), folding.sinks(sink, q.shape[1])
    expected = attention(q.double(), k.double(), v.double(), mask, score, sink)
    of_o, of_lse = allowed(q, k, v, expected, mask, score, sink)
    error = (o.double() - expected[0]).abs().max().item()
    assert error <= of_o, f"O: {error:.3g}, allowed {of_o:.3g}: {told}"
    seen = expected[1].isfinite()
    assert torch.equal(lse.isneginf(), ~seen), told
    error = (lse.double() - expected[1])[seen].abs().max().item() if seen.any() else 0.0
    assert error <= of_lse, f"lse: {error:.3g}, allowed {of_lse:.3g}: {told}"
    assert not o[~seen].any(), f"a row that sees no key gives 0: {told}"
    return o, lse


@hopper_only
@pytest.mark.parametrize(("d", "dtype", "score"), CASES)
def test_random_masks(d, dtype, score):
    sink = None
    for turn, (n_q, n_k, heads, k_heads) in enumerate(SIZES):
        q, k, v = make_qkv(
            n_q, d, n_k=n_k, batch=2, heads=heads, k_heads=k_heads, dtype=dtype, seed=turn
        )
        for mask in interval_masks(6, n_q, n_k, seed=turn):
            o, lse = judge(q, k, v, mask, score, sink)
            again = hopper.flash_attention(
                q, k, v, mask=str(mask), score=score, sink=sink, return_lse=True
            )
            assert torch.equal(o, again[0]) and torch.equal(lse, again[1]), "repeats are bit-equal"
        judge(q, k, v, masks.parse("causal"), score)
        judge(q, k, v, masks.parse("full"), score)


@hopper_only
@pytest.mark.parametrize("score", ["none", "softcap:30", "alibi"])
@pytest.mark.parametrize(("d", "dtype"), [(64, "bf16"), (128, "fp16")])
def test_sinks(d, dtype, score):
    q, k, v = make_qkv(400, d, n_k=333, batch=2, heads=4, dtype=dtype)
    for mask in ("causal", "full", "causal&window:100,0", "causal&document:0,90,91,200"):
        judge(q, k, v, masks.parse(mask), score, 1.5)
        judge(q, k, v, masks.parse(mask), score, [-30.0, 0.0, 5.0, 20.0])


@hopper_only
@pytest.mark.parametrize("d", [64, 128])
def test_agrees_with_the_readable_kernel(d):
    q, k, v = make_qkv(777, d, n_k=900, batch=2, heads=4, k_heads=2, dtype="bf16")
    for mask in ("causal&window:200,0", "causal|prefix:130", "document:0,300,777", "chunk:250"):
        try:
            o, lse = kernels.flash_attention(q, k, v, mask=mask, return_lse=True)
        except Exception as error:
            pytest.skip(f"the readable kernel: {error}")
        ours, ours_lse = hopper.flash_attention(q, k, v, mask=mask, return_lse=True)
        torch.testing.assert_close(ours_lse, lse, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ours, o, atol=2e-2, rtol=2e-2)


@hopper_only
@pytest.mark.parametrize("d", [64, 128])
def test_many_tiles_large_logits_and_strides(d):
    """More tiles than multiprocessors, of unequal work; a few heads are judged."""
    q, k, v = make_qkv(4096, d, batch=1, heads=24, dtype="bf16")
    for mask in ("causal&window:700,0", "causal&document:0,100,1000,1024,3333", "window:50,300"):
        o, lse = hopper.flash_attention(q, k, v, mask=mask, return_lse=True)
        for h in (0, 11, 23):
            part = [x[:, h : h + 1] for x in (q, k, v)]
            mine, mine_lse = judge(*part, masks.parse(mask))
            assert torch.equal(mine, o[:, h : h + 1]) and torch.equal(mine_lse, lse[:, h : h + 1])
    judge(*make_qkv(515, d, dtype="bf16", q_by=5.0, kv_by=3.0), masks.parse("causal&window:99,0"))
    q, k, v = (x.transpose(1, 2) for x in make_qkv(6, d, batch=2, heads=400, dtype="bf16"))
    judge(q, k, v, masks.parse("causal|prefix:100"), "softcap:20")


@pytest.mark.parametrize(
    ("score", "kind"),
    [
        ("none", "none"),
        ("scale:2", "none"),
        ("scale:2&softcap:5", "softcap"),
        ("alibi", "alibi"),
        ("softcap:5&alibi", None),
        ("bias:1,2", None),
    ],
)
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
