"""Inputs for the kernel tests and the one rule by which their output is judged."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

import kernels

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
UNIT_ROUNDOFF = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}


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


@dataclass(frozen=True)
class Tolerance:
    """Largest absolute errors allowed against float64, and where the bound on O comes from."""

    o: float
    lse: float
    naive_error: float


def tolerance(q, k, v, o_ref, *, causal=False, scale=None, product_roundoff=2.0**-24) -> Tolerance:
    """The rule of flash-attention's tests: twice naive attention's error in the same dtype, plus ε.

    ε covers what any correct kernel may lose: rounding O to its dtype once more, and the fp32
    arithmetic of the scores. Rounding errors of a sum of d products add up like a random walk, to
    about u ‖q‖‖k‖ (u = `product_roundoff`, 2⁻²⁴ for fp32); scaling, subtracting m and exp cost as
    much again each: δ = 4 u scale ‖q‖‖k‖. exp turns δ into a relative error of P, and that moves O
    by at most 2 δ max|V|, and lse by δ.
    """
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    naive = kernels.naive_attention(q, k, v, causal=causal, scale=scale).double()
    naive_error = (naive - o_ref).abs().max().item()
    group = q.shape[1] // k.shape[1]
    q_norm = q.double().norm(dim=-1).amax(-1)
    k_norm = k.double().norm(dim=-1).amax(-1).repeat_interleave(group, 1)
    score_size = (q_norm * k_norm).max().item() * abs(scale)
    delta = 4 * product_roundoff * score_size
    v_max = v.abs().max().item()
    epsilon = 2 * UNIT_ROUNDOFF[q.dtype] * v_max + 2 * delta * v_max
    return Tolerance(2 * naive_error + epsilon, delta + 2e-6, naive_error)


def assert_attention(q, k, v, *, causal=False, scale=None, precision="ieee", **options):
    """Run `flash_attention` and judge O and lse; returns (O, lse) for further checks."""
    o, lse = kernels.flash_attention(
        q, k, v, causal=causal, scale=scale, precision=precision, return_lse=True, **options
    )
    o_ref, lse_ref = kernels.reference_attention(q, k, v, causal=causal, scale=scale)
    roundoff = 2.0**-11 if precision == "tf32" and DEVICE == "cuda" else 2.0**-24
    allowed = tolerance(q, k, v, o_ref, causal=causal, scale=scale, product_roundoff=roundoff)
    assert o.dtype == q.dtype and o.shape == q.shape
    assert lse.dtype == torch.float32 and lse.shape == q.shape[:3]
    error = (o.double() - o_ref).abs().max().item()  # NaN anywhere makes this NaN, and fails
    assert error <= allowed.o, f"O: error {error:.3g}, naive {allowed.naive_error:.3g}, {allowed}"
    seen = lse_ref.isfinite()
    assert torch.equal(lse.isneginf(), ~seen), "lse must be −inf exactly where a row sees no key"
    if seen.any():
        lse_error = (lse.double() - lse_ref)[seen].abs().max().item()
        assert lse_error <= allowed.lse, f"lse: error {lse_error:.3g}, {allowed}"
    return o, lse
