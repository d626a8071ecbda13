"""Attention of e4m3 inputs on Hopper, in Gluon: what differs from `kernel` and `consumer`.

wgmma takes fp8 operands with the summed index contiguous, and of P it takes four neighboring keys
of a row from one thread, where an accumulator gives a thread two. So V is stored as (d, keys), its
keys in the order in which a thread has them (`fp8.KEY_ORDER`): P then needs no exchange between
threads. The tensor cores add fp8 products with about 14 bits; with `plan.two_level` the product of
each key block starts from 0 and is added to O in fp32.

A key block is one chunk of 128 keys, or one of 128 and one of 64, since a side of a Gluon tensor is
a power of 2: waits, barriers and the scaling of O then serve more keys. K of a block and V of the
block before it in the sequence of the loop (the next keys) share a slot, so one barrier says that
both are there.
"""
# ruff: noqa: RUF005, SIM108 — Gluon has no star, and decides at compile time

from .consumer import LN2, ROWS
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
from .kernel import boxes_of, ring
from .parts import (
    await_pair,
    blocks_up_to,
    first_hidden,
    fixed_tile,
    mask,
    pass_turn,
    read_code,
    take_from_queue,
    tile_at,
    wait_turn,
    write_code,
)

# The largest P times 2⁸ uses most of e4m3's range of 448, and fewer values are subnormal. It is 1,
# and 2 to the plan's slack where m may be so much less than the maximum.
P_LOG2 = constant(8.0)
# The m of a row that has seen no key: less than all scores but finite, so that −∞ − m is −∞ there.
NO_KEY = constant(-3e38)
SCALED = constant(128)  # keys that share a scale of K
SHIFT = constant(768.0)  # 1.5 · 2⁹: what it is added to becomes a whole number of 2⁻¹⁴


@gluon.jit
def first_key(j, c: gl.constexpr, BLOCK_N: gl.constexpr):
    """Return the first key of chunk c of key block j.

    The chunk of 128 begins at a multiple of 128, so that it has one scale: behind the chunk of 64
    in every other block.
    """
    if BLOCK_N == SCALED:
        return j * BLOCK_N
    elif c == 0:
        return j * BLOCK_N + (j & 1) * 64
    else:
        return j * BLOCK_N + 128 - (j & 1) * 128


@gluon.jit
def load_factors(K_SCALE, last, j, factor, CHUNKS: gl.constexpr, BLOCK_N: gl.constexpr):
    """Return `factor` times the scale of K of each chunk of block j; `last`: the last scale, or
    None where no chunk is beyond the last key."""
    factors = ()
    for c in gl.static_range(CHUNKS):
        at = first_key(j, c, BLOCK_N) >> 7
        if last is not None:
            at = gl.minimum(at, last)
        factors = factors + (factor * gl.load(K_SCALE + at),)
    return factors


@gluon.jit
def next_slot(s, phase, STAGES: gl.constexpr):
    """Return the slot of the ring after s, and the phase that its barriers are waited for."""
    is_last = s == STAGES - 1
    return gl.where(is_last, 0, s + 1), phase ^ is_last.to(gl.int32)


