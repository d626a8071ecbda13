"""Lesson 2.1: a launch spread over a card's SMs, one warp, and the sectors its threads touch."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.base.amounts import rounded
from explainer.base.cards import CARDS
from explainer.base.texts import Texts
from explainer.learn.blocks import Block, Widget, picture
from explainer.learn.content import lesson
from explainer.learn.controls import pick
from explainer.memory.workload import Workload
from explainer.parallel.launch import programs
from kernels.spec.formats import ITEMSIZE

tell = Texts("learn")
Values = Mapping[str, float | str]

LANES, SECTOR = 32, 32  # threads of a warp; bytes of a sector (CUDA C++ Programming Guide)
CARD, N, TILE = "h200", 1024, 128
STRIDES = {int(stride): way for stride, way in tell.named("gpu.strides").items()}
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
    words = tell("gpu.words", **shown, heads=heads, n=N, lanes=LANES)
    data = shown | {
        "heads": tell("gpu.launched", n=heads),
        "rows": N // TILE,
        "touched": touched,
        "size": size,
        "stride": stride,
        "most": LANES * SECTOR,
    }
    return [picture("gpu", tell("gpu.label"), words, data)]


def _count(stride: int, dtype: str) -> dict:
    """The question: how many sectors a warp touches."""
    size = ITEMSIZE[dtype]
    apart, found = stride * size, len(set(sectors(stride, size)))
    if apart < SECTOR:
        sharing = SECTOR // apart
        right = tell("gpu.right_shared", apart=apart, sharing=sharing, lanes=LANES, found=found)
    else:
        right = tell("gpu.right_own", apart=apart, found=found)
    return {
        "words": tell("gpu.question", dtype=dtype, stride=stride),
        "answer": float(found),
        "reasons": (right, tell("gpu.wrong", sector=SECTOR)),
        "wrong": (LANES, LANES * size / SECTOR, len(set(sectors(stride, 6 - size)))),
    }


FIRST, *OTHERS = (_count(*asked) for asked in ASKED)
LESSONS = (lesson("gpu", variants=OTHERS, **FIRST),)

WIDGETS = (
    Widget(
        "gpu",
        tell("gpu.title"),
        (
            pick("heads", tell("gpu.heads"), 4, (1, 4, 16, 64)),
            pick("stride", tell("gpu.stride"), 1, STRIDES.items(), closed=(4, 8, 64)),
            pick("dtype", tell("gpu.dtype"), "fp32", ("fp32", "fp16")),
        ),
        _gpu,
    ),
)
