"""How equal the work of FA-2's programs is under a mask, as HTML; every text is escaped."""

from __future__ import annotations

from dataclasses import replace

from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import launch
from explainer.views.html import bar, card, table, words


def short(text, most=60):
    return text if len(text) <= most else f"{text[: most - 1]}…"


say = Texts("parallel")
BALANCED = computed(say("balance.kind"))
BLOCKS = say.named("block")  # of each pass: what has a program
BAR = 14  # characters of a mask beside its bar


def balance(w: Workload, pass_: str = "forward") -> str:
    """How equal the row blocks' work is, in the backward pass the key blocks': this mask beside
    causal and full."""
    bars, rows = [], []
    for text in dict.fromkeys((w.mask.text, "causal", "full")):
        visits = sum(launch.block_visits(replace(w, mask=text), pass_))
        longest, mean = int(visits.max()), float(visits.mean())
        even = mean / longest if longest else 1.0
        bars.append(bar(short(text, BAR), even, (f"{100 * even:.0f} %",), "kernel"))
        rows.append(
            (
                short(text),
                f"{int(visits.sum()):,}",
                f"{visits.min():,}",
                f"{mean:,.1f}",
                f"{longest:,}",
                f"{100 * even:.0f} %",
            )
        )
    return card(
        "balance",
        say.named("balance")[pass_],
        BALANCED,
        "",
        *bars,
        words(say("balance.note", block=BLOCKS[pass_])),
        table(say.row("balance.head"), rows, say.named("balance.caption")[pass_]),
    )
