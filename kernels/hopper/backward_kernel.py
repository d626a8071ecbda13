"""FlashAttention-2's backward on Hopper, in Gluon: keys outside, rows inside, tiles on their side.

A producer warp copies K_j, V_j once and Q_i, dO_i, lse_i, −D_i of every row block, from the last to
the first, into rings of shared memory. Two warpgroups keep 64 keys each, with dK and dV in
registers. Sᵀ = K Qᵀ and dPᵀ = V dOᵀ come out as the next products take them, so Pᵀ and dSᵀ go from
registers into dV and dK. Only dQ_i = dS K sums over keys: dS goes through shared memory, each
warpgroup multiplies a 64 × 64 half of dQ_i one row block later, so that neither waits for the other
one, and a sending warp has the copy engine add it in HBM, in fp32.
"""
# ruff: noqa: SIM102 — one `if` at compile time, one on the GPU

from .backward_parts import (
    BATCH,
    END,
    FIRST,
    FROM,
    HALF,
    HEAD,
    K_HEAD,
    KEY,
    KEYS,
    OUT_SLOT,
    PASSES,
    Q_SLOT,
    TO,
    announce,
    await_both,
    await_rank,
    barriers,
    mask_rows,
    release_rank,
    stage_output,
    start_dq,
    transposed_product,
)
from .gluon import (
    as_tile,
    async_add,
    async_load,
    async_store,
    fence_async_shared,
    gl,
    gluon,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from .kernel import ring
from .parts import (
    FIELDS,
    await_full,
    await_pair,
    read_field,
    take_from_queue,
    write_field,
)
from .variants import tile_in


@gluon.jit
def produce(loads, plan: gl.constexpr):
    """Load K_j, V_j of every tile and the row blocks of all heads of the group (producer warp)."""
    M: gl.constexpr = plan.block_m
    STAGES: gl.constexpr = plan.stages
    descriptors, kv, q_ring, do_ring, messages, counter, sizes, TILES = loads
    q_desc, k_desc, v_desc, do_desc, lse_desc, less_desc = descriptors
    k_smem, k_full, k_empty, v_smem, v_full, v_empty = kv
    q_smem, lse_smem, q_full = q_ring
    do_smem, less_smem, do_full = do_ring
    Tc, BH, H, GROUP, PADDED, SECTION = sizes
    D: gl.constexpr = q_desc.block_type.shape[3]
    slots, ready, free = messages
    it = 0  # row blocks so far: ring slot it % STAGES, its round it // STAGES
    n = 0
    code = gl.program_id(0)
    while code < Tc * BH:
        tile, bh = tile_in(TILES, code, Tc, BH, SECTION)
        key0 = gl.load(tile) * KEYS
        first = gl.load(tile + 1) * M
        end = gl.load(tile + 2) * M
        b = bh // (H // GROUP)
        k_head = bh % (H // GROUP)
        h = k_head * GROUP
        passes = (end - first) // M * GROUP
        unused = (n & 1) ^ 1
        await_pair(free, n, 1)
        write_field(slots, n, KEY, key0)
        write_field(slots, n, BATCH, b)
        write_field(slots, n, K_HEAD, k_head)
        write_field(slots, n, FIRST, first)
        write_field(slots, n, END, end)
        write_field(slots, n, HEAD, b * H + h)
        write_field(slots, n, PASSES, passes)
        if plan.masked:
            for w in gl.static_range(2):
                write_field(slots, n, FROM + 2 * w, gl.load(tile + 5 + 4 * w))
                write_field(slots, n, TO + 2 * w, gl.load(tile + 6 + 4 * w))
        mbarrier.arrive(ready.index(n & 1), count=1)
        mbarrier.wait(k_empty.index(0), unused)
        mbarrier.expect(k_full.index(0), KEYS * D * 2)
        async_load(k_desc, [b, k_head, key0, 0], k_full.index(0), k_smem.index(0))
        row0 = end - M
        for at_pass in range(0, passes):
            s = it % STAGES
            at = (b * H + h) * PADDED + row0
            if it >= STAGES:
                await_both(Q_SLOT + s)
            mbarrier.expect(q_full.index(s), M * D * 2 + M * 4)
            async_load(q_desc, [b, h, row0, 0], q_full.index(s), q_smem.index(s))
            async_load(lse_desc, [at], q_full.index(s), lse_smem.index(s))
            if at_pass == 0:
                mbarrier.wait(v_empty.index(0), unused)
                mbarrier.expect(v_full.index(0), KEYS * D * 2)
                async_load(v_desc, [b, k_head, key0, 0], v_full.index(0), v_smem.index(0))
            mbarrier.expect(do_full.index(s), M * D * 2 + M * 4)
            async_load(do_desc, [b, h, row0, 0], do_full.index(s), do_smem.index(s))
            async_load(less_desc, [at], do_full.index(s), less_smem.index(s))
            it += 1
            row0 -= M
            if row0 < first:
                row0 = end - M
                h += 1
        code = take_from_queue(counter, Tc * BH)
        n += 1
    await_pair(free, n, 1)
    write_field(slots, n, KEY, -1)
    mbarrier.arrive(ready.index(n & 1), count=1)


@gluon.jit
def visit_row_block(
    S, less, dK, dV, it, n, at_pass, passes, row0, own, slope, work, plan: gl.constexpr,
    w: gl.constexpr, NONE_BEFORE: gl.constexpr,
):  # fmt: skip
    """Visit row block i for this warpgroup's keys: return S and −D of the next one, and dK, dV with
    this one's part.

    S (64, M): of this row block, less: −D as the products take it, at_pass: its number in the tile.
    own: the first key, and which rows see all 64. slope: of ALiBi, times log2 e; lse has a row's
    own part of that bias.
    dQ of the row block before is computed here, unless NONE_BEFORE; without that, at at_pass = 0
    its product takes what lies in shared memory and is not used.
    """
    M: gl.constexpr = plan.block_m
    STAGES: gl.constexpr = plan.stages
    kv, q_ring, do_ring, ds_ring, out_ring, _messages, scales, SPANS, _SLOPES = work
    k_smem, _k_full, _k_empty, v_smem, _v_full, _v_empty = kv
    q_smem, lse_smem, q_full = q_ring
    do_smem, less_smem, do_full = do_ring
    ds_smem, ds_full, ds_empty = ds_ring
    DTYPE: gl.constexpr = q_smem.dtype
    S_LAYOUT: gl.constexpr = S.type.layout
    OPERAND: gl.constexpr = gl.DotOperandLayout(0, dK.type.layout, 2)
    BY_ROW: gl.constexpr = gl.SliceLayout(0, S_LAYOUT)
    D: gl.constexpr = k_smem.shape[4]
    k_all = k_smem.index(0).reshape([KEYS, D])
    k_own = k_all.slice(w * HALF, HALF)
    v_own = v_smem.index(0).reshape([KEYS, D]).slice(w * HALF, HALF)
    none = gl.zeros([HALF, M], gl.float32, S_LAYOUT)
    s = it % STAGES
    # phase: dP — dPᵀ − D = V_j dO_iᵀ − D_i is started
    dP_started = transposed_product(v_own, do_smem, s, less, True)
    lse = lse_smem.index(s).load(BY_ROW)
    # phase: mask
    if plan.masked:
        key0, all_from, all_to = own
        if (row0 < all_from) | (row0 + M > all_to):
            S = mask_rows(S, row0, SPANS + 2 * key0, S_LAYOUT)
    # phase: exp — a row that sees no key, or is none, has lse = ∞
    if plan.score == "alibi":
        keys = gl.arange(0, HALF, gl.SliceLayout(1, S_LAYOUT))
        bias = (own[0] - row0 + keys).to(gl.float32) * slope
        P = gl.exp2(S * scales[1] + (bias[:, None] - lse[None, :]))
    else:
        P = gl.exp2(S * scales[1] - lse[None, :])
    # phase: dV — dV_j += Pᵀ dO_i
    P_16 = gl.convert_layout(P.to(DTYPE), OPERAND)
    do = do_smem.index(s).reshape([M, D])
    dV_started = warpgroup_mma(P_16, do, dV, is_async=True)
    dP = warpgroup_mma_wait(1, deps=[dP_started])
    # phases: dS, dK — dS in shared memory, and dK_j += dSᵀ Q_i; the order that is faster by d
    dS = (P * dP).to(DTYPE)
    q = q_smem.index(s).reshape([M, D])
    if plan.dk_first:
        dS_16 = gl.convert_layout(dS, OPERAND)
        dK_started = warpgroup_mma(dS_16, q, dK, is_async=True)
    mbarrier.wait(ds_empty.index(it & 1), ((it >> 1) & 1) ^ 1)
    ds_smem.index(it & 1).slice(w * HALF, HALF).store(dS)
    fence_async_shared()
    mbarrier.arrive(ds_full.index(it & 1), count=1)
    if not plan.dk_first:
        dS_16 = gl.convert_layout(dS, OPERAND)
        dK_started = warpgroup_mma(dS_16, q, dK, is_async=True)
    # phase: dQ — the half of dS_i K_j of the row block before
    it += 1
    if not NONE_BEFORE:
        earlier = True if plan.peeled else at_pass > 0
        mbarrier.wait(ds_full.index(it & 1), ((it >> 1) & 1) ^ 1, pred=earlier)
        dQ_started = start_dq(k_all, ds_smem.index(it & 1), w)
        dV, dK, _, _ = warpgroup_mma_wait(1, deps=[dV_started, dK_started, P_16, dS_16])
        announce(Q_SLOT + s)
    # phase: scores — S of the next row block; after the last one of what lies there
    ahead = it % STAGES
    more = at_pass + 1 < passes
    await_full(q_full, it, STAGES, pred=more)
    S_started = transposed_product(k_own, q_smem, ahead, none, False)
    if NONE_BEFORE:
        dV, dK, _, _ = warpgroup_mma_wait(1, deps=[dV_started, dK_started, P_16, dS_16])
        announce(Q_SLOT + s)
    else:
        # phase: store — dQ, which the sending warp adds in HBM
        dQ = warpgroup_mma_wait(1, deps=[dQ_started])
        if earlier:
            mbarrier.arrive(ds_empty.index(it & 1), count=1)
            stage_output(out_ring, it - 2, n, w, dQ, is_transposed=True)
    # phase: load — dO and D of the next row block
    await_full(do_full, it, STAGES, pred=more)
    less = less_smem.index(ahead).load(BY_ROW)[None, :].broadcast_to([HALF, M])
    S = warpgroup_mma_wait(0, deps=[S_started])
    return S, less, dK, dV


@gluon.jit
def consume(work, plan: gl.constexpr, w: gl.constexpr):
    """Compute keys j·128 + 64 w … + 63 of every tile (warpgroup w)."""
    M: gl.constexpr = plan.block_m
    STAGES: gl.constexpr = plan.stages
    kv, q_ring, do_ring, ds_ring, out_ring, messages, scales, _SPANS, SLOPES = work
    slots, ready, free = messages
    k_smem, k_full, k_empty, _v_smem, v_full, v_empty = kv
    q_smem, _lse_smem, q_full = q_ring
    _do_smem, less_smem, do_full = do_ring
    ds_smem, ds_full, ds_empty = ds_ring
    D: gl.constexpr = q_smem.shape[4]
    DTYPE: gl.constexpr = q_smem.dtype
    BOX: gl.constexpr = k_smem.layout  # of dK and dV too
    S_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, M, 16])
    DK_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    BY_ROW: gl.constexpr = gl.SliceLayout(0, S_LAYOUT)
    k_all = k_smem.index(0).reshape([KEYS, D])
    k_own = k_all.slice(w * HALF, HALF)
    none = gl.zeros([HALF, M], gl.float32, S_LAYOUT)
    it = 0
    n = 0
    await_pair(ready, n)
    while read_field(slots, n, KEY, 4) >= 0:
        first = read_field(slots, n, FIRST, 4)
        end = read_field(slots, n, END, 4)
        passes = read_field(slots, n, PASSES, 4)
        row0 = end - M
        own = (0, 0, 0)
        if plan.masked:
            own = (
                read_field(slots, n, KEY, 4) + w * HALF,
                read_field(slots, n, FROM + 2 * w, 4),
                read_field(slots, n, TO + 2 * w, 4),
            )
        head = 0
        slope = 0.0
        if plan.score == "alibi":
            own = (read_field(slots, n, KEY, 4) + w * HALF, own[1], own[2])
            head = read_field(slots, n, HEAD, 4)
            slope = gl.load(SLOPES + head)
        dK = gl.zeros([HALF, D], gl.float32, DK_LAYOUT)
        dV = gl.zeros([HALF, D], gl.float32, DK_LAYOUT)
        mbarrier.wait(k_full.index(0), n & 1)
        await_full(q_full, it, STAGES)
        S_started = transposed_product(k_own, q_smem, it % STAGES, none, False)
        mbarrier.wait(v_full.index(0), n & 1)
        await_full(do_full, it, STAGES)
        less = less_smem.index(it % STAGES).load(BY_ROW)[None, :].broadcast_to([HALF, M])
        S = warpgroup_mma_wait(0, deps=[S_started])
        if plan.peeled:
            if passes > 0:
                S, less, dK, dV = visit_row_block(
                    S, less, dK, dV, it, n, 0, passes, row0, own, slope, work, plan, w, True
                )
                it += 1
                row0 -= M
                if plan.grouped:
                    if row0 < first:
                        row0 = end - M
                        if plan.score == "alibi":
                            head += 1
                            slope = gl.load(SLOPES + head)
        PEELED: gl.constexpr = 1 if plan.peeled else 0
        for at_pass in range(PEELED, passes):
            S, less, dK, dV = visit_row_block(
                S, less, dK, dV, it, n, at_pass, passes, row0, own, slope, work, plan, w, False
            )
            it += 1
            row0 -= M
            if plan.grouped:
                if row0 < first:
                    row0 = end - M
                    if plan.score == "alibi":
                        head += 1
                        slope = gl.load(SLOPES + head)
        # phase: dQ — of the last row block
        if passes > 0:
            await_pair(ds_full, it - 1)
            dQ_started = start_dq(k_all, ds_smem.index((it - 1) & 1), w)
            dQ = warpgroup_mma_wait(0, deps=[dQ_started])
            mbarrier.arrive(ds_empty.index((it - 1) & 1), count=1)
            stage_output(out_ring, it - 1, n, w, dQ, is_transposed=True)
        mbarrier.arrive(k_empty.index(0), count=1)
        mbarrier.arrive(v_empty.index(0), count=1)
        mbarrier.arrive(free.index(n & 1), count=1)
        # phase: store — dK_j = scale · dSᵀ Q and dV_j
        stage_output(out_ring, it, n, w, (dK * scales[0]).to(DTYPE), DTYPE, BOX)
        stage_output(out_ring, it + 1, n, w, dV.to(DTYPE), DTYPE, BOX)
        n += 1
        await_pair(ready, n)


