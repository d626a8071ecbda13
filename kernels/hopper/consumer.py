"""The consumers of the Hopper kernel: warpgroups that compute products and softmax of 64 rows."""
# ruff: noqa: SIM102 — one `if` at compile time, one on the GPU
# Names that only a plan with a table assigns are read only with it, which pyright cannot see.
# pyright: reportOperatorIssue=false

from .gluon import (
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
from .parts import (
    await_full,
    await_pair,
    blocks_up_to,
    first_hidden,
    fixed_tile,
    mask,
    online_softmax,
    pack,
    pass_turn,
    read_code,
    receive_tile,
    tile_at,
    unpack,
    wait_turn,
)
from .variants import first_state, modify_and_mask, rows_of, shift, whole_blocks

ROWS = constant(64)  # of one warpgroup: what one wgmma computes
LN2 = constant(0.6931471805599453)


@gluon.jit
def chunks_of(smem, slot, CHUNKS: gl.constexpr):
    """Return the chunks (rows, width) of one slot, a tuple: each has some columns of all rows."""
    chunks = ()
    for c in gl.static_range(CHUNKS):
        chunk = smem.index(slot * CHUNKS + c).reshape([smem.shape[3], smem.shape[4]])
        chunks = chunks + (chunk,)  # noqa: RUF005 — Gluon has no star
    return chunks


@gluon.jit
def scores(q, k_smem, s, S_LAYOUT: gl.constexpr):
    """Start S = Q_i K_jᵀ (64, BLOCK_N), fp32, a sum over the chunks of Q_i."""
    BLOCK_N: gl.constexpr = k_smem.shape[3]
    k = chunks_of(k_smem, s, len(q))
    S = gl.zeros([ROWS, BLOCK_N], gl.float32, S_LAYOUT)
    for c in gl.static_range(len(q)):
        S = warpgroup_mma(q[c], k[c].permute((1, 0)), S, use_acc=c > 0, is_async=True)
    return S


@gluon.jit
def add_values(P, v_smem, s, O, keep):
    """Start O = P V_j + (O if keep else 0), of each chunk of V_j and O."""
    v = chunks_of(v_smem, s, len(O))
    started = ()
    for c in gl.static_range(len(O)):
        product = warpgroup_mma(P, v[c], O[c], use_acc=keep, is_async=True)
        started = started + (product,)  # noqa: RUF005
    return started


@gluon.jit
def await_values(started, P):
    """Wait for what `add_values` started."""
    return warpgroup_mma_wait(0, deps=started + (P,))[:-1]  # noqa: RUF005


@gluon.jit
def zeros_of(CHUNKS: gl.constexpr, WIDTH: gl.constexpr, LAYOUT: gl.constexpr):
    """Return so many chunks (64, WIDTH) of 0."""
    chunks = ()
    for _ in gl.static_range(CHUNKS):
        chunks = chunks + (gl.zeros([ROWS, WIDTH], gl.float32, LAYOUT),)  # noqa: RUF005
    return chunks


@gluon.jit
def rows_times(O, factor, O_LAYOUT: gl.constexpr):
    """Return O, a tuple of chunks, with row i times factor_i."""
    factor = gl.convert_layout(factor, gl.SliceLayout(1, O_LAYOUT))[:, None]
    return [chunk * factor for chunk in O]


@gluon.jit
def step(
    q, k_ring, v_ring, it, packed, O, m, l, has_P, has_O, row0, n0, Nq, Nk, own, scale_log2,
    MASK: gl.constexpr, plan: gl.constexpr, w: gl.constexpr,
    S_LAYOUT: gl.constexpr, O_LAYOUT: gl.constexpr,
):  # fmt: skip
    """Compute S_j beside the previous block's P V, then the softmax of S_j.

    Returns P_j (packed), O, m, l. q and O are tuples of chunks.

    MASK: 0 = no key is hidden, 1 = mask, 2 = mask where a key is hidden. has_P is false at a row
    block's first step: then the product is of what lies in shared memory, and has_O, false until
    the second step, throws it away. That wastes half a step and saves a second copy of the code.
    """
    STAGES: gl.constexpr = plan.stages
    k_smem, k_full, k_empty = k_ring
    v_smem, v_full, v_empty = v_ring
    s = it % STAGES
    s_prev = (it + STAGES - 1) % STAGES
    P = unpack(packed, k_smem.dtype, gl.DotOperandLayout(0, O_LAYOUT, 2))
    # phases: load, scores, output — both products are started, neither is awaited
    await_full(k_full, it, STAGES)
    if plan.ping_pong:
        wait_turn(w)
    S_started = scores(q, k_smem, s, S_LAYOUT)
    mbarrier.wait(v_full.index(s_prev), ((it + STAGES - 1) // STAGES - 1) & 1, pred=has_P)
    O_started = add_values(P, v_smem, s_prev, O, has_O)
    if plan.ping_pong:
        pass_turn((w + 1) % plan.consumers)
    S = warpgroup_mma_wait(len(O), deps=[S_started])
    mbarrier.arrive(k_empty.index(s), count=1)
    # phase: mask
    if plan.table:
        S = modify_and_mask(S, n0, own, MASK, plan, S_LAYOUT)
    elif MASK == 1:
        S = mask(S, row0, n0, Nq, Nk, plan.causal, S_LAYOUT)
    elif MASK == 2:
        if n0 + plan.block_n > first_hidden(row0, Nq, Nk, plan.causal):
            S = mask(S, row0, n0, Nq, Nk, plan.causal, S_LAYOUT)
    # phases: max, exp, sum
    P_next, m, l, alpha = online_softmax(S, m, l, scale_log2, MASK > 0, plan.o_in_q)
    O = await_values(O_started, P)
    mbarrier.arrive(v_empty.index(s_prev), count=1, pred=has_P)
    O = rows_times(O, alpha, O_LAYOUT)
    return pack(P_next, k_smem.dtype), O, m, l


@gluon.jit
def skip_blocks(k_ring, v_ring, it, blocks, plan: gl.constexpr, w: gl.constexpr):
    """Skip key blocks that this warpgroup's rows do not see, but others' do."""
    for _ in range(0, blocks):
        for ring in gl.static_range(2):
            _, full, empty = v_ring if ring else k_ring
            await_full(full, it, plan.stages)
            mbarrier.arrive(empty.index(it % plan.stages), count=1)
        if plan.ping_pong:
            wait_turn(w)
            pass_turn((w + 1) % plan.consumers)
        it += 1
    return it


@gluon.jit
def consume(work, plan: gl.constexpr, w: gl.constexpr):
    """Compute rows i·BLOCK_M + 64 w … + 63 of every tile (warpgroup w)."""
    CAUSAL: gl.constexpr = plan.causal
    BLOCK_N: gl.constexpr = plan.block_n
    STAGES: gl.constexpr = plan.stages
    CONSUMERS: gl.constexpr = plan.consumers
    ORDER: gl.constexpr = plan.order
    o_desc, o_smem, q_ring, k_ring, v_ring, messages, LSE, sizes, scale_log2, zero, extra = work
    SPANS, SLOPES, SINKS, inner = extra
    q_smem, q_full, q_empty = q_ring
    k_smem, k_full, k_empty = k_ring
    v_smem, v_full, v_empty = v_ring
    Tr, BH, H, _GROUP, Nq, Nk, SECTION = sizes
    WIDTH: gl.constexpr = q_smem.shape[4]
    Q_TILES: gl.constexpr = plan.q_tiles
    V_CHUNKS: gl.constexpr = plan.v_chunks
    DTYPE: gl.constexpr = q_smem.dtype
    S_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    O_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, WIDTH, 16])
    BY_ROW: gl.constexpr = gl.SliceLayout(1, S_LAYOUT)
    TABLE: gl.constexpr = plan.table
    MASK: gl.constexpr = CAUSAL or plan.ragged or TABLE
    packed = pack(gl.zeros([ROWS, BLOCK_N], gl.float32, S_LAYOUT), DTYPE)
    O = zeros_of(V_CHUNKS, WIDTH, O_LAYOUT)
    it = 0
    n = 0
    if plan.ping_pong and w == CONSUMERS - 1:
        pass_turn(0)
    if TABLE:
        tile = receive_tile(0, messages, w)
        code = tile[0]
    else:
        code = fixed_tile(0, ORDER)
    while code < Tr * BH:
        if TABLE:
            bh, i, first, end, my_first, Tc, whole_from, whole_to = tile
            whole = whole_from, whole_to
        else:
            i, bh = tile_at(code, Tr, BH, SECTION, ORDER)
        row0 = i * plan.block_m + w * ROWS
        if TABLE:
            it = skip_blocks(k_ring, v_ring, it, end - Tc, plan, w)
            blocks = Tc - my_first
        else:
            Tc = blocks_up_to((i + 1) * plan.block_m, Nq, Nk, CAUSAL, BLOCK_N)
        if plan.block_m > BLOCK_N and not TABLE:  # else all warpgroups need the same key blocks
            mine = blocks_up_to(row0 + ROWS, Nq, Nk, CAUSAL, BLOCK_N)
            if row0 >= Nq:  # rows beyond the last still take one block
                mine = 1
            it = skip_blocks(k_ring, v_ring, it, Tc - mine, plan, w)
            Tc = mine
        if not TABLE:
            blocks = Tc
        q_slot = (n & (Q_TILES - 1)) * CONSUMERS + w
        q = chunks_of(q_smem, q_slot, plan.chunks)
        await_pair(q_full, n, 0, Q_TILES)
        own = None
        if TABLE:
            own = rows_of(SPANS, SLOPES, inner, row0, Nk - Nq, bh % H, whole, plan, BY_ROW)
            m, l = first_state(SINKS, bh % H, own, scale_log2, plan, BY_ROW)
        else:
            m = gl.full([ROWS], float("-inf"), gl.float32, BY_ROW)
            l = gl.zeros([ROWS], gl.float32, BY_ROW)
        if plan.peel:
            s = it % STAGES
            await_full(k_full, it, STAGES)
            S = warpgroup_mma_wait(0, deps=[scores(q, k_smem, s, S_LAYOUT)])
            mbarrier.arrive(k_empty.index(s), count=1)
            it += 1
            if TABLE:
                S = modify_and_mask(S, (Tc - 1) * BLOCK_N, own, 2, plan, S_LAYOUT)
            elif MASK:
                S = mask(S, row0, (Tc - 1) * BLOCK_N, Nq, Nk, CAUSAL, S_LAYOUT)
            P, m, l, _ = online_softmax(S, m, l, scale_log2, MASK, plan.o_in_q)
            packed = pack(P, DTYPE)
            O = zeros_of(V_CHUNKS, WIDTH, O_LAYOUT)
            # + zero: ptxas 12.8 computes the address of q for a first loop only, and a second reads
            # it even where the first one was skipped; so let them differ
            q_again = chunks_of(q_smem, q_slot + zero, plan.chunks)
            if TABLE:
                # From the last key block to the first: an edge down to `high`, the blocks low …
                # high − 1 that all rows see, and the other edge. Only an edge needs the mask.
                # Without ranges all of it is one edge, of which each block is tested.
                j = Tc - 1
                if plan.ranges:
                    high, low = whole_blocks(whole, my_first, j, BLOCK_N)
                else:
                    high, low = my_first, my_first
                for edge in range(0, gl.where(low > my_first, 2, 1)):
                    stop = gl.where(edge == 0, high, my_first)
                    for back in range(0, j - stop):
                        packed, O, m, l = step(
                            q_again, k_ring, v_ring, it, packed, O, m, l, True, True,
                            row0, (j - 1 - back) * BLOCK_N, Nq, Nk, own, scale_log2,
                            1 if plan.ranges else 2, plan, w, S_LAYOUT, O_LAYOUT,
                        )  # fmt: skip
                        it += 1
                    j = stop
                    for back in range(0, j - low):
                        packed, O, m, l = step(
                            q, k_ring, v_ring, it, packed, O, m, l, True, True,
                            row0, (j - 1 - back) * BLOCK_N, Nq, Nk, own, scale_log2,
                            0, plan, w, S_LAYOUT, O_LAYOUT,
                        )  # fmt: skip
                        it += 1
                    j = low
            else:
                whole = gl.minimum(first_hidden(row0, Nq, Nk, CAUSAL) // BLOCK_N, Tc - 1)
                if CAUSAL:
                    for back in range(0, Tc - 1 - whole):
                        packed, O, m, l = step(
                            q_again, k_ring, v_ring, it, packed, O, m, l, True, True,
                            row0, (Tc - 2 - back) * BLOCK_N, Nq, Nk, own, scale_log2,
                            1, plan, w, S_LAYOUT, O_LAYOUT,
                        )  # fmt: skip
                        it += 1
                for _ in range(0, whole):
                    packed, O, m, l = step(
                        q, k_ring, v_ring, it, packed, O, m, l, True, True,
                        0, 0, Nq, Nk, own, scale_log2, 0, plan, w, S_LAYOUT, O_LAYOUT,
                    )  # fmt: skip
                    it += 1
        else:
            for back in range(0, blocks):
                packed, O, m, l = step(
                    q, k_ring, v_ring, it, packed, O, m, l, back > 0, back > 1,
                    row0, (Tc - 1 - back) * BLOCK_N, Nq, Nk, own, scale_log2,
                    2 if MASK else 0, plan, w, S_LAYOUT, O_LAYOUT,
                )  # fmt: skip
                it += 1
        if not plan.o_in_q:
            mbarrier.arrive(q_empty.index(n & (Q_TILES - 1)), count=1)
        # the last P V, and beside it the next tile and lse = m + log l
        s_last = (it - 1) % STAGES
        await_full(v_full, it - 1, STAGES)
        P_last = unpack(packed, DTYPE, gl.DotOperandLayout(0, O_LAYOUT, 2))
        O_started = add_values(P_last, v_smem, s_last, O, True if plan.peel else blocks > 1)
        if TABLE:
            tile = receive_tile(n + 1, messages, w)
            code = tile[0]
        elif ORDER == "queue":
            code = read_code(n, messages)
        else:
            code = fixed_tile(n + 1, ORDER)
        inv_l = gl.where(l == 0.0, 0.0, 1.0 / l)  # a row that sees no key: O = 0, lse = −∞
        if TABLE:
            m -= shift(own, plan, BY_ROW)
        lse = gl.where(l == 0.0, float("-inf"), (m * scale_log2 + gl.log2(l)) * LN2)
        rows = row0 + gl.arange(0, ROWS, BY_ROW)
        gl.store(LSE + bh.to(gl.int64) * Nq + rows, lse, mask=rows < Nq)
        if not plan.o_in_q:
            tma.store_wait(0)  # the previous O has left its buffer
        O = await_values(O_started, P_last)
        mbarrier.arrive(v_empty.index(s_last), count=1)
        if TABLE:
            it = skip_blocks(k_ring, v_ring, it, my_first - first, plan, w)
        # phase: store — O_i = O / l; TMA leaves out the rows beyond Nq
        O = rows_times(O, inv_l, O_LAYOUT)
        first_box = q_slot * plan.chunks if plan.o_in_q else w * V_CHUNKS
        for c in gl.static_range(V_CHUNKS):
            o_smem.index(first_box + c).reshape([ROWS, WIDTH]).store(O[c].to(DTYPE))
        fence_async_shared()
        for c in gl.static_range(V_CHUNKS):
            async_store(o_desc, [bh // H, bh % H, row0, c * WIDTH], o_smem.index(first_box + c))
        if plan.o_in_q:
            tma.store_wait(0)  # O has left Q's place
            mbarrier.arrive(q_empty.index(n & (Q_TILES - 1)), count=1)
        n += 1
    tma.store_wait(0)
