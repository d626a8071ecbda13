"""Inputs for the kernel tests and the one rule by which their output is judged."""

from dataclasses import replace

import pytest
import torch

import kernels
from kernels import fp8
from kernels.hopper.plans import Plan
from kernels.spec import scores
from tests.tables import table

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
UNIT_ROUNDOFF = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
# What many tests are parametrized by, and where some cannot run.
full_and_causal = pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
in_each_dtype = pytest.mark.parametrize("dtype", DTYPES)
of_64_and_128 = pytest.mark.parametrize("d", [64, 128])
of_each_width = pytest.mark.parametrize("d", [64, 128, 192, 256])  # of the Hopper forward's tiles
interpreter_only = pytest.mark.skipif(
    not kernels.INTERPRETED, reason="watches or needs the interpreter: it is not at work here"
)
hopper_only = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability()[0] != 9,
    reason="needs a Hopper GPU: Gluon has no interpreter",
)
# Of queries and keys, in flash-attention's own tests.
PEERS_LENGTHS = table(__file__)
RULES = {"causal", "mask", "score", "sink", "scale"}  # what is computed; other options say how
TF32_ROUNDOFF = 2.0**-10  # the matrix units cut operands to 10 bits of mantissa


def make_qkv(
    n_q, d, *, n_k=None, batch=1, heads=1, k_heads=None, dtype="fp32", seed=0, q_by=1.0, kv_by=1.0
):
    """Standard normal q, k, v times a factor, made on the CPU: every device gets the same."""
    random = torch.Generator().manual_seed(seed)
    n_k, k_heads = n_k or n_q, k_heads or heads

    def draw(h, n, factor):
        x = torch.randn(batch, h, n, d, generator=random) * factor
        return x.to(DTYPES[dtype]).to(DEVICE)

    return draw(heads, n_q, q_by), draw(k_heads, n_k, kv_by), draw(k_heads, n_k, kv_by)


def score_error(q, k, rules, roundoff=2.0**-24, roundoff_of_added=4 * 2.0**-24) -> float:
    """δ: what the arithmetic of a score may lose, as an absolute error.

    Rounding errors of a sum of d products add up like a random walk, to about u ‖q‖‖k‖ scale;
    scaling, subtracting m and exp cost as much again each, so δ = 4 u ‖q‖‖k‖ scale. A modification
    multiplies it; each addition, of a sink too, rounds its result, as does the product with a soft
    cap.
    """
    factor, added = 1.0, 0.0
    for name, numbers in scores.parse(rules.get("score") or "none").steps:
        if name == "scale":
            factor, added = factor * abs(numbers[0]), added * abs(numbers[0])
        elif name == "softcap":
            added += numbers[0]
        elif name == "alibi":
            added += max(q.shape[2], k.shape[2]) * 2.0 ** (-8 / q.shape[1])
        elif name == "bias":
            added += max(map(abs, numbers))
    if rules.get("sink") is not None:
        added += torch.as_tensor(rules["sink"]).abs().max().item()
    scale = rules.get("scale")
    factor *= q.shape[-1] ** -0.5 if scale is None else abs(scale)
    group = q.shape[1] // k.shape[1]
    q_norm = q.double().norm(dim=-1).amax(-1)
    k_norm = k.double().norm(dim=-1).amax(-1).repeat_interleave(group, 1)
    return 4 * roundoff * (q_norm * k_norm).max().item() * factor + roundoff_of_added * added


def tolerance(q, k, v, rules, o_ref, order, key_blocks, tf32, roundings) -> tuple[float, float]:
    """Return the largest errors of O and lse that are allowed against float64, by the rule of
    flash-attention's tests: twice naive attention's error in the same dtype, plus ε.

    ε covers what any correct kernel may lose: rounding O to its dtype (FA-1 does so at each of its
    `key_blocks` visits: a random walk), and the error δ of a score, which exp turns into a relative
    error of P, which moves O by at most 2 δ max|V|, and lse by δ. Standard attention rounds the
    scores themselves, which is in naive's error of O already, and adds u max|S| to that of lse.
    What a score or a sink adds is rounded `roundings` times.
    """
    unit = UNIT_ROUNDOFF[q.dtype]
    roundoff = TF32_ROUNDOFF if tf32 else 2.0**-24
    naive_error = (kernels.naive_attention(q, k, v, **rules).double() - o_ref).abs().max().item()
    delta = score_error(q, k, rules, roundoff, roundings * 2.0**-24)
    v_max = v.abs().max().item()
    visits = key_blocks**0.5 if order == "fa1" else 1.0
    epsilon = 2 * (unit * visits + roundoff + delta) * v_max
    lse = delta + 2e-6
    if order == "standard":
        lse += unit * score_error(q, k, rules, 0.25, 1.0)
    return 2 * naive_error + epsilon, lse


def assert_attention(
    q, k, v, attend=None, *, order="fa2", precision="ieee", roundings=4, **options
):
    """Run `flash_attention`, or `attend` with only those keywords that are given; judge O and lse,
    and return them for further checks."""
    given = {name: x for name, x in options.items() if x is not None and x is not False}
    rules = {name: given[name] for name in given.keys() & RULES}
    key_blocks = -(-k.shape[2] // given.get("block_n", 32))
    if attend is None:
        attend, given = kernels.flash_attention, given | {"order": order, "precision": precision}
    o, lse = attend(q, k, v, **given, return_lse=True)
    o_ref, lse_ref = kernels.reference_attention(q, k, v, **rules)
    tf32 = precision == "tf32" and DEVICE == "cuda"
    of_o, of_lse = tolerance(q, k, v, rules, o_ref, order, key_blocks, tf32, roundings)
    assert o.dtype == q.dtype and o.shape == (*q.shape[:-1], v.shape[-1])
    assert lse.dtype == torch.float32 and lse.shape == q.shape[:3]
    error = (o.double() - o_ref).abs().max().item()  # NaN anywhere makes this NaN, and fails
    assert error <= of_o, f"O: error {error:.3g}, allowed {of_o:.3g}"
    seen = lse_ref.isfinite()
    assert torch.equal(lse.isneginf(), ~seen), "lse must be −inf exactly where a row sees no key"
    assert not o[~seen].any(), "a row that sees no key gives 0"
    if seen.any():
        lse_error = (lse.double() - lse_ref)[seen].abs().max().item()
        assert lse_error <= of_lse, f"lse: error {lse_error:.3g}, allowed {of_lse:.3g}"
    return o, lse


def assert_same_roundings(
    given: fp8.Quantized, causal: bool, plan: Plan, of_o: float, of_lse: float
) -> torch.Tensor:
    """Judge O (of relative error) and lse of attention in fp8 by PyTorch's, with the kernel's own
    roundings; return O."""
    o, lse = kernels.attention_fp8(given, causal=causal, return_lse=True, plan=plan)
    exact = replace(given, dtype=torch.float32)
    expected, lse_expected = fp8._by_blocks(exact, causal, given.q.shape[3] ** -0.5, plan)
    visible = torch.isfinite(lse_expected)
    assert torch.equal(visible, torch.isfinite(lse)) and not o.isnan().any()
    assert (o.float() - expected).norm() / expected.norm() < of_o
    assert (lse - lse_expected)[visible].abs().max() < of_lse
    return o
