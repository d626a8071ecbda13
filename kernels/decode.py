"""Decoding (Flash-Decoding): few queries, many keys, which are split into parts, a program each;
the parts are combined by their lse. The loop over the keys is FlashAttention-2's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import torch
import triton
from torch._C._functorch import peek_interpreter_stack

from .checks import aligned, check_call, check_is_beside, check_is_tensor, check_whole
from .configs import DECODE, nearest, pad
from .fa2 import visit_tiles
from .formats import as_operand, as_stored
from .launching import Calls, Launch, allocator, empty_result, without_warnings
from .masking import key_range
from .progress import expect
from .spec.launches import MAX_PARTS, parts_for
from .tiles import addresses, block_lanes
from .triton_internals import tl

MAX_QUERIES = 16  # of a head; with more, the row blocks of flash_attention fill a card
COMBINED = 4096  # numbers that one program of the combine loads

# kernel: begin


@triton.jit(do_not_specialize=["H", "GROUP", "Nq", "Nk", "PARTS", "LSE_AT", "WIDTH"])
def split_kernel(
    Q, K, V, O, LSE, LENGTHS, BLOCKS, q_strides, k_strides, v_strides, H, GROUP, Nq, Nk, PARTS,
    LSE_AT, WIDTH, qk_scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    PAD_M: tl.constexpr, PAD_N: tl.constexpr, PAD_D: tl.constexpr, MASK: tl.constexpr,
    RAGGED: tl.constexpr, SIGN: tl.constexpr, KEEP_LSE: tl.constexpr, PRECISION: tl.constexpr,
    BF16_BITS: tl.constexpr, PAGE: tl.constexpr,
):  # fmt: skip
    """Compute O and lse of one part of the keys of one (batch, key head), for row block i of the
    GROUP · Nq queries that share it: GROUP heads of Nq rows in one tile.

    LENGTHS: how many keys each batch has, at most Nk. PAGE: K and V are pages of so many keys,
    BLOCKS (B, WIDTH) says which pages a batch has."""
    Tr = tl.cdiv(GROUP * Nq, BLOCK_M)
    part, i = tl.program_id(0) % PARTS, tl.program_id(0) // PARTS % Tr
    pair = (tl.program_id(0) // PARTS // Tr).to(tl.int64)
    b, kv_h = pair // (H // GROUP), pair % (H // GROUP)
    shared, row_ok = block_lanes(i, GROUP * Nq, BLOCK_M, PAD_M)
    keys, dims = tl.arange(0, PAD_N), tl.arange(0, PAD_D)
    rows, h = shared % Nq, kv_h * GROUP + shared // Nq
    tile_ok = row_ok[:, None] & (dims < D)[None, :]
    q_ptrs = addresses(Q, q_strides, b, h[:, None], rows[:, None], dims[None, :])
    if LENGTHS is not None:
        Nk = tl.minimum(tl.load(LENGTHS + b), Nk)
    if PAGE:
        TABLES = (BLOCKS + b * WIDTH,)
        k_ptrs = K + kv_h * k_strides[2] + dims[:, None] * k_strides[3]
        v_ptrs = V + kv_h * v_strides[2] + dims[None, :] * v_strides[3]
        k_step, v_step = k_strides, v_strides
    else:
        TABLES = None
        k_ptrs = addresses(K, k_strides, b, kv_h, keys[None, :], dims[:, None])
        v_ptrs = addresses(V, v_strides, b, kv_h, keys[:, None], dims[None, :])
        k_step, v_step = k_strides[2], v_strides[2]

    # phase: load — Q_i: HBM → SRAM, once; m = −∞, l = 0, O = 0 on chip
    q = as_operand(tl.load(q_ptrs, mask=tile_ok, other=0.0), BF16_BITS)
    if SIGN != 1:  # the row maximum is scaled, so the scale's sign goes into Q, exactly
        q *= SIGN
    m_i = tl.full([PAD_M], float("-inf"), tl.float32)
    l_i = tl.zeros([PAD_M], tl.float32)
    acc = tl.zeros([PAD_M, PAD_D], tl.float32)

    Tc = tl.cdiv(Nk, BLOCK_N)
    # The key blocks of this part: the first Tc % PARTS parts have one more than the others.
    j_start = part * (Tc // PARTS) + tl.minimum(part, Tc % PARTS)
    j_end = j_start + Tc // PARTS + (part < Tc % PARTS).to(tl.int32)
    full = key_range(Nk - Nq, Nk - 1, Nk, MASK)[0]  # keys that all rows see need no mask
    j_full = tl.minimum(tl.maximum(full // BLOCK_N, j_start), j_end)
    PADDED: tl.constexpr = PAD_D != D
    acc, m_i, l_i = visit_tiles(
        acc, m_i, l_i, q, k_ptrs, v_ptrs, k_step, v_step, LSE, LSE,
        rows, row_ok, keys, dims, 0, h, H, j_start, j_full, Nq, Nk, qk_scale, TABLES, D,
        BLOCK_M, BLOCK_N, MASK, "none", "none", False, PADDED, PRECISION, False, BF16_BITS, PAGE,
    )  # fmt: skip
    if MASK != "full" or RAGGED:
        acc, m_i, l_i = visit_tiles(
            acc, m_i, l_i, q, k_ptrs, v_ptrs, k_step, v_step, LSE, LSE,
            rows, row_ok, keys, dims, 0, h, H, j_full, j_end, Nq, Nk, qk_scale, TABLES, D,
            BLOCK_M, BLOCK_N, MASK, "none", "none", True, PADDED or RAGGED, PRECISION, False,
            BF16_BITS, PAGE,
        )  # fmt: skip

    # phase: store — O = diag(1/l) O and lse = m + log l of this part: SRAM → HBM, once
    l_ref = tl.where(l_i == 0.0, 1.0, l_i)  # a row without keys: O = 0, lse = −∞
    at = ((b * H + h) * Nq + rows) * PARTS + part
    BITS: tl.constexpr = BF16_BITS and O.dtype.element_ty == tl.bfloat16
    o = as_stored(acc / l_ref[:, None], O.dtype.element_ty, BITS)
    tl.store(O + at[:, None] * D + dims[None, :], o, mask=tile_ok)
    if KEEP_LSE:
        tl.store(LSE + LSE_AT + at, m_i * 0.6931471805599453 + tl.log(l_ref), mask=row_ok)


@triton.jit(do_not_specialize=["PARTS", "LSE_AT"])
def combine_kernel(
    O_PARTS, LSE_PARTS, O, LSE, PARTS, LSE_AT,
    D: tl.constexpr, BLOCK_D: tl.constexpr, PAD_P: tl.constexpr, KEEP_LSE: tl.constexpr,
    BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Combine all parts of BLOCK_D dimensions of one row: O = Σ exp(lse_p − lse) O_p."""
    PIECES: tl.constexpr = (D + BLOCK_D - 1) // BLOCK_D
    row, piece = (tl.program_id(0) // PIECES).to(tl.int64), tl.program_id(0) % PIECES
    parts, dims = tl.arange(0, PAD_P), piece * BLOCK_D + tl.arange(0, BLOCK_D)
    # phase: load — O_p and lse_p of every part p: HBM → SRAM
    part_ok, dim_ok = parts < PARTS, dims < D
    at = row * PARTS + parts
    lse = tl.load(LSE_PARTS + LSE_AT + at, mask=part_ok, other=float("-inf"))
    o_ptrs = O_PARTS + at[:, None] * D + dims[None, :]
    o = tl.load(o_ptrs, mask=part_ok[:, None] & dim_ok[None, :], other=0.0)
    # phase: max — m = max lse_p
    m = tl.max(lse, 0)
    m_ref = tl.where(m == float("-inf"), 0.0, m)  # a row without keys: no −∞ − (−∞)
    # phase: exp — the weight of part p: exp(lse_p − m)
    weights = tl.exp(lse - m_ref)
    # phase: sum — l = Σ exp(lse_p − m)
    l = tl.sum(weights, 0)
    l_ref = tl.where(l == 0.0, 1.0, l)
    # phase: output — O = Σ exp(lse_p − lse) O_p
    o = tl.sum(weights[:, None] * o, 0) / l_ref
    # phase: store — O and lse = m + log l: SRAM → HBM
    tl.store(O + row * D + dims, as_stored(o, O.dtype.element_ty, BF16_BITS), mask=dim_ok)
    if KEEP_LSE:
        tl.store(LSE + row, m + tl.log(l_ref), mask=piece == 0)


# kernel: end


def decode_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    parts: int | None = None,
    return_lse: bool = False,
    block_table: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Compute exact attention of few queries to many keys, forward only.

    q (B, H, Nq, d) with Nq 1 to 16; k and v (B, Hk, Nk, d), Hk dividing H; fp16, bf16 or fp32;
    d 1 to 256; any strides. `causal` is aligned bottom-right. `scale` defaults to 1/√d. `parts`, 1
    to 256, is the number of programs that share the keys of a head (None: `parts_for`); a part may
    be empty. Each part is a softmax of its own; then lse = log Σ exp(lse_p), O = Σ exp(lse_p − lse)
    O_p, which is exact in real arithmetic. One part needs no second launch.

    `lengths` (B,), int32: how many keys of k each batch has; the last query is at the last of them.
    With `block_table` (B, n), int32, k and v are pages (pages, page size, Hk, d): key j of batch b
    is in page block_table[b, j // page size], and `lengths` must be given. Entries beyond them are
    not read. On a GPU the values of neither are checked: that would wait for the device.

    Returns O (B, H, Nq, d) in q's dtype; with `return_lse` also lse (B, H, Nq), fp32, natural log;
    a row that sees no key gives 0 and −inf.
    Raises TypeError, ValueError or RuntimeError with one sentence for input that cannot run.
    """
    if torch.compiler.is_compiling() or peek_interpreter_stack() is not None:
        raise RuntimeError(
            "decode_attention is not run under torch.compile or torch.vmap: kernels.attention is."
        )
    if lengths is None and block_table is None:
        o, lse = _calls(q, k, v, causal, scale, parts, return_lse)
    else:
        more, width = _caches(q, k, lengths, block_table)
        o, lse = _calls(q, k, v, causal, scale, parts, return_lse, True, width, more=more)
    return (o, lse) if return_lse else o


def _caches(q, k, lengths, block_table) -> tuple[tuple[torch.Tensor, ...], int]:
    """Return the checked tensors of caches, and the pages of a batch, 0 without a table. Raises
    TypeError, ValueError or RuntimeError with one sentence."""
    if lengths is None:
        raise ValueError("block_table needs lengths, the number of keys of each batch.")
    given = {"lengths": (lengths, 1), "block_table": (block_table, 2)}
    check_is_tensor("q", q)
    if q.dim() != 4:
        raise ValueError(f"q must have 4 dimensions (B, H, N, d), not {tuple(q.shape)}.")
    more, batch = [], len(q)
    for name, (x, dims) in given.items():
        if x is None:
            continue
        check_is_tensor(name, x)
        if x.dtype != torch.int32 or x.dim() != dims or len(x) != batch:
            raise ValueError(
                f"{name} has shape {tuple(x.shape)} and {x.dtype}: it must be int32 and have "
                f"{dims} dimension{'s' * (dims > 1)}, the first of q's batch {batch}."
            )
        check_is_beside(name, x, q.device)
        more.append(aligned(x))
    width = 0 if block_table is None else block_table.shape[1]
    if block_table is not None and not width:
        raise ValueError(
            f"block_table has shape {tuple(block_table.shape)}: a batch must have a page."
        )
    if q.device.type == "cpu" and isinstance(k, torch.Tensor) and k.dim() == 4 and batch:
        _check_values(k, *more)
    return tuple(more), width


def _check_values(k: torch.Tensor, lengths: torch.Tensor, table: torch.Tensor | None = None):
    """Check lengths and a block table by their values. Raises ValueError with one sentence."""
    room = k.shape[2] if table is None else table.shape[1] * k.shape[1]
    if lengths.amin() < 0 or lengths.amax() > room:
        raise ValueError(
            f"lengths are from {lengths.amin():,} to {lengths.amax():,}: 0 to {room:,} are allowed."
        )
    if table is not None and len(k):
        read = torch.arange(table.shape[1]) * k.shape[1] < lengths[:, None]
        wrong = table[read & ((table < 0) | (table >= len(k)))]
        if len(wrong):
            raise ValueError(f"block_table has page {wrong[0]}: 0 to {len(k) - 1:,} are allowed.")


def prepare(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor,
    causal: bool, scale: float | None, parts: int | None, keep_lse: bool,
    has_lengths: bool = False, width: int = 0,
) -> Callable[..., tuple[torch.Tensor, torch.Tensor | None]]:  # fmt: skip
    """Return a function of (q, k, v), of lengths if there are any and of a block table if its
    `width` is not 0, to O and lse for these options and tensors like these; arguments and errors as
    `decode_attention`."""
    page, each = 0, (k, v)
    if width:  # as each batch sees them
        for name, x in (("k", k), ("v", v)):
            if not isinstance(x, torch.Tensor) or x.dim() != 4 or not x.numel():
                shape = tuple(getattr(x, "shape", ()))
                raise ValueError(
                    f"{name} must be (pages, page size, Hk, d) with a block table, not {shape}."
                )
        if k.shape != v.shape:  # a page of k may lie beyond the last one of v
            raise ValueError(
                f"k and v must have one shape, not {tuple(k.shape)} and {tuple(v.shape)}."
            )
        page = k.shape[1]
        each = [x[:1].transpose(1, 2).expand(len(q), -1, -1, -1) for x in (k, v)]
    parsed, _, factor = check_call(q, each[0], each[1], causal, None, None, scale)
    (batch, heads, n_q, d), (k_heads, n_k) = q.shape, each[0].shape[1:3]
    n_k = width * page or n_k
    if n_q > MAX_QUERIES:
        raise ValueError(
            f"Nq = {n_q:,} is not allowed: decode_attention takes 1 to {MAX_QUERIES} queries of a "
            "head, flash_attention any number."
        )
    if parts is not None:
        check_whole("parts", parts, MAX_PARTS)
    if 0 in q.shape or 0 in k.shape:
        return empty_result
    shared = heads // k_heads * n_q
    table = DECODE["interpreter" if q.device.type == "cpu" else "cuda"]
    best = table[nearest(table, d, q.element_size())]
    config = replace(best, block_m=min(pad(shared), best.block_m))
    programs = batch * k_heads * -(-shared // config.block_m)
    if parts is None:
        parts = parts_for(programs, n_k, multiprocessors(q.device))
    programs, rows = programs * parts, batch * heads * n_q
    constants = config.constants(d, q.dtype, "ieee")
    absent = (None,) * (2 - has_lengths - bool(page))
    split = Launch(
        split_kernel, programs,
        (
            *absent, q.stride(), k.stride(), v.stride(), heads, heads // k_heads, n_q, n_k, parts,
            rows * parts * d if parts > 1 else 0, width, (abs(factor) or 1.0) * 1.4426950408889634,
        ),
        {
            # The one query is the last: it sees all keys.
            "MASK": parsed.text if n_q > 1 else "full",
            "RAGGED": has_lengths or n_k % config.block_n != 0, "PAGE": page,
            "SIGN": (factor > 0) - (factor < 0), "KEEP_LSE": keep_lse or parts > 1, **constants,
        },
    )  # fmt: skip
    of_floats = partial(allocator, dtype=torch.float32, device=q.device)
    make_o = allocator(*q.shape, dtype=q.dtype, device=q.device)
    make_lse = of_floats(*q.shape[:3])
    if parts == 1:

        def one(q, k, v, *more):
            o, lse = make_o(), make_lse() if keep_lse else None
            expect(programs)
            split(q, k, v, o, o if lse is None else lse, *more)
            return o, lse

        return without_warnings(one)
    combine = combine_launch(rows, d, parts, rows * parts * d, keep_lse, constants["BF16_BITS"])
    make_parts = of_floats(rows * parts * (d + 1))  # O of every part, then its lse: one allocation

    def several(q, k, v, *more):
        o, lse = make_o(), make_lse() if keep_lse else None
        each = make_parts()
        expect(programs + combine.programs)
        split(q, k, v, each, each, *more)
        combine(each, each, o, o if lse is None else lse)
        return o, lse

    return without_warnings(several)


@lru_cache(maxsize=16)
def multiprocessors(device: torch.device) -> int:
    """Return the multiprocessors of a GPU; 8 for the interpreter."""
    if device.type == "cpu":
        return 8
    return torch.cuda.get_device_properties(device).multi_processor_count


def combine_launch(
    rows: int, d: int, parts: int, lse_at: int, keep_lse: bool, bf16_bits: bool
) -> Launch:
    """Return the launch that combines the parts of all `rows` of O; the lse of parts begin at
    number `lse_at` of their tensor."""
    pad_p = triton.next_power_of_2(parts)
    block_d = min(pad(d), max(16, COMBINED // pad_p))
    return Launch(
        combine_kernel, rows * triton.cdiv(d, block_d), (parts, lse_at),
        {
            "D": d, "BLOCK_D": block_d, "PAD_P": pad_p, "KEEP_LSE": keep_lse,
            "BF16_BITS": bf16_bits, "num_warps": 4, "enable_fp_fusion": True,
        },
    )  # fmt: skip


_calls = Calls(prepare)
