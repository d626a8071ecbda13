"""FlashAttention-2, backward, a pass for dQ alone: rows outside, keys inside, as in the forward.

`fa2_backward.py` adds dQ in HBM in the order in which its programs run; this pass adds on chip in
one order: the same bits each time, for seven products per tile instead of five.
"""

import triton

from .fa2_backward import load_lse, weights
from .formats import as_operand, as_stored
from .masking import key_range, listed, plain, span_range, spans_of, visited
from .tiles import addresses, block_lanes, load_tile
from .triton_internals import tl

# kernel: begin


@triton.jit
def visit_keys(
    dq, q, do, lse, delta, k_ptrs, v_ptrs, k_step, v_step, rows, keys, dims, h, H, j_start, j_full,
    j_end, Nq, Nk, scale, TABLES, DTYPE: tl.constexpr,
    D: tl.constexpr, BLOCK_N: tl.constexpr, MASK: tl.constexpr, SCORE: tl.constexpr,
    RAGGED_N: tl.constexpr, PADDED: tl.constexpr, PART: tl.constexpr, PRECISION: tl.constexpr,
    BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Visit the key blocks j_start … j_end-1, or those at these places of the mask's list, for row
    block i; those from j_full on are partial. PADDED: some lanes have no key; PART: or no dim.
    """
    for at in range(j_start, j_end):
        j, partial = at, at >= j_full
        if not plain(MASK):
            j, partial = visited(at, TABLES)
        if PADDED or RAGGED_N:  # exp(0 − lse) of a padded key may be ∞, so that it must be masked
            partial = partial | PADDED | ((j + 1) * BLOCK_N > Nk)
        # phase: load — K_j and V_j: HBM → SRAM
        start = tl.cast(j, tl.int64) * BLOCK_N
        n = j * BLOCK_N + keys
        key_ok = (keys < BLOCK_N) & (n < Nk)
        tile_ok = key_ok[:, None] & (dims < D)[None, :]
        k = as_operand(load_tile(k_ptrs + start * k_step, tile_ok, PART), BF16_BITS)
        v = as_operand(load_tile(v_ptrs + start * v_step, tile_ok, PART), BF16_BITS)
        # phase: scores — S_ij = Q_i K_jᵀ, recomputed; scale, the score and log2(e) follow
        s = tl.dot(q, tl.trans(k), input_precision=PRECISION)
        p, slope = weights(
            s, lse[:, None], n[None, :], rows[:, None] + (Nk - Nq), key_ok[None, :], partial,
            h, H, Nk, scale, TABLES, MASK, SCORE, MASK != "full" or RAGGED_N or PADDED,
        )  # fmt: skip
        # phase: dP — dP_ij = dO_i V_jᵀ
        dp = tl.dot(do, tl.trans(v), input_precision=PRECISION)
        # phase: dS — dS_ij = P_ij ∘ (dP_ij − D_i), through the score's slope
        ds = p * (dp - delta[:, None]) * slope
        ds = as_operand(as_stored(ds, DTYPE, BF16_BITS), BF16_BITS)
        # phase: dQ — dQ_i += dS_ij K_j
        dq = tl.dot(ds, k, dq, input_precision=PRECISION)
    return dq


@triton.jit(do_not_specialize=["H", "GROUP", "Nq", "Nk"])
def rows_kernel(
    Q, K, V, DO, LSE, DELTA, DQ, SPANS, q_strides, k_strides, v_strides, do_strides,
    H, GROUP, Nq, Nk, scale, TABLES,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    PAD_M: tl.constexpr, PAD_N: tl.constexpr, PAD_D: tl.constexpr, MASK: tl.constexpr,
    SCORE: tl.constexpr, RAGGED_N: tl.constexpr, PRECISION: tl.constexpr, BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Compute dQ_i of one (batch, head) in one program; the last, with most keys, is first."""
    Tr = tl.cdiv(Nq, BLOCK_M)
    i, bh = Tr - 1 - tl.program_id(0) % Tr, (tl.program_id(0) // Tr).to(tl.int64)
    b, h = bh // H, bh % H
    kv_h = h // GROUP
    rows, row_ok = block_lanes(i, Nq, BLOCK_M, PAD_M)
    keys, dims = tl.arange(0, PAD_N), tl.arange(0, PAD_D)
    tile_ok = row_ok[:, None] & (dims < D)[None, :]
    q_ptrs = addresses(Q, q_strides, b, h, rows[:, None], dims[None, :])
    k_ptrs = addresses(K, k_strides, b, kv_h, keys[:, None], dims[None, :])
    v_ptrs = addresses(V, v_strides, b, kv_h, keys[:, None], dims[None, :])
    do_ptrs = addresses(DO, do_strides, b, h, rows[:, None], dims[None, :])

    # phase: load — Q_i, dO_i, lse_i and D_i: HBM → SRAM, once; dQ_i = 0 on chip
    q = as_operand(tl.load(q_ptrs, mask=tile_ok, other=0.0), BF16_BITS)
    do = as_operand(tl.load(do_ptrs, mask=tile_ok, other=0.0), BF16_BITS)
    lse = load_lse(LSE + bh * Nq + rows, row_ok, True)
    delta = tl.load(DELTA + bh * Nq + rows, mask=row_ok, other=0.0)
    dq = tl.zeros([PAD_M, PAD_D], tl.float32)

    if MASK == "spans":
        TABLES = (spans_of(SPANS, b, Nq, Nk),)
        begin, _, _, stop = span_range(TABLES[0], rows + (Nk - Nq), row_ok, Nk)
        j_start, j_end = begin // BLOCK_N, tl.cdiv(stop, BLOCK_N)
        j_full = j_start
    elif plain(MASK):
        first, last = i * BLOCK_M + Nk - Nq, tl.minimum((i + 1) * BLOCK_M, Nq) - 1 + Nk - Nq
        full, stop = key_range(first, last, Nk, MASK)
        j_start, j_full, j_end = 0, full // BLOCK_N, tl.cdiv(stop, BLOCK_N)
    else:
        j_start, j_end = listed(i, TABLES)
        j_full = j_end
    PADDED: tl.constexpr = PAD_N != BLOCK_N
    dq = visit_keys(
        dq, q, do, lse, delta, k_ptrs, v_ptrs, k_strides[2], v_strides[2], rows, keys, dims, h, H,
        j_start, j_full, j_end, Nq, Nk, scale, TABLES, DO.dtype.element_ty, D, BLOCK_N, MASK,
        SCORE, RAGGED_N, PADDED, RAGGED_N or PADDED or PAD_D != D, PRECISION, BF16_BITS,
    )  # fmt: skip

    # phase: store — dQ_i = scale · dS_i K: SRAM → HBM, once
    to = (bh * Nq + rows.to(tl.int64))[:, None] * D + dims[None, :]
    tl.store(DQ + to, as_stored(dq * scale, DQ.dtype.element_ty, BF16_BITS), mask=tile_ok)


# kernel: end
