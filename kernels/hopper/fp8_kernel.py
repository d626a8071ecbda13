"""Attention of e4m3 inputs on Hopper, in Gluon: what differs from `kernel` and `consumer`.

wgmma takes fp8 operands with the summed index contiguous, and of P it takes four neighboring keys
of a row from one thread, where an accumulator gives a thread two. So V is stored as (d, keys), its
keys in the order in which a thread has them (`fp8.KEY_ORDER`): P then needs no exchange between
threads. The tensor cores add fp8 products with about 14 bits; with `plan.two_level` the product of
each key block starts from 0 and is added to O in fp32.
"""
# ruff: noqa: SIM102, SIM108 — Gluon decides at compile time

from .consumer import LN2, ROWS, scores
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
from .kernel import allocate, produce
from .parts import (
    await_full,
    await_pair,
    blocks_up_to,
    first_hidden,
    fixed_tile,
    mask,
    pass_turn,
    read_code,
    tile_at,
    wait_turn,
)

# P is in 0 … 1; times 2⁸ it uses most of e4m3's range of 448, and fewer values are subnormal.
P_LOG2 = constant(8.0)
# The m of a row that has seen no key: less than all scores but finite, so that −∞ − m is −∞ there.
NO_KEY = constant(-3e38)


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
def exp2_linear(x):
    """Return 2ˣ, linear between whole x, within 4 % and right in the mean, for x ≤ 2⁹.

    The bits of x + 1.5 · 2⁹ hold x as a whole number of 2⁻¹⁴, which shifted are exponent and
    mantissa. P keeps 4 bits, so its own rounding is larger. Below 2⁻¹²⁰ the result stays there.
    """
    fixed = (gl.maximum(x, -120.0) + 768.0).to(gl.int32, bitcast=True)
    return ((fixed << 9) - 1082613052).to(gl.float32, bitcast=True)


