"""Bytes of one head at three places of a card: the SMs' ports, L2's slices and DRAM.

Computed for every size: the requested bytes, which pass the ports, and the compulsory bytes, which
DRAM moves if each matrix moves once per kernel. Measured by Nsight Compute at some sizes, at all
three places; what happens in L2's slices is not computed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from explainer.algorithms.registry import ALGORITHMS, BASELINE, MAIN
from explainer.algorithms.traffic import compulsory_bytes, requested_bytes
from explainer.base.records import rows_where
from explainer.memory.workload import MAX_BLOCK, MIN_BLOCK, MIN_N, Workload

ORDERS = MAIN
PORTS, SLICES, DRAM = "ports", "slices", "dram"
RECORD = "traffic_nvidia_h200"
COUNTERS = {  # place → the record's counters; slices: lts__t_bytes, the tag lookups of every slice
    PORTS: ("l2_to_sm", "sm_to_l2"),
    SLICES: ("l2_total",),
    DRAM: ("dram_read", "dram_write"),
}
FIRST, LAST = 256, 16_384  # of the series over N, where the workload is not beyond them
MOST_TILES = 1 << 21  # of a point, under a mask whose tiles are counted one by one
NEAR = 0.01  # of the computed bytes: a smaller difference needs no reason


@dataclass(frozen=True)
class Point:
    """One algorithm's bytes of one head by place: ``computed`` at PORTS and DRAM; ``measured`` at
    all three, or empty."""

    order: str
    computed: Mapping[str, int]
    measured: Mapping[str, int] = field(default_factory=dict)

    def reason(self, place: str) -> str:
        """Return why other bytes were measured than computed; "" where they agree within NEAR."""
        computed, measured = self.computed[place], self.measured[place]
        key = {PORTS: "why_l2", DRAM: "why_dram"}[place]
        return "" if abs(measured / computed - 1) <= NEAR else ALGORITHMS[self.order].texts[key]


Points = Mapping[str, Point]  # by algorithm, those of ORDERS


def points(w: Workload, pass_: str = "forward") -> Points:
    """Return the point of each of ORDERS at the workload's size and tile."""
    size, tile = (w.n, w.d, w.mask, w.dtype), (w.block_q, w.block_k)
    computed = {
        order: {
            PORTS: requested_bytes(*size, order, *tile, pass_),
            DRAM: compulsory_bytes(w.n, w.d, w.dtype, order, w.mask, pass_),
        }
        for order in ORDERS
    }
    is_forward = pass_ == "forward"
    return {
        order: Point(order, found, _measured(w, order) if is_forward else {})
        for order, found in computed.items()
    }


def _measured(w: Workload, order: str) -> dict[str, int]:
    """Sum the kernels' bytes by place; recorded in 16 bit, unmasked and in square tiles."""
    if w.itemsize != 2 or w.mask.hides or w.block_q != w.block_k:
        return {}
    for row in rows_where(RECORD, order=order, n=w.n, d=w.d, side=w.block_q):
        kernels = row["measured_bytes"].values()
        return {p: sum(k[name] for k in kernels for name in COUNTERS[p]) for p in COUNTERS}
    return {}


def over_n(w: Workload) -> list[Workload]:
    """Return the workload at each N of the series, in its tile, its own N among them."""
    first = 1 << max(MIN_N, min(FIRST, w.n)).bit_length() - 1
    lengths = {first << k for k in range(20) if first << k <= max(LAST, w.n)}
    sizes = ((n, min(n, w.block_q), min(n, w.block_k)) for n in sorted(lengths | {w.n}))
    return _drawable(w, [replace(w, n=n, block_q=br, block_k=bc) for n, br, bc in sizes])


def over_side(w: Workload) -> list[Workload]:
    """Return the workload in square tiles of each side, 16 to 256, at its N, its own tile among
    them if that is square."""
    sides = {MIN_BLOCK << k for k in range(5) if MIN_BLOCK << k <= min(MAX_BLOCK, w.n)}
    own = {w.block_q} if w.block_q == w.block_k else set()
    return _drawable(w, [replace(w, block_q=side, block_k=side) for side in sorted(sides | own)])


def _drawable(w: Workload, series: list[Workload]) -> list[Workload]:
    """Leave out the points that take long to count; the workload's own stays."""
    if w.mask.plain:
        return series
    return [x for x in series if x == w or x.n**2 // (x.block_q * x.block_k) <= MOST_TILES]


def gains(found: Points) -> tuple[dict[str, float], dict[str, float]]:
    """Divide standard attention's bytes by FA-2's in the same tiles, by place: (computed,
    measured), the latter empty where nothing was measured."""
    a, b = found[BASELINE], found["fa2"]
    return (
        {place: a.computed[place] / b.computed[place] for place in a.computed},
        {place: a.measured[place] / b.measured[place] for place in a.measured},
    )
