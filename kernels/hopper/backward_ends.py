"""The kernel before the Hopper backward, in Triton: one pass through memory."""

import triton

from ..tiles import addresses
from ..triton_internals import tl


@triton.jit(do_not_specialize=["H", "Nq", "PADDED", "AHEAD"])
def before_kernel(
    O, DO, LSE, LSE2, LESS, DQ, o_strides, do_strides, H, Nq, PADDED, SLOPES, AHEAD,
    D: tl.constexpr, DQ_D: tl.constexpr, PAD_D: tl.constexpr, ROWS: tl.constexpr,
    BLOCK_M: tl.constexpr,
):  # fmt: skip
    """Of ROWS rows of one (batch, head): −D_i, D_i = rowsum(dO_i ∘ O_i), from which dP_i − D_i
    starts; lse_i · log2 e, ∞ where a row sees no key; dQ_i = 0, of DQ_D numbers, which may be
    none. Rows from Nq on up to PADDED get ∞ and 0, so that their P and dS are 0. LSE2 and LESS are
    (B, H, PADDED), all fp32.
    With SLOPES (B · H,), of ALiBi times log2 e, lse also gets a row's own part of the bias: its
    place in its block of BLOCK_M rows, and AHEAD, times the slope."""
    blocks = PADDED // ROWS
    bh = (tl.program_id(0) // blocks).to(tl.int64)
    rows = tl.program_id(0) % blocks * ROWS + tl.arange(0, ROWS)
    dims, row_ok = tl.arange(0, PAD_D), rows < Nq
    ok = row_ok[:, None] & (dims < D)[None, :]
    o_ptrs = addresses(O, o_strides, bh // H, bh % H, rows[:, None], dims[None, :])
    do_ptrs = addresses(DO, do_strides, bh // H, bh % H, rows[:, None], dims[None, :])
    o = tl.load(o_ptrs, mask=ok, other=0.0).to(tl.float32)
    do = tl.load(do_ptrs, mask=ok, other=0.0).to(tl.float32)
    less = -tl.sum(o * do, 1)
    lse = tl.load(LSE + bh * Nq + rows, mask=row_ok, other=float("-inf"))
    lse = tl.where(lse == float("-inf"), float("inf"), lse * 1.4426950408889634)
    if SLOPES is not None:
        lse += tl.load(SLOPES + bh) * (rows % BLOCK_M + AHEAD)
    tl.store(LESS + bh * PADDED + rows, less)
    tl.store(LSE2 + bh * PADDED + rows, lse)
    if DQ_D:
        dq_ptrs = DQ + (bh * Nq + rows.to(tl.int64))[:, None] * DQ_D + dims[None, :]
        dq_ok = row_ok[:, None] & (dims < DQ_D)[None, :]
        tl.store(dq_ptrs, tl.zeros([ROWS, PAD_D], tl.float32), mask=dq_ok)