@gluon.jit
def exp2_shared(x, LINEAR: gl.constexpr, S_LAYOUT: gl.constexpr):
    """Return 2ˣ (64, N), of one in LINEAR columns (2, 4, 0: none) by `exp2_linear`: the special
    function units, which compute the others, are busy with the conversion to e4m3 too."""
    N: gl.constexpr = x.shape[1]
    if LINEAR == 0:
        P = gl.exp2(x)
    elif LINEAR == 2:
        pairs = x.reshape([ROWS, N // 16, 2, 8]).permute((0, 1, 3, 2))
        first, second = pairs.split()
        both = gl.join(gl.exp2(first), exp2_linear(second))
        P = both.permute((0, 1, 3, 2))
    else:
        quads = x.reshape([ROWS, N // 32, 2, 2, 8]).permute((0, 1, 4, 2, 3))
        left, right = quads.split()
        first, second = left.split()
        left = gl.join(gl.exp2(first), exp2_linear(second))
        P = gl.join(left, gl.exp2(right)).permute((0, 1, 3, 4, 2))
    return gl.convert_layout(P.reshape([ROWS, N]), S_LAYOUT, assert_trivial=True)


@gluon.jit
def scaled_softmax(S, m_old, l_old, factor, LINEAR: gl.constexpr, S_LAYOUT: gl.constexpr):
    """Return 2⁸ P, m, l, α as `parts.online_softmax` does, of scores `factor` · S in units of log2.

    The factor is of this key block, so m is of scaled scores; l is a sum of 2⁸ P.
    """
    m = gl.maximum(m_old, gl.max(S, axis=1) * factor)
    alpha = gl.exp2(m_old - m)
    P = exp2_shared(S * factor - (m - P_LOG2)[:, None], LINEAR, S_LAYOUT)
    return P, m, l_old * alpha + gl.sum(P, axis=1), alpha


@gluon.jit
def add_values_fp8(P, v_smem, s, O, TWO_LEVEL: gl.constexpr):
    """Start P V_j, or O + P V_j."""
    D: gl.constexpr = v_smem.shape[3]
    v = v_smem.index(s).reshape([D, v_smem.shape[4]]).permute((1, 0))
    if TWO_LEVEL:
        LAYOUT: gl.constexpr = O.type.layout
        zero = gl.zeros([ROWS, D], gl.float32, LAYOUT)
        return warpgroup_mma(P, v, zero, use_acc=False, is_async=True)
    else:
        return warpgroup_mma(P, v, O, is_async=True)


@gluon.jit
def by_row_of(alpha, O, O_LAYOUT: gl.constexpr):
    """Return O with row i times alpha_i."""
    return O * gl.convert_layout(alpha, gl.SliceLayout(1, O_LAYOUT))[:, None]


@gluon.jit
def fp8_step(
    q, k_ring, v_ring, it, packed, O, m, l, alpha, row0, n0, Nq, Nk, factor, K_SCALE,
    plan: gl.constexpr, w: gl.constexpr,
    S_LAYOUT: gl.constexpr, O_LAYOUT: gl.constexpr,
):  # fmt: skip
    """Compute S_j beside the previous block's P V, then the softmax of S_j, as `consumer.step`.

    Returns P_j (packed), O, m, l, α. With two levels α_j is applied a step later, where P_j V_j is
    added: one multiply-add.
    """
    STAGES: gl.constexpr = plan.stages
    k_smem, k_full, k_empty = k_ring
    v_smem, v_full, v_empty = v_ring
    s = it % STAGES
    s_prev = (it + STAGES - 1) % STAGES
    factor = factor * gl.load(K_SCALE + n0 // plan.block_n)
    P = unpack_fp8(packed, gl.DotOperandLayout(0, O_LAYOUT, 4))
    await_full(k_full, it, STAGES)
    if plan.ping_pong:
        wait_turn(w)
    S_started = scores((q,), k_smem, s, S_LAYOUT)
    await_full(v_full, it - 1, STAGES)
    O_started = add_values_fp8(P, v_smem, s_prev, O, plan.two_level)
    if plan.ping_pong:
        pass_turn((w + 1) % plan.consumers)
    S = warpgroup_mma_wait(1, deps=[S_started])
    mbarrier.arrive(k_empty.index(s), count=1)
    if plan.causal:  # only a row block's first step meets keys beyond the last
        if n0 + plan.block_n > first_hidden(row0, Nq, Nk, True):
            S = mask(S, row0, n0, Nq, Nk, True, S_LAYOUT)
    P_next, m, l, alpha_next = scaled_softmax(S, m, l, factor, plan.linear, S_LAYOUT)
    packed_next = pack_fp8(P_next)
    # packed in P's place, since no wait takes 8-bit registers
    added, _ = warpgroup_mma_wait(0, deps=[O_started, packed])
    mbarrier.arrive(v_empty.index(s_prev), count=1)
    if plan.two_level:
        O = by_row_of(alpha, O, O_LAYOUT) + added
    else:
        O = by_row_of(alpha_next, added, O_LAYOUT)
    return packed_next, O, m, l, alpha_next


@gluon.jit
def consume_fp8(work, plan: gl.constexpr, w: gl.constexpr):
    """Compute rows i·BLOCK_M + 64 w … + 63 of every tile (warpgroup w)."""
    CAUSAL: gl.constexpr = plan.causal
    BLOCK_N: gl.constexpr = plan.block_n
    STAGES: gl.constexpr = plan.stages
    ORDER: gl.constexpr = plan.order
    o_desc, o_smem, q_ring, k_ring, v_ring, queue, LSE, sizes, scales, scale_log2 = work
    Q_SCALES, K_SCALES, V_SCALES = scales
    q_smem, q_full, q_empty = q_ring
    k_smem, k_full, k_empty = k_ring
    v_smem, v_full, v_empty = v_ring
    Tr, BH, H, GROUP, Nq, Nk, SECTION = sizes
    D: gl.constexpr = q_smem.shape[4]
    S_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 32])
    O_LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 32])
    BY_ROW: gl.constexpr = gl.SliceLayout(1, S_LAYOUT)
    MASKED: gl.constexpr = CAUSAL or plan.ragged
    it = 0
    n = 0
    if plan.ping_pong and w == plan.consumers - 1:
        pass_turn(0)
    code = fixed_tile(0, ORDER)
    while code < Tr * BH:
        i, bh = tile_at(code, Tr, BH, SECTION, ORDER)
        row0 = i * plan.block_m + w * ROWS
        Tc = blocks_up_to((i + 1) * plan.block_m, Nq, Nk, CAUSAL, BLOCK_N)
        key_head = (bh // H) * (H // GROUP) + bh % H // GROUP
        K_SCALE = K_SCALES + key_head * ((Nk + BLOCK_N - 1) // BLOCK_N)
        row_blocks = (Nq + ROWS - 1) // ROWS
        factor = scale_log2 * gl.load(
            Q_SCALES + bh * row_blocks + gl.minimum(row0 // ROWS, row_blocks - 1)
        )
        q = q_smem.index((n & 1) * plan.consumers + w).reshape([ROWS, D])
        await_pair(q_full, n)
        m = gl.full([ROWS], NO_KEY, gl.float32, BY_ROW)
        l = gl.zeros([ROWS], gl.float32, BY_ROW)
        s = it % STAGES
        first = factor * gl.load(K_SCALE + Tc - 1)
        await_full(k_full, it, STAGES)
        S = warpgroup_mma_wait(0, deps=[scores((q,), k_smem, s, S_LAYOUT)])
        mbarrier.arrive(k_empty.index(s), count=1)
        it += 1
        if MASKED:
            S = mask(S, row0, (Tc - 1) * BLOCK_N, Nq, Nk, CAUSAL, S_LAYOUT)
        P, m, l, alpha = scaled_softmax(S, m, l, first, plan.linear, S_LAYOUT)
        packed = pack_fp8(P)
        O = gl.zeros([ROWS, D], gl.float32, O_LAYOUT)
        for back in range(0, Tc - 1):
            packed, O, m, l, alpha = fp8_step(
                q, k_ring, v_ring, it, packed, O, m, l, alpha, row0, (Tc - 2 - back) * BLOCK_N,
                Nq, Nk, factor, K_SCALE, plan, w, S_LAYOUT, O_LAYOUT,
            )  # fmt: skip
            it += 1
        mbarrier.arrive(q_empty.index(n & 1), count=1)
        # the last P V, and beside it the next tile's code and lse = m + log l
        s_last = (it - 1) % STAGES
        await_full(v_full, it - 1, STAGES)
        P_last = unpack_fp8(packed, gl.DotOperandLayout(0, O_LAYOUT, 4))
        O_started = add_values_fp8(P_last, v_smem, s_last, O, plan.two_level)
        if ORDER == "queue":
            code = read_code(n, queue)
        else:
            code = fixed_tile(n + 1, ORDER)
        seen = m > NO_KEY  # a row that sees no key: O = 0, lse = −∞
        inv_l = gl.where(seen, 1.0 / l, 0.0)
        lse = gl.where(seen, (m + gl.log2(l) - P_LOG2) * LN2, float("-inf"))
        rows = row0 + gl.arange(0, ROWS, BY_ROW)
        gl.store(LSE + bh.to(gl.int64) * Nq + rows, lse, mask=rows < Nq)
        columns = gl.arange(0, D, gl.SliceLayout(0, O_LAYOUT))
        v_scale = gl.load(V_SCALES + key_head * D + columns)
        tma.store_wait(0)  # the previous O has left its buffer
        added, _ = warpgroup_mma_wait(0, deps=[O_started, packed])
        mbarrier.arrive(v_empty.index(s_last), count=1)
        if plan.two_level:
            O = by_row_of(alpha, O, O_LAYOUT) + added
        else:
            O = added
        O = by_row_of(inv_l, O, O_LAYOUT) * v_scale[None, :]
        o_smem.index(w).reshape([ROWS, D]).store(O.to(o_smem.dtype))
        fence_async_shared()
        async_store(o_desc, [bh // H, bh % H, row0, 0], o_smem.index(w))
        n += 1
    tma.store_wait(0)


@gluon.jit(do_not_specialize=["Tr", "BH", "H", "GROUP", "Nq", "Nk", "SECTION"])
def fp8_kernel(
    q_desc, k_desc, v_desc, o_desc, LSE, counter, Q_SCALES, K_SCALES, V_SCALES,
    Tr, BH, H, GROUP, Nq, Nk, SECTION, scale_log2, plan: gl.constexpr,
):  # fmt: skip
    """Allocate rings and barriers in shared memory, then start every warp in its role.

    Arguments as of `kernel.hopper_kernel`, but v_desc is of (B, Hk, d, Nk), boxes of (d, BLOCK_N).
    What an element stands for is it times its scale, fp32: Q_SCALES (B, H, ⌈Nq/64⌉), K_SCALES
    (B, Hk, ⌈Nk/BLOCK_N⌉), V_SCALES (B, Hk, d).
    """
    q_ring, k_ring, v_ring, o_smem, queue = allocate(q_desc, k_desc, v_desc, o_desc, plan)
    sizes = (Tr, BH, H, GROUP, Nq, Nk, SECTION)
    loads = ((q_desc, k_desc, v_desc), q_ring, k_ring, v_ring, queue, counter, sizes, None)
    scales = (Q_SCALES, K_SCALES, V_SCALES)
    work = (
        o_desc, o_smem, q_ring, k_ring, v_ring, queue, LSE, sizes, scales, scale_log2,
    )  # fmt: skip
    gl.warp_specialize(
        [(consume_fp8, (work, plan, 0)), (consume_fp8, (work, plan, 1)), (produce, (loads, plan))],
        [4, 1],
        [plan.consumer_registers, plan.producer_registers],
    )
