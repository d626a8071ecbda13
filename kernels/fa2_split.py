"""FlashAttention-2 with split keys, forward (Flash-Decoding, Dao et al., 2023): each part of the
keys has programs of its own, and decode.py's second kernel combines the parts by their lse."""

from functools import partial

import torch
import triton

from .decode import combine_launch
from .fa2 import visit_tiles
from .formats import as_operand
from .forward import ForwardInputs, Run
from .launching import Launch, allocator
from .masking import key_range, listed, plain, visited
from .progress import expect
from .spec.algorithms import SPLITS
from .tiles import addresses, block_lanes
from .triton_internals import tl

# kernel: begin
# kernel: fa2.visit_tiles


@triton.jit(do_not_specialize=["H", "GROUP", "Nq", "Nk", "PARTS"])
def fa2_split_kernel(
    Q, K, V, O_PARTS, LSE_PARTS, M_TRACE, L_TRACE, SINK, q_strides, k_strides, v_strides,
    H, GROUP, Nq, Nk, PARTS, qk_scale, TABLES,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    PAD_M: tl.constexpr, PAD_N: tl.constexpr, PAD_D: tl.constexpr, MASK: tl.constexpr,
    SCORE: tl.constexpr, DROPOUT: tl.constexpr, RAGGED: tl.constexpr, PRECISION: tl.constexpr,
    TRACE: tl.constexpr, BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Compute O and lse of one part of the keys for row block i of one (batch, head)."""
    Tr, Tc = tl.cdiv(Nq, BLOCK_M), tl.cdiv(Nk, BLOCK_N)
    part, i = tl.program_id(0) % PARTS, tl.program_id(0) // PARTS % Tr
    bh = (tl.program_id(0) // PARTS // Tr).to(tl.int64)
    b, h = bh // H, bh % H
    rows, row_ok = block_lanes(i, Nq, BLOCK_M, PAD_M)
    lanes, keys, dims = tl.arange(0, PAD_M), tl.arange(0, PAD_N), tl.arange(0, PAD_D)
    tile_ok = row_ok[:, None] & (dims < D)[None, :]
    kv_h = h // GROUP  # GROUP query heads share one key head
    q_ptrs = addresses(Q, q_strides, b, h, rows[:, None], dims[None, :])
    k_ptrs = addresses(K, k_strides, b, kv_h, keys[None, :], dims[:, None])
    v_ptrs = addresses(V, v_strides, b, kv_h, keys[:, None], dims[None, :])

    # phase: load — Q_i: HBM → SRAM, once; m = −∞, l = 0, O = 0 on chip
    q = as_operand(tl.load(q_ptrs, mask=tile_ok, other=0.0), BF16_BITS)
    m_i = tl.full([PAD_M], float("-inf"), tl.float32)
    l_i = tl.zeros([PAD_M], tl.float32)
    if SINK is not None:  # it belongs to the first part alone
        sink = tl.where(part == 0, tl.load(SINK + h) * 1.4426950408889634, float("-inf"))
        m_i = tl.full([PAD_M], 0.0, tl.float32) + sink
        l_i += tl.where(part == 0, 1.0, 0.0)
    acc = tl.zeros([PAD_M, PAD_D], tl.float32)

    # The key blocks of this part: the first Tc % PARTS parts have one more than the others.
    first_j = part * (Tc // PARTS) + tl.minimum(part, Tc % PARTS)
    last_j = first_j + Tc // PARTS + (part < Tc % PARTS).to(tl.int32)
    if plain(MASK):  # of them those that every row sees whole; then those with an edge
        first, last = i * BLOCK_M + Nk - Nq, tl.minimum((i + 1) * BLOCK_M, Nq) - 1 + Nk - Nq
        full, stop = key_range(first, last, Nk, MASK)
        j_full = tl.minimum(tl.maximum(full // BLOCK_N, first_j), last_j)
        j_end = tl.minimum(tl.maximum(tl.cdiv(stop, BLOCK_N), first_j), last_j)
    else:  # those of the mask's list for row block i that lie in the part
        at, end = listed(i, TABLES)
        j_full, j_end = at, at
        for k in range(at, end):
            j, _ = visited(k, TABLES)
            j_full += (j < first_j).to(tl.int32)
            j_end += (j < last_j).to(tl.int32)
    trace = (bh * Tr + i) * Tc * BLOCK_M + lanes
    PADDED: tl.constexpr = PAD_N != BLOCK_N or PAD_D != D
    if plain(MASK):
        acc, m_i, l_i = visit_tiles(
            acc, m_i, l_i, q, k_ptrs, v_ptrs, k_strides[2], v_strides[2], M_TRACE + trace,
            L_TRACE + trace, rows, row_ok, keys, dims, bh, h, H, first_j, j_full, Nq, Nk, qk_scale,
            TABLES, D, BLOCK_M, BLOCK_N, MASK, SCORE, DROPOUT, True, PADDED,
            PRECISION, TRACE, BF16_BITS,
        )  # fmt: skip
    if MASK != "full" or RAGGED:
        acc, m_i, l_i = visit_tiles(
            acc, m_i, l_i, q, k_ptrs, v_ptrs, k_strides[2], v_strides[2], M_TRACE + trace,
            L_TRACE + trace, rows, row_ok, keys, dims, bh, h, H, j_full, j_end, Nq, Nk, qk_scale,
            TABLES, D, BLOCK_M, BLOCK_N, MASK, SCORE, DROPOUT, True, PADDED or RAGGED,
            PRECISION, TRACE, BF16_BITS,
        )  # fmt: skip

    # phase: store — O′ = diag(1/l) O and lse′ = m + log l of this part: SRAM → HBM, once
    l_ref = tl.where(l_i == 0.0, 1.0, l_i)  # a row without keys: O′ = 0, lse′ = −∞
    out = (bh * Nq + rows) * PARTS + part
    tl.store(O_PARTS + out[:, None] * D + dims[None, :], acc / l_ref[:, None], mask=tile_ok)
    tl.store(LSE_PARTS + out, m_i * 0.6931471805599453 + tl.log(l_ref), mask=row_ok)


# kernel: decode.combine_kernel
# kernel: end


def prepare(inputs: ForwardInputs) -> Run:
    """Prepare a call as `fa2.prepare` does, with SPLITS programs per row block, head and batch, and
    a second launch."""
    q, k, sign, states = inputs.q, inputs.k, inputs.sign, inputs.states
    constants, tables = inputs.rules()
    split = Launch(
        fa2_split_kernel, inputs.row_blocks * SPLITS,
        (
            *(() if inputs.has_sink else (None,)),
            sign(q).stride(), k.stride(), inputs.v.stride(), *inputs.sizes, SPLITS,
            inputs.scale_log2, tables,
        ),
        {
            **constants, "RAGGED": inputs.is_ragged, "TRACE": states is not None, **inputs.tile,
        },
    )  # fmt: skip
    rows, d = inputs.pairs * q.shape[2], q.shape[3]
    combine = combine_launch(rows, d, SPLITS, 0, True, inputs.tile["BF16_BITS"])
    of_floats = partial(allocator, dtype=torch.float32, device=q.device)
    make_o = allocator(*q.shape, dtype=q.dtype, device=q.device)
    make_lse = of_floats(*q.shape[:3])
    make_parts, make_lses = of_floats(rows, SPLITS, d), of_floats(rows, SPLITS)

    def call(q, k, v, *sink):
        o, lse, parts, lses = make_o(), make_lse(), make_parts(), make_lses()
        traces = (lse, lse) if states is None else states
        expect(split.programs + combine.programs)
        split(sign(q), k, v, parts, lses, *traces, *sink)
        combine(parts, lses, o, lse)
        return o, lse

    return call
