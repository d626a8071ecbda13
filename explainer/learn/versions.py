"""Rung 11: what changed from FA-1 to FA-3."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from explainer.algorithms.algorithm import CONVENTIONS, WHERE
from explainer.algorithms.traffic import both, summed
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.base.facts import fact
from explainer.learn.blocks import Block, Widget, bars, table, text
from explainer.learn.controls import pick
from explainer.memory.capacity import kept
from explainer.memory.workload import Workload
from explainer.parallel.launch import programs
from explainer.parallel.warps import warps
from explainer.problem import Problem

Values = Mapping[str, float | str]
NS = (256, 512, 1024, 2048, 4096, 8192, 16384)
SIDES = (32, 64, 128)
WARPS = 4
CARD = "h100"
SOURCES = (
    "FA-1: arXiv 2205.14135, Algorithm 1. FA-2: 2307.08691, Algorithm 1. FA-3: 2407.08608. Speeds "
    "are the papers' own."
)


def divisions(w: Workload, order: str) -> int:
    """How many divisions by l one head makes: a number of O is divided whenever it is written."""
    return summed(w.problem(order))["O"][1] // w.itemsize


@lru_cache(maxsize=64)
def exchanged(split: str, block_q: int, block_k: int, d: int) -> tuple[int, int]:
    """(bytes that four warps pass through shared memory in one whole tile, barriers); ``split`` "k"
    as in FA-1, "q" as in FA-2. The bytes depend on the shape only."""
    problem = Problem(n=max(block_q, block_k), d=d, block_q=block_q, block_k=block_k,
                      causal=False, dtype="fp16", inputs="random")  # fmt: skip
    found = warps(problem, 0, 0, split, WARPS)
    return found.exchanged_bytes, found.barriers


def launched(w: Workload) -> dict[str, int]:
    """Programs of each version's launch; FA-3's stay and take one row block after the other."""
    counts = {order: len(programs(w, order).head) for order in ("fa1", "fa2")}
    return counts | {"fa3": min(counts["fa2"], CARDS[CARD].sms)}


def _versions(v: Values) -> list[Block]:
    w = Workload(
        card=CARD, n=int(v["n"]), d=int(v["d"]), block_q=int(v["br"]), block_k=int(v["bc"]),
        heads=int(v["heads"]), causal=v["mask"] == "causal",
    )  # fmt: skip
    made, statistics = launched(w), {order: kept(w, order) for order in ("fa1", "fa2")}
    k, q = (exchanged(s, w.block_q, w.block_k, w.d) for s in "kq")
    one, two = (divisions(w, order) for order in ("fa1", "fa2"))
    rows = (
        ("loops", "keys outside, rows inside", "rows outside, keys inside", "as FA-2"),
        ("where O lives", "HBM: read and written at every visit", "registers, until its row block "
         "is done", "as FA-2"),
        ("divisions by ℓ, a head", f"{one:,}", f"{two:,}", f"{two:,}"),
        ("programs", f"{made['fa1']:,}", f"{made['fa2']:,}", f"{made['fa3']:,}, persistent"),
        ("kept for backward", f"m and ℓ, {amount(statistics['fa1'])}",
         f"lse, {amount(statistics['fa2'])}", "as FA-2"),
        ("warps of a tile", "split the keys", "split the queries", "producer warps load, 2 to 3 "
         "warpgroups of consumers split the queries"),
        (f"exchanged by {WARPS} warps, a tile", f"{amount(k[0])}, {k[1]} barriers",
         f"{amount(q[0])}, {q[1]} barrier", "no partial sums; barriers hand over buffers"),
        ("speed in the papers", f"{fact('fa1.a100')} of A100's peak",
         f"{fact('fa2.a100')} of A100's, {fact('fa2.h100')} of H100's",
         f"{fact('fa3.h100')} of H100's, bf16 ({fact('fa3.preprint')} in the preprint, fp16)"),
    )  # fmt: skip
    heads = w.batch * w.heads
    names = {"standard": "standard", "fa1": "FA-1", "fa2": "FA-2 and FA-3"}
    moved = {
        convention: [(name, heads * both(summed(w.problem(order), convention)))
                     for order, name in names.items()]
        for convention in CONVENTIONS
    }  # fmt: skip
    return [
        table(f"N = {w.n:,}, d = {w.d}, Br = {w.block_q}, Bc = {w.block_k}, {w.heads} heads, fp16",
              ("what", "FA-1", "FA-2", "FA-3"), rows),
        *(bars(f"Bytes {WHERE[convention]}, all heads",
               [(name, float(b), amount(b)) for name, b in counted], colour="o")
          for convention, counted in moved.items()),
        text(f"The {CARDS[CARD].name} has {CARDS[CARD].sms} SMs: FA-1's {made['fa1']:,} programs "
             + ("leave most of them idle." if 2 * made["fa1"] < CARDS[CARD].sms else
                "fill them too, here.")
             + f" FA-2 divides {one / two:.3g} times less often than FA-1."),
        text(SOURCES, "fine"),
    ]  # fmt: skip


WIDGETS = (
    Widget(
        "versions",
        "FA-1, FA-2, FA-3",
        (
            pick("n", "N", 1024, NS),
            pick("d", "Head dimension d", 64, (32, 64, 128)),
            pick("br", "Br", 64, SIDES),
            pick("bc", "Bc", 64, SIDES),
            pick("heads", "B × H", 16, (1, 4, 16, 64)),
            pick("mask", "Mask", "full", ("full", "causal")),
        ),
        _versions,
    ),
)
