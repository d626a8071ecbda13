"""Building blocks of the Hopper backward in Gluon: what is told of a tile, masks, products.

Imported as `parts` is.
"""

from .gluon import as_tile, constant, fence_async_shared, gl, gluon, mbarrier, warpgroup_mma

KEYS = constant(128)  # of a tile: 64 for each warpgroup
HALF = constant(64)

# What the producer tells the consumers of a tile, each an int32: its first key (−1: no more tiles),
# batch and key head, the rows from FIRST on, below END, of how many heads from HEAD on in how many
# PASSES, and by warpgroup the rows FROM … TO − 1 that all of its keys see.
KEY, BATCH, K_HEAD, FIRST, END, HEAD, PASSES, FROM, TO = map(constant, range(9))
FIELDS = constant(16)


@gluon.jit
def tell(slots, n, field: gl.constexpr, value):
    """Producer: one number of the n-th tile."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    slots.index((n & 1) * FIELDS + field).store(gl.full([1], 0, gl.int32, layout) + value)


@gluon.jit
def told(slots, n, field: gl.constexpr, WARPS: gl.constexpr):
    """Consumers and sender, of so many warps: one number of the n-th tile."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [WARPS], [0])
    return gl.max(slots.index((n & 1) * FIELDS + field).load(layout), axis=0)


@gluon.jit
def put(
    ring, at, n, w: gl.constexpr, x, as_dtype: gl.constexpr = None, layout: gl.constexpr = None,
    on_side: gl.constexpr = False,
):  # fmt: skip
    """Consumers: hand x (64, ·) to the sending warp, as the `at`-th part of all, 2 n of them dK, dV
    of the tiles before."""
    smem, full, empty = ring
    slot = at & 1
    mbarrier.wait(empty.index(slot), (((at >> 1) + n) & 1) ^ 1)
    out = smem.index(slot * 2 + w)
    if as_dtype is not None:
        out = as_tile(out, as_dtype, [1, 1, x.shape[0], x.shape[1]], layout)
    if on_side:
        out.reshape([x.shape[1], x.shape[0]]).permute((1, 0)).store(x)
    else:
        out.reshape([x.shape[0], x.shape[1]]).store(x)
    fence_async_shared()
    mbarrier.arrive(full.index(slot), count=1)


@gluon.jit
def await_turn(place, turn):
    """Sender: until as many have let go of the part of dQ whose count is at this address as go
    before."""
    lanes: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    place = gl.full([32], 0, gl.int64, lanes) + place.to(gl.int64)
    turn = gl.full([32], 0, gl.int32, lanes) + turn
    ASM: gl.constexpr = """{
.reg .pred wrong;
waitLoop:
ld.acquire.gpu.global.b32 $0, [$1];
setp.ne.s32 wrong, $0, $2;
@wrong bra.uni waitLoop;
}"""
    gl.inline_asm_elementwise(ASM, "=&r,l,r", [place, turn], gl.int32, is_pure=False, pack=1)


@gluon.jit
def let_go(place):
    """Sender: once all but the last two of its copies are in HBM, the next may add there."""
    lanes: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    place = gl.full([32], 0, gl.int64, lanes) + place.to(gl.int64)
    ASM: gl.constexpr = """cp.async.bulk.wait_group 2;
bar.warp.sync -1;
{
.reg .pred first;
setp.eq.s32 first, $2, 0;
@first red.release.gpu.global.add.u32 [$1], 1;
}
mov.b32 $0, $2;"""
    lane = gl.arange(0, 32, lanes)
    gl.inline_asm_elementwise(ASM, "=r,l,r", [place, lane], gl.int32, is_pure=False, pack=1)


@gluon.jit
def on_side(own, x_smem, s, first, LESS: gl.constexpr):
    """Start own · Xᵀ (64, M) in fp32, with LESS plus `first`: own (64, d) are this warpgroup's keys
    or values."""
    M: gl.constexpr = x_smem.shape[3]
    D: gl.constexpr = x_smem.shape[4]
    x = x_smem.index(s).reshape([M, D]).permute((1, 0))
    return warpgroup_mma(own, x, first, use_acc=LESS, is_async=True)


@gluon.jit
def hide(S, row0, spans, LAYOUT: gl.constexpr):
    """Sᵀ = −∞ where the key does not see the row: `spans` has each key's rows start … stop − 1."""
    N: gl.constexpr = S.shape[0]
    M: gl.constexpr = S.shape[1]
    # as in `parts.mask`: row 8 · high + low of the block, high a number in the code
    SPLIT: gl.constexpr = S.reshape([N, M // 8, 8]).type.layout
    BY_KEY_AND_LOW: gl.constexpr = gl.SliceLayout(1, SPLIT)
    BY_KEY: gl.constexpr = gl.SliceLayout(1, BY_KEY_AND_LOW)
    high = gl.arange(0, M // 8, gl.SliceLayout(0, gl.SliceLayout(2, SPLIT))) * 8
    low = gl.arange(0, 8, gl.SliceLayout(0, BY_KEY_AND_LOW))
    own = spans + 2 * gl.arange(0, N, BY_KEY)  # read again in each such block, not kept
    start = gl.load(own)
    stop = gl.load(own + 1)
    begin = (start - row0)[:, None] - low[None, :]
    end = (stop - row0)[:, None] - low[None, :]
    row = high[None, :][:, :, None]
    seen = ((row >= begin[:, None, :]) & (row < end[:, None, :])).reshape([N, M])
    return gl.where(gl.convert_layout(seen, LAYOUT, assert_trivial=True), S, float("-inf"))