@gluon.jit
def send(stores, out_ring, messages, tables, plan: gl.constexpr, own: gl.constexpr):
    """Add the parts of dQ of every tile in HBM, by rank if serialized, then store dK and dV (the
    sending warp). A copy leaves out rows beyond Nq and keys beyond Nk.

    If serialized each of two warps has a slot of its own, and waits until its copy is in HBM, so
    that the next key block may add at once.
    """
    M: gl.constexpr = plan.block_m
    dq_desc, dk_desc, dv_desc = stores
    out_smem, out_empty = out_ring
    slots, ready, free = messages
    RANKS, COUNTS, Tr = tables
    BY_COLUMNS: gl.constexpr = dk_desc.block_type.shape[3] == 128
    at = 0
    n = 0
    await_pair(ready, n)
    while read_field(slots, n, KEY, 1) >= 0:
        key0 = read_field(slots, n, KEY, 1)
        b = read_field(slots, n, BATCH, 1)
        k_head = read_field(slots, n, K_HEAD, 1)
        first = read_field(slots, n, FIRST, 1)
        end = read_field(slots, n, END, 1)
        head = read_field(slots, n, HEAD, 1)
        passes = read_field(slots, n, PASSES, 1)
        mbarrier.arrive(free.index(n & 1), count=1)
        row0 = end - M
        for _at_pass in range(0, passes):
            slot = at & 1
            if own is None or slot == own:
                await_both(OUT_SLOT + slot)
                if plan.serialized:
                    count = COUNTS + head * Tr + row0 // M
                    await_rank(count, gl.load(RANKS + key0 // KEYS * Tr + row0 // M))
                for w in gl.static_range(2):
                    if BY_COLUMNS:
                        async_add(dq_desc, [head, row0, w * HALF], out_smem.index(slot * 2 + w))
                    else:
                        async_add(dq_desc, [head, row0 + w * HALF, 0], out_smem.index(slot * 2 + w))
                if plan.serialized:
                    tma.store_wait(0)
                    mbarrier.arrive(out_empty.index(slot), count=1)
                    release_rank(count)
                else:
                    tma.store_wait(2)
                    mbarrier.arrive(out_empty.index(slot ^ 1), count=1, pred=at > 0)
            at += 1
            row0 -= M
            if row0 < first:
                row0 = end - M
                head += 1
        for part in gl.static_range(2):
            slot = at & 1
            if own is None or slot == own:
                await_both(OUT_SLOT + slot)
                for w in gl.static_range(2):
                    desc = dv_desc if part else dk_desc
                    box = out_smem.index(slot * 2 + w)
                    box = as_tile(box, desc.dtype, desc.block_type.shape, desc.layout)
                    async_store(desc, [b, k_head, key0 + w * HALF, 0], box)
                if plan.serialized:
                    tma.store_wait(0)
                    mbarrier.arrive(out_empty.index(slot), count=1)
                else:
                    tma.store_wait(2)
                    mbarrier.arrive(out_empty.index(slot ^ 1), count=1)
            at += 1
        n += 1
        await_pair(ready, n)
    tma.store_wait(0)


@gluon.jit(do_not_specialize=["Tc", "BH", "H", "GROUP", "PADDED", "SECTION"])
def backward_kernel(
    q_desc, k_desc, v_desc, do_desc, lse_desc, less_desc, dq_desc, dk_desc, dv_desc, counter,
    COUNTS, Tc, BH, H, GROUP, PADDED, SECTION, scale, scale_log2, SPANS, TILES, RANKS, SLOPES,
    plan: gl.constexpr,
):  # fmt: skip
    """Allocate rings and barriers in shared memory, then start every warp in its role.

    Descriptors of (B, H, N, d): boxes of M rows of Q and dO, 128 keys of K and V, 64 of dK and dV,
    64 × 64 of dQ, in fp32, which is added to. Of lse · log2 e and −D, (B · H · PADDED,) in fp32: M
    rows; PADDED is Nq made a multiple of M. BH: B · Hk. counter, SECTION: as in `hopper_kernel`.
    SPANS, TILES: `tables.Tables` of the mask by keys, tiles of 128 keys and M rows. If
    plan.serialized, RANKS (Tc, Tr) has the number of key blocks that add to row block i before j;
    COUNTS (B, H, Tr), 0 at first, counts those that have. SLOPES (B · H + 1,): ALiBi's, times
    log2 e, or None; lse then has a row's own part of the bias.
    """
    M: gl.constexpr = plan.block_m
    STAGES: gl.constexpr = plan.stages
    DTYPE: gl.constexpr = q_desc.dtype
    D: gl.constexpr = q_desc.block_type.shape[3]
    DS: gl.constexpr = gl.NVMMASharedLayout.get_default_for([KEYS, M], DTYPE)
    k_smem = gl.allocate_shared_memory(DTYPE, [1, 1, 1, KEYS, D], k_desc.layout)
    v_smem = gl.allocate_shared_memory(DTYPE, [1, 1, 1, KEYS, D], v_desc.layout)
    q_smem = gl.allocate_shared_memory(DTYPE, [STAGES, 1, 1, M, D], q_desc.layout)
    do_smem = gl.allocate_shared_memory(DTYPE, [STAGES, 1, 1, M, D], do_desc.layout)
    ds_smem = gl.allocate_shared_memory(DTYPE, [2, KEYS, M], DS)
    out_smem = gl.allocate_shared_memory(gl.float32, [4, 1, HALF, HALF], dq_desc.layout)
    lse_smem = gl.allocate_shared_memory(gl.float32, [STAGES, M], lse_desc.layout)
    less_smem = gl.allocate_shared_memory(gl.float32, [STAGES, M], less_desc.layout)
    SLOT: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    slots = gl.allocate_shared_memory(gl.int32, [2 * FIELDS, 1], SLOT)
    k_full, k_empty = ring(1, 2)
    v_full, v_empty = ring(1, 2)
    q_full, do_full = barriers(STAGES, 1), barriers(STAGES, 1)
    ds_full, ds_empty = barriers(2, 2), barriers(2, 2)
    ready, free = ring(2, 4 if plan.serialized else 3)
    out_empty = barriers(2, 1)
    fence_async_shared()
    kv = (k_smem, k_full, k_empty, v_smem, v_full, v_empty)
    q_ring = (q_smem, lse_smem, q_full)
    do_ring = (do_smem, less_smem, do_full)
    ds_ring = (ds_smem, ds_full, ds_empty)
    messages = (slots, ready, free)
    sizes = (Tc, BH, H, GROUP, PADDED, SECTION)
    descriptors = (q_desc, k_desc, v_desc, do_desc, lse_desc, less_desc)
    loads = (descriptors, kv, q_ring, do_ring, messages, counter, sizes, TILES)
    stores = (dq_desc, dk_desc, dv_desc)
    out_ring = (out_smem, out_empty)
    scales = (scale, scale_log2)
    tables = (RANKS, COUNTS, PADDED // M)
    work = (kv, q_ring, do_ring, ds_ring, out_ring, messages, scales, SPANS, SLOPES)
    if plan.serialized:
        gl.warp_specialize(
            [
                (consume, (work, plan, 0)),
                (consume, (work, plan, 1)),
                (produce, (loads, plan)),
                (send, (stores, out_ring, messages, tables, plan, 0)),
                (send, (stores, out_ring, messages, tables, plan, 1)),
            ],
            [4, 1, 1, 1],
            [
                plan.consumer_registers,
                plan.producer_registers,
                plan.producer_registers,
                plan.producer_registers,
            ],
        )
    else:
        gl.warp_specialize(
            [
                (consume, (work, plan, 0)),
                (consume, (work, plan, 1)),
                (produce, (loads, plan)),
                (send, (stores, out_ring, messages, tables, plan, None)),
            ],
            [4, 1, 1],
            [plan.consumer_registers, plan.producer_registers, plan.producer_registers],
        )
