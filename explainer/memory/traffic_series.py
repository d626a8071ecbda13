"""Bytes of one head, as rows: requested and compulsory, computed for every size; requested,
counted in the interpreter; and measured by ncu, at L2 and at DRAM.

A row: order, n, side (of square tiles; None: the workload's own), bytes, origin and source. The
chart, the table and the download are all made of these rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from explainer.algorithms.algorithm import COMPULSORY, CONVENTIONS, REQUESTED
from explainer.algorithms.registry import ALGORITHMS, BASELINE, MAIN
from explainer.algorithms.traffic import compulsory_bytes, requested_bytes
from explainer.base.records import about, load, rows_where
from explainer.base.texts import Texts
from explainer.memory.workload import Workload

ORDERS = MAIN
LENGTHS = tuple(2**k for k in range(7, 17))
SIDES = tuple(range(16, 257, 8))
MOST_TILES = 1 << 21  # of a side that is drawn, under a mask whose tiles are counted one by one
COUNTED, L2, DRAM = "counted", "measured at L2", "measured at DRAM"
t = Texts("memory")
SOURCES = {
    **{
        convention: t("traffic.computed", convention=convention, words=words)
        for convention, words in CONVENTIONS.items()
    },
    COUNTED: t("traffic.counted"),
    L2: t("traffic.l2"),
    DRAM: t("traffic.dram"),
}


def _row(order: str, n: int, side: int | None, size: float, origin: str, where: str = "") -> dict:
    source = SOURCES[origin] + (f", {where}" if where else "")
    return {
        "order": order,
        "n": n,
        "side": side,
        "bytes": round(size),
        "origin": origin,
        "source": source,
    }


def _computed(w: Workload, order: str, n: int, side: int | None, pass_: str) -> list[dict]:
    """Compute requested and compulsory bytes of one head of ``n`` rows; ``side`` None: in the
    workload's own tile."""
    br, bc = (side, side) if side else (w.block_q, w.block_k)
    return [
        _row(
            order,
            n,
            side,
            requested_bytes(n, w.d, w.mask, w.dtype, order, br, bc, pass_),
            REQUESTED,
        ),
        _row(order, n, side, compulsory_bytes(n, w.d, w.dtype, order, w.mask, pass_), COMPULSORY),
    ]


def _counted(w: Workload) -> list[dict]:
    """Recorded counts at this d, mask and size of number."""
    if w.itemsize != 2 or not w.mask.plain:
        return []
    return rows_where("counted", d=w.d, causal=w.is_causal)


def _profiled(w: Workload) -> list[dict]:
    """Recorded by ncu at this d; it was done without mask, in 16 bit."""
    if w.itemsize != 2 or w.mask.hides:
        return []
    return rows_where("traffic_nvidia_h200", d=w.d)


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


def by_n(w: Workload, pass_: str = "forward") -> list[dict]:
    """Over N, in the workload's tile; counted and measured where that was recorded: forward."""
    rows = [row for order in ORDERS for n in LENGTHS for row in _computed(w, order, n, None, pass_)]
    if w.block_q != w.block_k or pass_ == "backward":
        return rows
    return rows + _recorded(w, "side", w.block_q)


def by_side(w: Workload, pass_: str = "forward") -> list[dict]:
    """Over the side of square tiles, at the workload's N."""
    sides = [side for side in SIDES if side <= w.n]
    if not w.mask.plain:
        sides = [side for side in sides if (w.n // side) ** 2 <= MOST_TILES]
        sides = sides if w.n <= 16_384 else sides[::2]
    rows = [
        row for order in ORDERS for side in sides for row in _computed(w, order, w.n, side, pass_)
    ]
    return rows if pass_ == "backward" else rows + _recorded(w, "n", w.n)


# ---- how far what was measured lies from what is computed, and why

NEAR = 0.01  # of the requested bytes: closer than this needs no reason


@dataclass(frozen=True)
class Distance:
    """One order's bytes of one head, computed and measured; ``why_l2`` is empty where they agree
    within NEAR."""

    order: str
    requested: int
    l2: int
    why_l2: str
    compulsory: int
    dram: int
    why_dram: str


def distances(w: Workload) -> list[Distance]:
    """Of every order, where ncu measured the workload's N in its tile; else none."""
    rows = {(r["order"], r["origin"]): r["bytes"] for r in by_side(w) if r["side"] == w.block_q}
    if w.block_q != w.block_k or ("fa2", L2) not in rows:
        return []
    found = []
    for order in ORDERS:
        wanted, l2, once, dram = (rows[order, key] for key in (REQUESTED, L2, COMPULSORY, DRAM))
        texts = ALGORITHMS[order].texts
        why = "" if abs(l2 / wanted - 1) <= NEAR else texts["why_l2"]
        found.append(Distance(order, wanted, l2, why, once, dram, texts["why_dram"]))
    return found


def gains(w: Workload) -> dict[str, float] | None:
    """Standard attention's bytes ÷ FA-2's in the same tiles: by convention, at L2 and at
    DRAM. None where ncu did not measure them."""
    found = {d.order: d for d in distances(w)}
    if not found:
        return None
    a, b = found[BASELINE], found["fa2"]
    return {
        REQUESTED: a.requested / b.requested,
        L2: a.l2 / b.l2,
        COMPULSORY: a.compulsory / b.compulsory,
        DRAM: a.dram / b.dram,
    }
