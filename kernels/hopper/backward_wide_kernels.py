"""The backward on Hopper for head dimensions above 128, in Gluon: two kernels, no sum in HBM.

dK and dV of 64 keys fill the registers of two warpgroups, so no more keys share a load of Q and dO,
and dQ finds no room beside them: a second kernel computes it, with rows outside. Seven products in
place of five, but none waits for HBM, and the bits are the same at each call.

`wide_keys_kernel`: one warpgroup computes Pᵀ and dV, the other one dPᵀ, dSᵀ and dK; P goes from
one to the other in fp32 through shared memory. Each multiplies while the other one computes.
`wide_rows_kernel`: two warpgroups of 64 rows compute S, dP, dS and dQ as in the forward pass.

The columns of Q, K, dQ and dK lie in `plan.parts` boxes of `plan.width` columns, those of V, dO and
dV in `plan.v_parts`.
"""
# ruff: noqa: SIM102 — one `if` at compile time, one on the GPU

from .backward_parts import announce, await_both, barriers, mask_rows
from .gluon import (
    async_load,
    async_store,
    constant,
    fence_async_shared,
    gl,
    gluon,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from .parts import END, FIRST, OWN, ROW, await_full, pass_turn, wait_turn
from .variants import modify_and_mask, rows_of, tile_in

BLOCK = constant(64)  # keys and rows of a tile of scores
# The hardware's barriers of the slots of two rings, of Q and dO or of K and V: three slots at most;
# Triton uses 0 to 4, `wait_turn` 12 and 13.
FIRST_RING, SECOND_RING = constant(5), constant(8)


@gluon.jit
def product(a_smem, a, b_smem, b, first, LESS: gl.constexpr, PARTS: gl.constexpr):
    """Start A Bᵀ (64, 64) in fp32, with LESS plus `first`: the a-th and the b-th rows of PARTS
    boxes."""
    WIDTH: gl.constexpr = a_smem.shape[4]
    started = first
    for part in gl.static_range(PARTS):
        left = a_smem.index(a * PARTS + part).reshape([BLOCK, WIDTH])
        right = b_smem.index(b * PARTS + part).reshape([BLOCK, WIDTH]).permute((1, 0))
        started = warpgroup_mma(left, right, started, use_acc=LESS or part > 0, is_async=True)
    return started


@gluon.jit
def add_product(sums, left, x_smem, x, PARTS: gl.constexpr):
    """Return sums + left · X, part by part; left (64, 64) is in registers, X the x-th boxes."""
    WIDTH: gl.constexpr = x_smem.shape[4]
    started = ()
    for part in gl.static_range(PARTS):
        right = x_smem.index(x * PARTS + part).reshape([BLOCK, WIDTH])
        started += (warpgroup_mma(left, right, sums[part], is_async=True),)
    started += (left,)
    return warpgroup_mma_wait(0, deps=started)[:PARTS]


@gluon.constexpr_function
def accumulator(columns):
    """Return the layout of a product (64, columns) that a warpgroup computes."""
    return gl.NVMMADistributedLayout([3, 0], [4, 1], [16, columns, 16])


@gluon.jit
def no_sums(PARTS: gl.constexpr, WIDTH: gl.constexpr):
    """Return zeros (64, WIDTH) for each part."""
    sums = ()
    for _part in gl.static_range(PARTS):
        sums += (gl.zeros([BLOCK, WIDTH], gl.float32, accumulator(WIDTH)),)
    return sums


@gluon.jit
def left_of(x, DTYPE: gl.constexpr, WIDTH: gl.constexpr):
    """Return x (64, 64), rounded, as the left operand of `add_product`."""
    OPERAND: gl.constexpr = gl.DotOperandLayout(0, accumulator(WIDTH), 2)
    return gl.convert_layout(x.to(DTYPE), OPERAND)


@gluon.jit
def boxes(desc, COUNT: gl.constexpr):
    """Allocate boxes of 64 rows each."""
    SHAPE: gl.constexpr = [COUNT, 1, 1, BLOCK, desc.block_type.shape[3]]
    return gl.allocate_shared_memory(desc.dtype, SHAPE, desc.layout)


@gluon.jit
def load_boxes(desc, b, h, row0, full, smem, slot, PARTS: gl.constexpr):
    """Load 64 rows from row0 on into a slot (producer)."""
    WIDTH: gl.constexpr = smem.shape[4]
    for part in gl.static_range(PARTS):
        box = smem.index(slot * PARTS + part)
        async_load(desc, [b, h, row0, part * WIDTH], full, box)


@gluon.jit
def store_boxes(desc, b, h, row0, sums, scale, smem, slot, PARTS: gl.constexpr):
    """Store scale · sums of 64 rows by way of a slot that is not read any more. TMA leaves out what
    is beyond the tensor."""
    WIDTH: gl.constexpr = smem.shape[4]
    for part in gl.static_range(PARTS):
        box = smem.index(slot * PARTS + part).reshape([BLOCK, WIDTH])
        box.store((sums[part] * scale).to(desc.dtype))
    fence_async_shared()
    for part in gl.static_range(PARTS):
        async_store(desc, [b, h, row0, part * WIDTH], smem.index(slot * PARTS + part))
    tma.store_wait(0)


@gluon.jit
def produce_for_keys(loads, place, plan: gl.constexpr):
    """Load K_j and V_j, and Q_i, dO_i, lse_i, −D_i of all heads of the group from the last row
    block to the first (producer warp)."""
    STAGES: gl.constexpr = plan.stages
    descriptors, smem, full, sizes = loads
    q_desc, k_desc, v_desc, do_desc, lse_desc, less_desc = descriptors
    q_smem, k_smem, v_smem, do_smem, lse_smem, less_smem = smem
    q_full, k_full, v_full, do_full = full
    b, k_head, key0, first, end, passes, _whole = place
    H, GROUP, PADDED = sizes
    BYTES: gl.constexpr = BLOCK * plan.parts * plan.width * 2
    V_BYTES: gl.constexpr = BLOCK * plan.v_parts * plan.width * 2
    h = k_head * GROUP
    row0 = end - BLOCK
    mbarrier.expect(k_full.index(0), BYTES)
    load_boxes(k_desc, b, k_head, key0, k_full.index(0), k_smem, 0, plan.parts)
    for it in range(0, passes):
        s = it % STAGES
        at = (b * H + h) * PADDED + row0
        if it >= STAGES:
            await_both(FIRST_RING + s)
        mbarrier.expect(q_full.index(s), BYTES + BLOCK * 4)
        load_boxes(q_desc, b, h, row0, q_full.index(s), q_smem, s, plan.parts)
        async_load(lse_desc, [at], q_full.index(s), lse_smem.index(s))
        if it == 0:
            mbarrier.expect(v_full.index(0), V_BYTES)
            load_boxes(v_desc, b, k_head, key0, v_full.index(0), v_smem, 0, plan.v_parts)
        if it >= STAGES:
            await_both(SECOND_RING + s)
        mbarrier.expect(do_full.index(s), V_BYTES + BLOCK * 4)
        load_boxes(do_desc, b, h, row0, do_full.index(s), do_smem, s, plan.v_parts)
        async_load(less_desc, [at], do_full.index(s), less_smem.index(s))
        row0 -= BLOCK
        if row0 < first:
            row0 = end - BLOCK
            h += 1


@gluon.jit
def compute_values(work, place, plan: gl.constexpr):
    """Compute Pᵀ = exp(Sᵀ − lse) of 64 keys, and dV_j = Σ Pᵀ dO_i (first warpgroup)."""
    STAGES: gl.constexpr = plan.stages
    smem, full, p_smem, stores, scales, SPANS = work
    q_smem, k_smem, _v_smem, do_smem, lse_smem, _less_smem = smem
    q_full, k_full, _v_full, do_full = full
    b, k_head, key0, first, end, passes, whole = place
    DTYPE: gl.constexpr = q_smem.dtype
    S_LAYOUT: gl.constexpr = accumulator(BLOCK)
    none = gl.zeros([BLOCK, BLOCK], gl.float32, S_LAYOUT)
    dV = no_sums(plan.v_parts, plan.width)
    row0 = end - BLOCK
    mbarrier.wait(k_full.index(0), 0)
    for it in range(0, passes):
        s = it % STAGES
        # phase: scores — Sᵀ = K_j Q_iᵀ
        await_full(q_full, it, STAGES)
        S_started = product(k_smem, 0, q_smem, s, none, False, plan.parts)
        S = warpgroup_mma_wait(0, deps=[S_started])
        lse = lse_smem.index(s).load(gl.SliceLayout(0, S_LAYOUT))
        # phase: mask
        if plan.masked:
            if (row0 < whole[0]) | (row0 + BLOCK > whole[1]):
                S = mask_rows(S, row0, SPANS + 2 * key0, S_LAYOUT)
        # phase: exp — a row that sees no key, or is none, has lse = ∞
        P = gl.exp2(S * scales[1] - lse[None, :])
        announce(FIRST_RING + s)
        P_16 = left_of(P, DTYPE, plan.width)
        wait_turn(0)
        p_smem.permute((1, 0)).store(P)
        pass_turn(1)
        # phase: dV — dV_j += Pᵀ dO_i
        await_full(do_full, it, STAGES)
        dV = add_product(dV, P_16, do_smem, s, plan.v_parts)
        announce(SECOND_RING + s)
        row0 -= BLOCK
        if row0 < first:
            row0 = end - BLOCK
    # phase: store — by way of K, which nobody else reads
    _dk_desc, dv_desc = stores
    store_boxes(dv_desc, b, k_head, key0, dV, 1.0, k_smem, 0, plan.v_parts)


@gluon.jit
def compute_keys(work, place, plan: gl.constexpr):
    """Compute dSᵀ = Pᵀ ∘ (V dO_iᵀ − D_i) of 64 keys, and dK_j = scale · Σ dSᵀ Q_i (second
    warpgroup)."""
    STAGES: gl.constexpr = plan.stages
    smem, full, p_smem, stores, scales, _SPANS = work
    q_smem, _k_smem, v_smem, do_smem, _lse_smem, less_smem = smem
    q_full, _k_full, v_full, do_full = full
    b, k_head, key0, _first, _end, passes, _whole = place
    DTYPE: gl.constexpr = q_smem.dtype
    S_LAYOUT: gl.constexpr = accumulator(BLOCK)
    BY_ROW: gl.constexpr = gl.SliceLayout(0, S_LAYOUT)
    dK = no_sums(plan.parts, plan.width)
    pass_turn(0)
    mbarrier.wait(v_full.index(0), 0)
    for it in range(0, passes):
        s = it % STAGES
        # phase: dP — dPᵀ − D = V_j dO_iᵀ − D_i
        await_full(do_full, it, STAGES)
        less = less_smem.index(s).load(BY_ROW)[None, :].broadcast_to([BLOCK, BLOCK])
        dP_started = product(v_smem, 0, do_smem, s, less, True, plan.v_parts)
        dP = warpgroup_mma_wait(0, deps=[dP_started])
        announce(SECOND_RING + s)
        # phase: dS — P of the other warpgroup
        wait_turn(1)
        P = p_smem.permute((1, 0)).load(S_LAYOUT)
        pass_turn(0)
        dS_16 = left_of(P * dP, DTYPE, plan.width)
        # phase: dK — dK_j += dSᵀ Q_i
        await_full(q_full, it, STAGES)
        dK = add_product(dK, dS_16, q_smem, s, plan.parts)
        announce(FIRST_RING + s)
    # phase: store — by way of V, which nobody else reads
    dk_desc, _dv_desc = stores
    store_boxes(dk_desc, b, k_head, key0, dK, scales[0], v_smem, 0, plan.parts)


@gluon.jit(do_not_specialize=["Tc", "BH", "H", "GROUP", "PADDED", "SECTION"])
def wide_keys_kernel(
    q_desc, k_desc, v_desc, do_desc, lse_desc, less_desc, dk_desc, dv_desc,
    Tc, BH, H, GROUP, PADDED, SECTION, scale, scale_log2, SPANS, TILES, plan: gl.constexpr,
):  # fmt: skip
    """Compute dK and dV of one tile of 64 keys for all heads of its group.

    Descriptors of (B, H, N, d): boxes of 64 rows and plan.width columns. Of lse · log2 e and −D,
    (B · H · PADDED,) in fp32: 64 rows. BH: B · Hk. SPANS, TILES: `tables.Tables` by keys, of 64
    keys and 64 rows. SECTION as in `hopper_kernel`.
    """
    STAGES: gl.constexpr = plan.stages
    P_LAYOUT: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BLOCK, BLOCK], gl.float32)
    MOST: gl.constexpr = max(plan.parts, plan.v_parts)  # dV and dK go out by way of K and V
    q_smem = boxes(q_desc, STAGES * plan.parts)
    k_smem = boxes(k_desc, MOST)
    v_smem = boxes(v_desc, MOST)
    do_smem = boxes(do_desc, STAGES * plan.v_parts)
    lse_smem = gl.allocate_shared_memory(gl.float32, [STAGES, BLOCK], lse_desc.layout)
    less_smem = gl.allocate_shared_memory(gl.float32, [STAGES, BLOCK], less_desc.layout)
    p_smem = gl.allocate_shared_memory(gl.float32, [BLOCK, BLOCK], P_LAYOUT)
    full = barriers(STAGES, 1), barriers(1, 1), barriers(1, 1), barriers(STAGES, 1)
    fence_async_shared()
    tile, bh = tile_in(TILES, gl.program_id(0), Tc, BH, SECTION)
    first = gl.load(tile + FIRST) * BLOCK
    end = gl.load(tile + END) * BLOCK
    whole = (0, 0)
    if plan.masked:
        whole = gl.load(tile + OWN + 2), gl.load(tile + OWN + 3)
    heads = H // GROUP
    passes = (end - first) // BLOCK * GROUP
    place = (bh // heads, bh % heads, gl.load(tile + ROW) * BLOCK, first, end, passes, whole)
    smem = (q_smem, k_smem, v_smem, do_smem, lse_smem, less_smem)
    descriptors = (q_desc, k_desc, v_desc, do_desc, lse_desc, less_desc)
    loads = (descriptors, smem, full, (H, GROUP, PADDED))
    work = (smem, full, p_smem, (dk_desc, dv_desc), (scale, scale_log2), SPANS)
    gl.warp_specialize(
        [
            (compute_values, (work, place, plan)),
            (compute_keys, (work, place, plan)),
            (produce_for_keys, (loads, place, plan)),
        ],
        [4, 1],
        [plan.consumer_registers, plan.producer_registers],
    )


@gluon.jit
def produce_for_rows(loads, place, plan: gl.constexpr):
    """Load Q_i and dO_i, and K_j and V_j from the last key block to the first (producer warp)."""
    descriptors, smem, full, GROUP = loads
    q_desc, k_desc, v_desc, do_desc = descriptors
    q_smem, k_smem, v_smem, do_smem = smem
    q_full, k_full, v_full, do_full = full
    b, h, i, first, end, _at = place
    BYTES: gl.constexpr = BLOCK * plan.parts * plan.width * 2
    V_BYTES: gl.constexpr = BLOCK * plan.v_parts * plan.width * 2
    mbarrier.expect(q_full.index(0), 2 * BYTES)
    for w in gl.static_range(2):
        load_boxes(q_desc, b, h, (2 * i + w) * BLOCK, q_full.index(0), q_smem, w, plan.parts)
    for it in range(0, end - first):
        n0 = (end - 1 - it) * BLOCK
        k_slot = it % plan.stages
        v_slot = it % plan.v_stages
        if it >= plan.stages:
            await_both(FIRST_RING + k_slot)
        mbarrier.expect(k_full.index(k_slot), BYTES)
        load_boxes(k_desc, b, h // GROUP, n0, k_full.index(k_slot), k_smem, k_slot, plan.parts)
        if it == 0:
            mbarrier.expect(do_full.index(0), 2 * V_BYTES)
            for w in gl.static_range(2):
                row0 = (2 * i + w) * BLOCK
                load_boxes(do_desc, b, h, row0, do_full.index(0), do_smem, w, plan.v_parts)
        if it >= plan.v_stages:
            await_both(SECOND_RING + v_slot)
        mbarrier.expect(v_full.index(v_slot), V_BYTES)
        load_boxes(v_desc, b, h // GROUP, n0, v_full.index(v_slot), v_smem, v_slot, plan.v_parts)


@gluon.jit
def compute_rows(work, place, plan: gl.constexpr, w: gl.constexpr):
    """Compute dQ_i = scale · Σ dS K_j of rows i·128 + 64 w … + 63 (warpgroup w)."""
    smem, full, dq_desc, LSE, LESS, scales, zero, tables = work
    q_smem, k_smem, v_smem, do_smem = smem
    q_full, k_full, v_full, do_full = full
    b, h, i, first, end, at = place
    SPANS, tile = tables
    DTYPE: gl.constexpr = q_smem.dtype
    S_LAYOUT: gl.constexpr = accumulator(BLOCK)
    BY_ROW: gl.constexpr = gl.SliceLayout(1, S_LAYOUT)
    none = gl.zeros([BLOCK, BLOCK], gl.float32, S_LAYOUT)
    row0 = (2 * i + w) * BLOCK
    own = at + w * BLOCK + gl.arange(0, BLOCK, BY_ROW)
    lse = gl.load(LSE + own)
    less = gl.load(LESS + own)
    if plan.masked:
        whole = gl.load(tile + OWN + 4 * w + 2), gl.load(tile + OWN + 4 * w + 3)
        seen = rows_of(SPANS, None, 0.0, row0, 0, 0, whole, plan, BY_ROW)
    dQ = no_sums(plan.parts, plan.width)
    mbarrier.wait(q_full.index(0), 0)
    for it in range(0, end - first):
        k_slot = it % plan.stages
        v_slot = it % plan.v_stages
        # phases: scores, dP — both products are started
        await_full(k_full, it, plan.stages)
        S_started = product(q_smem, w + zero * it, k_smem, k_slot, none, False, plan.parts)
        mbarrier.wait(do_full.index(0), 0)
        await_full(v_full, it, plan.v_stages)
        # + zero: else the places of dO, the same in each pass, would fill the registers
        dP_started = product(do_smem, w + zero * it, v_smem, v_slot, none, False, plan.v_parts)
        S = warpgroup_mma_wait(plan.v_parts, deps=[S_started])
        # phases: mask, exp
        if plan.masked:
            S = modify_and_mask(S, (end - 1 - it) * BLOCK, seen, 2, plan, S_LAYOUT)
        P = gl.exp2(S * scales[1] - lse[:, None])
        dP = warpgroup_mma_wait(0, deps=[dP_started])
        announce(SECOND_RING + v_slot)
        # phases: dS, dQ
        dS_16 = left_of(P * (dP + less[:, None]), DTYPE, plan.width)
        dQ = add_product(dQ, dS_16, k_smem, k_slot, plan.parts)
        announce(FIRST_RING + k_slot)
    # phase: store — by way of this warpgroup's Q
    store_boxes(dq_desc, b, h, row0, dQ, scales[0], q_smem, w, plan.parts)


@gluon.jit(do_not_specialize=["Tr", "BH", "H", "GROUP", "PADDED", "SECTION", "zero"])
def wide_rows_kernel(
    q_desc, k_desc, v_desc, do_desc, dq_desc, LSE, LESS,
    Tr, BH, H, GROUP, PADDED, SECTION, scale, scale_log2, zero, SPANS, TILES, plan: gl.constexpr,
):  # fmt: skip
    """Compute dQ of one tile of 128 rows. LSE and LESS (B · H · PADDED,), fp32: lse · log2 e and
    −D. TILES of 128 rows and 64 keys. zero: 0; all else as in `wide_keys_kernel`."""
    q_smem = boxes(q_desc, 2 * plan.parts)
    k_smem = boxes(k_desc, plan.stages * plan.parts)
    v_smem = boxes(v_desc, plan.v_stages * plan.v_parts)
    do_smem = boxes(do_desc, 2 * plan.v_parts)
    full = barriers(1, 1), barriers(plan.stages, 1), barriers(plan.v_stages, 1), barriers(1, 1)
    fence_async_shared()
    tile, bh = tile_in(TILES, gl.program_id(0), Tr, BH, SECTION)
    i = gl.load(tile + ROW)
    at = bh * PADDED + i * (2 * BLOCK)
    place = (bh // H, bh % H, i, gl.load(tile + FIRST), gl.load(tile + END), at)
    smem = (q_smem, k_smem, v_smem, do_smem)
    loads = ((q_desc, k_desc, v_desc, do_desc), smem, full, GROUP)
    work = (smem, full, dq_desc, LSE, LESS, (scale, scale_log2), zero, (SPANS, tile))
    gl.warp_specialize(
        [
            (compute_rows, (work, place, plan, 0)),
            (compute_rows, (work, place, plan, 1)),
            (produce_for_rows, (loads, place, plan)),
        ],
        [4, 1],
        [plan.consumer_registers, plan.producer_registers],
    )
