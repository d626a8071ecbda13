"""Choose tile, rings and schedule of the Hopper kernel: found offline by `kernels.measure.tune`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..spec.masks import Mask

L2_SECTION_BYTES = 16 << 20  # of K and V that "queue" works on together
LONG = 8192  # keys from which `peel` is faster for all plans
SHORT = 1536  # keys for each packed sequence that begins within a block, where `ranges` is slower
MAX_PAIRED_ROW_BLOCKS = 64  # beyond it an uneven last round costs more than the queue


@dataclass(frozen=True)
class Plan:
    """One compile-time variant of the kernel.

    consumers: warpgroups of 64 rows each (2 or 3). stages: slots of the K and V rings. order:
    "rows", "pairs" or "queue" (see `parts`). ping_pong: the warpgroups alternate in starting their
    products. peel: a row block's first tile has its own code (faster at d = 128; at d = 64 with
    three warpgroups and a mask it overflows the instruction cache). registers: of a thread.
    table: the mask is a table of rows, see `tables`; causal and ragged are then unused. ranges:
    with it and peel, key blocks that all rows see have a loop of their own; else each block is
    tested, which is faster where many tiles hold rows of two sequences. score:
    "none", "softcap" or "alibi", and sink, only with a table. chunks: parts of equal width, of
    which a row of Q and K consists, and v_chunks one of V and O: 3 of 64 make the 192 that is no
    power of 2. q_tiles: tiles of Q in shared memory: with 2 the next one is loaded beside this
    one's work. o_in_q: O leaves by the place of its Q, not by one of its own. Only of `fp8_kernel`,
    which takes block_n = 128 and 192: two_level, each block's P V gets an accumulator of its own,
    because the tensor cores add fp8 products with fewer bits than fp32 has; linear, of one in so
    many columns exp is linear between powers of two; slack, with one level m follows a maximum only
    where it rose by more than so many powers of 2, so that O is scaled seldom.
    """

    causal: bool
    ragged: bool
    consumers: int
    stages: int
    order: str
    ping_pong: bool
    peel: bool
    producer_registers: int
    consumer_registers: int
    block_n: int = 128
    table: bool = False
    ranges: bool = True
    score: str = "none"
    sink: bool = False
    chunks: int = 1
    v_chunks: int = 1
    q_tiles: int = 2
    o_in_q: bool = False
    two_level: bool = False
    linear: int = 4
    slack: int = 0

    @property
    def block_m(self) -> int:
        """Rows of a tile: 64 for each warpgroup."""
        return 64 * self.consumers

    @property
    def has_spare_registers(self) -> bool:
        """Whether a thread has registers for what it could compute or load again for each key
        block: not with three warpgroups, and not with d beyond 128."""
        return self.consumers == 2 and not self.o_in_q


# By warpgroups of a tile: the registers that leave room for them.
TWO = Plan(
    causal=False, ragged=False, consumers=2, stages=2, order="queue", ping_pong=False, peel=True,
    producer_registers=24, consumer_registers=240,
)  # fmt: skip
THREE = replace(
    TWO, consumers=3, stages=3, ping_pong=True, producer_registers=32, consumer_registers=160
)
# Beside O wider than 128, registers hold the scores of 64 keys, and shared memory no tile of O.
WIDE_192 = replace(TWO, block_n=64, chunks=3, v_chunks=3, o_in_q=True)
WIDE_256 = replace(TWO, block_n=64, q_tiles=1, o_in_q=True)
# (d, causal); measured on an H200 with Triton 3.6, see LOG.md.
TABLE = {
    (64, False): THREE,
    (64, True): replace(THREE, causal=True, peel=False),
    (128, False): replace(TWO, order="pairs", ping_pong=True),
    (128, True): replace(TWO, causal=True, order="pairs"),
    (192, False): replace(WIDE_192, order="pairs", ping_pong=True),
    (192, True): replace(WIDE_192, causal=True, order="pairs"),
    (256, False): replace(WIDE_256, order="pairs"),
    (256, True): replace(WIDE_256, causal=True, peel=False),  # with peel it spills
}
# By d, of masks by a table: one loop for all key blocks, so `peel` costs less code.
TABLED = {
    64: replace(THREE, peel=False, table=True),
    128: replace(TWO, table=True),
    192: replace(WIDE_192, table=True),
    256: replace(WIDE_256, peel=False, table=True),
}

# The same for fp8 inputs.
FP8 = {
    (d, causal): replace(TWO, causal=causal, stages=4, ping_pong=True, two_level=True, linear=2)
    for d in (64, 128)
    for causal in (False, True)
}
# With one level of accumulation, which leaves registers for blocks of 192 keys; it is 4 % faster
# and loses two digits where V has a mean, see LOG.md.
FP8_ONE_LEVEL = {
    key: replace(plan, block_n=192, stages=3, two_level=False, slack=4) for key, plan in FP8.items()
}


def box(d: int) -> int:
    """Return the width of the kernels' tiles for rows of d numbers: TMA reads 0 beyond d, and
    writes nothing there."""
    return next(width for width in (64, 128, 192, 256) if d <= width)


def choose(
    d: int, mask: Mask, n_q: int, n_k: int, score: str = "none", sink: bool = False,
    d_v: int | None = None,
) -> Plan:  # fmt: skip
    """Return the plan for d and this problem; score and sink as a `Plan` has them. d_v: the head
    dimension of V, where it is another one."""
    width = box(max(d, d_v or d))
    is_plain = mask.plain and score == "none" and not sink
    plan = TABLE[width, mask.hides] if is_plain else TABLED[width]
    if width == 192 and d_v is not None and d_v <= 128:
        plan = narrow(plan)
    if is_plain:
        return fit(plan, n_q, n_k)
    if score == "alibi" and width == 64:  # with 160 registers it spills
        plan = replace(TWO, stages=4, ping_pong=True, table=True)
    if score == "alibi":  # with three copies of its code as well
        plan = replace(plan, peel=False)
    return replace(plan, score=score, sink=sink)


def narrow(plan: Plan) -> Plan:
    """Return a plan for d = 192 with V of up to 128, which leaves room for more keys."""
    return replace(plan, block_n=128, v_chunks=2, q_tiles=1, ping_pong=True)


def fit(plan: Plan, n_q: int, n_k: int) -> Plan:
    """Return the plan adapted to the lengths: ragged keys, an order for an odd number of row
    blocks, and a first tile with code of its own for long sequences."""
    row_blocks = -(-n_q // plan.block_m)
    if plan.order == "pairs" and row_blocks > MAX_PAIRED_ROW_BLOCKS:
        plan = replace(plan, order="queue")
    elif plan.order == "pairs" and row_blocks % 2:
        plan = unpaired(plan)
    peel = plan.peel or (n_k >= LONG and plan.q_tiles == 2)
    return replace(plan, ragged=n_k % plan.block_n != 0, peel=peel)


def unpaired(plan: Plan) -> Plan:
    """Return a plan of order "pairs" with the order for an odd number of row blocks, or for so few
    tiles that each multiprocessor has one at most."""
    return replace(plan, order="queue" if plan.causal else "rows")
