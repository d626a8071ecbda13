"""Kernel fusion, and formats on the matrix units."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.algorithms.algorithm import ASKED, LEAST, WHERE
from explainer.algorithms.traffic import launches
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.base.formats import ITEMSIZE
from explainer.learn import matrix_units
from explainer.learn.blocks import Block, Widget, bars, table, text
from explainer.learn.controls import card, pick
from explainer.problem import Problem

Values = Mapping[str, float | str]
Launch = tuple[str, int, int]  # what it is called, bytes read, bytes written


# ---- rung 10: fusion


def chain(what: str, n: int, d: int, dtype: str, way: str) -> tuple[tuple[Launch, ...], ...]:
    """Launches (apart, fused) of one head, their bytes by the convention ``way``: "softmax", scale,
    mask and softmax of S (n, n), alike by both; or "attention", three kernels against FA-2 with
    tiles of 64 × 64. The mask is made from indices."""
    if what == "softmax":
        square = n * n * ITEMSIZE[dtype]
        apart = tuple((name, square, square) for name in ("scale", "mask", "softmax"))
        return apart, (("scale, mask, softmax", square, square),)
    side = min(64, n)
    made = []
    for order in ("standard", "fa2"):
        p = Problem(n=n, d=d, block_q=side, block_k=side, causal=False, order=order, dtype=dtype,
                    inputs="random")  # fmt: skip
        made.append(tuple(
            (name, sum(r for r, _ in moved.values()), sum(w for _, w in moved.values()))
            for name, moved in launches(p, way)
        ))  # fmt: skip
    return made[0], made[1]


def _fusion(v: Values) -> list[Block]:
    n, d, dtype, card = int(v["n"]), int(v["d"]), str(v["dtype"]), CARDS[str(v["card"])]
    what, made, totals = str(v["what"]), [], {}
    for way in (LEAST, ASKED):
        groups = chain(what, n, d, dtype, way)
        totals[way] = [sum(r + w for _, r, w in group) for group in groups]
        names = (f"{len(groups[0])} launches", f"{len(groups[1])} launch")
        items = [(x, float(b), amount(b)) for x, b in zip(names, totals[way], strict=True)]
        made.append(bars(f"Bytes {WHERE[way]}, one head", items, colour="s"))
    rows = [
        (f"{where}: {name}", amount(r), amount(w))
        for where, group in zip(("apart", "fused"), chain(what, n, d, dtype, LEAST), strict=True)
        for name, r, w in group
    ]
    gains = {way: a / b for way, (a, b) in totals.items()}
    floors = [total / card.hbm_bytes_per_s * 1e6 for total in totals[LEAST]]
    return [
        *made,
        table("Launch by launch, at least", ("launch", "reads", "writes"), rows),
        text(f"Fused, the least through HBM is {gains[LEAST]:.2f} times fewer bytes, and L2 is "
             f"asked for {gains[ASKED]:.2f} times fewer.", "good"),
        text(
            f"At the {card.hbm_bytes_per_s / 1e9:,.0f} GB/s of the {card.name} the least takes "
            f"{floors[0]:.2f} µs apart and {floors[1]:.2f} µs fused. A lower bound, unless L2 "
            "still holds what the launch before wrote: computing, and some µs for each launch, "
            "come on top."
        ),
    ]  # fmt: skip


NS = tuple(2**k for k in range(5, 15))
DS = (8, 16, 32, 64, 128, 256)

WIDGETS = (
    Widget("fusion", "One launch or three", (
        pick("what", "Chain", "softmax", (
            ("softmax", "scale → mask → softmax"), ("attention", "attention, FA-2"))),
        pick("n", "N", 1024, NS), pick("d", "Head dimension d", 64, DS),
        pick("dtype", "Format", "fp16", ITEMSIZE),
        card("h100")), _fusion),
    matrix_units.WIDGET,
)  # fmt: skip
