"""Bytes of one head, as rows: computed for every size, counted in the interpreter, measured by ncu.

A row: order, n, side (of square tiles; None: the workload's own), bytes, origin and source. The
chart, the table and the download are all made of these rows.
"""

from __future__ import annotations

from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.traffic import asked
from explainer.base.records import about, load
from explainer.memory.workload import Workload

ORDERS = tuple(ALGORITHMS)
LENGTHS = tuple(2**k for k in range(7, 17))
SIDES = tuple(range(16, 257, 8))
COMPUTED, COUNTED, L2, DRAM = "computed", "counted", "measured at L2", "measured at DRAM"
SOURCES = {
    COMPUTED: "computed: the loop's transfers added up",
    COUNTED: "counted: loads and stores of the real kernel in Triton's interpreter",
    L2: "measured: bytes between L2 and the multiprocessors, Nsight Compute",
    DRAM: "measured: bytes between HBM and L2, Nsight Compute",
}


def _row(order: str, n: int, side: int | None, size: float, origin: str, where: str = "") -> dict:
    source = SOURCES[origin] + (f", {where}" if where else "")
    return {
        "order": order, "n": n, "side": side, "bytes": round(size), "origin": origin,
        "source": source,
    }  # fmt: skip


def _computed(w: Workload, order: str, n: int, br: int, bc: int) -> int:
    return asked(n, w.d, w.mask, w.dtype, order, br, bc)


def _counted(w: Workload) -> list[dict]:
    """Recorded counts at this d, mask and size of number."""
    if w.itemsize != 2:
        return []
    rows = load("counted")["rows"]
    return [r for r in rows if (r["d"], r["causal"]) == (w.d, w.causal)]


def _profiled(w: Workload) -> list[dict]:
    """Recorded by ncu at this d; it was done without mask, in 16 bit."""
    if w.itemsize != 2 or w.causal:
        return []
    return [r for r in load("traffic_nvidia_h200")["rows"] if r["d"] == w.d]


def profiled_sizes() -> str:
    """Which N, d and tiles ncu was run on, in words, for beside an empty chart."""
    found: dict[tuple[int, int], set[int]] = {}
    for row in load("traffic_nvidia_h200")["rows"]:
        found.setdefault((row["d"], row["side"]), set()).add(row["n"])
    return "; ".join(
        f"d = {d}, {side} × {side} at N = " + ", ".join(f"{n:,}" for n in sorted(lengths))
        for (d, side), lengths in sorted(found.items())
    )


def _measured(row: dict) -> list[dict]:
    kernels = row["measured_bytes"].values()
    dram = sum(k["dram_read"] + k["dram_write"] for k in kernels)
    l2 = sum(k["l2_to_sm"] + k["sm_to_l2"] for k in kernels)
    where = about("traffic_nvidia_h200")
    at = (row["order"], row["n"], row["side"])
    return [_row(*at, l2, L2, where), _row(*at, dram, DRAM, where)]


def _recorded(w: Workload, key: str, value: int) -> list[dict]:
    """What was counted and measured at this side ("side") or this length ("n")."""
    where = about("counted")
    rows = [
        _row(r["order"], r["n"], r["side"], r["bytes"], COUNTED, where)
        for r in _counted(w)
        if r[key] == value
    ]
    return rows + [row for r in _profiled(w) if r[key] == value for row in _measured(r)]


def by_n(w: Workload) -> list[dict]:
    """Over N, in the workload's tile; counted and measured where that was recorded."""
    rows = [
        _row(order, n, None, _computed(w, order, n, w.block_q, w.block_k), COMPUTED)
        for order in ORDERS
        for n in LENGTHS
    ]
    if w.block_q != w.block_k:
        return rows
    return rows + _recorded(w, "side", w.block_q)


def by_side(w: Workload) -> list[dict]:
    """Over the side of square tiles, at the workload's N."""
    sides = [side for side in SIDES if side <= w.n]
    rows = [
        _row(order, w.n, side, _computed(w, order, w.n, side, side), COMPUTED)
        for order in ORDERS
        for side in sides
    ]
    return rows + _recorded(w, "n", w.n)
