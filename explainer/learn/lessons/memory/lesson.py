"""Where bytes live. The levels of a card's memory on one scale, the pipes between them
on another, and the least time of one head with tiles and without."""

import math
from collections.abc import Sequence

from explainer.algorithms.traffic import compulsory_bytes
from explainer.base.amounts import amount, rounded
from explainer.base.cards import CARDS
from explainer.learn.kit import Block, Words
from explainer.memory.levels import Level, levels_of
from explainer.memory.workload import Workload

t = Words(__name__)
CARD, N, D, TILE, DTYPE = "h200", 16384, 128, 128, "fp16"
ORDERS = {"without": "standard", "with": "fa2"}


def _workload(key: str) -> Workload:
    side = TILE if CARDS[key].shared_bytes >= 160 * 1024 else TILE // 2
    return Workload(card=key, n=N, d=D, block_q=side, block_k=side, heads=1, dtype=DTYPE)


def _levels(w: Workload) -> dict[str, Level]:
    return {level.key: level for level in levels_of(w)}


def _moved(w: Workload) -> dict[str, int]:
    """Bytes without tiles and with them, each matrix once per launch."""
    return {name: compulsory_bytes(w.n, w.d, w.dtype, order) for name, order in ORDERS.items()}


def _rate(level: Level) -> tuple[str, str]:
    """(a rate as it is shown, what kind of number it is)."""
    if level.bytes_per_s is None or level.rate_kind is None:
        return t("no_rate"), ""
    kind = t.named("rates")[str(level.rate_kind.text).split()[0]]
    return f"{rounded(level.bytes_per_s / 1e12)} TB/s", kind


def times(key: str) -> dict[str, float]:
    """Seconds of one head on this card: its bytes through the HBM pipe without tiles and with them,
    by the same convention (each matrix once per launch), and its two products."""
    hardware, w = CARDS[key], _workload(key)
    found = {name: n_bytes / hardware.hbm_bytes_per_s for name, n_bytes in _moved(w).items()}
    return found | {"products": 4 * w.n**2 * w.d / (hardware.tensor_tflops * 1e12)}


def compute(tiles: str, card: str) -> Block:
    hardware, w = CARDS[card], _workload(card)
    by = _levels(w)
    levels = [by[name] for name in ("hbm", "l2", "shared", "registers")]
    sizes = [
        f"{hardware.sms} × {amount(one.per_sm_bytes)}"
        if one.per_sm_bytes
        else amount(one.size_bytes)
        for one in levels
    ]
    rates = [_rate(level) for level in levels]
    moved = _moved(w)
    said = [
        t("bar.without", bytes=moved["without"]),
        t("bar.with", bytes=moved["with"]),
        t("bar.products", rate=hardware.tensor_tflops),
    ]
    seconds, names = times(card), t.named("bars")
    texts = {name: f"{rounded(s * 1e6)} µs" for name, s in seconds.items()}  # in one unit
    shared = [*by["shared"].tensors]
    doubled = [(x, b) for x, b in shared for _ in range(2 if x in "KV" else 1)]
    twice = sum(b for _, b in doubled) <= hardware.shared_bytes
    return t.picture(
        card=hardware,
        places="; ".join(
            f"{level.name} {size}, {rate} {kind}"
            for level, size, (rate, kind) in zip(levels, sizes, rates, strict=True)
        ),
        times="; ".join(
            f"{names[name]} {texts[name]} ({words})"
            for name, words in zip(seconds, said, strict=True)
        ),
        tiled=tiles == "with",
        levels=levels,
        sizes=sizes,
        per_s=[level.bytes_per_s or 0 for level in levels],
        rates=rates,
        names=names,
        seconds=seconds,
        texts=texts,
        said=said,
        is_on=[name in (tiles, "products") for name in seconds],
        by=by,
        w=w,
        in_shared=doubled if twice else shared,
        in_registers=[(x, b) for x, b in by["registers"].tensors if x in "SO"],
        how=t("tile.twice" if twice else "tile.once"),
        matrix=w.n * w.d * w.itemsize,
        square=w.n * w.n * w.itemsize,
    )


def _rooms() -> dict[str, int]:
    """Bytes of the memories that the questions name."""
    by = _levels(_workload(CARD))
    return {
        "l2": by["l2"].size_bytes,
        "block": CARDS[CARD].shared_bytes,
        "shared": by["shared"].size_bytes,
    }


def question(room: str, around: Sequence[int]) -> dict:
    """The question: which of these N is the first whose S is larger than this memory."""
    n_bytes = _rooms()[room]
    right = 2 ** math.ceil(math.log2(math.isqrt(n_bytes // 2) + 1))  # the first power of two

    def why(n: int) -> str:
        wording = {"square": amount(2 * n * n), "room": amount(n_bytes)}
        if n <= right:
            return t("fits" if n < right else "first", **wording)
        return t("later", **wording, right=right, first=2 * right**2)

    return {
        "options": tuple((f"{n:,}", why(n)) for n in around),
        "answer": around.index(right),
    }


def figures() -> dict[str, object]:
    card = CARDS[CARD]
    by = _levels(_workload(CARD))
    fastest, slowest = by["registers"].bytes_per_s, by["hbm"].bytes_per_s
    assert fastest and slowest
    return {
        "size": card.shared_bytes,
        "of": by["shared"].per_sm_bytes,
        "wider": f"{fastest / slowest:.0f}",
        "sms": card.sms,
        "clock": f"{card.clock_hz / 1e9:.2f}",
        "tflops": f"{card.tensor_tflops:.0f}",
    }
