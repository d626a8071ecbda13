"""What the backward pass costs, as HTML: what is kept for it, its products, its bytes beside the
forward pass's; every text is escaped."""

from __future__ import annotations

from explainer.algorithms import traffic
from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.registry import ALGORITHMS, LABELS
from explainer.base.amounts import amount, rounded
from explainer.base.fields import PASSES
from explainer.base.kinds import computed
from explainer.memory import capacity, mask_work
from explainer.memory.levels import FP32
from explainer.memory.workload import Workload
from explainer.views.html import bar, card, table, words

SIZES = computed("the tensors' sizes added up")


def kept(w: Workload) -> str:
    """A tensor a row, an algorithm a column: bytes of all heads that wait for the backward pass."""
    heads = w.batch * w.heads
    matrix = heads * w.n * w.d * w.itemsize
    square, row = heads * w.n * w.n * w.itemsize, heads * w.n * FP32
    rows = [("Q, K, V", *[amount(3 * matrix)] * len(ALGORITHMS)),
            ("O", *[amount(matrix)] * len(ALGORITHMS))]  # fmt: skip
    for tensor, sign in (("P", "P, N × N"), ("m", "m"), ("l", "ℓ"), ("lse", "lse")):
        size = amount(square if tensor == "P" else row)
        rows.append((sign, *(size if tensor in a.kept else "–" for a in ALGORITHMS.values())))
    whole = (4 * matrix + capacity.kept(w, order) for order in ALGORITHMS)
    rows.append(("All", *map(amount, whole)))
    share = capacity.kept(w, "fa2") / matrix
    note = (
        f"All {heads} heads at N = {w.n:,}. Q, K, V and O are there anyway, as the model's "
        "activations; P is what grows with N². lse, one number in fp32 per row, is "
        f"{rounded(100 * share)} % of O, and S and P are computed from it again, tile by tile."
    )
    fine = (
        "In the chart, kept: this table. Backward: with dO, the gradients, and what is at work, P, "
        "dP and dS whole for standard attention as autograd has it; D and dQ once more in fp32 for "
        "FlashAttention-2."
    )
    head = ("", *LABELS.values())
    return card("kept", "Kept between the passes", SIZES, f"N = {w.n:,}", words(note),
                table(head, rows, "What the forward pass keeps"),
                words(fine, "fa-fine"))  # fmt: skip


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
    head = ("", *(text for way in CONVENTIONS
                  for text in (f"forward, {way}", f"backward, {way}", "÷")))  # fmt: skip
    ways = " ".join(f"{way.capitalize()}: {what}." for way, what in CONVENTIONS.items())
    note = (
        "Standard attention reads and writes N × N matrices seven times, P, dP and dS, in five "
        "kernels. FlashAttention has keys outside and rows inside: dK and dV stay on chip; each "
        "tile adds to dQ in HBM: FA-1 reads and writes it, FA-2 adds in fp32, which counts once, "
        "as written. Nothing of the backward pass was measured."
    )
    return card("passes", "Backward beside forward", computed("the loops' transfers added up"),
                f"one head, N = {w.n:,}, tiles of {w.block_q} × {w.block_k}", words(note),
                table(head, rows, "Bytes of both passes"), words(ways, "fa-fine"))  # fmt: skip


def products(w: Workload) -> str:
    """The five products for the forward pass's two, in FLOPs of one head."""
    flops = {p: mask_work.flops(w.mask, 1, w.n, w.d, p) for p in PASSES}
    made = mask_work.PRODUCTS["backward"]
    one = flops["backward"] / len(made)
    bars = [bar(p.capitalize(), flops[p] / flops["backward"],
                (f"{rounded(flops[p] / 1e9)} G",), "kernel") for p in PASSES]  # fmt: skip
    rows = [(tensor, of, f"{rounded(one / 1e9)} G") for tensor, of in made.items()]
    note = (
        f"{rounded(flops['backward'] / flops['forward'])} × the forward pass's FLOPs, by the "
        "papers' convention, which counts products alone. Only S is there because P was not kept: "
        "one product in five is the price of recomputation."
    )
    fine = (
        "Deterministic mode computes dQ in a second pass, with S and dP once more: 7 products. "
        "Standard attention, which kept P, has 4."
    )
    return card("five-products", "Five products for two", computed("2·d FLOPs for each score"),
                "one head", *bars, words(note),
                table(("", "product", "FLOPs"), rows, "The products of the backward pass"),
                words(fine, "fa-fine"))  # fmt: skip
