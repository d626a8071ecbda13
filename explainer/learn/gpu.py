"""Rung 2.1: a launch spread over a card's SMs, one warp, and the sectors that its threads touch."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.base.amounts import count, rounded
from explainer.base.cards import CARDS
from explainer.base.formats import ITEMSIZE
from explainer.learn.blocks import Block, Widget, picture
from explainer.learn.content import rung
from explainer.learn.controls import pick
from explainer.memory.workload import Workload
from explainer.parallel.launch import programs

Values = Mapping[str, float | str]

LANES, SECTOR = 32, 32  # threads of a warp; bytes of a sector (CUDA C++ Programming Guide)
CARD, N, TILE = "h200", 1024, 128
STRIDES = {1: "neighbors", 2: "every 2nd", 4: "every 4th", 8: "every 8th", 64: "a column, d = 64"}
# (numbers between two threads, format) of the questions
ASKED = ((4, "fp32"), (8, "fp16"), (64, "fp16"))


def sectors(stride: int, itemsize: int) -> list[int]:
    """The sector, counted from the first, that each thread's number lies in: thread t takes number
    t × stride. Numbers never straddle two."""
    return [t * stride * itemsize // SECTOR for t in range(LANES)]


def _gpu(v: Values) -> list[Block]:
    stride, dtype, heads = int(v["stride"]), str(v["dtype"]), int(v["heads"])
    size, card = ITEMSIZE[dtype], CARDS[CARD]
    touched = sectors(stride, size)
    distinct = sorted(set(touched))
    used, moved = LANES * size, len(distinct) * SECTOR
    w = Workload(card=CARD, n=N, d=64, block_q=TILE, block_k=TILE, heads=heads)
    blocks = len(programs(w, "fa2").head)
    busy = min(blocks, card.sms)
    share, told = rounded(100 * used / moved), count(heads, "head")
    words = (
        f"FA-2 on {told} of N = {N:,} in row blocks of {TILE} launches {blocks} thread "
        f"blocks; {busy} of the {card.sms} SMs of an {card.name} have one or more. A warp's "
        f"{LANES} threads read {dtype} numbers, {STRIDES[stride]}: {used} bytes are asked for, in "
        f"{len(distinct)} sectors of {SECTOR} bytes, so {moved:,} bytes move and "
        f"{share}% of them are used."
    )
    data = {
        "sms": card.sms, "busy": busy, "blocks": blocks, "card": card.name, "heads": told,
        "rows": N // TILE, "tile": TILE, "touched": touched, "sectors": len(distinct),
        "size": size, "sector": SECTOR, "used": used, "moved": moved, "share": share,
        "stride": stride, "dtype": dtype, "way": STRIDES[stride], "most": LANES * SECTOR,
    }  # fmt: skip
    return [picture("gpu", "From a launch to its bytes", words, data)]


def _count(stride: int, dtype: str) -> dict:
    """The question: how many sectors a warp touches."""
    size = ITEMSIZE[dtype]
    apart, found = stride * size, len(set(sectors(stride, size)))
    if apart < SECTOR:
        why = f"so {SECTOR // apart} threads share a sector: {LANES} / {SECTOR // apart} = {found}."
    else:
        why = f"no less than a sector has, so each thread needs one of its own: {found}."
    return {
        "words": f"A warp reads {dtype} numbers, each {stride} places after the last. How many "
        "sectors must come?",
        "answer": float(found),
        "reasons": (
            f"{apart} bytes lie between neighbors, {why}",
            "How many bytes lie between two threads' numbers, and how many of those steps fit into "
            f"{SECTOR} bytes?",
        ),
        "wrong": (
            LANES,
            LANES * size / SECTOR,
            len(set(sectors(stride, 6 - size))),
        ),
    }


FIRST, *OTHERS = (_count(*asked) for asked in ASKED)
RUNGS = (rung("gpu", variants=OTHERS, **FIRST),)

WIDGETS = (
    Widget("gpu", "A launch, a warp, its bytes", (
        pick("heads", "Heads", 4, (1, 4, 16, 64)),
        pick("stride", "The warp reads", 1, STRIDES.items(), closed=(4, 8, 64)),
        pick("dtype", "Format", "fp32", ("fp32", "fp16"))), _gpu),
)  # fmt: skip
