"""FlashAttention-2 order on Hopper, in Gluon, built the way FlashAttention-3 showed.

One persistent program per SM: a producer warp copies Q, K, V by TMA into rings of shared memory;
two or three warpgroups of consumers keep 64 rows each, P and O in registers, and multiply with
wgmma. A warpgroup starts S_j = Q K_jᵀ and O += P_{j+1} V_{j+1} together (keys go from last to
first) and computes the softmax of block j while the other warpgroups use the matrix units.
"""
# Names that only a plan with a table assigns are read only with it, which pyright cannot see.
# pyright: reportOperatorIssue=false

from .consumer import ROWS, consume
from .gluon import async_load, fence_async_shared, gl, gluon, mbarrier
from .parts import (
    END,
    FIELDS,
    FIRST,
    HEAD,
    OWN,
    ROW,
    await_free,
    await_pair,
    blocks_up_to,
    fixed_tile,
    take_from_queue,
    tile_at,
    write_code,
    write_field,
)
from .variants import tile_in


@gluon.jit
def send_tile(code, n, messages, sizes, TILES, plan: gl.constexpr):
    """Send the consumers their n-th tile of a table, and return its row block i, head bh and key
    blocks first … end − 1 (producer)."""
    slots, full, empty = messages
    Tr, BH, _H, _GROUP, _Nq, _Nk, SECTION = sizes
    tile, bh = tile_in(TILES, code, Tr, BH, SECTION)
    await_pair(empty, n, 1)
    for field in gl.static_range(OWN + 4 * plan.consumers):
        write_field(slots, n, field, gl.load(tile + field))
    write_field(slots, n, HEAD, gl.where(code < Tr * BH, bh, code))
    mbarrier.arrive(full.index(n & 1), count=1)
    return gl.load(tile + ROW), bh, gl.load(tile + FIRST), gl.load(tile + END)


