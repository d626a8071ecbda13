"""Standard attention as three kernels, each a pass over HBM: scores, softmax, output.

S and P are N×N matrices in HBM, in the inputs' dtype. No tile is skipped: masked scores are
computed, then replaced by −∞, as plain attention does.
"""

import torch
import triton

from .availability import INTERPRETED
from .configs import MAX_TILE_ELEMENTS
from .formats import as_operand, as_stored
from .forward import ForwardInputs, Run
from .launching import Launch
from .masking import visible
from .progress import expect
from .scoring import dropped, modified
from .tables import dropping, rules
from .tiles import addresses, block_lanes
from .triton_internals import tl

# kernel: begin


@triton.jit(do_not_specialize=["H", "GROUP", "Nq", "Nk"])
def scores_kernel(
    Q, K, S, q_strides, k_strides, H, GROUP, Nq, Nk, scale, TABLES,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    PAD_M: tl.constexpr, PAD_N: tl.constexpr, PAD_D: tl.constexpr, MASK: tl.constexpr,
    SCORE: tl.constexpr, PRECISION: tl.constexpr, BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Compute the tile (i, j) of S of one (batch, head) in one program."""
    Tr, Tc = tl.cdiv(Nq, BLOCK_M), tl.cdiv(Nk, BLOCK_N)
    tile = tl.program_id(0) % (Tr * Tc)
    bh = (tl.program_id(0) // (Tr * Tc)).to(tl.int64)
    b, h = bh // H, bh % H
    rows, row_ok = block_lanes((tile // Tc).to(tl.int64), Nq, BLOCK_M, PAD_M)
    n, key_ok = block_lanes((tile % Tc).to(tl.int64), Nk, BLOCK_N, PAD_N)
    dims = tl.arange(0, PAD_D)
    # phase: load — Q_i and K_jᵀ: HBM → SRAM
    q_ptrs = addresses(Q, q_strides, b, h, rows[:, None], dims[None, :])
    k_ptrs = addresses(K, k_strides, b, h // GROUP, n[None, :], dims[:, None])
    q = tl.load(q_ptrs, mask=row_ok[:, None] & (dims < D)[None, :], other=0.0)
    k = tl.load(k_ptrs, mask=(dims < D)[:, None] & key_ok[None, :], other=0.0)
    # phase: scores — S_ij = scale · Q_i K_jᵀ
    q, k = as_operand(q, BF16_BITS), as_operand(k, BF16_BITS)
    s = tl.dot(q, k, input_precision=PRECISION) * scale
    n_j, row = n[None, :], rows[:, None] + (Nk - Nq)
    if SCORE != "none":
        s = modified(s, n_j, row, h, H, SCORE, TABLES)
    # phase: mask — S_ij = −∞ where hidden (rows aligned bottom-right)
    if MASK != "full":
        s = tl.where(visible(n_j, row, Nk, MASK, TABLES), s, float("-inf"))
    # phase: store — S_ij: SRAM → HBM
    s_ptrs = S + (bh * Nq + rows[:, None]) * Nk + n[None, :]
    s = as_stored(s, S.dtype.element_ty, BF16_BITS)
    tl.store(s_ptrs, s, mask=row_ok[:, None] & key_ok[None, :])


@triton.jit(do_not_specialize=["total_rows", "Nk"])
def softmax_kernel(
    S, P, LSE, SINKS, total_rows, Nk, TABLES,
    ROWS: tl.constexpr, PAD_K: tl.constexpr, DROPOUT: tl.constexpr, KEEP_LSE: tl.constexpr,
    BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Compute P of ROWS whole rows of S, of any batch and head, in one program."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    keys = tl.arange(0, PAD_K)
    ok = (rows < total_rows)[:, None] & (keys < Nk)[None, :]
    # phase: load — the rows of S: HBM → SRAM
    s = tl.load(S + rows[:, None] * Nk + keys[None, :], mask=ok, other=0.0)
    s = as_operand(s, BF16_BITS).to(tl.float32)
    s = tl.where((keys < Nk)[None, :], s, float("-inf"))
    # phase: max — m = rowmax S, or the sink if that is larger
    m = tl.max(s, 1)
    if SINKS is not None:  # one number per row
        sink = tl.load(SINKS + rows, mask=rows < total_rows, other=0.0)
        m = tl.maximum(m, sink)
    m_ref = tl.where(m == float("-inf"), 0.0, m)  # a row without keys: no −∞ − (−∞)
    # phase: exp — exp(S − m)
    p = tl.exp(s - m_ref[:, None])
    # phase: sum — l = rowsum exp(S − m), with a sink: + exp(sink − m)
    l = tl.sum(p, 1)
    if SINKS is not None:
        l += tl.exp(sink - m_ref)
    l_ref = tl.where(l == 0.0, 1.0, l)
    # phase: store — P = diag(1/l) exp(S − m): SRAM → HBM
    p = p / l_ref[:, None]
    if DROPOUT != "none":  # after the sum: l is of all weights
        p = dropped(p, rows[:, None], keys[None, :], Nk, DROPOUT, TABLES)
    p = as_stored(p, P.dtype.element_ty, BF16_BITS)
    tl.store(P + rows[:, None] * Nk + keys[None, :], p, mask=ok)
    if KEEP_LSE:
        tl.store(LSE + rows, m + tl.log(l_ref), mask=rows < total_rows)


@triton.jit(do_not_specialize=["H", "GROUP", "Nq", "Nk"])
def output_kernel(
    P, V, O, v_strides, o_strides, H, GROUP, Nq, Nk,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    PAD_M: tl.constexpr, PAD_N: tl.constexpr, PAD_D: tl.constexpr,
    PRECISION: tl.constexpr, BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Compute row block i of O of one (batch, head), a sum over all key blocks, in one program."""
    Tr = tl.cdiv(Nq, BLOCK_M)
    i, bh = tl.program_id(0) % Tr, (tl.program_id(0) // Tr).to(tl.int64)
    b, h = bh // H, bh % H
    rows, row_ok = block_lanes(i.to(tl.int64), Nq, BLOCK_M, PAD_M)
    dims = tl.arange(0, PAD_D)
    dim_ok = (dims < D)[None, :]
    acc = tl.zeros([PAD_M, PAD_D], tl.float32)
    for j in range(0, tl.cdiv(Nk, BLOCK_N)):
        # phase: load — P_ij and V_j: HBM → SRAM
        n, key_ok = block_lanes(tl.cast(j, tl.int64), Nk, BLOCK_N, PAD_N)
        p_ptrs = P + (bh * Nq + rows[:, None]) * Nk + n[None, :]
        p = tl.load(p_ptrs, mask=row_ok[:, None] & key_ok[None, :], other=0.0)
        v_ptrs = addresses(V, v_strides, b, h // GROUP, n[:, None], dims[None, :])
        v = tl.load(v_ptrs, mask=key_ok[:, None] & dim_ok, other=0.0)
        # phase: output — O_i = Σ_j P_ij V_j
        p, v = as_operand(p, BF16_BITS), as_operand(v, BF16_BITS)
        acc = tl.dot(p, v, acc, input_precision=PRECISION)
    # phase: store — O_i: SRAM → HBM
    o = as_stored(acc, O.dtype.element_ty, BF16_BITS)
    o_ptrs = addresses(O, o_strides, b, h, rows[:, None], dims[None, :])
    tl.store(o_ptrs, o, mask=row_ok[:, None] & dim_ok)


# kernel: end


def prepare(inputs: ForwardInputs) -> Run:
    """Prepare a call as `fa2.prepare` does, with three launches; lse only if it is kept.

    Raises ValueError if a row of S is too long for a program.
    """
    q, k, v, config, keep_lse = inputs.q, inputs.k, inputs.v, inputs.config, inputs.keep_lse
    *_, n_q, n_k = inputs.sizes
    pad_k = triton.next_power_of_2(n_k)
    if pad_k > MAX_TILE_ELEMENTS // 8:
        raise ValueError(
            f"Nk = {n_k:,} is too long for order = 'standard', whose softmax holds a row of S "
            f"on chip: at most {MAX_TILE_ELEMENTS // 8:,}."
        )
    constants, tables = rules(inputs.mask, inputs.score, n_q, n_k, q.device)
    drop, seeds = dropping(*inputs.dropout, None, q.device)
    tile, total_rows = inputs.tile, inputs.pairs * n_q
    rows = max(1, (MAX_TILE_ELEMENTS if INTERPRETED else 4096) // pad_k)
    rows = min(rows, triton.next_power_of_2(config.block_m))
    scores = Launch(
        scores_kernel, inputs.row_blocks * triton.cdiv(n_k, config.block_n),
        (q.stride(), k.stride(), *inputs.sizes, inputs.scale, tables), {**constants, **tile},
    )  # fmt: skip
    softmax = Launch(
        softmax_kernel, triton.cdiv(total_rows, rows),
        (*(() if inputs.has_sink else (None,)), total_rows, n_k, seeds),
        {
            "DROPOUT": drop, "ROWS": rows, "PAD_K": pad_k, "KEEP_LSE": keep_lse,
            "BF16_BITS": tile["BF16_BITS"],
            "num_warps": min(32, max(4, rows * pad_k // 2048)), "enable_fp_fusion": True,
        },
    )  # fmt: skip
    output = Launch(
        output_kernel, inputs.row_blocks, (v.stride(), inputs.output_strides, *inputs.sizes), tile
    )

    def call(q, k, v, sink=None):
        s = torch.empty((*q.shape[:3], n_k), dtype=q.dtype, device=q.device)
        p = torch.empty_like(s)
        o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
        lse = torch.empty(q.shape[:3], device=q.device) if keep_lse else None
        expect(sum(launch.programs for launch in (scores, softmax, output)))
        scores(q, k, s)
        sinks = () if sink is None else (sink[:, None].expand(q.shape[:3]).contiguous(),)
        softmax(s, p, s if lse is None else lse, *sinks)
        output(p, v, o)
        return o, lse

    return call
