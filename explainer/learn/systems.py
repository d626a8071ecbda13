"""Rungs 10, 13 and 14: kernel fusion, formats on the matrix units, and when it does not help."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.algorithms.traffic import asked, launches
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.base.formats import ITEMSIZE
from explainer.learn import matrix_units
from explainer.learn.blocks import Block, Widget, bars, plot, table, text
from explainer.learn.content import Rung, rung
from explainer.learn.controls import card, pick
from explainer.learn.pipeline import EXP_TFLOPS
from explainer.memory.tile_choices import break_even
from explainer.memory.workload import Workload
from explainer.problem import Problem

Values = Mapping[str, float | str]
Launch = tuple[str, int, int]  # what it is called, bytes read, bytes written


# ---- rung 10: fusion


def chain(what: str, n: int, d: int, dtype: str) -> tuple[tuple[Launch, ...], tuple[Launch, ...]]:
    """Launches (apart, fused) of one head: "softmax", scale → mask → softmax of S (n, n); or
    "attention", three kernels against FA-2 with tiles of 64 × 64. The mask is made from indices."""
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
            for name, moved in launches(p)
        ))  # fmt: skip
    return made[0], made[1]


def _fusion(v: Values) -> list[Block]:
    n, d, dtype, card = int(v["n"]), int(v["d"]), str(v["dtype"]), CARDS[str(v["card"])]
    apart, fused = chain(str(v["what"]), n, d, dtype)
    totals = [sum(r + w for _, r, w in group) for group in (apart, fused)]
    floors = [total / card.hbm_bytes_per_s * 1e6 for total in totals]
    rows = [
        (f"{where}: {name}", amount(r), amount(w))
        for where, group in (("apart", apart), ("fused", fused))
        for name, r, w in group
    ]
    names = [f"{len(apart)} launches", f"{len(fused)} launch"]
    items = [(x, float(b), amount(b)) for x, b in zip(names, totals, strict=True)]
    gain = totals[0] / totals[1]
    verdict = f"Fused it moves {gain:.2f} times fewer bytes."
    if gain < 1:
        more = f"{1 / gain:.2f} times more bytes"
        verdict = f"Fused it moves {more}: K and V are read again for every 64 rows."
    return [
        bars("Bytes read from and written to HBM, one head", items, colour="s"),
        table("Launch by launch", ("launch", "reads", "writes"), rows),
        text(verdict, "good" if gain >= 1 else "bad"),
        text(
            f"At the {card.hbm_bytes_per_s / 1e9:,.0f} GB/s of the {card.name} these bytes take at "
            f"least {floors[0]:.2f} µs apart and {floors[1]:.2f} µs fused. A lower bound "
            "for bytes that come from HBM: computing, and some µs for each launch, come on top; "
            "what the L2 cache answers comes sooner."
        ),
    ]


# ---- rung 14: when it does not help

NS = tuple(2**k for k in range(5, 15))
HIDDEN, DS = 4096, (8, 16, 32, 64, 128, 256)
ASKED_N, ASKED_D, ASKED_SIDE = 1024, (32, 64, 128), (16, 32, 64)  # rung 14's question, fp16


def ratio(n: int, d: int, br: int, bc: int, dtype: str, order: str = "fa2") -> float:
    """Bytes of ``order`` ÷ bytes of standard attention, no mask."""
    tiled = asked(n, d, "full", dtype, order, br, bc)
    return tiled / asked(n, d, "full", dtype, "standard", br, bc)


def decode_ratio(n: int, d: int) -> float:
    """One query: elements of a fused kernel ÷ of three, whose S and P are a row each; no lse."""
    return (2 * n * d + 2 * d) / (2 * n * d + 2 * d + 4 * n)


def exp_share(d: int) -> float:
    """Time of a tile's exponentials ÷ time of its two products, H100, whatever the tile."""
    return (1 / EXP_TFLOPS) / (4 * d / CARDS["h100"].tensor_tflops)


def layer_share(n: int) -> float:
    """Attention's part of a layer's FLOPs: 4·N²·h of it, beside 24·N·h² of the projections (8) and
    a feed-forward of width 4h (16)."""
    return n / (n + 6 * HIDDEN)


