"""Lesson 2.1: a launch spread over a card's SMs, one warp, and the sectors its threads touch."""

from __future__ import annotations

from explainer.base.amounts import rounded
from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, picture, t
from explainer.memory.workload import Workload
from explainer.parallel.launch import programs
from kernels.spec.formats import ITEMSIZE

LANES, SECTOR = 32, 32  # threads of a warp; bytes of a sector (CUDA C++ Programming Guide)
CARD, N, TILE = "h200", 1024, 128
STRIDES = {int(stride): way for stride, way in t.named("gpu.strides").items()}


def sectors(stride: int, itemsize: int) -> list[int]:
    """The sector, counted from the first, that each thread's number lies in: thread t takes number
    t × stride. Numbers never straddle two."""
    return [t * stride * itemsize // SECTOR for t in range(LANES)]


def _gpu(heads: int, stride: int, dtype: str) -> list[Block]:
    size, card = ITEMSIZE[dtype], CARDS[CARD]
    touched = sectors(stride, size)
    distinct = sorted(set(touched))
    used, moved = LANES * size, len(distinct) * SECTOR
    w = Workload(card=CARD, n=N, d=64, block_q=TILE, block_k=TILE, heads=heads)
    blocks = len(programs(w, "fa2").head)
    busy = min(blocks, card.sms)
    shown = {
        "tile": TILE,
        "blocks": blocks,
        "busy": busy,
        "sms": card.sms,
        "card": card.name,
        "dtype": dtype,
        "way": STRIDES[stride],
        "used": used,
        "sectors": len(distinct),
        "sector": SECTOR,
        "moved": moved,
        "share": rounded(100 * used / moved),
    }
    words = t("gpu.words", **shown, heads=heads, n=N, lanes=LANES)
    data = shown | {
        "heads": t("gpu.launched", n=heads),
        "rows": N // TILE,
        "touched": touched,
        "size": size,
        "stride": stride,
        "most": LANES * SECTOR,
    }
    return [picture("gpu", t("gpu.label"), words, data)]


def _count(stride: int, dtype: str) -> dict:
    """The question: how many sectors a warp touches."""
    size = ITEMSIZE[dtype]
    apart, found = stride * size, len(set(sectors(stride, size)))
    if apart < SECTOR:
        sharing = SECTOR // apart
        right = t("gpu.right_shared", apart=apart, sharing=sharing, lanes=LANES, found=found)
    else:
        right = t("gpu.right_own", apart=apart, found=found)
    return {
        "answer": float(found),
        "reasons": (right, t("gpu.wrong", sector=SECTOR)),
        "wrong": (LANES, LANES * size / SECTOR, len(set(sectors(stride, 6 - size)))),
    }


QUESTIONS = {"gpu": _count}

WIDGETS = {
    "gpu": _gpu,
}
