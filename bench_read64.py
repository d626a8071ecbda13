"""Variants of the readable backward's key-block kernel, checked and timed beside SDPA flash.

Self-contained but for `kernels.masking`. See main().
"""

import triton
import triton.language as tl


@triton.jit
def tile_of(
    dk, dv, k, v, q, do, lse, delta, dq_ptrs, dq_box, box_row, n, rows, Nk, c, partial,
    MASK: tl.constexpr, RAGGED: tl.constexpr, ADD: tl.constexpr, DQT: tl.constexpr,
    ORDER: tl.constexpr, FOLD: tl.constexpr,
):  # fmt: skip
    s = tl.dot(k, tl.trans(q))
    if ORDER == "early":
        if FOLD:
            dp = tl.dot(v, tl.trans(do), tl.broadcast_to(-delta[None, :], s.shape))
        else:
            dp = tl.dot(v, tl.trans(do))
    s = s * c - lse[None, :]
    if MASK != "full" or RAGGED:
        if partial:
            s = tl.where((n < Nk)[:, None] & (n[:, None] <= rows[None, :]), s, float("-inf"))
    p = tl.exp2(s)
    if ORDER == "early":
        dv = tl.dot(p.to(do.dtype), do, dv)
    elif ORDER == "dpdv":
        dp = tl.dot(v, tl.trans(do))
        dv = tl.dot(p.to(do.dtype), do, dv)
    else:
        dv = tl.dot(p.to(do.dtype), do, dv)
        dp = tl.dot(v, tl.trans(do))
    if FOLD:
        ds = (p * dp).to(do.dtype)
    else:
        ds = (p * (dp - delta[None, :])).to(do.dtype)
    if ORDER == "base":
        dq_add(ds, k, dq_ptrs, dq_box, box_row, ADD, DQT)
        dk = tl.dot(ds, q, dk)
    elif ORDER == "mid":  # dq, dk started; then the addition
        if DQT:
            dq = tl.dot(tl.trans(k), ds)
        else:
            dq = tl.dot(tl.trans(ds), k)
        dk = tl.dot(ds, q, dk)
        add_to(dq, dq_ptrs, dq_box, box_row, ADD, DQT)
    else:
        dk = tl.dot(ds, q, dk)
        dq_add(ds, k, dq_ptrs, dq_box, box_row, ADD, DQT)
    return dk, dv


@triton.jit
def dq_add(ds, k, dq_ptrs, dq_box, box_row, ADD: tl.constexpr, DQT: tl.constexpr):
    if ADD != "none":
        if DQT:
            dq = tl.dot(tl.trans(k), ds)
        else:
            dq = tl.dot(tl.trans(ds), k)
        add_to(dq, dq_ptrs, dq_box, box_row, ADD, DQT)


@triton.jit
def add_to(dq, dq_ptrs, dq_box, box_row, ADD: tl.constexpr, DQT: tl.constexpr):
    if DQT:
        dq = tl.trans(dq)
    if ADD == "atomic":
        tl.atomic_add(dq_ptrs, dq, sem="relaxed")
    elif ADD == "tma":
        dq_box.atomic_add([box_row, 0], dq)


@triton.jit(do_not_specialize=["H", "N"])
def keys_variant(
    Q, K, V, DO, LSE, DELTA, DQ, BOX, DK, DV, H, N, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, MASK: tl.constexpr,
    RAGGED: tl.constexpr, ADD: tl.constexpr, DQT: tl.constexpr, ORDER: tl.constexpr,
    ROTATE: tl.constexpr, FOLD: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """One program: key block j of one (batch, head), contiguous tensors, Nq = Nk = N, BLOCK_M | N."""
    Tc, Tr = tl.cdiv(N, BLOCK_N), N // BLOCK_M
    j, bh = tl.program_id(0) % Tc, (tl.program_id(0) // Tc).to(tl.int64)
    lanes, keys, dims = tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, D)
    n = j * BLOCK_N + keys
    of_keys = bh * N * D + n.to(tl.int64)[:, None] * D + dims[None, :]
    k = tl.load(K + of_keys, mask=(n < N)[:, None], other=0.0)
    v = tl.load(V + of_keys, mask=(n < N)[:, None], other=0.0)
    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    first, full = 0, 0
    if MASK == "causal":
        first = j * BLOCK_N // BLOCK_M
        full = tl.cdiv((j + 1) * BLOCK_N - 1, BLOCK_M)
    if RAGGED:
        full = tl.where(j == Tc - 1, Tr, full)
    c = scale * 1.4426950408889634
    of_rows = lanes[:, None] * D + dims[None, :]
    for at in tl.range(first, Tr, num_stages=STAGES):
        i = at
        if ROTATE and MASK == "full":
            i = (at + j * (BLOCK_N // BLOCK_M if BLOCK_N > BLOCK_M else 1)) % Tr
        start = bh * N + i * BLOCK_M
        q = tl.load(Q + start * D + of_rows)
        do = tl.load(DO + start * D + of_rows)
        lse = tl.load(LSE + start + lanes)
        delta = tl.load(DELTA + start + lanes)
        dk, dv = tile_of(
            dk, dv, k, v, q, do, lse, delta, DQ + start * D + of_rows, BOX, start.to(tl.int32), n,
            i * BLOCK_M + lanes, N, c, at < full, MASK, RAGGED, ADD, DQT, ORDER, FOLD,
        )  # fmt: skip
    tl.store(DK + of_keys, (dk * scale).to(DK.dtype.element_ty), mask=(n < N)[:, None])
    tl.store(DV + of_keys, dv.to(DV.dtype.element_ty), mask=(n < N)[:, None])