@gluon.jit
def pack_fp8(P):
    """Round P (64, N) fp32 to e4m3, four to a 32-bit register: (64, N/4) int32.

    Of each 16 keys, thread t of four holds 2t, 2t + 1, 2t + 8 and 2t + 9: they become the neighbors
    4t … 4t + 3 of the operand.
    """
    N: gl.constexpr = P.shape[1]
    quads = P.reshape([ROWS, N // 16, 2, 4, 2]).permute((0, 1, 3, 2, 4))
    even, odd = quads.reshape([ROWS, N // 4, 2, 2]).split()
    first, third = even.split()
    second, fourth = odd.split()
    return gl.inline_asm_elementwise(
        "{\n.reg .b16 %low, %high;\ncvt.rn.satfinite.e4m3x2.f32 %low, $2, $1;\n"
        "cvt.rn.satfinite.e4m3x2.f32 %high, $4, $3;\nmov.b32 $0, {%low, %high};\n}",
        "=r,r,r,r,r", [first, second, third, fourth], gl.int32, is_pure=True, pack=1,
    )  # fmt: skip


@gluon.jit
def unpack_fp8(packed, LAYOUT: gl.constexpr):
    """Return packed P as the left operand of P V; it compiles to no instruction."""
    N: gl.constexpr = packed.shape[1]
    first = (packed & 0xFF).to(gl.int8).to(gl.float8e4nv, bitcast=True)
    second = ((packed >> 8) & 0xFF).to(gl.int8).to(gl.float8e4nv, bitcast=True)
    third = ((packed >> 16) & 0xFF).to(gl.int8).to(gl.float8e4nv, bitcast=True)
    fourth = (packed >> 24).to(gl.int8).to(gl.float8e4nv, bitcast=True)
    quads = gl.join(gl.join(first, third), gl.join(second, fourth))
    return gl.convert_layout(quads.reshape([ROWS, 4 * N]), LAYOUT)


@gluon.jit
def operands(packed, O_LAYOUT: gl.constexpr):
    """Return the chunks of packed P as left operands of P V."""
    P = ()
    for c in gl.static_range(len(packed)):
        P = P + (unpack_fp8(packed[c], gl.DotOperandLayout(0, O_LAYOUT, 4)),)
    return P


@gluon.jit
def copy_behind_wait(packed):
    """Copy packed P behind the wait for the product of the P before.

    Otherwise LLVM lets the next product read what pack_fp8 wrote before that wait, and ptxas
    serializes all products of the kernel (C7513).
    """
    copies = ()
    for c in gl.static_range(len(packed)):
        copy = gl.inline_asm_elementwise(
            "mov.b32 $0, $1;", "=r,r", [packed[c]], gl.int32, is_pure=False, pack=1
        )
        copies = copies + (copy,)
    return copies


@gluon.jit
def exp2_linear(shifted):
    """Return 2ˣ of x + 768, linear between whole x, within 4 % and right in the mean, for x ≤ 2⁹.

    The bits of x + 1.5 · 2⁹ hold x as a whole number of 2⁻¹⁴, which shifted are exponent and
    mantissa. P keeps 4 bits, so its own rounding is larger. Below 2⁻¹²⁰ the result stays there.
    """
    fixed = gl.maximum(shifted, SHIFT - 120.0).to(gl.int32, bitcast=True)
    return ((fixed << 9) - 1082613052).to(gl.float32, bitcast=True)


@gluon.jit
def exp2_shared(x, shifted, LINEAR: gl.constexpr, S_LAYOUT: gl.constexpr):
    """Return 2ˣ (64, N), of one in LINEAR columns (2, 4, 0: none) by `exp2_linear` of `shifted`,
    x + 768: of the two only what is used is computed."""
    N: gl.constexpr = x.shape[1]
    if LINEAR == 0:
        P = gl.exp2(x)
    elif LINEAR == 2:
        first, _ = x.reshape([ROWS, N // 16, 2, 8]).permute((0, 1, 3, 2)).split()
        _, second = shifted.reshape([ROWS, N // 16, 2, 8]).permute((0, 1, 3, 2)).split()
        P = gl.join(gl.exp2(first), exp2_linear(second)).permute((0, 1, 3, 2))
    else:
        left, right = x.reshape([ROWS, N // 32, 2, 2, 8]).permute((0, 1, 4, 2, 3)).split()
        first, _ = left.split()
        left, _ = shifted.reshape([ROWS, N // 32, 2, 2, 8]).permute((0, 1, 4, 2, 3)).split()
        _, second = left.split()
        left = gl.join(gl.exp2(first), exp2_linear(second))
        P = gl.join(left, gl.exp2(right)).permute((0, 1, 3, 4, 2))
    return gl.convert_layout(P.reshape([ROWS, N]), S_LAYOUT, assert_trivial=True)


@gluon.jit
def max_by_thread(S):
    """Return the maxima (64, 4) of what each of the four threads of a row has of S, as a tree."""
    N: gl.constexpr = S.shape[1]
    pairs = gl.max(S.reshape([ROWS, N // 8, 4, 2]), axis=3)
    return gl.max(gl.max(pairs.reshape([ROWS, N // 32, 4, 4]), axis=1), axis=1)


@gluon.jit
def sum_by_thread(P):
    """Return the sums (64, 4) of what each of the four threads of a row has of P."""
    N: gl.constexpr = P.shape[1]
    return gl.sum(gl.sum(P.reshape([ROWS, N // 8, 4, 2]), axis=3), axis=1)


@gluon.jit
def scaled_softmax(S, m_old, l_old, factors, plan: gl.constexpr, S_LAYOUTS: gl.constexpr):
    """Return P packed, m, l, α as `parts.online_softmax` does, of scores in chunks.

    The scores are `factors` · S in units of log2; the factors are of this key block, so m is of
    scaled scores. P and l are times 2 to `P_LOG2 - plan.slack`, and l (64, 4) is a sum for each of
    the four threads of a row.
    """
    most = max_by_thread(S[0]) * factors[0]
    for c in gl.static_range(1, len(S)):
        chunk = gl.convert_layout(max_by_thread(S[c]), most.type.layout, assert_trivial=True)
        most = gl.maximum(most, chunk * factors[c])
    most = gl.convert_layout(gl.max(most, axis=1), m_old.type.layout, assert_trivial=True)
    m = gl.maximum(m_old, most)
    if plan.slack:
        m = gl.where(m > m_old + plan.slack, m, m_old)
    alpha = gl.exp2(m_old - m)
    l = by_row_of(alpha, l_old)
    packed = ()
    for c in gl.static_range(len(S)):
        top = m - (P_LOG2 - plan.slack)
        top = gl.convert_layout(top, gl.SliceLayout(1, S_LAYOUTS[c]), assert_trivial=True)
        x = S[c] * factors[c] - top[:, None]
        shifted = S[c] * factors[c] - (top - SHIFT)[:, None]
        P = exp2_shared(x, shifted, plan.linear, S_LAYOUTS[c])
        l += gl.convert_layout(sum_by_thread(P), l.type.layout, assert_trivial=True)
        packed = packed + (pack_fp8(P),)
    return packed, m, l, alpha


@gluon.jit
def by_row_of(alpha, x):
    """Return x with row i times alpha_i."""
    return x * gl.convert_layout(alpha, gl.SliceLayout(1, x.type.layout))[:, None]


@gluon.constexpr_function
def _scaling(n):
    """Return PTX that multiplies n numbers by n others, those of two rows in turns of two, unless
    these are 1 in all rows of the warp."""
    products = "".join(f"mul.f32 ${i}, ${i}, ${2 * n + i};\n" for i in range(n))
    return (
        f"{{\n.reg .pred %any;\nsetp.ne.f32 %any, ${2 * n}, 0f3F800000;\n"
        f"setp.ne.or.f32 %any, ${2 * n + 2}, 0f3F800000, %any;\n"
        f"vote.sync.any.pred %any, %any, 0xffffffff;\n@!%any bra same;\n{products}same:\n}}"
    )


@gluon.constexpr_function
def _constraints(n):
    """Return the operands of `_scaling`: results in the places of the first n."""
    return ",".join(["=f"] * n + [str(i) for i in range(n)] + ["f"] * n)


@gluon.jit
def scaled_by_vote(alpha, O, O_LAYOUT: gl.constexpr):
    """Return O with row i times alpha_i; a warp of whose rows all alpha are 1 computes nothing."""
    COUNT: gl.constexpr = O.shape[1] // 2  # numbers of a thread
    ASM: gl.constexpr = _scaling(COUNT)
    OPERANDS: gl.constexpr = _constraints(COUNT)
    factor = gl.convert_layout(alpha, gl.SliceLayout(1, O_LAYOUT))[:, None]
    factor += gl.zeros(O.shape, gl.float32, O_LAYOUT)
    return gl.inline_asm_elementwise(
        ASM, OPERANDS, [O, factor], gl.float32, is_pure=True, pack=COUNT
    )


@gluon.jit
def matrix(smem, s):
    """Return slot s as a matrix."""
    return smem.index(s).reshape([smem.shape[3], smem.shape[4]])


@gluon.jit
def scores(q, k_smem, s, S_LAYOUT: gl.constexpr):
    """Start S = Q_i Kᵀ (64, N), fp32, of one chunk."""
    KEYS: gl.constexpr = k_smem.shape[3]
    S = gl.zeros([ROWS, KEYS], gl.float32, S_LAYOUT)
    return warpgroup_mma(q, matrix(k_smem, s).permute((1, 0)), S, use_acc=False, is_async=True)


@gluon.jit
def start_scores(q, k_smem, s, S_LAYOUTS: gl.constexpr):
    """Start the chunks of S_j."""
    S = ()
    for c in gl.static_range(len(k_smem)):
        S = S + (scores(q, k_smem[c], s, S_LAYOUTS[c]),)
    return S


@gluon.jit
def await_scores(S, PENDING: gl.constexpr):
    """Wait for the chunks of S_j, with so many products started after them."""
    done = warpgroup_mma_wait(PENDING, deps=S)
    if len(S) == 1:
        return (done,)
    else:
        return done


@gluon.jit
def start_values(P, v_smem, s, O, TWO_LEVEL: gl.constexpr):
    """Start P V_j, or O + P V_j, the chunks one after the other."""
    D: gl.constexpr = O.shape[1]
    LAYOUT: gl.constexpr = O.type.layout
    if TWO_LEVEL:
        added = gl.zeros([ROWS, D], gl.float32, LAYOUT)
    else:
        added = O
    for c in gl.static_range(len(P)):
        keep = c > 0 or not TWO_LEVEL
        v = matrix(v_smem[c], s).permute((1, 0))
        added = warpgroup_mma(P[c], v, added, use_acc=keep, is_async=True)
    return added


@gluon.jit
def await_values(added, packed):
    """Wait for what `start_values` started; packed in P's place, since no wait takes 8-bit
    registers."""
    return warpgroup_mma_wait(0, deps=(added,) + packed)[0]


@gluon.jit
def mask_block(
    S, j, row0, Nq, Nk, CAUSAL: gl.constexpr, BLOCK_N: gl.constexpr, S_LAYOUTS: gl.constexpr
):
    """Mask the chunks of S_j."""
    masked = ()
    for c in gl.static_range(len(S)):
        column = first_key(j, c, BLOCK_N)
        masked = masked + (mask(S[c], row0, column, Nq, Nk, CAUSAL, S_LAYOUTS[c]),)
    return masked


@gluon.jit
def fp8_step(
    q, kv_ring, slot, packed, O, state, factors, row0, j, Nq, Nk, K_SCALE, factor,
    MASK: gl.constexpr, plan: gl.constexpr, w: gl.constexpr,
    S_LAYOUTS: gl.constexpr, O_LAYOUT: gl.constexpr,
):  # fmt: skip
    """Compute S_j beside the previous block's P V, then the softmax of S_j, as `consumer.step`.

    Returns P_j (packed), O, the state m, l, α and the factors of the next block. With two levels
    α_j is applied a step later, where P_j V_j is added: one multiply-add.
    """
    k_smem, v_smem, full, empty = kv_ring
    s, phase = slot
    m, l, alpha = state
    CHUNKS: gl.constexpr = len(S_LAYOUTS)
    P = operands(packed, O_LAYOUT)
    mbarrier.wait(full.index(s), phase)
    if plan.ping_pong:
        wait_turn(w)
    S_started = start_scores(q, k_smem, s, S_LAYOUTS)
    added = start_values(P, v_smem, s, O, plan.two_level)
    if plan.ping_pong:
        pass_turn((w + 1) % plan.consumers)
    after = load_factors(K_SCALE, None, gl.maximum(j - 1, 0), factor, CHUNKS, plan.block_n)
    S = await_scores(S_started, CHUNKS)
    if MASK:
        S = mask_block(S, j, row0, Nq, Nk, plan.causal, plan.block_n, S_LAYOUTS)
    packed_next, m, l, alpha_next = scaled_softmax(S, m, l, factors, plan, S_LAYOUTS)
    added = await_values(added, packed)
    mbarrier.arrive(empty.index(s), count=1)
    if plan.two_level:
        O = by_row_of(alpha, O) + added
    elif plan.slack:
        O = scaled_by_vote(alpha_next, added, O_LAYOUT)
    else:
        O = by_row_of(alpha_next, added)
    return copy_behind_wait(packed_next), O, (m, l, alpha_next), after


@gluon.jit
def consume_fp8(work, plan: gl.constexpr, w: gl.constexpr):
    """Compute rows i·BLOCK_M + 64 w … + 63 of every tile (warpgroup w)."""
    CAUSAL: gl.constexpr = plan.causal
    BLOCK_N: gl.constexpr = plan.block_n
    STAGES: gl.constexpr = plan.stages
    ORDER: gl.constexpr = plan.order
    o_desc, o_smem, q_ring, kv_ring, queue, LSE, sizes, scales, scale_log2 = work
    Q_SCALES, K_SCALES, V_SCALES = scales
    q_smem, q_full, q_empty = q_ring
    k_smem, v_smem, full, empty = kv_ring
    Tr, BH, H, GROUP, Nq, Nk, SECTION = sizes
    D: gl.constexpr = q_smem.shape[4]
    CHUNKS: gl.constexpr = len(k_smem)
    WIDE: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 32])
    NARROW: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 32])
    S_LAYOUTS: gl.constexpr = (WIDE,) if CHUNKS == 1 else (WIDE, NARROW)
    O_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 32])
    BY_ROW: gl.constexpr = gl.SliceLayout(1, WIDE)
    s = 0
    phase = 0
    n = 0
    if plan.ping_pong and w == plan.consumers - 1:
        pass_turn(0)
    code = fixed_tile(0, ORDER)
    while code < Tr * BH:
        i, bh = tile_at(code, Tr, BH, SECTION, ORDER)
        row0 = i * plan.block_m + w * ROWS
        Tc = blocks_up_to((i + 1) * plan.block_m, Nq, Nk, CAUSAL, BLOCK_N)
        key_head = (bh // H) * (H // GROUP) + bh % H // GROUP
        k_scales = (Nk + SCALED - 1) // SCALED
        K_SCALE = K_SCALES + key_head * k_scales
        row_blocks = (Nq + ROWS - 1) // ROWS
        factor = scale_log2 * gl.load(
            Q_SCALES + bh * row_blocks + gl.minimum(row0 // ROWS, row_blocks - 1)
        )
        q = q_smem.index((n & 1) * plan.consumers + w).reshape([ROWS, D])
        await_pair(q_full, n)
        factors = load_factors(K_SCALE, k_scales - 1, Tc - 1, factor, CHUNKS, BLOCK_N)
        mbarrier.wait(full.index(s), phase)
        S = await_scores(start_scores(q, k_smem, s, S_LAYOUTS), 0)
        mbarrier.arrive(empty.index(s), count=1)
        s, phase = next_slot(s, phase, STAGES)
        if CAUSAL or plan.ragged:
            S = mask_block(S, Tc - 1, row0, Nq, Nk, CAUSAL, BLOCK_N, S_LAYOUTS)
        m = gl.full([ROWS], NO_KEY, gl.float32, BY_ROW)
        l = sum_by_thread(gl.zeros([ROWS, 128], gl.float32, WIDE))
        packed, m, l, alpha = scaled_softmax(S, m, l, factors, plan, S_LAYOUTS)
        O = gl.zeros([ROWS, D], gl.float32, O_LAYOUT)
        state = m, l, alpha
        after = gl.maximum(Tc - 2, 0)
        factors = load_factors(K_SCALE, k_scales - 1, after, factor, CHUNKS, BLOCK_N)
        whole = Tc - 1
        if CAUSAL:
            whole = gl.minimum(first_hidden(row0, Nq, Nk, True) // BLOCK_N, whole)
            for back in range(0, Tc - 1 - whole):
                packed, O, state, factors = fp8_step(
                    q, kv_ring, (s, phase), packed, O, state, factors, row0, Tc - 2 - back,
                    Nq, Nk, K_SCALE, factor, True, plan, w, S_LAYOUTS, O_LAYOUT,
                )  # fmt: skip
                s, phase = next_slot(s, phase, STAGES)
        for back in range(0, whole):
            packed, O, state, factors = fp8_step(
                q, kv_ring, (s, phase), packed, O, state, factors, row0, whole - 1 - back,
                Nq, Nk, K_SCALE, factor, False, plan, w, S_LAYOUTS, O_LAYOUT,
            )  # fmt: skip
            s, phase = next_slot(s, phase, STAGES)
        mbarrier.arrive(q_empty.index(n & 1), count=1)
        # the last P V, and beside it the next tile's code and lse = m + log l
        P = operands(packed, O_LAYOUT)
        mbarrier.wait(full.index(s), phase)
        added = start_values(P, v_smem, s, O, plan.two_level)
        if ORDER == "queue":
            code = read_code(n, queue)
        else:
            code = fixed_tile(n + 1, ORDER)
        m, l, alpha = state
        l = gl.convert_layout(gl.sum(l, axis=1), BY_ROW, assert_trivial=True)
        seen = m > NO_KEY  # a row that sees no key: O = 0, lse = −∞
        inv_l = gl.where(seen, 1.0 / l, 0.0)
        lse = gl.where(seen, (m + gl.log2(l) - (P_LOG2 - plan.slack)) * LN2, float("-inf"))
        rows = row0 + gl.arange(0, ROWS, BY_ROW)
        gl.store(LSE + bh.to(gl.int64) * Nq + rows, lse, mask=rows < Nq)
        columns = gl.arange(0, D, gl.SliceLayout(0, O_LAYOUT))
        v_scale = gl.load(V_SCALES + key_head * D + columns)
        tma.store_wait(0)  # the previous O has left its buffer
        added = await_values(added, packed)
        mbarrier.arrive(empty.index(s), count=1)
        s, phase = next_slot(s, phase, STAGES)
        if plan.two_level:
            O = by_row_of(alpha, O) + added
        else:
            O = added
        O = by_row_of(inv_l, O) * v_scale[None, :]
        o_smem.index(w).reshape([ROWS, D]).store(O.to(o_smem.dtype))
        fence_async_shared()
        async_store(o_desc, [bh // H, bh % H, row0, 0], o_smem.index(w))
        n += 1
    tma.store_wait(0)


@gluon.jit
def produce_fp8(loads, plan: gl.constexpr):
    """Load Q_i once, and K_j with V_{j + 1} from last to first, for every tile (producer warp).

    So a tile takes a slot more than it has key blocks: the first has K alone, the last one V.
    """
    CONSUMERS: gl.constexpr = plan.consumers
    BLOCK_N: gl.constexpr = plan.block_n
    ORDER: gl.constexpr = plan.order
    q_desc, k_desc, v_desc, q_ring, kv_ring, queue, counter, sizes = loads
    q_smem, q_full, q_empty = q_ring
    k_smem, v_smem, full, empty = kv_ring
    Tr, BH, H, GROUP, Nq, Nk, SECTION = sizes
    D: gl.constexpr = q_desc.block_type.shape[3]
    s = 0
    phase = 1
    n = 0
    code = fixed_tile(0, ORDER)
    while code < Tr * BH:
        i, bh = tile_at(code, Tr, BH, SECTION, ORDER)
        b = bh // H
        h = bh % H
        Tc = blocks_up_to((i + 1) * plan.block_m, Nq, Nk, plan.causal, BLOCK_N)
        for back in range(0, Tc + 1):
            j = Tc - 1 - back
            has_k = j >= 0
            has_v = back > 0
            is_both = has_k & has_v
            mbarrier.wait(empty.index(s), phase)
            mbarrier.expect(full.index(s), 2 * BLOCK_N * D, pred=is_both)
            mbarrier.expect(full.index(s), BLOCK_N * D, pred=is_both == 0)
            for c in gl.static_range(len(k_smem)):
                at = [b, h // GROUP, first_key(j, c, BLOCK_N), 0]
                async_load(k_desc[c], at, full.index(s), k_smem[c].index(s), pred=has_k)
            if back == 0:
                await_pair(q_empty, n, 1)
                slot = n & 1
                mbarrier.expect(q_full.index(slot), plan.block_m * D)
                for w in gl.static_range(CONSUMERS):
                    async_load(
                        q_desc,
                        [b, h, i * plan.block_m + w * ROWS, 0],
                        q_full.index(slot),
                        q_smem.index(slot * CONSUMERS + w),
                    )
            for c in gl.static_range(len(k_smem)):
                at = [b, h // GROUP, 0, first_key(j + 1, c, BLOCK_N)]
                async_load(v_desc[c], at, full.index(s), v_smem[c].index(s), pred=has_v)
            s, phase = next_slot(s, phase, plan.stages)
        if ORDER == "queue":
            code = take_from_queue(counter, Tr * BH)
            write_code(code, n, queue)
        else:
            code = fixed_tile(n + 1, ORDER)
        n += 1


@gluon.jit(do_not_specialize=["Tr", "BH", "H", "GROUP", "Nq", "Nk", "SECTION"])
def fp8_kernel(
    q_desc, k_desc, k64_desc, v_desc, v64_desc, o_desc, LSE, counter, Q_SCALES, K_SCALES, V_SCALES,
    Tr, BH, H, GROUP, Nq, Nk, SECTION, scale_log2, plan: gl.constexpr,
):  # fmt: skip
    """Allocate rings and barriers in shared memory, then start every warp in its role.

    Arguments as of `kernel.hopper_kernel`, but K and V have a descriptor for each chunk of a key
    block, of 128 and 64 keys, and V is of (B, Hk, d, Nk), boxes of (d, keys). What an element
    stands for is it times its scale, fp32: Q_SCALES (B, H, ⌈Nq/64⌉), K_SCALES (B, Hk, ⌈Nk/128⌉),
    V_SCALES (B, Hk, d).
    """
    CONSUMERS: gl.constexpr = plan.consumers
    STAGES: gl.constexpr = plan.stages
    q_smem = boxes_of(q_desc, 2 * CONSUMERS)
    o_smem = boxes_of(o_desc, CONSUMERS)
    if plan.block_n == SCALED:
        k_descs, v_descs = (k_desc,), (v_desc,)
        k_smem, v_smem = (boxes_of(k_desc, STAGES),), (boxes_of(v_desc, STAGES),)
    else:
        k_descs, v_descs = (k_desc, k64_desc), (v_desc, v64_desc)
        k_smem = boxes_of(k_desc, STAGES), boxes_of(k64_desc, STAGES)
        v_smem = boxes_of(v_desc, STAGES), boxes_of(v64_desc, STAGES)
    slots = gl.allocate_shared_memory(gl.int32, [2, 1], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    q_full, q_empty = ring(2, CONSUMERS)
    full, empty = ring(STAGES, CONSUMERS)
    code_full, code_empty = ring(2, CONSUMERS)
    fence_async_shared()
    q_ring = (q_smem, q_full, q_empty)
    kv_ring = (k_smem, v_smem, full, empty)
    queue = (slots, code_full, code_empty)
    sizes = (Tr, BH, H, GROUP, Nq, Nk, SECTION)
    loads = (q_desc, k_descs, v_descs, q_ring, kv_ring, queue, counter, sizes)
    scales = (Q_SCALES, K_SCALES, V_SCALES)
    work = (o_desc, o_smem, q_ring, kv_ring, queue, LSE, sizes, scales, scale_log2)
    gl.warp_specialize(
        [
            (consume_fp8, (work, plan, 0)),
            (consume_fp8, (work, plan, 1)),
            (produce_fp8, (loads, plan)),
        ],
        [4, 1],
        [plan.consumer_registers, plan.producer_registers],
    )
