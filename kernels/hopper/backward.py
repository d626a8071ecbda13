"""Launch the backward pass on Hopper: what it takes, its plan, its three kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from ..configs import pad
from ..fa2_backward import scale_kernel
from ..launching import Launch, allocator, once, refuse_capture
from ..spans import by_keys
from ..spec import masks, scores
from ..tables import SPANS
from . import backward_plans, backward_wide, folding, plans, tables, versions
from .launch import (
    by_tma,
    counter_of,
    describe_list,
    describe_rows,
    unsupported_tensors,
    why_not_here,
)

WIDEST = 128  # head dimension of `backward_kernel`; beyond it those of `backward_wide` run
HALF = 64  # rows and columns of a box of dQ; rows of one of dK and dV
# Key blocks of a head that run at once where their additions are serialized: few, since each waits
# for the one before it, or few heads, which L2 holds; masked, fewer: they are shorter.
TOGETHER = {False: 12, True: 3}
ENDS_ROWS = 64  # of one program of `before_kernel`: divides a tile's rows
SCALED = 4096  # numbers of one program that scales dQ


def why_not(q, k, v, mask: masks.Mask, score: scores.Score, scale: float) -> str:
    """Return in one sentence why `prepare` does not take this input; "" if it does.

    q (B, H, Nq, d), k and v (B, Hk, Nk, d), v also of another head dimension, as
    `kernels.flash_attention` has checked them, with a row and a key at least.
    """
    return why_not_here(q.device) or why_not_this(q, k, v, mask, score, scale)


def why_not_this(q, k, v, mask: masks.Mask, score: scores.Score, scale: float) -> str:
    """Return what `why_not` does, on any machine."""
    is_wide = max(q.shape[3], v.shape[3]) > WIDEST
    if folding.kind(score) not in ("none", *["alibi"] * (not is_wide)):
        return (
            f"score = {score.text[:80]}: the Hopper backward takes scale, of a positive number, "
            f"and one alibi for d up to {WIDEST}."
        )
    if mask == SPANS and len(q) > 1:
        return f"B = {len(q)}: the Hopper backward takes the spans of one batch."
    if mask != SPANS and tables.spans(mask, q.shape[2], k.shape[2], True) is None:
        return (
            f"mask = {mask.text[:80]}: some key is seen by more than one interval of rows, and the "
            "Hopper backward takes one."
        )
    if is_wide and mask != SPANS and tables.spans(mask, q.shape[2], k.shape[2]) is None:
        return (
            f"mask = {mask.text[:80]}: some row sees more than one interval of keys, and the "
            f"Hopper backward takes one for d above {WIDEST}."
        )
    if q[..., 0].numel() + q.shape[0] * q.shape[1] * backward_plans.KEYS >= 2**31:
        return f"q has shape {tuple(q.shape)}: the Hopper backward takes less than 2³¹ rows."
    return unsupported_tensors("backward", q, k, v, scale)


def prepare(
    q, k, v, o, grad_o, mask: masks.Mask, score: scores.Score, scale: float,
    deterministic: bool = False,
) -> Callable:  # fmt: skip
    """Return a function of tensors like these, for input that `why_not` has nothing against.

    call(q, k, v, o, grad_o, lse, grad_lse) → dQ, dK, dV in q's dtype, and grad_lse, if any, minus D
    (B, H, Nq), fp32. If `mask` is SPANS it takes them too; neither end may fall from row to row.
    `deterministic`: dQ is summed in one order.
    """
    from .backward_ends import before_kernel
    from .backward_kernel import backward_kernel

    (batch, heads, n_q, d), (_, k_heads, n_k, d_v) = q.shape, v.shape
    dtype, device, group = q.dtype, q.device, heads // k_heads
    folded = folding.fold(score, None, scale, heads, device)
    scale, slopes = folded.scale_log2 / folding.LOG2E, None
    if folded.slopes is not None:  # by batch and head; a group's last step looks one head further
        slopes = (folded.slopes * folded.scale_log2).repeat(batch + 1)
    refuse_capture(f"backward of mask = {mask.text[:80]}")
    is_copied = bool(by_tma(grad_o=grad_o))
    if is_copied:
        grad_o = torch.empty(grad_o.shape, dtype=dtype, device="meta")
    widest = max(d, d_v)
    if widest > WIDEST:
        return backward_wide.prepare(q, k, v, o, grad_o, mask, scale, is_copied)
    kind = "none" if slopes is None else "alibi"
    chosen = backward_plans.choose(widest, mask, n_k, group, deterministic, kind)
    rows, keys = chosen.block_m, backward_plans.KEYS
    ranks, counts_shape = None, (0,)
    if chosen.serialized:
        ranks = tables.ranks_on_device(mask, n_q, n_k, keys, rows, device)
        counts_shape = (batch, heads, ranks.shape[1])
    padded, key_blocks = -(-n_q // rows) * rows, -(-n_k // keys)
    tiles = key_blocks * batch * k_heads
    multiprocessors = torch.cuda.get_device_properties(device).multi_processor_count
    section = max(1, plans.L2_SECTION_BYTES // (4 * n_q * (d + d_v) * group))
    if chosen.serialized:  # of many heads at once, so that few key blocks wait for each other
        section = max(section, multiprocessors // TOGETHER[chosen.masked])
    section = min(section, batch * k_heads)
    of_rows, of_keys, half = (
        partial(describe_rows, rows=n, width=plans.box(widest)) for n in (rows, keys, HALF)
    )
    flat = partial(describe_list, size=rows)
    before = Launch(
        before_kernel, padded // ENDS_ROWS * batch * heads,
        (o.stride(), grad_o.stride(), heads, n_q, padded, slopes, n_k - n_q),
        {"D": d_v, "DQ_D": d, "PAD_D": pad(widest), "ROWS": ENDS_ROWS, "BLOCK_M": rows},
    )  # fmt: skip

    def with_table(table: tables.Tables) -> Launch:
        return Launch(
            backward_kernel, min(tiles, multiprocessors),
            (
                key_blocks, batch * k_heads, heads, group, padded, section, scale,
                folded.scale_log2, table.spans, table.tiles, ranks, slopes,
            ),
            {"plan": chosen, **versions.OPTIONS},
            boxes=(of_rows, of_keys, of_keys, of_rows, flat, flat, _added, half, half),
        )  # fmt: skip

    main = None
    if mask != SPANS:
        main = with_table(tables.on_device(mask, n_q, n_k, keys, rows, device, True))
    after = Launch(
        scale_kernel, -(-q.numel() // SCALED), (q.numel(), scale),
        {"SIZE": SCALED, "BF16_BITS": False},
    )  # fmt: skip
    make_lse = allocator(batch, heads, padded, dtype=torch.float32, device=device)
    make_added = allocator(batch * heads, n_q, d, dtype=torch.float32, device=device)
    make_dq = allocator(*q.shape, dtype=dtype, device=device)
    make_dk = allocator(*k.shape, dtype=dtype, device=device)
    make_dv = allocator(*v.shape, dtype=dtype, device=device)

    def of_spans(spans) -> Launch:
        return with_table(tables.of_spans(by_keys(spans, n_k)[0], keys, rows, True))

    def call(q, k, v, o, grad_o, lse, grad_lse, spans=None):
        run = main or once(spans, call, partial(of_spans, spans))
        if is_copied:
            grad_o = grad_o.contiguous()
        scaled, less, added = make_lse(), make_lse(), make_added()
        dq, dk, dv = make_dq(), make_dk(), make_dv()
        before(o, grad_o, lse, scaled, less, added)
        if grad_lse is not None:  # d lse_i / dS_ij = P_ij as well: it joins −D
            less[:, :, :n_q] += grad_lse
        queue = counter_of(device)
        counts = queue  # not read
        if ranks is not None:
            counts = torch.zeros(counts_shape, dtype=torch.int32, device=device)
        run(q, k, v, grad_o, scaled, less, added, dk, dv, queue, counts)
        after(added, dq)
        return dq, dk, dv, less[:, :, :n_q]

    return call


def _added(x: torch.Tensor):
    """Return the TMA descriptor of dQ (B · H, Nq, d), boxes of 64 × 64."""
    from .gluon import describe

    return describe(x, (1, HALF, HALF))
