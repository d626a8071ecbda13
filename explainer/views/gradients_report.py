"""What the backward pass costs, as HTML: what is kept for it, its products, its bytes beside the
forward pass's; every text is escaped."""

from __future__ import annotations

from explainer.algorithms import traffic
from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.registry import ALGORITHMS, LABELS
from explainer.base.amounts import amount, rounded
from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory import capacity, mask_work
from explainer.memory.levels import FP32
from explainer.memory.workload import Workload
from explainer.views.html import bar, card, table, words
from kernels.spec.fields import PASSES

say = Texts("memory")
SIZES = computed(say("sizes"))
NAMES = say.named("ways")  # of the conventions, in a table's head


def ways() -> str:
    """What either count of bytes counts."""
    lines = (
        say("distance.way", way=NAMES[way].capitalize(), what=what)
        for way, what in CONVENTIONS.items()
    )
    return " ".join(lines)


def kept(w: Workload) -> str:
    """A tensor a row, an algorithm a column: bytes of all heads that wait for the backward pass."""
    heads = w.batch * w.heads
    matrix = heads * w.n * w.d * w.itemsize
    square, row = heads * w.n * w.n * w.itemsize, heads * w.n * FP32
    rows = [
        ("Q, K, V", *[amount(3 * matrix)] * len(ALGORITHMS)),
        ("O", *[amount(matrix)] * len(ALGORITHMS)),
    ]
    for tensor, sign in (("P", say("kept.p")), ("m", "m"), ("l", "ℓ"), ("lse", "lse")):
        size = amount(square if tensor == "P" else row)
        rows.append(
            (sign, *(size if tensor in a.saved_for_backward else "–" for a in ALGORITHMS.values()))
        )
    whole = (4 * matrix + capacity.kept(w, order) for order in ALGORITHMS)
    rows.append((say("kept.all"), *map(amount, whole)))
    share = capacity.kept(w, "fa2") / matrix
    note = say("kept.note", heads=heads, n=w.n, share=rounded(100 * share))
    head = ("", *LABELS.values())
    return card(
        "kept",
        say("kept"),
        SIZES,
        f"N = {w.n:,}",
        words(note),
        table(head, rows, say("kept.caption")),
        words(say("kept.fine"), "fa-fine"),
    )


def passes(w: Workload) -> str:
    """Bytes of one head that each algorithm moves, backward beside forward, by both conventions."""
    rows = []
    for order, label in LABELS.items():
        cells: list[str] = []
        for way in CONVENTIONS:
            forward, backward = (
                traffic.both(traffic.summed(w.problem(order), way, p)) for p in PASSES
            )
            cells += [amount(forward), amount(backward), f"{backward / forward:.2f}"]
        rows.append((label, *cells))
    head = [""]
    for way in CONVENTIONS:
        head += [say("passes.forward", way=NAMES[way]), say("passes.backward", way=NAMES[way]), "÷"]
    remark = say("passes.remark", n=w.n, br=w.block_q, bc=w.block_k)
    return card(
        "passes",
        say("passes"),
        computed(say("passes.transfers")),
        remark,
        words(say("passes.note")),
        table(tuple(head), rows, say("passes.caption")),
        words(ways(), "fa-fine"),
    )


def products(w: Workload) -> str:
    """The five products for the forward pass's two, in FLOPs of one head."""
    flops = {p: mask_work.flops(w.mask, 1, w.n, w.d, p) for p in PASSES}
    made = mask_work.PRODUCTS["backward"]
    one = flops["backward"] / len(made)
    giga = {p: say("products.flops", n=rounded(flops[p] / 1e9)) for p in PASSES}
    bars = [bar(p.capitalize(), flops[p] / flops["backward"], (giga[p],), "kernel") for p in PASSES]
    each = say("products.flops", n=rounded(one / 1e9))
    rows = [(tensor, of, each) for tensor, of in made.items()]
    note = say("products.note", ratio=rounded(flops["backward"] / flops["forward"]))
    return card(
        "five-products",
        say("products"),
        computed(say("products.kind")),
        say("products.remark"),
        *bars,
        words(note),
        table(say.row("products.head"), rows, say("products.caption")),
        words(say("products.fine"), "fa-fine"),
    )
