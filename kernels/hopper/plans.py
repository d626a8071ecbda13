"""Which tile, ring and schedule the Hopper kernel uses: found offline by `kernels.measure.tune`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..spec.masks import Mask

L2_SECTION_BYTES = 16 << 20  # of K and V that "queue" works on together
LONG = 8192  # keys from which `peel` pays everywhere
MAX_PAIRED_ROW_BLOCKS = 64  # beyond it the rest of an uneven last turn costs more than the queue


@dataclass(frozen=True)
class Plan:
    """One compile-time variant of the kernel.

    consumers: warpgroups of 64 rows each (2 or 3). stages: slots of the K and V rings. order:
    "rows", "pairs" or "queue" (see `parts`). ping_pong: the warpgroups start their products
    in turn. peel: a row block's first tile has its own code (faster at d = 128; at d = 64 with
    three warpgroups and a mask it overflows the instruction cache). registers: of a thread.
    table: the mask is a table of rows, see `tables`; causal and ragged then say nothing. score:
    "none", "softcap" or "alibi", and sink, only with a table.
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
    score: str = "none"
    sink: bool = False

    @property
    def block_m(self) -> int:
        """Rows of a tile: 64 for each warpgroup."""
        return 64 * self.consumers


# Heights of a tile: warpgroups, and the registers that leave room for them.
TWO = {"consumers": 2, "stages": 2, "producer_registers": 24, "consumer_registers": 240}
THREE = {"consumers": 3, "stages": 3, "producer_registers": 32, "consumer_registers": 160}
# (d, causal); measured on an H200 with Triton 3.6, see LOG.md.
TABLE = {
    (64, False): Plan(False, False, order="queue", ping_pong=True, peel=True, **THREE),
    (64, True): Plan(True, False, order="queue", ping_pong=True, peel=False, **THREE),
    (128, False): Plan(False, False, order="pairs", ping_pong=True, peel=True, **TWO),
    (128, True): Plan(True, False, order="pairs", ping_pong=False, peel=True, **TWO),
}
# By d, of masks by a table: one loop for all key blocks, so `peel` costs less code.
TABLED = {
    64: Plan(False, False, order="queue", ping_pong=True, peel=False, table=True, **THREE),
    128: Plan(False, False, order="queue", ping_pong=False, peel=True, table=True, **TWO),
}


def choose(d: int, mask: Mask, n_q: int, n_k: int, score: str = "none", sink: bool = False) -> Plan:
    """The plan for d (64 or 128) and this problem; score and sink as a `Plan` has them."""
    if mask.plain and score == "none" and not sink:
        return fit(TABLE[d, mask.hides], n_q, n_k)
    plan = replace(TABLED[d], score=score, sink=sink)
    if d == 64 and score == "alibi":  # with 160 registers it spills
        return replace(plan, **{**TWO, "stages": 4})
    return plan


def fit(plan: Plan, n_q: int, n_k: int) -> Plan:
    """The same plan, with what depends on the lengths: ragged keys, pairs that come out even, a
    first tile with code of its own where it is paid back."""
    row_blocks = -(-n_q // plan.block_m)
    if plan.order == "pairs" and row_blocks > MAX_PAIRED_ROW_BLOCKS:
        plan = replace(plan, order="queue")
    elif plan.order == "pairs" and row_blocks % 2:
        plan = replace(plan, order="queue" if plan.causal else "rows")
    peel = plan.peel or n_k >= LONG
    return replace(plan, ragged=n_k % plan.block_n != 0, peel=peel)
