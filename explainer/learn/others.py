"""7.4: other answers to long inputs: a ring of GPUs, linear attention; what each gives up."""

from __future__ import annotations

from explainer.base.amounts import amount
from explainer.learn.blocks import Block, t
from explainer.learn.content import SECTIONS
from explainer.learn.scene import Shape, box, captions, chart, draw_text, panel, read_aloud, scene
from explainer.learn.variants import HEADS, WIDE, cache_bytes, errors, per_token

GPUS = 4
LAYOUTS = t.named("others.layouts")
NS = tuple(2**p for p in range(10, 21))


def blocks_of_gpus(layout: str) -> list[tuple[int, ...]]:
    """The blocks of tokens on each GPU, of 2·GPUS in all: neighbors, or one from either end."""
    last = 2 * GPUS - 1
    if layout == "rows":
        return [(2 * g, 2 * g + 1) for g in range(GPUS)]
    return [(g, last - g) for g in range(GPUS)]


def work(layout: str, step: int) -> list[list[tuple[int, int]]]:
    """For each GPU the causal tiles (query block, key block) that it computes in this step: its own
    rows against the K and V that have come ``step`` places along the ring."""
    blocks = blocks_of_gpus(layout)
    return [
        [(i, j) for i in blocks[g] for j in blocks[(g - step) % GPUS] if j <= i]
        for g in range(GPUS)
    ]


def longest(layout: str) -> int:
    """Tiles that the slowest GPU has, summed over the steps: they wait for each other."""
    return sum(max(map(len, work(layout, step))) for step in range(GPUS))


def total() -> int:
    """All causal tiles."""
    return sum(len(tiles) for step in range(GPUS) for tiles in work("rows", step))


HUES = "qvol"


def _ring(step: int, layout: str) -> list[Shape]:
    side, blocks = 38, blocks_of_gpus(layout)
    owner = {block: g for g, found in enumerate(blocks) for block in found}
    shapes = captions("others.ring")
    now = {tile for tiles in work(layout, step) for tile in tiles}
    done = {tile for s in range(step) for tiles in work(layout, s) for tile in tiles}
    for i in range(2 * GPUS):
        shapes.append(
            draw_text(0, 50 + i * side, f"GPU {owner[i]}", "is-small", hue=HUES[owner[i]])
        )
        for j in range(2 * GPUS):
            look = (
                "is-full is-edge" if (i, j) in now else "is-pale" if (i, j) in done else "is-line"
            )
            shapes.append(
                box(
                    74 + j * side,
                    26 + i * side,
                    side - 3,
                    side - 3,
                    look=look,
                    hue=HUES[owner[i]] if look != "is-line" else "",
                    key=f"{i} {j}",
                )
            )
    return shapes


def _sentences(step: int, layout: str) -> list[Shape]:
    counts = [len(tiles) for tiles in work(layout, step)]
    shapes = []
    for g, count in enumerate(counts):
        origin = (g - step) % GPUS
        shapes += [
            draw_text(0, 54 + g * 36, f"GPU {g}", hue=HUES[g]),
            box(76, 38 + g * 36, count * 28, 24, hue=HUES[g], look="is-full", key=f"w {g}"),
            draw_text(
                84 + count * 28,
                55 + g * 36,
                t("others.tiles", count=count, origin=origin),
                "is-small",
                key=f"t {g}",
            ),
        ]
    return shapes + captions(
        "others.spoken",
        step=step + 1,
        all=GPUS,
        tiles=longest(layout),
        ideal=total() / GPUS,
    )


def _linear() -> tuple[list[Shape], list[Shape]]:
    softmax, state = ([cache_bytes(key, n) for n in NS] for key in ("causal", "linear"))
    left = [
        *captions("others.linear_head", heads=HEADS, d=WIDE),
        *chart(
            70,
            34,
            300,
            230,
            [("kv", softmax, "k", ""), ("state", state, "o", "")],
            low=2.0**19,
            high=2.0**35,
            log=True,
            ticks=[(x, amount(x)) for x in (2.0**20, 2.0**30)],
        ),
        *captions("others.linear", size=state[0]),
    ]
    exact, other = errors().values()
    right = captions("others.linear_right", fa2=exact, linear=other)
    return left, right


def _others(what: str, step: int, layout: str) -> list[Block]:
    if what == "linear":
        left, right = _linear()
        panels = panel(400, 345, left), panel(360, 345, right)
        return [scene(t("others.linear.title"), read_aloud(panels), *panels)]
    step = step - 1
    counts = [len(tiles) for tiles in work(layout, step)]
    words = t(
        "others.spoken",
        layout=LAYOUTS[layout],
        gpus=GPUS,
        step=step + 1,
        counts=", ".join(map(str, counts)),
        tiles=longest(layout),
        even=total() / GPUS,
    )
    return [
        scene(
            t("others.title"),
            words,
            panel(385, 345, _ring(step, layout)),
            panel(385, 345, _sentences(step, layout)),
        )
    ]


WIDGETS = {
    "others": _others,
}


def _figures() -> dict[str, object]:
    """What each answer costs a layer of 32 heads, and what the course ends with."""
    return {
        "seen": f"{8192 // 8:,}",
        "full": per_token(HEADS),
        "grouped": per_token(HEADS // 8),
        "one": per_token(1),
        "long": 131_072 * per_token(1),
        "state": cache_bytes("linear", 1),
        "takeaways": " ".join(f"{k}. {x}" for k, x in enumerate(SECTIONS["end"]["lines"], 1)),
    }


FIGURES = {"others": _figures}
