"""A launch spread over a card's SMs, one warp, and the sectors its threads touch."""

import numpy as np

from explainer.base.amounts import rounded
from explainer.base.cards import CARDS
from explainer.learn.kit import Block, Words
from explainer.memory.workload import Workload
from explainer.parallel.launch import programs
from kernels.spec.formats import ITEMSIZE

t = Words(__name__)
LANES, SECTOR = 32, 32  # threads of a warp; bytes of a sector (CUDA C++ Programming Guide)
CARD, N, TILE = "h200", 1024, 128
COLUMNS, NUMBERED = 12, 8  # SMs in a row; sectors that have room for their threads' numbers
STRIDES = {int(stride): way for stride, way in t.named("strides").items()}


def sectors(stride: int, itemsize: int) -> list[int]:
    """The sector, counted from the first, that each thread's number lies in: thread t takes number
    t × stride. Numbers never straddle two."""
    return [t * stride * itemsize // SECTOR for t in range(LANES)]


def compute(heads: int, stride: int, dtype: str) -> Block:
    size, card = ITEMSIZE[dtype], CARDS[CARD]
    touched = sectors(stride, size)
    distinct = sorted(set(touched))
    used, moved = LANES * size, len(distinct) * SECTOR
    w = Workload(card=CARD, n=N, d=64, block_q=TILE, block_k=TILE, heads=heads)
    blocks = len(programs(w, "fa2").head)
    busy = min(blocks, card.sms)
    threads: list[list[int | None]] = [[None] * (SECTOR // size) for _ in distinct]
    for k, sector in enumerate(touched):
        threads[distinct.index(sector)][k * stride % (SECTOR // size)] = k + 1
    return t.picture(
        heads=heads,
        blocks=blocks,
        busy=busy,
        card=card,
        dtype=dtype,
        way=STRIDES[stride],
        used=used,
        sectors=len(distinct),
        moved=moved,
        share=rounded(100 * used / moved),
        on=np.reshape(np.arange(card.sms) < busy, (-1, COLUMNS)).astype(float),
        threads=threads,
        is_small=len(distinct) > NUMBERED,
        room=LANES * SECTOR,
        tone="good" if used == moved else "bad",
        rows=N // TILE,
        each=-(-blocks // card.sms),
    )


def question(stride: int, dtype: str) -> dict:
    """The question: how many sectors a warp touches."""
    size = ITEMSIZE[dtype]
    apart, found = stride * size, len(set(sectors(stride, size)))
    if apart < SECTOR:
        sharing = SECTOR // apart
        right = t("right_shared", apart=apart, sharing=sharing, lanes=LANES, found=found)
    else:
        right = t("right_own", apart=apart, found=found)
    return {
        "answer": float(found),
        "reasons": (right, t("wrong", sector=SECTOR)),
        "wrong": (LANES, LANES * size / SECTOR, len(set(sectors(stride, 6 - size)))),
    }
