"""Render what the backward pass costs: what is saved for it, its products, its bytes."""

from __future__ import annotations

from markupsafe import Markup

from explainer.algorithms import traffic
from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.registry import ALGORITHMS, LABELS, MAIN
from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory import capacity, mask_work
from explainer.memory.levels import FP32
from explainer.memory.workload import Workload
from explainer.views.templates import render
from kernels.spec.fields import PASSES

t = Texts("memory")


def render_saved(w: Workload) -> Markup:
    """Render the bytes of all heads that wait for the backward pass: a row for each tensor, a
    column for each algorithm."""
    heads = w.batch * w.heads
    matrix = heads * w.n * w.d * w.itemsize
    square, row = heads * w.n * w.n * w.itemsize, heads * w.n * FP32
    rows: list[tuple[str, list]] = [
        ("Q, K, V", [3 * matrix] * len(MAIN)),
        ("O", [matrix] * len(MAIN)),
    ]
    for tensor, label, size in (
        ("P", t("kept.p"), square),
        ("m", "m", row),
        ("l", "ℓ", row),
        ("lse", "lse", row),
    ):
        saves = [tensor in ALGORITHMS[order].saved_for_backward for order in MAIN]
        rows.append((label, [size if is_saved else None for is_saved in saves]))
    saved = {order: capacity.saved_bytes(w, order) for order in MAIN}
    rows.append((t("kept.all"), [4 * matrix + size for size in saved.values()]))
    return render(
        "memory/saved",
        w=w,
        kind=computed(t("sizes")),
        rows=rows,
        lse_share=saved["fa2"] / matrix,
        head=["", *(LABELS[order] for order in MAIN)],
    )


def render_passes(w: Workload) -> Markup:
    """Render the bytes of one head that each algorithm moves, backward beside forward, by both
    conventions."""
    rows = [
        (
            LABELS[order],
            [
                [traffic.both(traffic.summed(w.problem(order), way, p)) for p in PASSES]
                for way in CONVENTIONS
            ],
        )
        for order in MAIN
    ]
    head, names = [""], t.named("ways")
    for way in CONVENTIONS:
        name = names[way]
        head += [t("passes.forward", way=name), t("passes.backward", way=name), "÷"]
    return render(
        "memory/passes",
        w=w,
        kind=computed(t("passes.transfers")),
        head=head,
        rows=rows,
        conventions=CONVENTIONS,
    )


def render_products(w: Workload) -> Markup:
    """Render the five products beside the forward pass's two, in FLOPs of one head."""
    return render(
        "memory/products",
        kind=computed(t("products.kind")),
        flops={p: mask_work.flops(w.mask, 1, w.n, w.d, p) for p in PASSES},
        products=mask_work.PRODUCTS["backward"],
    )
