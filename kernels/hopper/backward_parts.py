"""Building blocks of the Hopper backward in Gluon: messages of a tile, masks, products."""

from .gluon import as_tile, constant, fence_async_shared, gl, gluon, mbarrier, warpgroup_mma
from .parts import mask_intervals

KEYS = constant(128)  # of a tile: 64 for each warpgroup
HALF = constant(64)
# The hardware's barriers of the two slots of Q and dO, of those of the output; Triton uses 0 to 4.
Q_SLOT, OUT_SLOT = constant(8), constant(10)

# What the producer sends the consumers of a tile, each an int32: its first key (−1: no more tiles),
# batch and key head, the rows from FIRST on, below END, of how many heads from HEAD on in how many
# PASSES, and by warpgroup the rows FROM … TO − 1 that all of its keys see.
KEY, BATCH, K_HEAD, FIRST, END, HEAD, PASSES, FROM, TO = map(constant, range(9))


@gluon.jit
def stage_output(
    ring, at, n, w: gl.constexpr, x, as_dtype: gl.constexpr = None, layout: gl.constexpr = None,
    is_transposed: gl.constexpr = False,
):  # fmt: skip
    """Stage x (64, ·) for the sending warp, as the `at`-th part of all, 2 n of them dK, dV of the
    tiles before (consumers)."""
    smem, empty = ring
    slot = at & 1
    mbarrier.wait(empty.index(slot), (((at >> 1) + n) & 1) ^ 1)
    out = smem.index(slot * 2 + w)
    if as_dtype is not None:
        out = as_tile(out, as_dtype, [1, 1, x.shape[0], x.shape[1]], layout)
    if is_transposed:
        out.reshape([x.shape[1], x.shape[0]]).permute((1, 0)).store(x)
    else:
        out.reshape([x.shape[0], x.shape[1]]).store(x)
    fence_async_shared()
    announce(OUT_SLOT + slot)


@gluon.jit
def start_dq(k_all, ds, w: gl.constexpr):
    """Start this warpgroup's half of dQ_iᵀ = K_jᵀ dS_iᵀ (64, 64): columns of dQ where it has 128,
    else rows.

    dQᵀ and not dQ, so that its fragments use all banks on their way to shared memory.
    """
    LAYOUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HALF, 16])
    if k_all.shape[1] == 128:
        left = k_all.slice(w * HALF, HALF, dim=1).permute((1, 0))
        right = ds
    else:
        left = k_all.permute((1, 0))
        right = ds.slice(w * HALF, HALF, dim=1)
    zero = gl.zeros([HALF, HALF], gl.float32, LAYOUT)
    return warpgroup_mma(left, right, zero, use_acc=False, is_async=True)


@gluon.jit
def barriers(SLOTS: gl.constexpr, ARRIVALS: gl.constexpr):
    """Allocate a barrier of so many arrivals for each slot."""
    found = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(SLOTS):
        mbarrier.init(found.index(slot), count=ARRIVALS)
    return found


@gluon.constexpr_function
def _meeting(verb):
    """Return PTX for one of the hardware's barriers, of two warpgroups and a warp."""
    return f"bar.{verb} $1, 288; mov.u32 $0, $1;"


@gluon.jit
def announce(number):
    """Tell the warp that awaits this barrier that the warpgroup is there, and go on (consumers). An
    mbarrier would have the warps of the warpgroup wait for each other twice."""
    _meet("arrive", number, 4)


@gluon.jit
def await_both(number):
    """Wait until both warpgroups are at this barrier (producer, sender)."""
    _meet("sync", number, 1)


@gluon.jit
def _meet(VERB: gl.constexpr, number, WARPS: gl.constexpr):
    ASM: gl.constexpr = _meeting(VERB)
    lanes = gl.full([32 * WARPS], 0, gl.int32, gl.BlockedLayout([1], [32], [WARPS], [0]))
    gl.inline_asm_elementwise(ASM, "=r,r", [lanes + number], gl.int32, is_pure=False, pack=1)


@gluon.jit
def await_rank(place, rank):
    """Wait until `rank` key blocks have released the part of dQ whose count is at this address
    (sender)."""
    lanes: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    place = gl.full([32], 0, gl.int64, lanes) + place.to(gl.int64)
    rank = gl.full([32], 0, gl.int32, lanes) + rank
    ASM: gl.constexpr = """{
.reg .pred wrong;
waitLoop:
ld.acquire.gpu.global.b32 $0, [$1];
setp.ne.s32 wrong, $0, $2;
@wrong bra.uni waitLoop;
}"""
    gl.inline_asm_elementwise(ASM, "=&r,l,r", [place, rank], gl.int32, is_pure=False, pack=1)


@gluon.jit
def release_rank(place):
    """Release a part of dQ once all copies are in HBM (sender)."""
    lanes: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    place = gl.full([32], 0, gl.int64, lanes) + place.to(gl.int64)
    ASM: gl.constexpr = """cp.async.bulk.wait_group 0;
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
def transposed_product(own, x_smem, s, first, LESS: gl.constexpr):
    """Start own · Xᵀ (64, M) in fp32, with LESS plus `first`: own (64, d) are this warpgroup's keys
    or values."""
    M: gl.constexpr = x_smem.shape[3]
    D: gl.constexpr = x_smem.shape[4]
    x = x_smem.index(s).reshape([M, D]).permute((1, 0))
    return warpgroup_mma(own, x, first, use_acc=LESS, is_async=True)


@gluon.jit
def mask_rows(S, row0, spans, LAYOUT: gl.constexpr):
    """Set Sᵀ = −∞ where the row does not see the key: `spans` has each key's start, stop."""
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
    return mask_intervals(S, start, stop, row0, high, low, LAYOUT)
