"""Memory that attention needs: O(N²) or O(N), forward and kept for the backward pass."""

from __future__ import annotations

from bisect import bisect_right

from explainer.algorithms.registry import ALGORITHMS
from explainer.base import records
from explainer.base.cards import CARDS
from explainer.memory.levels import FP32
from explainer.memory.workload import Workload

FORMS = {  # pass → key → what the page calls it; kept: from the forward pass for the backward pass
    "forward": {"standard": "Standard, forward", "fused": "FlashAttention, forward"},
    "backward": {
        "standard_saved": "Standard, kept",
        "standard_back": "Standard, backward",
        "fused_saved": "FlashAttention, kept",
        "fused_back": "FlashAttention, backward",
    },
}
LENGTHS = tuple(2**k for k in range(8, 17))
FAR = 2**40


def beyond_inputs(w: Workload, form: str, n: int | None = None) -> int:
    """Bytes of all heads beside Q, K and V; ``n`` in place of the workload's, of any length.

    standard: the larger of S + P and P + O, which follow each other. Kept, and fused: O and what is
    ``kept`` beside it. The backward pass has dO as well, and standard's, as autograd does it, first
    dV, P, dP and dS, then dV, dS, dQ and dK; the fused one's the three gradients, D, and dQ once
    more in fp32, where it is added up.
    """
    heads, n = w.batch * w.heads, w.n if n is None else n
    square, o = heads * n * n * w.itemsize, heads * n * w.d * w.itemsize
    if form == "standard":
        return square + max(square, o)
    if form == "standard_back":
        return 3 * o + max(3 * square, square + 2 * o)
    saved = o + saved_bytes(w, "standard" if form == "standard_saved" else "fa2", n)
    return saved + 4 * o + heads * n * (w.d + 1) * FP32 if form == "fused_back" else saved


def saved_bytes(w: Workload, order: str, n: int | None = None) -> int:
    """Bytes of all heads that the forward pass keeps for the backward pass beside Q, K, V and O,
    as PyTorch's autograd does: P (softmax needs only what it returned), or m and l, or lse."""
    n = w.n if n is None else n
    sizes = (
        n * n * w.itemsize if t == "P" else n * FP32 for t in ALGORITHMS[order].saved_for_backward
    )
    return w.batch * w.heads * sum(sizes)


def needed(w: Workload, form: str, n: int | None = None) -> int:
    """Bytes with Q, K and V; ``n`` as above."""
    n = w.n if n is None else n
    return 3 * w.batch * w.heads * n * w.d * w.itemsize + beyond_inputs(w, form, n)


def longest(w: Workload, form: str, card: str) -> int:
    """The largest N whose need fits the card's memory; 0 if not even one row does."""
    room = CARDS[card].hbm_bytes
    return bisect_right(range(1, FAR), room, key=lambda n: needed(w, form, n))


def round_down(n: int) -> int:
    """Down to three digits: what the size of a card's memory allows to say."""
    unit = 10 ** max(0, len(str(n)) - 3)
    return n // unit * unit


def curve(w: Workload, form: str) -> tuple[tuple[int, int], ...]:
    """Compute (N, bytes needed) over LENGTHS."""
    return tuple((n, needed(w, form, n)) for n in LENGTHS)


def rows(w: Workload, pass_: str = "forward") -> list[dict]:
    """Return the chart's rows, form, n, bytes, measured and source: curves computed, peaks
    measured."""
    found = [
        {"form": form, "n": n, "bytes": size, "measured": False, "source": "computed"}
        for form in FORMS[pass_]
        for n, size in curve(w, form)
    ]
    return found + [row for row in measured(w) if row["form"] in FORMS[pass_]]


def measured(w: Workload) -> list[dict]:
    """Return the rows of the peaks recorded on the H200 for naive attention and our kernel at this
    d, mask and size of number, scaled from their heads to the workload's."""
    found, forms = [], {"naive": "standard", "fa2": "fused"}
    for r in records.rows_where(d=w.d, mask=str(w.mask), dtype=w.dtype):
        if r["method"] not in forms or "peak_bytes" not in r:
            continue
        inputs = 3 * r["n"] * w.d * w.itemsize
        one = inputs + r["peak_bytes"] / (r["batch"] * r["heads"])
        source = (
            f"measured at B × H = {r['batch']} × {r['heads']} and scaled to {w.batch} × {w.heads}, "
            f"{records.about()}"
        )
        row = {"form": forms[r["method"]], "n": r["n"], "bytes": round(one * w.batch * w.heads)}
        found.append(row | {"measured": True, "source": source})
    return found
