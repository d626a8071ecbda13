"""FlashAttention-2, backward (arXiv 2307.08691, Algorithm 2): keys outside, rows inside.

S and P are not saved for the backward: P is recomputed from Q, K and lse, tile by tile. As in FA-1
keys are outside: dK_j and dV_j stay on chip during the loop over row blocks, and each tile adds its
part to dQ in HBM. `fa2_backward_rows.py` has a second pass for dQ, in a fixed order.
"""
# ruff: noqa: SIM102 — one `if` at compile time, one on the GPU

import triton

from .formats import as_operand, as_stored
from .masking import listed, plain, query_range, spans_of, visible, visited
from .scoring import modified_with_slope
from .tiles import addresses, block_lanes, load_tile
from .triton_internals import tl

# kernel: begin


@triton.jit
def delta_kernel(
    O, DO, DELTA, DQ, o_strides, do_strides, H, Nq, D: tl.constexpr, ROWS: tl.constexpr,
    PAD_D: tl.constexpr, ADD_DQ: tl.constexpr, BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Compute D_i = rowsum(dO_i ∘ O_i), equal to Σ_j P_ij dP_ij (line 4), of ROWS rows of one
    (batch, head) in one program. ADD_DQ: set dQ_i, to which key blocks add, to 0."""
    blocks = tl.cdiv(Nq, ROWS)
    bh = (tl.program_id(0) // blocks).to(tl.int64)
    rows, dims = tl.program_id(0) % blocks * ROWS + tl.arange(0, ROWS), tl.arange(0, PAD_D)
    # phase: load — O_i and dO_i: HBM → SRAM
    ok = (rows < Nq)[:, None] & (dims < D)[None, :]
    o_ptrs = addresses(O, o_strides, bh // H, bh % H, rows[:, None], dims[None, :])
    do_ptrs = addresses(DO, do_strides, bh // H, bh % H, rows[:, None], dims[None, :])
    o = as_operand(tl.load(o_ptrs, mask=ok, other=0.0), BF16_BITS).to(tl.float32)
    do = as_operand(tl.load(do_ptrs, mask=ok, other=0.0), BF16_BITS).to(tl.float32)
    # phase: D — a number for each row
    delta = tl.sum(o * do, 1)
    # phase: store — D_i and dQ_i = 0: SRAM → HBM
    tl.store(DELTA + bh * Nq + rows, delta, mask=rows < Nq)
    if ADD_DQ:
        to = (bh * Nq + rows.to(tl.int64))[:, None] * D + dims[None, :]
        tl.store(DQ + to, tl.zeros([ROWS, PAD_D], tl.float32), mask=ok)


@triton.jit
def load_lse(pointers, row_ok, PART: tl.constexpr):
    """Load lse for exp2. A row without a visible key, or beyond Nq, gets +∞: its P is exp(S − ∞) =
    0, where exp(−∞ + ∞) would be NaN. PART: some lanes have no row."""
    lse = tl.load(pointers, mask=row_ok, other=float("inf")) if PART else tl.load(pointers)
    return tl.where(lse == float("-inf"), float("inf"), lse * 1.4426950408889634)


@triton.jit
def weights(
    s, lse, keys, rows, key_ok, partial, h, H, Nk, scale, TABLES,
    MASK: tl.constexpr, SCORE: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Compute P of a tile from its products Q Kᵀ or K Qᵀ, and the slope dS / d(scale · Q Kᵀ).

    `partial`: some of its scores are masked. MASKED: there are such tiles.
    """
    slope = 1.0
    if SCORE == "none":
        s = s * (scale * 1.4426950408889634)
    else:
        s, slope = modified_with_slope(s * scale, keys, rows, h, H, SCORE, TABLES)
        s = s * 1.4426950408889634
    # phase: mask — S_ij = −∞ beyond N and where hidden: the forward's own mask
    if MASKED:
        if partial:
            s = tl.where(key_ok & visible(keys, rows, Nk, MASK, TABLES), s, float("-inf"))
    # phase: exp — P_ij = exp(S_ij − lse_i): normalized at once, no maximum and no sum
    return tl.exp2(s - lse), slope


@triton.jit
def visit_rows(
    dk, dv, k, v, q_ptrs, do_ptrs, DQ, LSE, DELTA, q_step, do_step, lanes, n, dims, key_ok,
    h, H, i_start, i_full, i_end, Nq, Nk, scale, TABLES, STATES, keys, tile, Tc,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, MASK: tl.constexpr,
    SCORE: tl.constexpr, MASKED: tl.constexpr, PART: tl.constexpr, ADD_DQ: tl.constexpr,
    PRECISION: tl.constexpr, BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Visit the row blocks i_start … i_end-1, or those at these places of the mask's list, for key
    block j: the inner loop of Algorithm 2, on transposed tiles Sᵀ (Bc×Br), so that Pᵀ and dSᵀ are
    operands of the next products as they are.

    Those before i_full are partial. PART: some lanes have no row or no dimension.
    """
    for at in range(i_start, i_end):
        i, partial = at, at < i_full
        if not plain(MASK):
            i, partial = visited(at, TABLES)
            partial = partial | (at < i_full)
        # phase: load — Q_i, dO_i and lse_i, later D_i: HBM → SRAM
        start = tl.cast(i, tl.int64) * BLOCK_M
        rows = i * BLOCK_M + lanes
        row_ok = (lanes < BLOCK_M) & (rows < Nq)
        tile_ok = row_ok[:, None] & (dims < D)[None, :]
        q = as_operand(load_tile(q_ptrs + start * q_step, tile_ok, PART), BF16_BITS)
        do = load_tile(do_ptrs + start * do_step, tile_ok, PART)
        lse = load_lse(LSE + start + lanes, row_ok, PART)
        # phase: scores — S_ijᵀ = K_j Q_iᵀ, recomputed; scale, the score and log2(e) follow
        s = tl.dot(k, tl.trans(q), input_precision=PRECISION)
        p, slope = weights(
            s, lse[None, :], n[:, None], rows[None, :] + (Nk - Nq), key_ok[:, None], partial,
            h, H, Nk, scale, TABLES, MASK, SCORE, MASKED,
        )  # fmt: skip
        # phase: dV — dV_j += P_ijᵀ dO_i
        rounded = as_operand(as_stored(p, do.dtype, BF16_BITS), BF16_BITS)
        do_i = as_operand(do, BF16_BITS)
        dv = tl.dot(rounded, do_i, dv, input_precision=PRECISION)
        # phase: dP — dP_ijᵀ = V_j dO_iᵀ
        dp = tl.dot(v, tl.trans(do_i), input_precision=PRECISION)
        # phase: dS — dS_ij = P_ij ∘ (dP_ij − D_i), through the score's slope
        delta = load_tile(DELTA + start + lanes, row_ok, PART)
        ds = p * (dp - delta[None, :]) * slope
        ds = as_operand(as_stored(ds, do.dtype, BF16_BITS), BF16_BITS)
        # phase: dK — dK_j += dS_ijᵀ Q_i. Before dQ: with this product under way at the loop's end,
        # ptxas would have every product wait for the one before
        dk = tl.dot(ds, q, dk, input_precision=PRECISION)
        # phase: dQ — dQ_i += dS_ij K_j in HBM, where other key blocks add too; scaled at the end
        if ADD_DQ:
            dq = tl.trans(
                tl.dot(tl.trans(k), ds, input_precision=PRECISION)
            )  # (Kᵀ dSᵀ)ᵀ: dS as it is
            to = lanes[:, None] * D + dims[None, :]
            tl.atomic_add(DQ + start * D + to, dq, mask=tile_ok if PART else None, sem="relaxed")
        if STATES is not None:  # what the tile adds to dQ_i, and dK_j and dV_j after it, unscaled
            here, row = tile + i * Tc, lanes[:, None] * D + dims[None, :]
            key, key_there = keys[:, None] * D + dims[None, :], key_ok[:, None] & (dims < D)[None]
            tl.store(STATES[0] + here * (BLOCK_M * D) + row, dq, mask=tile_ok)
            tl.store(STATES[1] + here * (BLOCK_N * D) + key, dk, mask=key_there)
            tl.store(STATES[2] + here * (BLOCK_N * D) + key, dv, mask=key_there)
    return dk, dv


@triton.jit(do_not_specialize=["H", "Nq", "Nk"])
def keys_kernel(
    Q, K, V, DO, LSE, DELTA, DQ, DK, DV, SPANS, ROWS, q_strides, k_strides, v_strides, do_strides,
    H, Nq, Nk, scale, TABLES, STATES, GROUP: tl.constexpr,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    PAD_M: tl.constexpr, PAD_N: tl.constexpr, PAD_D: tl.constexpr, MASK: tl.constexpr,
    SCORE: tl.constexpr, RAGGED_M: tl.constexpr, RAGGED_N: tl.constexpr, ADD_DQ: tl.constexpr,
    PRECISION: tl.constexpr, BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Compute dK_j and dV_j of one (batch, key head), for all GROUP query heads that read it.

    STATES: None, or tensors for each tile's (part of dQ, dK, dV) by (batch, head, i, j). SPANS: as
    in the forward; ROWS (B, Tc, 2): the row blocks that see a key block lie in start … stop − 1."""
    Tc, Hk = tl.cdiv(Nk, BLOCK_N), H // GROUP
    j, bh = tl.program_id(0) % Tc, (tl.program_id(0) // Tc).to(tl.int64)
    b, kv_h = bh // Hk, bh % Hk
    n, key_ok = block_lanes(j, Nk, BLOCK_N, PAD_N)
    lanes, keys, dims = tl.arange(0, PAD_M), tl.arange(0, PAD_N), tl.arange(0, PAD_D)
    tile_ok = key_ok[:, None] & (dims < D)[None, :]

    # phase: load — K_j and V_j: HBM → SRAM, once; dK_j = dV_j = 0 on chip
    k_ptrs = addresses(K, k_strides, b, kv_h, n[:, None], dims[None, :])
    v_ptrs = addresses(V, v_strides, b, kv_h, n[:, None], dims[None, :])
    k = as_operand(tl.load(k_ptrs, mask=tile_ok, other=0.0), BF16_BITS)
    v = as_operand(tl.load(v_ptrs, mask=tile_ok, other=0.0), BF16_BITS)
    dk = tl.zeros([PAD_N, PAD_D], tl.float32)
    dv = tl.zeros([PAD_N, PAD_D], tl.float32)

    if MASK == "spans":
        TABLES = (spans_of(SPANS, b, Nq, Nk),)
        i_start, i_end = tl.load(ROWS + (b * Tc + j) * 2), tl.load(ROWS + (b * Tc + j) * 2 + 1)
        i_full = i_end
    elif plain(MASK):  # row blocks with an edge of the mask; then those that see all its keys
        last = tl.minimum((j + 1) * BLOCK_N, Nk) - 1
        start, full = query_range(j * BLOCK_N, last, Nq, Nk, MASK)
        i_start, i_full = start // BLOCK_M, tl.cdiv(full, BLOCK_M)
        i_end = tl.cdiv(Nq, BLOCK_M)
    else:  # the row blocks that the mask's list has for key block j
        i_start, i_end = listed(j, TABLES)
        i_full = i_start
    PADDED: tl.constexpr = PAD_N != BLOCK_N
    if RAGGED_N or PADDED:  # exp(0 − lse) of a padded key may be ∞, so that it must be masked
        i_full = tl.where(PADDED or j == Tc - 1, i_end, i_full)
    MASKED: tl.constexpr = MASK != "full" or RAGGED_N or PADDED
    PART: tl.constexpr = RAGGED_M or PAD_M != BLOCK_M or PAD_D != D
    for g in range(GROUP):  # the gradients of a key head are sums over its query heads
        h = kv_h * GROUP + g
        q_ptrs = addresses(Q, q_strides, b, h, lanes[:, None], dims[None, :])
        do_ptrs = addresses(DO, do_strides, b, h, lanes[:, None], dims[None, :])
        at, tile = (b * H + h) * Nq, (b * H + h) * tl.cdiv(Nq, BLOCK_M) * Tc + j
        dk, dv = visit_rows(
            dk, dv, k, v, q_ptrs, do_ptrs, DQ + at * D, LSE + at, DELTA + at, q_strides[2],
            do_strides[2], lanes, n, dims, key_ok, h, H, i_start, i_full, i_end, Nq, Nk, scale,
            TABLES, STATES, keys, tile, Tc, D, BLOCK_M, BLOCK_N, MASK, SCORE, MASKED, PART, ADD_DQ,
            PRECISION, BF16_BITS,
        )  # fmt: skip

    # phase: store — dK_j = scale · dS_jᵀ Q and dV_j: SRAM → HBM, once
    to = (bh * Nk + n.to(tl.int64))[:, None] * D + dims[None, :]
    tl.store(DK + to, as_stored(dk * scale, DK.dtype.element_ty, BF16_BITS), mask=tile_ok)
    tl.store(DV + to, as_stored(dv, DV.dtype.element_ty, BF16_BITS), mask=tile_ok)


@triton.jit
def scale_kernel(SUM, DQ, size, scale, SIZE: tl.constexpr, BF16_BITS: tl.constexpr):
    """Scale dQ, the fp32 SUM of what the key blocks added, and round it to its dtype; one program
    for SIZE of its `size` numbers. Specialized, `size` as a known multiple of 16 lets the copies be
    16 bytes wide."""
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    # phase: load — the sum for dQ_i: HBM → SRAM
    dq = tl.load(SUM + at, mask=at < size)
    # phase: scale — dQ_i = scale · dS_i K
    dq = dq * scale
    # phase: store — dQ_i: SRAM → HBM, once
    tl.store(DQ + at, as_stored(dq, DQ.dtype.element_ty, BF16_BITS), mask=at < size)


# kernel: end