@gluon.jit
def produce(loads, plan: gl.constexpr):
    """Load Q_i once and K_j, V_j from last to first, for every tile (i, bh) (producer warp)."""
    BLOCK_N: gl.constexpr = plan.block_n
    STAGES: gl.constexpr = plan.stages
    CONSUMERS: gl.constexpr = plan.consumers
    ORDER: gl.constexpr = plan.order
    BLOCK_M: gl.constexpr = plan.block_m
    descriptors, q_ring, k_ring, v_ring, messages, counter, sizes, TILES = loads
    q_desc, k_desc, v_desc = descriptors
    q_smem, q_full, q_empty = q_ring
    k_smem, k_full, k_empty = k_ring
    v_smem, v_full, v_empty = v_ring
    Tr, BH, H, GROUP, Nq, Nk, SECTION = sizes
    Q_TILES: gl.constexpr = plan.q_tiles
    CHUNKS: gl.constexpr = plan.chunks
    V_CHUNKS: gl.constexpr = plan.v_chunks
    WIDTH: gl.constexpr = q_desc.block_type.shape[3]
    ROW_BYTES: gl.constexpr = WIDTH * q_desc.dtype.primitive_bitwidth // 8  # of one chunk
    it = 0  # key blocks so far: ring slot it % STAGES, its round it // STAGES
    n = 0
    code = fixed_tile(0, ORDER)
    if plan.table:
        tile = send_tile(code, 0, messages, sizes, TILES, plan)
    while code < Tr * BH:
        if plan.table:
            i, bh, first, Tc = tile
        else:
            i, bh = tile_at(code, Tr, BH, SECTION, ORDER)
        b = bh // H
        h = bh % H
        if plan.table:
            blocks = Tc - first
        else:
            Tc = blocks_up_to((i + 1) * BLOCK_M, Nq, Nk, plan.causal, BLOCK_N)
            blocks = Tc
        for back in range(0, blocks):
            n0 = (Tc - 1 - back) * BLOCK_N
            s = it % STAGES
            await_free(k_empty, it, STAGES)
            mbarrier.expect(k_full.index(s), BLOCK_N * ROW_BYTES * CHUNKS)
            for c in gl.static_range(CHUNKS):
                async_load(
                    k_desc,
                    [b, h // GROUP, n0, c * WIDTH],
                    k_full.index(s),
                    k_smem.index(s * CHUNKS + c),
                )
            # A single tile's place is free late: the first two key blocks do not wait for it.
            if back == (0 if Q_TILES == 2 else gl.minimum(blocks - 1, 1)):
                await_pair(q_empty, n, 1, Q_TILES)
                slot = n & (Q_TILES - 1)
                mbarrier.expect(q_full.index(slot), BLOCK_M * ROW_BYTES * CHUNKS)
                for w in gl.static_range(CONSUMERS):
                    for c in gl.static_range(CHUNKS):
                        async_load(
                            q_desc,
                            [b, h, i * BLOCK_M + w * ROWS, c * WIDTH],
                            q_full.index(slot),
                            q_smem.index((slot * CONSUMERS + w) * CHUNKS + c),
                        )
            await_free(v_empty, it, STAGES)
            mbarrier.expect(v_full.index(s), BLOCK_N * ROW_BYTES * V_CHUNKS)
            for c in gl.static_range(V_CHUNKS):
                async_load(
                    v_desc,
                    [b, h // GROUP, n0, c * WIDTH],
                    v_full.index(s),
                    v_smem.index(s * V_CHUNKS + c),
                )
            it += 1
            if plan.table:  # early, since reading a table takes long, and between two copies each
                if back == 0:
                    code = take_from_queue(counter, Tr * BH)
                if back == gl.minimum(blocks - 1, 1):
                    tile = send_tile(code, n + 1, messages, sizes, TILES, plan)
        if plan.table:
            pass
        elif ORDER == "queue":
            code = take_from_queue(counter, Tr * BH)
            write_code(code, n, messages)
        else:
            code = fixed_tile(n + 1, ORDER)
        n += 1


@gluon.jit
def ring(SLOTS: gl.constexpr, READERS: gl.constexpr):
    """Allocate a ring's barriers: full (1 arrival, by TMA or the producer), empty (1 a reader)."""
    full = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(SLOTS):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=READERS)
    return full, empty


@gluon.jit
def boxes_of(desc, N: gl.constexpr):
    """Allocate shared memory for N boxes of a TMA descriptor."""
    BOX: gl.constexpr = desc.block_type.shape
    return gl.allocate_shared_memory(desc.dtype, [N, 1, 1, BOX[2], BOX[3]], desc.layout)


@gluon.jit
def allocate(q_desc, k_desc, v_desc, o_desc, plan: gl.constexpr):
    """Allocate all shared memory: the rings of Q, K, V, the tile of O, the messages."""
    CONSUMERS: gl.constexpr = plan.consumers
    STAGES: gl.constexpr = plan.stages
    q_smem = boxes_of(q_desc, plan.q_tiles * CONSUMERS * plan.chunks)
    o_smem = q_smem if plan.o_in_q else boxes_of(o_desc, CONSUMERS * plan.v_chunks)
    k_smem = boxes_of(k_desc, STAGES * plan.chunks)
    v_smem = boxes_of(v_desc, STAGES * plan.v_chunks)
    SLOT: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    SLOTS: gl.constexpr = 2 * FIELDS if plan.table else 2
    slots = gl.allocate_shared_memory(gl.int32, [SLOTS, 1], SLOT)
    q_full, q_empty = ring(plan.q_tiles, CONSUMERS)
    k_full, k_empty = ring(STAGES, CONSUMERS)
    v_full, v_empty = ring(STAGES, CONSUMERS)
    full, empty = ring(2, CONSUMERS)
    fence_async_shared()
    q_ring = (q_smem, q_full, q_empty)
    k_ring = (k_smem, k_full, k_empty)
    v_ring = (v_smem, v_full, v_empty)
    return q_ring, k_ring, v_ring, o_smem, (slots, full, empty)


@gluon.jit(do_not_specialize=["Tr", "BH", "H", "GROUP", "Nq", "Nk", "SECTION", "zero"])
def hopper_kernel(
    q_desc, k_desc, v_desc, o_desc, LSE, counter, Tr, BH, H, GROUP, Nq, Nk, SECTION, scale_log2,
    zero, SPANS, TILES, SLOPES, SINKS, inner, plan: gl.constexpr,
):  # fmt: skip
    """Allocate rings and barriers in shared memory, then start every warp in its role.

    Descriptors are of (B, H, N, d), boxes of 64 rows of Q and O and BLOCK_N of K and V, as wide as
    a chunk. LSE
    (B, H, Nq) fp32. counter: one zero, int32. SECTION: heads that "queue" keeps in L2 together.
    zero: 0. SPANS, TILES: `tables.Tables`; SLOPES, SINKS, inner: `folding.Folded`; None where
    plan, a `plans.Plan`, has no table (then the compiler never sees them).
    """
    q_ring, k_ring, v_ring, o_smem, messages = allocate(q_desc, k_desc, v_desc, o_desc, plan)
    sizes = (Tr, BH, H, GROUP, Nq, Nk, SECTION)
    loads = ((q_desc, k_desc, v_desc), q_ring, k_ring, v_ring, messages, counter, sizes, TILES)
    extra = (SPANS, SLOPES, SINKS, inner)
    work = (o_desc, o_smem, q_ring, k_ring, v_ring, messages, LSE, sizes, scale_log2, zero, extra)
    if plan.consumers == 2:
        gl.warp_specialize(
            [(consume, (work, plan, 0)), (consume, (work, plan, 1)), (produce, (loads, plan))],
            [4, 1],
            [plan.consumer_registers, plan.producer_registers],
        )
    else:
        gl.warp_specialize(
            [
                (consume, (work, plan, 0)),
                (consume, (work, plan, 1)),
                (consume, (work, plan, 2)),
                (produce, (loads, plan)),
            ],
            [4, 4, 1],
            [plan.consumer_registers, plan.consumer_registers, plan.producer_registers],
        )
