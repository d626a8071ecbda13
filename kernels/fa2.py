"""FlashAttention-2, forward (arXiv 2307.08691, Algorithm 1): rows outside, keys inside."""

import torch
import triton

from .formats import as_operand, as_stored
from .forward import ForwardInputs, Run
from .launching import Launch, allocator
from .masking import grows, key_range, listed, plain, span_range, spans_of, visible, visited
from .progress import expect
from .scoring import dropped, modified
from .spec.launches import section
from .stamps import clock, stamp
from .tables import SPANS
from .tiles import addresses, block_lanes, load_tile
from .triton_internals import tl

# kernel: begin


@triton.jit
def visit_tiles(
    acc, m_i, l_i, q, k_ptrs, v_ptrs, k_step, v_step, m_trace, l_trace,
    rows, row_ok, keys, dims, bh, h, H, j_start, j_end, Nq, Nk, qk_scale, TABLES,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, MASK: tl.constexpr,
    SCORE: tl.constexpr, DROPOUT: tl.constexpr, MASKED: tl.constexpr, PART: tl.constexpr,
    PRECISION: tl.constexpr, TRACE: tl.constexpr, BF16_BITS: tl.constexpr, PAGE: tl.constexpr = 0,
):  # fmt: skip
    """Visit the key blocks j_start … j_end-1, or those at these places of the mask's list, for row
    block i: the inner loop of Algorithm 1.

    MASKED: some scores of these tiles are masked. PART: some lanes have no key or no dimension.
    PAGE: keys lie in pages of this size, TABLES[0] says in which; steps are of pages and of keys.
    """
    for at in range(j_start, j_end):
        j = at
        if not plain(MASK):
            j, partial = visited(at, TABLES)
        # phase: load — K_jᵀ (d×Bc) and V_j (Bc×d): HBM → SRAM
        start = tl.cast(j, tl.int64) * BLOCK_N
        key_ok = (keys < BLOCK_N) & (j * BLOCK_N + keys < Nk)
        k_ok, v_ok = (dims < D)[:, None] & key_ok[None, :], key_ok[:, None] & (dims < D)[None, :]
        if PAGE:
            at_key = j * BLOCK_N + keys
            page = load_tile(TABLES[0] + at_key // PAGE, key_ok, PART).to(tl.int64)
            k_at = page * k_step[0] + at_key % PAGE * k_step[1]
            v_at = page * v_step[0] + at_key % PAGE * v_step[1]
            k = load_tile(k_ptrs + k_at[None, :], k_ok, PART)
            v = load_tile(v_ptrs + v_at[:, None], v_ok, PART)
        else:
            k = load_tile(k_ptrs + start * k_step, k_ok, PART)
            v = load_tile(v_ptrs + start * v_step, v_ok, PART)
        # phase: scores — S_ij = Q_i K_jᵀ; scale and log2(e), for exp2, follow at their first use
        s = tl.dot(q, as_operand(k, BF16_BITS), input_precision=PRECISION)
        n, row, to_log2 = j * BLOCK_N + keys[None, :], rows[:, None] + (Nk - Nq), qk_scale
        if SCORE != "none":  # modified scores are scaled; log2(e) is left
            s = modified(s * qk_scale, n, row, h, H, SCORE, TABLES)
            to_log2 = 1.4426950408889634
        # phase: mask — S_ij = −∞ beyond N and where hidden (rows aligned bottom-right)
        if MASKED and plain(MASK):
            s = tl.where(key_ok[None, :] & visible(n, row, Nk, MASK, TABLES), s, float("-inf"))
        elif MASKED:
            if partial:
                s = tl.where(visible(n, row, Nk, MASK, TABLES), s, float("-inf"))
            s = tl.where(key_ok[None, :], s, float("-inf"))
        # phase: max — m_new = max(m_old, scale · rowmax S_ij)
        m_new = tl.maximum(m_i, tl.max(s, 1) * to_log2)
        m_ref = m_new
        if MASKED:  # a row that has seen no key: −∞ − (−∞) would be NaN
            m_ref = tl.where(m_new == float("-inf"), 0.0, m_new)
        # phase: exp — P_ij = exp(scale · S_ij − m_new), alpha = exp(m_old − m_new)
        p = tl.exp2(s * to_log2 - m_ref[:, None])
        alpha = tl.exp2(m_i - m_ref)
        # phase: sum — l_new = alpha · l_old + rowsum P_ij
        l_i = alpha * l_i + tl.sum(p, 1)
        # phase: output — O_i = diag(alpha) O_i + P_ij V_j, not normalised
        if DROPOUT != "none":  # after the sum: l is of all weights
            p = dropped(p, bh * Nq + rows[:, None], n, Nk, DROPOUT, TABLES)
        p = as_operand(as_stored(p, v.dtype, BF16_BITS), BF16_BITS)
        acc = tl.dot(p, as_operand(v, BF16_BITS), acc * alpha[:, None], input_precision=PRECISION)
        m_i = m_new
        if TRACE:  # m in natural units, after this tile
            tl.store(m_trace + j * BLOCK_M, m_i * 0.6931471805599453, mask=row_ok)
            tl.store(l_trace + j * BLOCK_M, l_i, mask=row_ok)
    return acc, m_i, l_i


@triton.jit(do_not_specialize=["H", "GROUP", "SECTION", "Nq", "Nk"])
def fa2_kernel(
    Q, K, V, O, LSE, M_TRACE, L_TRACE, STAMPS, SPANS, SINK, q_strides, k_strides, v_strides,
    o_strides, H, GROUP, SECTION, Nq, Nk, qk_scale, TABLES,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    PAD_M: tl.constexpr, PAD_N: tl.constexpr, PAD_D: tl.constexpr, MASK: tl.constexpr,
    SCORE: tl.constexpr, DROPOUT: tl.constexpr, RAGGED: tl.constexpr, PRECISION: tl.constexpr,
    TRACE: tl.constexpr, STAMPED: tl.constexpr, BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Compute row block i of one (batch, head) in one program. O, m and l stay on chip.

    SPANS (B, Nq, 2): under the mask "spans" the keys start … stop − 1 that each row sees."""
    if STAMPED:
        began = clock()
    Tr = tl.cdiv(Nq, BLOCK_M)
    i, bh = tl.program_id(0) % Tr, tl.program_id(0) // Tr
    if grows(MASK):  # SECTION heads side by side, the longest rows of all of them first
        first = bh // SECTION * SECTION
        heads = tl.minimum(SECTION, tl.num_programs(0) // Tr - first)
        place = tl.program_id(0) - first * Tr
        i, bh = Tr - 1 - place // heads, first + place % heads
    bh = bh.to(tl.int64)
    b, h = bh // H, bh % H
    rows, row_ok = block_lanes(i, Nq, BLOCK_M, PAD_M)
    lanes, keys, dims = tl.arange(0, PAD_M), tl.arange(0, PAD_N), tl.arange(0, PAD_D)
    tile_ok = row_ok[:, None] & (dims < D)[None, :]
    kv_h = h // GROUP  # GROUP query heads share one key head
    q_ptrs = addresses(Q, q_strides, b, h, rows[:, None], dims[None, :])
    k_ptrs = addresses(K, k_strides, b, kv_h, keys[None, :], dims[:, None])
    v_ptrs = addresses(V, v_strides, b, kv_h, keys[:, None], dims[None, :])

    # phase: load — Q_i: HBM → SRAM, once; m = −∞, l = 0 (with a sink: it, 1), O = 0 on chip
    q = as_operand(tl.load(q_ptrs, mask=tile_ok, other=0.0), BF16_BITS)
    m_i = tl.full([PAD_M], float("-inf"), tl.float32)
    l_i = tl.zeros([PAD_M], tl.float32)
    if SINK is not None:
        m_i = tl.full([PAD_M], 0.0, tl.float32) + tl.load(SINK + h) * 1.4426950408889634
        l_i += 1.0
    acc = tl.zeros([PAD_M, PAD_D], tl.float32)

    j_start = 0
    if MASK == "spans":  # key blocks with an edge; those that every row sees whole; with an edge
        TABLES = (spans_of(SPANS, b, Nq, Nk),)
        begin, whole, full, stop = span_range(TABLES[0], rows + (Nk - Nq), row_ok, Nk)
        j_begin, j_end = begin // BLOCK_N, tl.cdiv(stop, BLOCK_N)
        j_start = tl.maximum(tl.minimum(tl.cdiv(whole, BLOCK_N), j_end), j_begin)
        j_full = tl.maximum(tl.minimum(full // BLOCK_N, j_end), j_start)
    elif plain(MASK):  # key blocks that every row sees whole; those with an edge; then skipped
        first, last = i * BLOCK_M + Nk - Nq, tl.minimum((i + 1) * BLOCK_M, Nq) - 1 + Nk - Nq
        full, stop = key_range(first, last, Nk, MASK)
        j_full, j_end = full // BLOCK_N, tl.cdiv(stop, BLOCK_N)
    else:  # the key blocks that the mask's list has for row block i
        j_full, j_end = listed(i, TABLES)
    trace = (bh * Tr + i) * tl.cdiv(Nk, BLOCK_N) * BLOCK_M + lanes
    PADDED: tl.constexpr = PAD_N != BLOCK_N or PAD_D != D
    if MASK == "spans":
        acc, m_i, l_i = visit_tiles(
            acc, m_i, l_i, q, k_ptrs, v_ptrs, k_strides[2], v_strides[2], M_TRACE + trace,
            L_TRACE + trace, rows, row_ok, keys, dims, bh, h, H, j_begin, j_start, Nq, Nk, qk_scale,
            TABLES, D, BLOCK_M, BLOCK_N, MASK, SCORE, DROPOUT, True, PADDED or RAGGED,
            PRECISION, TRACE, BF16_BITS,
        )  # fmt: skip
    if plain(MASK):
        acc, m_i, l_i = visit_tiles(
            acc, m_i, l_i, q, k_ptrs, v_ptrs, k_strides[2], v_strides[2], M_TRACE + trace,
            L_TRACE + trace, rows, row_ok, keys, dims, bh, h, H, j_start, j_full, Nq, Nk, qk_scale,
            TABLES, D, BLOCK_M, BLOCK_N, MASK, SCORE, DROPOUT, PAD_N != BLOCK_N, PADDED,
            PRECISION, TRACE, BF16_BITS,
        )  # fmt: skip
    if MASK != "full" or RAGGED:
        acc, m_i, l_i = visit_tiles(
            acc, m_i, l_i, q, k_ptrs, v_ptrs, k_strides[2], v_strides[2], M_TRACE + trace,
            L_TRACE + trace, rows, row_ok, keys, dims, bh, h, H, j_full, j_end, Nq, Nk, qk_scale,
            TABLES, D, BLOCK_M, BLOCK_N, MASK, SCORE, DROPOUT, True, PADDED or RAGGED,
            PRECISION, TRACE, BF16_BITS,
        )  # fmt: skip

    # phase: store — O_i = diag(1/l) O_i and lse_i = m + log l: SRAM → HBM, once
    l_ref = tl.where(l_i == 0.0, 1.0, l_i)  # a row without keys: O = 0, lse = −∞
    o = as_stored(acc / l_ref[:, None], O.dtype.element_ty, BF16_BITS)
    o_ptrs = addresses(O, o_strides, b, h, rows[:, None], dims[None, :])
    tl.store(o_ptrs, o, mask=tile_ok)
    tl.store(LSE + bh * Nq + rows, m_i * 0.6931471805599453 + tl.log(l_ref), mask=row_ok)
    if STAMPED:
        stamp(STAMPS, began)


# kernel: end


def prepare(inputs: ForwardInputs) -> Run:
    """Prepare a call: one program per row block, head and batch. lse is always written."""
    q, k, sign, states, stamps = inputs.q, inputs.k, inputs.sign, inputs.states, inputs.stamps
    heads, group, n_q, n_k = inputs.sizes
    has_spans = inputs.mask == SPANS
    constants, tables = inputs.rules()
    programs = inputs.row_blocks  # all on the grid's first axis: the others end at 65,535
    launch = Launch(
        fa2_kernel, programs,
        (
            *(() if inputs.has_sink else (None,)),
            sign(q).stride(), k.stride(), inputs.v.stride(), inputs.output_strides,
            heads, group, section(n_k, q.shape[-1], k.element_size()), n_q, n_k, inputs.scale_log2,
            tables,
        ),
        {
            **constants, "RAGGED": inputs.is_ragged, "TRACE": states is not None,
            "STAMPED": stamps is not None, **inputs.tile,
        },
    )  # fmt: skip
    make_o = allocator(*q.shape, dtype=q.dtype, device=q.device)
    make_lse = allocator(*q.shape[:3], dtype=torch.float32, device=q.device)

    def call(q, k, v, *more):
        o, lse = make_o(), make_lse()
        traces = (lse, lse) if states is None else states
        spans, sink = (more[0], more[1:]) if has_spans else (lse, more)  # lse: not read
        expect(programs)
        launch(sign(q), k, v, o, lse, *traces, lse if stamps is None else stamps, spans, *sink)
        return o, lse

    return call
