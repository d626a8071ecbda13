"""What the order of additions does to dQ, as HTML; every text is escaped."""

from __future__ import annotations

from explainer.base.amounts import scientific
from explainer.base.kinds import simulated
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel.additions import additions as worked_out
from explainer.parallel.additions import of_workload
from explainer.views.html import card, table, words

say = Texts("parallel")
SHUFFLED = simulated(say("additions.kind"))
MATTERS = 3  # parts: a + b = b + a in fp32 as well


def additions(w: Workload) -> str:
    """The same gradient in several orders of its additions: how many of its bits are the same."""
    found = worked_out(of_workload(w))
    p = found.problem
    rows = [
        (
            say("additions.shuffled", n=s.order) if s.order else say("additions.again"),
            f"{s.summed:,}",
            f"{s.stored:,}",
            scientific(s.off),
        )
        for s in found.sums
    ]
    by, fp32, off = say.row("additions.head")
    head = (by, fp32, say("additions.stored", dtype=p.dtype), off)
    note = say("additions.note", unequal=found.unequal, entries=found.entries)
    if found.most < MATTERS:
        note = say("additions.few", n=found.most)
    fine = say("additions.fine", mask=p.mask.text, n=p.n, d=p.d, br=p.block_q, bc=p.block_k)
    return card(
        "additions",
        say("additions"),
        SHUFFLED,
        "",
        words(note),
        table(head, rows, say("additions.caption")),
        words(fine, "fa-fine"),
    )
