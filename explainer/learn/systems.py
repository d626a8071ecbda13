"""When fused attention does not help, in bytes and in recorded times."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.algorithms.algorithm import ASKED, LEAST, WHERE
from explainer.algorithms.registry import LABELS
from explainer.algorithms.traffic import asked, least
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.base.facts import number
from explainer.base.formats import ITEMSIZE
from explainer.base.records import about
from explainer.learn.blocks import Block, Widget, bars, text
from explainer.learn.content import Rung, rung
from explainer.learn.controls import pick
from explainer.memory import tile_choices
from explainer.memory.traffic_series import distances
from explainer.memory.workload import Workload

Values = Mapping[str, float | str]


NS = tuple(2**k for k in range(5, 15))
HIDDEN, DS = 4096, (8, 16, 32, 64, 128, 256)
SQUARE, QUESTIONED = (16, 32, 64, 128, 256), (64, 128)  # tiles; d of rung 15's question
GROUPS = (1, 4, 8)  # query heads that share K and V


def ratio(n: int, d: int, br: int, bc: int, dtype: str, order: str = "fa2") -> float:
    """Bytes that ``order`` asks for ÷ those of standard attention in the same tiles, no mask."""
    tiled = asked(n, d, "full", dtype, order, br, bc)
    return tiled / asked(n, d, "full", dtype, "standard", br, bc)


def speeds(d: int) -> dict[int, float]:
    """{side of the square tile: TFLOP/s of FA-2}, recorded on an H200: fp16, no mask."""
    timed = [c for c in tile_choices.cells(Workload(d=d)) if "tflops" in c]
    return {c["block_m"]: c["tflops"] for c in timed if c["block_m"] == c["block_n"]}


def slow_tiles(d: int) -> list[int]:
    """The square tiles that run at less than half the speed of the fastest tile for this d."""
    most = tile_choices.best(Workload(d=d))["tflops"]
    return [side for side, tflops in speeds(d).items() if tflops < most / 2]


def decode_ratio(n: int, d: int, group: int = 1) -> float:
    """One query per head, ``group`` heads that share K and V: elements of a fused kernel, which
    reads K and V once for them all, ÷ of three kernels per head, whose S and P are a row; no lse.
    """
    return (2 * n * d + group * 2 * d) / (group * (2 * n * d + 2 * d + 4 * n))


def exp_share(d: int) -> float:
    """Time of a tile's exponentials ÷ time of its two products, H100, whatever the tile."""
    return (1 / number("fa3.exps")) / (4 * d / (CARDS["h100"].tensor_tflops * 1e12))


def layer_share(n: int) -> float:
    """Attention's part of a layer's FLOPs: 4·N²·h of it, beside 24·N·h² of the projections (8) and
    a feed-forward of width 4h (16)."""
    return n / (n + 6 * HIDDEN)


def _tiles(n: int, d: int, br: int, bc: int, dtype: str) -> list[Block]:
    made = []
    for way in (ASKED, LEAST):
        moved = {
            LABELS[o]: asked(n, d, "full", dtype, o, br, bc) if way == ASKED else
            least(n, d, dtype, o) for o in LABELS
        }  # fmt: skip
        items = [(name, float(b), amount(b)) for name, b in moved.items()]
        made.append(bars(f"Bytes {WHERE[way]}, N = {n:,}, {br} × {bc} tiles, {dtype}", items,
                         colour="s"))  # fmt: skip
    one, two = (ratio(n, d, br, bc, dtype, order) for order in ("fa1", "fa2"))
    made.append(text(
        f"In the same tiles FA-1 asks for {one:.2f} and FA-2 for {two:.2f} times standard's bytes; "
        f"FA-2 ÷ FA-1 = {two / one:.2f}. However small the tiles, FA-2 never asks for more than "
        "standard attention, and the least does not depend on them at all.", "good"))  # fmt: skip
    recorded = speeds(d) if d in tile_choices.COMPILED_D else {}
    if recorded:
        items = [(f"{s} × {s}", x, f"{x:,.0f} TFLOP/s") for s, x in recorded.items()]
        most = tile_choices.best(Workload(d=d))
        made.append(
            bars(
                f"Speed of FA-2 by its tile, d = {d}, fp16, no mask, "
                f"N = {most['n']:,}, {about('tiles_nvidia_h200')}",
                items,
                colour="o",
            )
        )
    seen = {s: found for s in SQUARE
            if (found := distances(Workload(d=d, block_q=s, block_k=s)))}  # fmt: skip
    if recorded and seen:
        items = [
            (f"{s} × {s}, {LABELS[x.order]}", float(x.dram), amount(x.dram))
            for s, found in seen.items() for x in found if x.order in ("standard", "fa2")
        ]  # fmt: skip
        made += [
            bars(f"Bytes at DRAM by the tile, one head, same N, {about('traffic_nvidia_h200')}",
                 items, colour="s", log=True),
            text(f"Small tiles cost time: {recorded[16]:,.0f} TFLOP/s in tiles of 16 × 16 against "
                 f"{most['tflops']:,.0f} in {most['block_m']} × {most['block_n']}. HBM moves the "
                 "same bytes. Below 64 rows Hopper's wgmma cannot be used, and an SM finds too "
                 "little to do while it waits.", "bad"),
        ]  # fmt: skip
    return made


