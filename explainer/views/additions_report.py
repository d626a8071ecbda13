"""What the order of additions does to dQ, as HTML; every text is escaped."""

from __future__ import annotations

from explainer.base.amounts import count, scientific
from explainer.base.kinds import simulated
from explainer.memory.workload import Workload
from explainer.parallel.additions import additions as worked_out
from explainer.parallel.additions import of_workload
from explainer.views.html import card, table, words

SHUFFLED = simulated(
    "the parts of dQ that the trace's visits add, in NumPy, in orders shuffled with fixed seeds"
)
MATTERS = 3  # parts: a + b = b + a in fp32 as well


def additions(w: Workload) -> str:
    """The same gradient in several orders of its additions: how many of its bits are the same."""
    found = worked_out(of_workload(w))
    p = found.problem
    rows = [
        ("order of the keys, again" if s.order == 0 else f"shuffled, {s.order}",
         f"{s.summed:,}", f"{s.stored:,}", scientific(s.off))
        for s in found.sums
    ]  # fmt: skip
    head = ("dQ added in", "differ, fp32 sum", f"differ, stored in {p.dtype}", "off float64")
    note = (
        f"{found.unequal:,} of {found.entries:,} entries of dQ depend on the order: key blocks run "
        "side by side and add their parts to dQ by atomics in whatever order they come, and "
        "(a + b) + c is not a + (b + c) in fp32. No order is nearer to float64 than another."
    )
    if found.most < MATTERS:
        note = (
            f"An entry of dQ is the sum of {count(found.most, 'part')} here, and a + b = b + a: "
            "from three key blocks on the order matters."
        )
    fine = (
        f"One head, {p.mask.text}, N = {p.n}, d = {p.d}, tiles of {p.block_q} × {p.block_k}, "
        "beside the sum in the order of the keys; off: the largest difference of the sum from the "
        "same sum in float64. The deterministic kernel adds dQ in one order in a pass of its own: "
        "the same bits each time, for 7 products in place of 5."
    )
    return card("additions", "The order of additions", SHUFFLED, "", words(note),
                table(head, rows, "dQ by order"), words(fine, "fa-fine"))  # fmt: skip
