"""Memory that attention needs: O(N²) or O(N), forward and kept for the backward pass."""

from bisect import bisect_right
from dataclasses import dataclass, replace

from explainer.algorithms.registry import ALGORITHMS
from explainer.base import records
from explainer.base.cards import CARDS
from explainer.memory.levels import FP32
from explainer.memory.workload import Workload

RECORDED_AS = {"naive": "standard", "fa2": "fused"}  # a method of the record → its form
FAR = 2**40


def beyond_inputs(w: Workload, form: str, n: int | None = None) -> int:
    """Bytes of all heads beside Q, K and V; ``n`` in place of the workload's, of any length.

    standard: the larger of S + P and P + O, which follow each other. fused: O and what the forward
    pass saves beside it. The backward pass has dO as well, and standard's, as autograd does it,
    first dV, P, dP and dS, then dV, dS, dQ and dK; the fused one's the three gradients, D, and dQ
    once more in fp32, where it is added up.
    """
    heads, n = w.batch * w.heads, w.n if n is None else n
    square, o = heads * n * n * w.itemsize, heads * n * w.d * w.itemsize
    if form == "standard":
        return square + max(square, o)
    if form == "standard_back":
        return 3 * o + max(3 * square, square + 2 * o)
    saved = o + saved_bytes(w, "fa2", n)
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


def longest(w: Workload, form: str, card: str, times: int = 1) -> int:
    """Return the largest N whose bytes fit the card's memory, or ``times`` as much; 0 if not even
    one row does."""
    room = times * CARDS[card].hbm_bytes
    return bisect_right(range(1, FAR), room, key=lambda n: needed(w, form, n))


def round_down(n: int) -> int:
    """Down to three digits: what the size of a card's memory allows to say."""
    unit = 10 ** max(0, len(str(n)) - 3)
    return n // unit * unit


@dataclass(frozen=True)
class Peak:
    """One recorded peak of PyTorch's allocator beyond Q, K and V, beside the computed bytes."""

    form: str
    workload: Workload
    recorded: int
    computed: int


def peaks(w: Workload) -> list[Peak]:
    """Return the peaks that naive attention and our kernel were recorded with at this d and
    precision, with the heads, N and mask that they ran with. Forward."""
    found = []
    for row in records.rows_where(d=w.d, dtype=w.dtype):
        if row["method"] in RECORDED_AS and "peak_bytes" in row:
            form = RECORDED_AS[row["method"]]
            size = {key: row[key] for key in ("n", "batch", "heads")}
            ran = replace(w, **size, mask=row["mask"], block_q=16, block_k=16)
            found.append(Peak(form, ran, row["peak_bytes"], beyond_inputs(ran, form)))
    return found
