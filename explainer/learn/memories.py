"""Rung 2.2: where bytes live. The levels of a card's memory on one scale, the pipes between them on
another, and the least time of one head with tiles and without."""

from __future__ import annotations

import math
from collections.abc import Mapping

from explainer.algorithms.traffic import least
from explainer.base.amounts import amount, rounded
from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, Widget, picture
from explainer.learn.content import Rung, rung
from explainer.learn.controls import card, pick
from explainer.memory.levels import Level, levels
from explainer.memory.workload import Workload

Values = Mapping[str, float | str]

CARD, N, D, TILE, DTYPE = "h200", 16384, 128, 128, "fp16"
ORDERS = {"without": "standard", "with": "fa2"}


def _workload(key: str) -> Workload:
    side = TILE if CARDS[key].shared_bytes >= 160 * 1024 else TILE // 2
    return Workload(card=key, n=N, d=D, block_q=side, block_k=side, heads=1, dtype=DTYPE)


def _rate(level: Level) -> tuple[str, str]:
    """(a rate as it is shown, what kind of number it is)."""
    if level.bytes_per_s is None:
        return "no figure published", ""
    kind = str(level.rate_kind.text)
    said = {"data": "data sheet", "recorded": "by our read kernel", "computed": "derived"}
    return f"{rounded(level.bytes_per_s / 1e12)} TB/s", said[kind.split()[0]]


def times(key: str) -> dict[str, float]:
    """Seconds of one head on this card: its bytes through the HBM pipe without tiles and with them,
    by the same convention (each matrix once per launch), and its two products."""
    hardware, w = CARDS[key], _workload(key)
    found = {
        name: least(w.n, w.d, w.dtype, order) / hardware.hbm_bytes_per_s
        for name, order in ORDERS.items()
    }
    return found | {"products": 4 * w.n**2 * w.d / (hardware.tensor_tflops * 1e12)}


def _time(seconds: float) -> str:
    """One unit for all of them, so that they can be compared."""
    return f"{rounded(seconds * 1e6)} µs"


def _memory(v: Values) -> list[Block]:
    key, tiled = str(v["card"]), v["tiles"] == "with"
    hardware, w = CARDS[key], _workload(key)
    by = {level.key: level for level in levels(w)}
    square = w.n * w.n * w.itemsize
    lanes = []
    for name in ("hbm", "l2", "shared", "registers"):
        level = by[name]
        rate, kind = _rate(level)
        per_sm = f"{hardware.sms} × {amount(level.per_sm_bytes)}" if level.per_sm_bytes else None
        lanes.append({
            "key": name, "name": level.name, "bytes": level.size_bytes,
            "size": per_sm or amount(level.size_bytes), "per_s": level.bytes_per_s or 0,
            "rate": rate, "kind": kind,
        })  # fmt: skip
    took = times(key)
    bars = []
    for name, title in (("without", "bytes, without tiles"), ("with", "bytes, with tiles")):
        through = amount(least(w.n, w.d, w.dtype, ORDERS[name]))
        beside = "S and P are written and read" if name == "without" else "Q, K, V and O only"
        bars.append({"name": title, "s": took[name], "time": _time(took[name]),
                     "words": f"{through}, each matrix once per launch: {beside}",
                     "on": tiled == (name == "with")})  # fmt: skip
    products = f"4·N²·d operations at {hardware.tensor_tflops:,.0f} TFLOP/s"
    bars.append({"name": "arithmetic, either way",
                 "s": took["products"], "words": products, "on": True,
                 "time": _time(took["products"])})  # fmt: skip
    shared = [(t, b) for t, b in by["shared"].holds]
    doubled = [(t, b) for t, b in shared for _ in range(2 if t in "KV" else 1)]
    room = hardware.shared_bytes
    twice = sum(b for _, b in doubled) <= room
    sm = {
        "count": hardware.sms, "shared": amount(room), "shared_bytes": room,
        "registers": amount(by["registers"].per_sm_bytes),
        "registers_bytes": by["registers"].per_sm_bytes,
        "in_shared": doubled if twice else shared,
        "in_registers": [(t, b) for t, b in by["registers"].holds if t in "SO"],
        "words": [f"One tile, {w.block_q} × {w.block_k}, d = {D}, {DTYPE}.",
                  "K and V twice, to load ahead." if twice else "K and V once."],
    }  # fmt: skip
    places = "; ".join(f"{x['name']} {x['size']}, {x['rate']} {x['kind']}" for x in lanes)
    words = (
        f"{hardware.name}: {places}. "
        f"One head, N = {N:,}, d = {D}, {DTYPE}: Q, K, V and O take {amount(w.n * w.d * 2)} each, "
        f"S {amount(square)}. Time: "
        + "; ".join(f"{x['name']} {x['time']} ({x['words']})" for x in bars)
        + "."
    )
    data = {"card": hardware.name, "tiled": tiled, "levels": lanes, "bars": bars, "sm": sm,
            "matrix": w.n * w.d * w.itemsize, "matrix_said": amount(w.n * w.d * w.itemsize),
            "square": square, "square_said": amount(square), "n": f"{N:,}",
            "setting": f"N = {N:,}, d = {D}, {DTYPE}"}  # fmt: skip
    return [picture("pyramid", f"Where bytes live: {hardware.name}", words, data)]


def first_larger(n_bytes: int, itemsize: int = 2) -> int:
    """The first power of two N whose S of one head has more bytes than this."""
    return 2 ** math.ceil(math.log2(math.isqrt(n_bytes // itemsize) + 1))


def _larger(place: str, n_bytes: int, around: tuple[int, ...]) -> dict:
    """The question: which of these N is the first whose S is larger than a memory of this size."""
    right = first_larger(n_bytes)

    def why(n: int) -> str:
        told = f"N² × 2 bytes = {amount(2 * n * n)} there"
        if n < right:
            return f"{told}, and it fits: there is room for {amount(n_bytes)}."
        return f"{told}, against {amount(n_bytes)}" + (
            "."
            if n == right
            else f", but at {right:,} it is already larger: {amount(2 * right**2)}."
        )

    return {
        "words": f"At which of these N does S of one head, in fp16, first outgrow {place}?",
        "options": tuple((f"{n:,}", why(n)) for n in around), "answer": around.index(right),
    }  # fmt: skip


def _rung() -> Rung:
    card = CARDS[CARD]
    by = {level.key: level for level in levels(_workload(CARD))}
    first, *others = (
        _larger("an H200's L2 cache", card.l2_bytes, (2048, 4096, 8192, 16384)),
        _larger(f"one block's {amount(card.shared_bytes)} of shared memory on an H200",
                card.shared_bytes, (512, 2048, 8192, 32768)),
        _larger("the shared memory of all SMs of an H200", by["shared"].size_bytes,
                (512, 4096, 8192, 32768)),
    )  # fmt: skip
    widest = by["registers"].bytes_per_s / by["hbm"].bytes_per_s
    figures = {"wider": f"{widest:.0f}", "clock": f"{card.clock_hz / 1e9:.2f}",
               "tflops": f"{card.tensor_tflops:.0f}"}  # fmt: skip
    return rung("memory", figures, variants=others, **first)


RUNGS = (_rung(),)

WIDGETS = (
    Widget("memory", "Where bytes live", (
        pick("tiles", "One head", "with", [("without", "without tiles"), ("with", "with tiles")]),
        card(CARD)), _memory),
)  # fmt: skip