def _tiles(n: int, d: int, br: int, bc: int, dtype: str) -> list[Block]:
    series = [{"name": name, "x": list(NS), "y": [ratio(k, d, br, bc, dtype, order) for k in NS],
               "colour": colour, "points": True}
              for name, order, colour in (("FA-1", "fa1", "k"), ("FA-2", "fa2", "o"))]  # fmt: skip
    ones = {"name": "standard", "x": list(NS), "y": [1.0] * len(NS), "colour": "plain"}
    one, two = (ratio(n, d, br, bc, dtype, order) for order in ("fa1", "fa2"))
    w = Workload(n=n, d=d, block_q=16, block_k=16, dtype=dtype)
    side = break_even(w, "fa2")
    even = (f"At this N and d, FA-2 needs square tiles of at least {side} to move no more than "
            "standard attention." if side else "No tile up to N breaks even here.")  # fmt: skip
    return [
        plot(f"Bytes ÷ standard attention's, d = {d}, {br} × {bc} tiles, {dtype}", [*series, ones],
             x_label="N", y_label="ratio", log_x=True, log_y=True),
        text(f"N = {n:,}: FA-1 {one:.2f}, FA-2 {two:.2f} times standard's bytes; "
             f"FA-2 ÷ FA-1 = {two / one:.2f}.", "good" if two < 1 else "bad"),
        text(even),
        text("Requests to global memory, no mask. The L2 cache answers many re-reads.", "fine"),
    ]  # fmt: skip


def _decode(n: int, d: int) -> list[Block]:
    r, sms = decode_ratio(n, d), CARDS["h100"].sms
    items = [(f"d = {x}", decode_ratio(n, x), f"{decode_ratio(n, x):.3f}") for x in DS]
    return [
        bars(f"One query against {n:,} keys: bytes fused ÷ apart", items, colour="o", limit=1.0),
        text(f"d = {d}: {r:.3f}. K and V, {2 * n * d:,} numbers, must be read either way; S and P "
             f"are one row. Fusing saves {1 - r:.1%}.", "bad"),
        text(f"And a head is one row block: 16 heads are 16 programs on {sms} SMs of an H100. "
             "Splitting the keys helps there: see flash decoding on the Parallel page."),
    ]  # fmt: skip


def _heads(d: int) -> list[Block]:
    items = [(f"d = {x}", exp_share(x), f"{exp_share(x):.2f}") for x in DS]
    return [
        bars("Exponentials' time ÷ products' time, H100, fp16", items, colour="l", limit=1.0),
        text(f"d = {d}: {exp_share(d):.2f}. A score costs one exponential and 4·d FLOPs of "
             "products. Tiny heads wait for the exponentials, whatever the memory does. Below 16 "
             "the matrix unit also pads d."),
    ]  # fmt: skip


def _layer(n: int) -> list[Block]:
    share = layer_share(n)
    items = [(f"N = {k:,}", layer_share(k), f"{layer_share(k):.0%}") for k in NS]
    return [
        bars(f"Attention's share of a layer's FLOPs, hidden size {HIDDEN:,}", items, limit=1.0),
        text(f"N = {n:,}: {share:.1%}. Were time like FLOPs, attention twice as fast would make "
             f"the layer {1 / (1 - share / 2):.3f} times as fast. Weights and products rule here."
             if share < 0.5 else f"N = {n:,}: {share:.0%}. Attention rules this layer."),
    ]  # fmt: skip


def _when_not(v: Values) -> list[Block]:
    n, d, dtype = int(v["n"]), int(v["d"]), str(v["dtype"])
    if v["case"] == "tiles":
        return _tiles(n, d, int(v["br"]), int(v["bc"]), dtype)
    return {"decode": lambda: _decode(n, d), "heads": lambda: _heads(d),
            "layer": lambda: _layer(n)}[str(v["case"])]()  # fmt: skip


_SIDES = (16, 32, 64, 128, 256)
WIDGETS = (
    Widget("fusion", "One launch or three", (
        pick("what", "Chain", "softmax", (
            ("softmax", "scale → mask → softmax"), ("attention", "attention, FA-2"))),
        pick("n", "N", 1024, NS), pick("d", "Head dimension d", 64, DS),
        pick("dtype", "Format", "fp16", ITEMSIZE),
        card("h100")), _fusion),
    matrix_units.WIDGET,
    Widget("when_not", "When it does not help", (
        pick("case", "Case", "tiles", (
            ("tiles", "small N, small tiles"), ("decode", "one query"),
            ("heads", "tiny heads"), ("layer", "another part rules"))),
        pick("n", "N", 256, NS[1:]), pick("d", "Head dimension d", 64, DS),
        pick("br", "Br", 16, _SIDES), pick("bc", "Bc", 16, _SIDES),
        pick("dtype", "Format", "fp32", ITEMSIZE)), _when_not),
)  # fmt: skip


def _when_not_rung() -> Rung:
    """Its question: every case in which FA-2 in square tiles moves more than standard attention."""
    cells = tuple(tuple(f"d = {d}, tile {x} × {x}" for d in ASKED_D) for x in ASKED_SIDE)
    loses = tuple(
        (row, col)
        for row, side in enumerate(ASKED_SIDE)
        for col, d in enumerate(ASKED_D)
        if ratio(ASKED_N, d, side, side, "fp16") > 1
    )
    return rung("when_not", {"n": ASKED_N}, cells=cells, answer=loses)


RUNGS = (rung("fusion"), rung("formats"), _when_not_rung())
