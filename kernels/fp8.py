"""Attention of inputs rounded to fp8 (e4m3), forward only: scales, and a kernel for Hopper.

e4m3 has 3 bits of mantissa and reaches from 2⁻⁹ to 448, so values are stored with scales: one for
64 rows of Q, one for 128 keys of K, one for each column of V in a head. Each brings the largest
value that it covers to 448. P, which is in 0 … 1, is multiplied by 2⁸ before it is rounded. m, l
and O are fp32. Where there is no Hopper GPU, PyTorch computes the same roundings block by block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import triton

from .checks import check_device, check_is_resolved, check_tensors, is_traced, scale_of
from .hopper import plans, versions
from .hopper.launch import counter_of, describe_rows, why_not_here
from .launching import Launch, on_device
from .spec import masks
from .spec.formats import FORMATS
from .triton_internals import tl

ROWS, KEYS = 64, 128  # that share a scale
CHUNKS = 128, 64  # keys of what `hopper.fp8_kernel` loads at once
LARGEST = FORMATS["e4m3"].largest
TINY = 1e-30  # the least amax that a scale is made of: all values below it are 0
P_LOG2 = 8.0
LOG2E = math.log2(math.e)
# The i-th of 16 keys of V as `hopper.fp8_kernel` wants them.
KEY_ORDER = (0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15)


@triton.jit
def round_e4m3(x):
    """Round fp32 |x| ≤ 448 to e4m3, to nearest even.

    By integers, so that the conversion is exact: Triton's interpreter does not carry into the
    exponent. Below 2⁻⁶ the values are 2⁻⁹ apart, which adding and subtracting 1.5 · 2¹⁴ rounds to.
    """
    bits = x.to(tl.uint32, bitcast=True)
    normal = ((bits + 0x7FFFF + ((bits >> 20) & 1)) & 0xFFF00000).to(tl.float32, bitcast=True)
    return tl.where(tl.abs(x) < 0.015625, (x + 24576.0) - 24576.0, normal).to(tl.float8e4nv)


@triton.jit
def rows_kernel(X, Y, SCALES, stride_b, stride_h, stride_n, H, N, LARGEST, TINY,
                BLOCK: tl.constexpr, D: tl.constexpr):  # fmt: skip
    """Round BLOCK rows of X (B, H, N, d) to e4m3 in Y with one scale of SCALES (B·H, ⌈N/BLOCK⌉)."""
    block, bh = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows = block * BLOCK + tl.arange(0, BLOCK)
    columns = tl.arange(0, D)
    start = X + bh // H * stride_b + bh % H * stride_h
    inside = (rows < N)[:, None]
    x = tl.load(start + rows[:, None] * stride_n + columns, mask=inside, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x)), TINY) / LARGEST
    tl.store(SCALES + bh * tl.num_programs(0) + block, scale)
    y = round_e4m3(x / scale)
    tl.store(Y + (bh * N + rows[:, None]) * D + columns, y, mask=inside)


@triton.jit
def largest_kernel(
    V, MOST, stride_b, stride_h, stride_n, H, N, BLOCK: tl.constexpr, D: tl.constexpr
):
    """Raise MOST (B·H, d) to the largest |V| of BLOCK keys of V (B, H, N, d), by column."""
    block, bh = tl.program_id(0), tl.program_id(1).to(tl.int64)
    keys = block * BLOCK + tl.arange(0, BLOCK)
    columns = tl.arange(0, D)
    start = V + bh // H * stride_b + bh % H * stride_h
    inside = (keys < N)[:, None]
    v = tl.load(start + keys[:, None] * stride_n + columns, mask=inside, other=0.0).to(tl.float32)
    tl.atomic_max(MOST + bh * D + columns, tl.max(tl.abs(v), axis=0))


@triton.jit
def values_kernel(V, Y, MOST, SCALES, stride_b, stride_h, stride_n, H, N, PADDED, LARGEST, TINY,
                  BLOCK: tl.constexpr, D: tl.constexpr):  # fmt: skip
    """Round BLOCK keys of V (B, H, N, d) to e4m3 in Y (B·H, d, PADDED), in the order KEY_ORDER."""
    block, bh = tl.program_id(0), tl.program_id(1).to(tl.int64)
    slots = block * BLOCK + tl.arange(0, BLOCK)
    keys = slots // 16 * 16 + slots % 4 // 2 * 8 + slots % 16 // 4 * 2 + slots % 2
    columns = tl.arange(0, D)
    start = V + bh // H * stride_b + bh % H * stride_h
    inside = (keys < N)[:, None]
    v = tl.load(start + keys[:, None] * stride_n + columns, mask=inside, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.load(MOST + bh * D + columns), TINY) / LARGEST
    if block == 0:
        tl.store(SCALES + bh * D + columns, scale)
    y = tl.trans(round_e4m3(v / scale[None, :]))
    tl.store(Y + (bh * D + columns[:, None]) * PADDED + slots[None, :], y)


@dataclass(frozen=True)
class Quantized:
    """Q (B, H, Nq, d), K (B, Hk, Nk, d), V (B, Hk, d, Nk padded to 128, its keys in KEY_ORDER), all
    e4m3, and their scales, fp32: of q (B, H, ⌈Nq/64⌉), k (B, Hk, ⌈Nk/128⌉), v (B, Hk, d). dtype: of
    the tensors before, and of O. n_k: Nk."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    q_scales: torch.Tensor
    k_scales: torch.Tensor
    v_scales: torch.Tensor
    dtype: torch.dtype
    n_k: int

    def dequantize(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return q, k, v (B, H, N, d) as the rounded values stand for, fp32."""
        n_q, n_k = self.q.shape[2], self.n_k
        q = self.q.float() * self.q_scales.repeat_interleave(ROWS, 2)[:, :, :n_q, None]
        k = self.k.float() * self.k_scales.repeat_interleave(KEYS, 2)[:, :, :n_k, None]
        v = torch.empty_like(self.v, dtype=torch.float32)
        slots = torch.arange(v.shape[3], device=v.device)
        order = torch.tensor(KEY_ORDER, device=v.device)
        v[..., slots // 16 * 16 + order[slots % 16]] = self.v.float()
        return q, k, v[..., :n_k].mT * self.v_scales[:, :, None, :]


def quantize_fp8(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Quantized:
    """Round q (B, H, Nq, d), k and v (B, Hk, Nk, d), d = 64 or 128, to e4m3 with scales.

    All values must be finite; on a GPU they are not checked: that would wait for the device.
    Raises TypeError, ValueError or RuntimeError with one sentence for other input, and for tensors
    without an element.
    """
    check_tensors(q, k, v)
    if is_traced():
        raise RuntimeError(
            "attention_fp8 is not run under torch.compile or torch.vmap: kernels.attention is."
        )
    check_is_resolved(q, k, v)
    check_device(q.device)
    (batch, heads, n_q, d), (_, k_heads, n_k, _) = q.shape, k.shape
    if (d, False) not in plans.FP8:
        raise ValueError(f"d = {d} is not allowed: attention_fp8 takes d = 64 and d = 128.")
    if 0 in q.shape or 0 in k.shape:
        raise ValueError(f"q {tuple(q.shape)} and k {tuple(k.shape)} must not be empty.")
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.device.type == "cpu" and not x.isfinite().all():
            raise ValueError(f"{name} has values that are not finite, for which there is no scale.")
    q, k, v = (x if x.stride(3) == 1 else x.contiguous() for x in (q, k, v))
    padded = -(-n_k // KEYS) * KEYS
    make = partial(torch.empty, device=q.device)
    fp8, scales = partial(make, dtype=torch.float8_e4m3fn), partial(make, dtype=torch.float32)
    result = Quantized(
        fp8((batch, heads, n_q, d)), fp8((batch, k_heads, n_k, d)),
        fp8((batch, k_heads, d, padded)), scales((batch, heads, -(-n_q // ROWS))),
        scales((batch, k_heads, padded // KEYS)), scales((batch, k_heads, d)), q.dtype, n_k,
    )  # fmt: skip
    most = torch.zeros_like(result.v_scales)

    def launch(q, *_):
        for x, block, y, found in (
            (q, ROWS, result.q, result.q_scales), (k, KEYS, result.k, result.k_scales),
        ):  # fmt: skip
            grid = (found.shape[2], x.shape[0] * x.shape[1])
            sizes = (*x.stride()[:3], x.shape[1], x.shape[2])
            _start(rows_kernel, grid, x, y, found, *sizes, LARGEST, TINY, block, d)
        grid = (padded // KEYS, batch * k_heads)
        sizes = (*v.stride()[:3], k_heads, n_k)
        _start(largest_kernel, grid, v, most, *sizes, KEYS, d)
        tensors = v, result.v, most, result.v_scales
        _start(values_kernel, grid, *tensors, *sizes, padded, LARGEST, TINY, KEYS, d)

    on_device(launch, q)
    return result


def _start(kernel: Any, grid: tuple[int, int], *arguments: object) -> None:
    """Launch a Triton kernel."""
    kernel[grid](*arguments)


def attention_fp8(
    q: torch.Tensor | Quantized, k: torch.Tensor | None = None, v: torch.Tensor | None = None, *,
    causal: bool = False, scale: float | None = None, return_lse: bool = False,
    plan: plans.Plan | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Compute attention of q, k, v rounded to e4m3 with scales, forward only.

    q (B, H, Nq, d), k and v (B, Hk, Nk, d), Hk dividing H, d 64 or 128, fp16, bf16 or fp32; or
    one `Quantized` in their place. Causal is aligned bottom-right. Returns O (B, H, Nq, d) in q's
    dtype (bf16 for fp32 on Hopper), with `return_lse` also lse (B, H, Nq), fp32, natural log.
    Raises what `quantize_fp8` raises. ``plan`` overrides `plans.FP8`: that of
    `plans.FP8_ONE_LEVEL` is 4 % faster, and 7 % off where V has a mean.
    """
    masks.from_keywords(causal)  # raises for what is no bool
    if plan is not None and not isinstance(plan, plans.Plan):
        raise TypeError(f"plan must be a plans.Plan or None, not {type(plan).__name__}.")
    if isinstance(q, Quantized):
        if k is not None or v is not None:
            raise ValueError("k and v are not allowed beside a Quantized, which has its own.")
        given = q
    elif k is None or v is None:
        raise ValueError("k and v are missing: attention_fp8 takes q, k, v or one Quantized.")
    else:
        given = quantize_fp8(q, k, v)
    scale, plan = scale_of(scale, given.q.shape[3]), plan or plans.FP8[given.q.shape[3], causal]
    run = _by_blocks if why_not_here(given.q.device) else _on_hopper
    o, lse = on_device(lambda _: run(given, causal, scale, plan), given.q)
    return (o, lse) if return_lse else o


def _on_hopper(
    x: Quantized, causal: bool, scale: float, plan: plans.Plan
) -> tuple[torch.Tensor, torch.Tensor]:
    """Launch `hopper.fp8_kernel`."""
    from .hopper.fp8_kernel import fp8_kernel
    from .hopper.gluon import describe

    (batch, heads, n_q, d), k_heads, n_k = x.q.shape, x.k.shape[1], x.n_k
    plan = plans.fit(plan, n_q, n_k)
    dtype = torch.bfloat16 if x.dtype == torch.float32 else x.dtype
    o = torch.empty(x.q.shape, dtype=dtype, device=x.q.device)
    lse = torch.empty(x.q.shape[:3], dtype=torch.float32, device=x.q.device)
    row_blocks = -(-n_q // plan.block_m)
    tiles = row_blocks * batch * heads
    section = max(1, min(batch * heads, plans.L2_SECTION_BYTES // (2 * n_k * d)))
    programs = tiles // 2 if plan.order == "pairs" else tiles
    rows, *keys = (partial(describe_rows, rows=n) for n in (ROWS, *CHUNKS))
    values = [lambda v, n=n: describe(v, (1, 1, d, n)) for n in CHUNKS]
    launch = Launch(
        fp8_kernel,
        min(programs, torch.cuda.get_device_properties(o.device).multi_processor_count),
        (
            row_blocks, batch * heads, heads, heads // k_heads, n_q, n_k, section,
            scale * LOG2E,
        ),
        {"plan": plan, **versions.OPTIONS},
        boxes=(rows, *keys, *values, rows),
    )  # fmt: skip
    counter = counter_of(o.device)
    scales = x.q_scales, x.k_scales, x.v_scales
    launch(x.q, x.k, x.k, x.v, x.v, o, lse, counter, *scales)
    return o, lse


def _by_blocks(
    x: Quantized, causal: bool, scale: float, plan: plans.Plan
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute what the kernel computes, with its roundings, by PyTorch: O and lse."""
    q, k, v = x.dequantize()
    group = q.shape[1] // k.shape[1]
    k, v = (y.repeat_interleave(group, 1) for y in (k, v))
    n_q, n_k = q.shape[2], k.shape[2]
    visible = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if causal:
        visible = visible.tril(n_k - n_q)
    m = torch.full((*q.shape[:3], 1), -math.inf, device=q.device)
    l, o = torch.zeros_like(m), torch.zeros_like(q)
    top = P_LOG2 - plan.slack
    for start in reversed(range(0, n_k, plan.block_n)):
        block = slice(start, start + plan.block_n)
        s = (q @ k[:, :, block].mT * scale).masked_fill(~visible[:, block], -math.inf)
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        m_new = torch.where(m_new > m + plan.slack / LOG2E, m_new, m)
        safe = m_new.masked_fill(m_new.isneginf(), 0.0)
        alpha, p = torch.exp(m - safe), _exp2((s - safe) * LOG2E + top, plan.linear)
        m, l = m_new, l * alpha + p.sum(-1, keepdim=True)
        o = o * alpha + p.to(torch.float8_e4m3fn).float() @ v[:, :, block]
    o = torch.where(l > 0, o / l, 0.0)
    return o.to(x.dtype), (m + torch.log(l) - top / LOG2E).squeeze(-1)


def _exp2(x: torch.Tensor, linear: int) -> torch.Tensor:
    """Return 2ˣ as `fp8_kernel.exp2_shared` does."""
    if not linear:
        return torch.exp2(x)
    columns = torch.arange(x.shape[-1], device=x.device) // 8 % linear
    fixed = (x.clamp_min(-120.0) + 768.0).view(torch.int32)
    bits = (fixed << 9) - 1082613052
    return torch.where(columns == linear // 2, bits.view(torch.float32), torch.exp2(x))
