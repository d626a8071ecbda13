"""Launch the backward pass on Hopper for head dimensions above 128: three kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch

from ..configs import pad
from ..launching import Launch, allocator, once
from ..spans import by_keys
from ..spec import masks
from ..tables import SPANS
from . import backward_plans, plans, tables, versions
from .launch import describe_list, describe_rows

ROWS = 128  # of a tile of `wide_rows_kernel`
BLOCK = backward_plans.WIDE_BLOCK
ENDS_ROWS = 16  # of one program of `before_kernel`: as many numbers as 64 rows of 64


def prepare(
    q, k, v, o, grad_o, mask: masks.Mask, scale: float, is_copied: bool
) -> Callable:  # fmt: skip
    """Return a function as `backward.prepare` does; the bits are the same at each call.

    `scale` with that of the score; `is_copied`: grad_o is made contiguous first.
    """
    from .backward_ends import before_kernel
    from .backward_wide_kernels import wide_keys_kernel, wide_rows_kernel

    (batch, heads, n_q, d), (_, k_heads, n_k, d_v) = q.shape, v.shape
    dtype, device, group = q.dtype, q.device, heads // k_heads
    plan = backward_plans.choose_wide(d, d_v, mask, n_k)
    padded = -(-n_q // ROWS) * ROWS
    before = Launch(
        before_kernel, padded // ENDS_ROWS * batch * heads,
        (o.stride(), grad_o.stride(), heads, n_q, padded, None, 0),
        {"D": d_v, "DQ_D": 0, "PAD_D": pad(d_v), "ROWS": ENDS_ROWS, "BLOCK_M": BLOCK},
    )  # fmt: skip
    box = partial(describe_rows, rows=BLOCK, width=plan.width)
    flat = partial(describe_list, size=BLOCK)
    scales = scale, scale * math.log2(math.e)

    def section(length: int, share: int, most: int) -> int:
        return max(1, min(most, plans.L2_SECTION_BYTES // (2 * length * (d + d_v) * share)))

    def with_tables(of_rows: tables.Tables, of_keys: tables.Tables) -> tuple[Launch, Launch]:
        key_blocks, row_blocks = -(-n_k // BLOCK), -(-n_q // ROWS)
        keys_launch = Launch(
            wide_keys_kernel, key_blocks * batch * k_heads,
            (
                key_blocks, batch * k_heads, heads, group, padded,
                section(n_q, group, batch * k_heads), *scales, of_keys.spans, of_keys.tiles,
            ),
            {"plan": plan, **versions.OPTIONS},
            boxes=(box, box, box, box, flat, flat, box, box),
        )  # fmt: skip
        rows_launch = Launch(
            wide_rows_kernel, row_blocks * batch * heads,
            (
                row_blocks, batch * heads, heads, group, padded,
                section(n_k, 1, batch * heads), *scales, 0, of_rows.spans, of_rows.tiles,
            ),
            {"plan": plan, **versions.OPTIONS},
            boxes=(box,) * 5,
        )  # fmt: skip
        return keys_launch, rows_launch

    main = None
    if mask != SPANS:
        main = with_tables(
            tables.on_device(mask, n_q, n_k, ROWS, BLOCK, device),
            tables.on_device(mask, n_q, n_k, BLOCK, BLOCK, device, True),
        )
    make_lse = allocator(batch, heads, padded, dtype=torch.float32, device=device)
    make_dq = allocator(*q.shape, dtype=dtype, device=device)
    make_dk = allocator(*k.shape, dtype=dtype, device=device)
    make_dv = allocator(*v.shape, dtype=dtype, device=device)

    def of_spans(spans) -> tuple[Launch, Launch]:
        of_keys = tables.of_spans(by_keys(spans, n_k)[0], BLOCK, BLOCK, True)
        return with_tables(tables.of_spans(spans[0], ROWS, BLOCK), of_keys)

    def call(q, k, v, o, grad_o, lse, grad_lse, spans=None):
        keys_launch, rows_launch = main or once(spans, call, partial(of_spans, spans))
        if is_copied:
            grad_o = grad_o.contiguous()
        scaled, less = make_lse(), make_lse()
        dq, dk, dv = make_dq(), make_dk(), make_dv()
        before(o, grad_o, lse, scaled, less, less)  # the last one is not touched
        if grad_lse is not None:  # d lse_i / dS_ij = P_ij as well: it joins −D
            less[:, :, :n_q] += grad_lse
        keys_launch(q, k, v, grad_o, scaled, less, dk, dv)
        rows_launch(q, k, v, grad_o, dq, scaled, less)
        return dq, dk, dv, less[:, :, :n_q]

    return call
