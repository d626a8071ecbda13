"""More than one GPU: ring attention with two layouts of the tokens, and Ulysses' exchange."""

import numpy as np

from explainer.base.amounts import amount
from explainer.base.facts import fact
from explainer.learn.kit import Block, Words

t = Words(__name__)

GPUS = 4
DONE, NOW = 0.35, 1.0  # how full a tile is drawn


def blocks_of_gpus(layout: str, gpus: int = GPUS) -> list[tuple[int, ...]]:
    """Return the blocks of tokens on each GPU, of two per GPU: neighbors, or one from either
    end."""
    last = 2 * gpus - 1
    if layout == "rows":
        return [(2 * g, 2 * g + 1) for g in range(gpus)]
    return [(g, last - g) for g in range(gpus)]


def work(layout: str, step: int, gpus: int = GPUS) -> list[list[tuple[int, int]]]:
    """Return for each GPU the causal tiles (query block, key block) of this step: its own rows
    against the K and V that have come ``step`` places along the ring."""
    blocks = blocks_of_gpus(layout, gpus)
    return [
        [(i, j) for i in blocks[g] for j in blocks[(g - step) % gpus] if j <= i]
        for g in range(gpus)
    ]


def longest(layout: str, gpus: int = GPUS) -> int:
    """Return the tiles that the slowest GPU has, summed over the steps: they wait for each
    other."""
    return sum(max(map(len, work(layout, step, gpus))) for step in range(gpus))


def total(gpus: int = GPUS) -> int:
    """Return the number of all causal tiles."""
    return gpus * (2 * gpus + 1)


def hop_bytes(n: int, gpus: int, kv_heads: int, d: int) -> int:
    """Return the bytes of K and V, 16 bits each, that a GPU sends in one hop."""
    return 2 * kv_heads * (n // gpus) * d * 2


def compute(show: str, step: int, layout: str) -> Block:
    """Show a step of the ring, or Ulysses' exchange."""
    if show == "ulysses":
        return t.picture("ulysses", "ulysses_spoken", "exchange")
    now = work(layout, step - 1)
    size = np.zeros((2 * GPUS, 2 * GPUS))
    for s in range(step):
        for tiles in work(layout, s):
            for at in tiles:
                size[at] = NOW if s == step - 1 else DONE
    owner = {block: g for g, found in enumerate(blocks_of_gpus(layout)) for block in found}
    return t.picture(
        step=step,
        counts=[len(tiles) for tiles in now],
        tiles=longest(layout),
        even=total() / GPUS,
        size=size,
        current=np.argwhere(size == NOW),
        owners=[owner[i] for i in range(2 * GPUS)],
        from_=[(g - step + 1) % GPUS for g in range(GPUS)],
        measured=[fact("ring.contiguous"), fact("ring.balanced")],
    )


def question(gpus: int) -> dict:
    """Percent of the ideal speed with tokens in order; and: the plain half, of both ends."""
    rate = 100 * total(gpus) / gpus / longest("rows", gpus)
    return {
        "answer": rate,
        "wrong": (50, 100 * total(gpus) / gpus / longest("zigzag", gpus), 100 / gpus),
    }


def figures() -> dict[str, str]:
    """Return what the text names: a hop of a model with 8 heads of K and V."""
    return {"hop": amount(hop_bytes(131_072, 8, 8, 128))}