def _decode(n: int, d: int) -> list[Block]:
    r, sms = decode_ratio(n, d), CARDS["h100"].sms
    items = [
        (f"{g} head{'s share' if g > 1 else ''}", decode_ratio(n, d, g),
         f"{decode_ratio(n, d, g):.3f}") for g in GROUPS
    ]  # fmt: skip
    return [
        bars(f"One query per head, {n:,} keys, d = {d}: least bytes fused ÷ apart", items,
             colour="o", limit=1.0),
        text(f"K and V, {2 * n * d:,} numbers, must be read either way; S and P are one row. Of "
             f"bytes fusing saves {1 - r:.1%}. It also saves two of three launches, and at some µs "
             "each these can be most of the call. And where query heads share K and V (GQA), a "
             "fused kernel that takes the group together reads them once, not once for each head."),
        text(f"And a head is one row block: 16 heads are 16 programs on {sms} SMs of an H100. "
             "Splitting the keys helps there: see flash decoding on the Parallel page."),
    ]  # fmt: skip


def _heads(d: int) -> list[Block]:
    items = [(f"d = {x}", exp_share(x), f"{exp_share(x):.2f}") for x in DS]
    return [
        bars("Exponentials' time ÷ products' time, H100, fp16", items, colour="l", limit=1.0),
        text(f"d = {d}: {exp_share(d):.2f}. A score costs one exponential and 4·d FLOPs of "
             "products. Tiny heads wait for the exponentials, whatever the memory does; standard "
             "attention needs the same ones, so this is no reason against fusing. Below 16 the "
             "matrix unit also pads d."),
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


WIDGETS = (
    Widget("when_not", "When it does not help", (
        pick("case", "Case", "tiles", (
            ("tiles", "small tiles"), ("decode", "one query"),
            ("heads", "tiny heads"), ("layer", "another part rules"))),
        pick("n", "N", 4096, NS[1:]), pick("d", "Head dimension d", 64, DS),
        pick("br", "Br", 16, SQUARE), pick("bc", "Bc", 16, SQUARE),
        pick("dtype", "Format", "fp16", ITEMSIZE)), _when_not),
)  # fmt: skip


def _when_not_rung() -> Rung:
    """Its question: every recorded tile that runs at less than half the speed of the fastest."""
    sides = tuple(speeds(QUESTIONED[0]))
    cells = tuple(tuple(f"d = {d}, tile {x} × {x}" for d in QUESTIONED) for x in sides)
    slow = tuple(
        (row, col)
        for row, side in enumerate(sides)
        for col, d in enumerate(QUESTIONED)
        if side in slow_tiles(d)
    )
    best = tile_choices.best(Workload())
    figures = {"n": best["n"], "times": best["tflops"] / speeds(64)[16],
               "best": f"{best['block_m']} × {best['block_n']}"}  # fmt: skip
    return rung("when_not", figures, cells=cells, answer=slow)


RUNGS = (_when_not_rung(),)
