"""More than one GPU: ring attention with two layouts of the tokens, and Ulysses' exchange."""

from __future__ import annotations

from explainer.base.amounts import amount
from explainer.base.facts import fact
from explainer.learn.kit import (
    Block,
    Mark,
    arrow,
    bar,
    bars,
    column,
    drawn,
    flow,
    grid,
    node,
    note,
    picture,
    row,
    words_of,
)

t = words_of(__name__)

GPUS = 4
HUES = "qvok"
PENDING, DONE, NOW = 0.0, 0.35, 1.0  # how full a tile is drawn


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


def _ring(step: int, layout: str) -> list[Mark]:
    now, blocks = work(layout, step), blocks_of_gpus(layout)
    done = {tile for s in range(step) for tiles in work(layout, s) for tile in tiles}
    current = {tile for tiles in now for tile in tiles}
    side = range(2 * GPUS)
    size = [
        [NOW if (i, j) in current else DONE if (i, j) in done else PENDING for j in side]
        for i in side
    ]
    owner = {block: g for g, found in enumerate(blocks) for block in found}
    gpus = [
        node(f"gpu {g}", t("gpu", g=g), t("holds", g=(g - step) % GPUS), HUES[g])
        for g in range(GPUS)
    ]
    links = [
        arrow(f"gpu {g}", f"gpu {(g + 1) % GPUS}", "K, V" if not g else "", "k")
        for g in range(GPUS - 1)
    ]
    items = [
        bar(t("gpu", g=g), len(tiles), t("tiles", n=len(tiles)), HUES[g], key=f"work {g}")
        for g, tiles in enumerate(now)
    ]
    return [
        flow(t("around"), [[gpu] for gpu in gpus], links),
        row(
            grid(
                t("causal"),
                size,
                "s",
                rows=[t("gpu", g=owner[i]) for i in side],
                most=NOW,
                on=sorted(current),
                size="small",
            ),
            column(
                bars(t("now", step=step + 1, all=GPUS), items, high=4),
                note(t("sum", tiles=longest(layout), even=total() / GPUS), "big"),
            ),
            grow=(0, 1),
        ),
    ]


def compute(show: str, step: int, layout: str) -> Block:
    """Show a step of the ring, or Ulysses' exchange."""
    if show == "ulysses":
        return picture(t("ulysses"), t("ulysses_spoken"), *drawn(__name__, {}, "exchange"))
    counts = [len(tiles) for tiles in work(layout, step - 1)]
    spoken = t("spoken", step=step, counts=counts, tiles=longest(layout), even=total() / GPUS)
    measured = t("measured", order=fact("ring.contiguous"), both=fact("ring.balanced"))
    return picture(t("label"), spoken, *_ring(step - 1, layout), note(measured, "fine"))


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
