"""FlashAttention-1, forward (arXiv 2205.14135, Algorithm 1): keys outside, rows inside.

O, m and l are in HBM and are read and written at each visit. One program computes a whole (batch,
head), because a later key block reads what an earlier one wrote; FA-2 removes this dependency.
"""

import torch
import triton

from .formats import as_operand, as_stored
from .forward import ForwardInputs, Run
from .launching import Launch
from .masking import listed, plain, query_range, visible, visited
from .progress import expect
from .scoring import dropped, modified
from .stamps import clock, stamp
from .triton_internals import tl

# kernel: begin


@triton.jit(do_not_specialize=["H", "GROUP", "Nq", "Nk"])
def fa1_kernel(
    Q, K, V, O, M, L, M_TRACE, L_TRACE, STAMPS, q_strides, k_strides, v_strides, o_strides,
    H, GROUP, Nq, Nk, scale, TABLES,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    PAD_M: tl.constexpr, PAD_N: tl.constexpr, PAD_D: tl.constexpr, MASK: tl.constexpr,
    SCORE: tl.constexpr, DROPOUT: tl.constexpr, PRECISION: tl.constexpr, TRACE: tl.constexpr,
    STAMPED: tl.constexpr, BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Compute all tiles of one (batch, head) in one program. O = 0, l = 0, m = −∞ are in HBM (line
    2), or l = 1 and m = the sink."""
    if STAMPED:
        began = clock()
    bh = tl.program_id(0).to(tl.int64)
    b, h = bh // H, bh % H
    kv_h = h // GROUP  # GROUP query heads share one key head
    Tr, Tc = tl.cdiv(Nq, BLOCK_M), tl.cdiv(Nk, BLOCK_N)
    lanes, keys, dims = tl.arange(0, PAD_M), tl.arange(0, PAD_N), tl.arange(0, PAD_D)
    d64 = dims.to(tl.int64)
    q_ptrs = Q + b * q_strides[0] + h * q_strides[1] + d64[None, :] * q_strides[3]
    k_ptrs = K + b * k_strides[0] + kv_h * k_strides[1] + d64[:, None] * k_strides[3]
    v_ptrs = V + b * v_strides[0] + kv_h * v_strides[1] + d64[None, :] * v_strides[3]
    o_ptrs = O + b * o_strides[0] + h * o_strides[1] + d64[None, :] * o_strides[3]

    for j in range(0, Tc):  # line 5
        # phase: load — K_jᵀ and V_j: HBM → SRAM, once per key block (line 6)
        n, n_end = tl.cast(j, tl.int64) * BLOCK_N + keys, Nk
        if not plain(MASK):  # the row blocks that the mask's list has for key block j
            i_start, i_end = listed(j, TABLES)
            n_end = tl.where(i_start < i_end, Nk, 0)  # visible to no row: not loaded
        key_ok = (keys < BLOCK_N) & (n < n_end)
        k_ok, v_ok = (dims < D)[:, None] & key_ok[None, :], key_ok[:, None] & (dims < D)[None, :]
        k = tl.load(k_ptrs + n[None, :] * k_strides[2], mask=k_ok, other=0.0)
        v = tl.load(v_ptrs + n[:, None] * v_strides[2], mask=v_ok, other=0.0)
        if plain(MASK):
            last_key = tl.minimum((j + 1) * BLOCK_N, Nk) - 1
            start, _ = query_range(j * BLOCK_N, last_key, Nq, Nk, MASK)
            i_start, i_end = start // BLOCK_M, Tr
        for at in range(i_start, i_end):  # line 7
            i = at
            if not plain(MASK):
                i, _ = visited(at, TABLES)
            # phase: load — Q_i, O_i, l_i, m_i: HBM → SRAM (line 8)
            rows = tl.cast(i, tl.int64) * BLOCK_M + lanes
            row_ok = (lanes < BLOCK_M) & (rows < Nq)
            tile_ok = row_ok[:, None] & (dims < D)[None, :]
            q = tl.load(q_ptrs + rows[:, None] * q_strides[2], mask=tile_ok, other=0.0)
            o_i = tl.load(o_ptrs + rows[:, None] * o_strides[2], mask=tile_ok, other=0.0)
            m_old = tl.load(M + bh * Nq + rows, mask=row_ok, other=0.0)
            l_old = tl.load(L + bh * Nq + rows, mask=row_ok, other=0.0)
            # phase: scores — S_ij = scale · Q_i K_jᵀ (line 9)
            q, k_j = as_operand(q, BF16_BITS), as_operand(k, BF16_BITS)
            s = tl.dot(q, k_j, input_precision=PRECISION) * scale
            n_j, row = n[None, :], rows[:, None] + (Nk - Nq)
            if SCORE != "none":
                s = modified(s, n_j, row, h, H, SCORE, TABLES)
            # phase: mask — S_ij = −∞ beyond N and where hidden (rows aligned bottom-right)
            score_ok = key_ok[None, :] & visible(n_j, row, Nk, MASK, TABLES)
            s = tl.where(score_ok, s, float("-inf"))
            # phase: max — m_new = max(m_old, rowmax S_ij) (lines 10, 11)
            m_new = tl.maximum(m_old, tl.max(s, 1))
            m_ref = tl.where(m_new == float("-inf"), 0.0, m_new)  # no −∞ − (−∞)
            # phase: exp — P_ij = exp(S_ij − m_new), alpha = exp(m_old − m_new)
            p = tl.exp(s - m_ref[:, None])
            alpha = tl.exp(m_old - m_ref)
            # phase: sum — l_new = alpha · l_old + rowsum P_ij (line 11)
            l_new = alpha * l_old + tl.sum(p, 1)
            # phase: output — O_i = (l_old · alpha · O_i + P_ij V_j) / l_new: normalised (line 12)
            if DROPOUT != "none":  # after the sum: l is of all weights
                p = dropped(p, bh * Nq + rows[:, None], n_j, Nk, DROPOUT, TABLES)
            p = as_operand(as_stored(p, v.dtype, BF16_BITS), BF16_BITS)
            acc = as_operand(o_i, BF16_BITS).to(tl.float32) * (l_old * alpha)[:, None]
            acc = tl.dot(p, as_operand(v, BF16_BITS), acc, input_precision=PRECISION)
            acc = acc / tl.where(l_new == 0.0, 1.0, l_new)[:, None]
            # phase: store — O_i, l_i, m_i: SRAM → HBM (lines 12, 13)
            o_i = as_stored(acc, O.dtype.element_ty, BF16_BITS)
            tl.store(o_ptrs + rows[:, None] * o_strides[2], o_i, mask=tile_ok)
            tl.store(M + bh * Nq + rows, m_new, mask=row_ok)
            tl.store(L + bh * Nq + rows, l_new, mask=row_ok)
            if TRACE:
                trace = ((bh * Tr + i) * Tc + j) * BLOCK_M + lanes
                tl.store(M_TRACE + trace, m_new, mask=row_ok)
                tl.store(L_TRACE + trace, l_new, mask=row_ok)
            tl.debug_barrier()  # the next visit may read with other threads what these wrote
    if STAMPED:
        stamp(STAMPS, began)


# kernel: end


def prepare(inputs: ForwardInputs) -> Run:
    """Prepare a call as `fa2.prepare` does, with one program per batch and head.

    The kernel writes m and l; lse = m + log l is computed from them afterwards, if it is kept.
    """
    q, k, v, states, stamps = inputs.q, inputs.k, inputs.v, inputs.states, inputs.stamps
    keep_lse, first_l = inputs.keep_lse, float(inputs.has_sink)
    constants, tables = inputs.rules(by_keys=True)
    launch = Launch(
        fa1_kernel, inputs.pairs,
        (
            q.stride(), k.stride(), v.stride(), inputs.output_strides, *inputs.sizes, inputs.scale,
            tables,
        ),
        {
            **constants, "TRACE": states is not None, "STAMPED": stamps is not None, **inputs.tile,
            "num_stages": 1,
        },
    )  # fmt: skip

    def call(q, k, v, sink=None):
        o = torch.zeros(q.shape, dtype=q.dtype, device=q.device)
        m = torch.full(q.shape[:3], float("-inf"), device=q.device)
        l = torch.full(q.shape[:3], first_l, device=q.device)
        if sink is not None:
            m[:] = sink[:, None]
        m_trace, l_trace = (m, l) if states is None else states
        expect(launch.programs)
        launch(q, k, v, o, m, l, m_trace, l_trace, m if stamps is None else stamps)
        return o, m + torch.log(l) if keep_lse else None

    return call
