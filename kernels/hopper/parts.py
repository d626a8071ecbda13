"""Building blocks of the Hopper kernels in Gluon: the next tile, masks, softmax, packing."""
# ruff: noqa: SIM300 — Gluon compares with the constant on the right

from .gluon import constant, gl, gluon, mbarrier

FIELDS = constant(16)  # int32 numbers of a message from the producer
# In the forward pass by a table: batch and head bh, at least Tr · B · H where no tile is left; and
# what `tables.Tables.tiles` has of it: row block i, key blocks FIRST … END − 1, and from OWN on, of
# each warpgroup, its first and end, and the keys from … to − 1 that all of its rows see.
ROW, FIRST, END, OWN, HEAD = map(constant, (0, 1, 2, 3, 15))


@gluon.jit
def fixed_tile(n, ORDER: gl.constexpr):
    """Return the code of this program's n-th tile ("rows", "pairs"; in "queue" only its first)."""
    program, programs = gl.program_id(0), gl.num_programs(0)
    if ORDER == "pairs":
        return (program + (n // 2) * programs) * 2 + n % 2
    else:
        return program + n * programs


@gluon.jit
def tile_at(code, Tr, BH, SECTION, ORDER: gl.constexpr):
    """Return row block i and head bh of a tile's code; Tr is even in "pairs"."""
    if ORDER == "pairs":
        half = Tr // 2
        bh = (code // 2) // half
        light = (code // 2) % half
        i = gl.where(code % 2 == 0, Tr - 1 - light, light)
    elif ORDER == "queue":
        section = code // (SECTION * Tr)
        rest = code % (SECTION * Tr)
        heads = gl.minimum(SECTION, BH - section * SECTION)
        i = Tr - 1 - rest // heads
        bh = section * SECTION + rest % heads
    else:
        i = code % Tr
        bh = code // Tr
    return i, bh


@gluon.jit
def take_from_queue(counter, tiles):
    """Return the code of the next free tile; each program gets one code ≥ tiles at the end.

    The first tile of each program is fixed, so there are `tiles` requests; the last one resets the
    counter.
    """
    taken = gl.atomic_add(counter, 1)
    if taken == tiles - 1:
        gl.store(counter, 0)
    return taken + gl.num_programs(0)


@gluon.jit
def await_pair(barriers, n, FREE: gl.constexpr = 0, SLOTS: gl.constexpr = 2):
    """Wait for the n-th message of a ring of two slots, or one; FREE: until its slot is free for
    it."""
    mbarrier.wait(barriers.index(n & (SLOTS - 1)), ((n >> (SLOTS - 1)) & 1) ^ FREE)


@gluon.jit
def await_full(full, it, STAGES: gl.constexpr, pred=True):
    """Wait for the it-th box of a ring (consumers)."""
    mbarrier.wait(full.index(it % STAGES), (it // STAGES) & 1, pred=pred)


@gluon.jit
def await_free(empty, it, STAGES: gl.constexpr):
    """Wait until the slot of the it-th box of a ring is free for it (producer)."""
    parity = ((it // STAGES) & 1) ^ 1
    mbarrier.wait(empty.index(it % STAGES), parity)


@gluon.jit
def write_code(code, n, messages):
    """Send the consumers the code of the tile after the n-th (producer)."""
    slots, full, empty = messages
    await_pair(empty, n, 1)
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    slots.index(n & 1).store(gl.full([1], 0, gl.int32, layout) + code)
    mbarrier.arrive(full.index(n & 1), count=1)


@gluon.jit
def read_code(n, messages):
    """Receive the code of the tile after the n-th (consumers)."""
    slots, full, empty = messages
    await_pair(full, n)
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    code = gl.max(slots.index(n & 1).load(layout), axis=0)
    mbarrier.arrive(empty.index(n & 1), count=1)
    return code


@gluon.jit
def write_field(slots, n, field: gl.constexpr, value):
    """Write one number of the n-th message (producer)."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    slots.index((n & 1) * FIELDS + field).store(gl.full([1], 0, gl.int32, layout) + value)


@gluon.jit
def read_field(slots, n, field: gl.constexpr, WARPS: gl.constexpr):
    """Read one number of the n-th message (receivers, of so many warps)."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [WARPS], [0])
    return gl.max(slots.index((n & 1) * FIELDS + field).load(layout), axis=0)


@gluon.jit
def receive_tile(n, messages, w: gl.constexpr):
    """Receive the n-th tile of a table: bh, i, first and end, and this warpgroup's first, end, from
    and to (consumers)."""
    slots, full, empty = messages
    await_pair(full, n)
    tile = (
        read_field(slots, n, HEAD, 4),
        read_field(slots, n, ROW, 4),
        read_field(slots, n, FIRST, 4),
        read_field(slots, n, END, 4),
        read_field(slots, n, OWN + 4 * w, 4),
        read_field(slots, n, OWN + 4 * w + 1, 4),
        read_field(slots, n, OWN + 4 * w + 2, 4),
        read_field(slots, n, OWN + 4 * w + 3, 4),
    )
    mbarrier.arrive(empty.index(n & 1), count=1)
    return tile


@gluon.jit
def blocks_up_to(row_end, Nq, Nk, CAUSAL: gl.constexpr, BLOCK_N: gl.constexpr):
    """Return the number of key blocks that some row before row_end sees; at least one."""
    keys = Nk
    if CAUSAL:
        keys = gl.minimum(Nk, gl.maximum(row_end + Nk - Nq, 1))
    return (keys + BLOCK_N - 1) // BLOCK_N


@gluon.jit
def first_hidden(row, Nq, Nk, CAUSAL: gl.constexpr):
    """Return the first key that `row` does not see (aligned bottom-right)."""
    if CAUSAL:
        return gl.minimum(Nk, gl.maximum(row + 1 + Nk - Nq, 0))
    else:
        return Nk


@gluon.jit
def mask(S, row0, col0, Nq, Nk, CAUSAL: gl.constexpr, S_LAYOUT: gl.constexpr):
    """Set S_ij = −∞ where the key is beyond Nk or above the diagonal."""
    M: gl.constexpr = S.shape[0]
    N: gl.constexpr = S.shape[1]
    # 8 · high + low < hidden − col0, so that high is a number in the code: ptxas 13.4 computes a
    # thread's columns before the loop over tiles, and at d = 64 has no registers to keep them
    SPLIT: gl.constexpr = S.reshape([M, N // 8, 8]).type.layout
    BY_ROW_AND_LOW: gl.constexpr = gl.SliceLayout(1, SPLIT)
    high = gl.arange(0, N // 8, gl.SliceLayout(0, gl.SliceLayout(2, SPLIT))) * 8
    low = gl.arange(0, 8, gl.SliceLayout(0, BY_ROW_AND_LOW))
    hidden = gl.full([M], Nk, gl.int32, gl.SliceLayout(1, BY_ROW_AND_LOW))
    if CAUSAL:
        rows = row0 + gl.arange(0, M, gl.SliceLayout(1, BY_ROW_AND_LOW))
        hidden = gl.minimum(hidden, rows + (Nk - Nq + 1))
    left = (hidden - col0)[:, None] - low[None, :]
    visible = (high[None, :][:, :, None] < left[:, None, :]).reshape([M, N])
    return gl.where(gl.convert_layout(visible, S_LAYOUT, assert_trivial=True), S, float("-inf"))


@gluon.jit
def mask_intervals(S, start, stop, col0, high, low, S_LAYOUT: gl.constexpr):
    """Set S = −∞ outside of the columns start … stop − 1 of each row; high and low as in `mask`."""
    begin = (start - col0)[:, None] - low[None, :]
    end = (stop - col0)[:, None] - low[None, :]
    column = high[None, :][:, :, None]
    visible = (column >= begin[:, None, :]) & (column < end[:, None, :])
    visible = visible.reshape([S.shape[0], S.shape[1]])
    return gl.where(gl.convert_layout(visible, S_LAYOUT, assert_trivial=True), S, float("-inf"))


@gluon.jit
def online_softmax(S, m_old, l_old, scale_log2, MASKED: gl.constexpr, STEADY: gl.constexpr = False):
    """Return P, m, l, α: m = max(m_old, rowmax S), α = exp(m_old − m), P = exp(S − m), l = α l_old
    + rowsum P.

    S and m are unscaled; the scale, times log2 e, goes into the one multiply-add before exp2. So α
    has the error of rounding m · scale at each block; with STEADY it is 1 where no maximum rises.
    """
    m = gl.maximum(m_old, gl.max(S, axis=1))
    m_finite = m
    if MASKED:  # a row that has seen no key yet: −∞ − (−∞)
        m_finite = gl.where(m == float("-inf"), 0.0, m)
    m_scaled = m_finite * scale_log2
    if STEADY:
        alpha = gl.exp2((m_old - m_finite) * scale_log2)
    else:
        alpha = gl.exp2(m_old * scale_log2 - m_scaled)
    P = gl.exp2(S * scale_log2 - m_scaled[:, None])
    return P, m, l_old * alpha + gl.sum(P, axis=1), alpha


@gluon.jit
def pack(P, DTYPE: gl.constexpr):
    """Round P (M, N) fp32 to DTYPE, two to a 32-bit register: (M, N/2) int32.

    Carried unpacked from one loop pass to the next, every value would take a register and an
    instruction of its own.
    """
    M: gl.constexpr = P.shape[0]
    N: gl.constexpr = P.shape[1]
    low, high = P.reshape([M, N // 2, 2]).split()
    HALVES: gl.constexpr = "bf16x2" if DTYPE == gl.bfloat16 else "f16x2"
    ASM: gl.constexpr = "cvt.rn." + HALVES + ".f32 $0, $2, $1;"
    return gl.inline_asm_elementwise(ASM, "=r,r,r", [low, high], gl.int32, is_pure=True, pack=1)


@gluon.jit
def unpack(packed, DTYPE: gl.constexpr, LAYOUT: gl.constexpr):
    """Return packed P as the left operand of P V; it compiles to no instruction."""
    M: gl.constexpr = packed.shape[0]
    N: gl.constexpr = packed.shape[1]
    low = (packed & 0xFFFF).to(gl.int16).to(DTYPE, bitcast=True)
    high = (packed >> 16).to(gl.int16).to(DTYPE, bitcast=True)
    return gl.convert_layout(gl.join(low, high).reshape([M, 2 * N]), LAYOUT)


@gluon.jit
def wait_turn(w: gl.constexpr):
    """Have warpgroup w wait until the one before it has passed its turn on."""
    _barrier("sync", w)


@gluon.jit
def pass_turn(w: gl.constexpr):
    """Pass the turn to warpgroup w."""
    _barrier("arrive", w)


@gluon.constexpr_function
def _instruction(verb, number):
    """Return PTX for one of the last four of the hardware's 16 barriers; Triton uses 0 to 4."""
    return f"bar.{verb} {12 + number}, 256; mov.u32 $0, $1;"


@gluon.jit
def _barrier(VERB: gl.constexpr, number: gl.constexpr):
    """Use a barrier of the hardware, of the 256 threads of two warpgroups; Gluon has no name for
    them. It is cheaper than an mbarrier in shared memory."""
    ASM: gl.constexpr = _instruction(VERB, number)
    lanes = gl.full([128], 0, gl.int32, gl.BlockedLayout([1], [32], [4], [0]))
    gl.inline_asm_elementwise(ASM, "=r,r", [lanes], gl.int32, is_pure=False, pack=1)
