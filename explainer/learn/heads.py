"""6.1: K and V by their number of heads."""

from __future__ import annotations

from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, t
from explainer.learn.scene import Shape, box, captions, draw_text, panel, path, scene
from explainer.learn.variants import HEADS, WIDE, per_token

LAYERS, CARD = 32, CARDS["h200"]
NAMES = {HEADS: t("heads.own"), 1: t("heads.mqa")}


def cache(kv_heads: int, tokens: int, layers: int = LAYERS) -> int:
    """Bytes of K and V of all layers, fp16."""
    return layers * tokens * per_token(kv_heads)


def _sharing(kv_heads: int) -> list[Shape]:
    """Every query head above, what it reads below."""
    gap, group = 400 / HEADS, HEADS // kv_heads
    name = NAMES.get(kv_heads, t("heads.gqa", n=group))
    shapes = captions("heads.sharing", n=HEADS, kv=kv_heads, name=name)
    wide = group * gap - 3
    for k in range(kv_heads):
        middle = k * group * gap + wide / 2
        ends = range(k * group, (k + 1) * group)
        shapes += [path([(h * gap + 5, 48), (middle, 92)], look="is-quiet") for h in ends]
    shapes += [box(h * gap, 28, gap - 3, 20, hue="q", look="is-full") for h in range(HEADS)]
    for k in range(kv_heads):
        x, high = k * group * gap, 22
        shapes += [
            box(x, 92, wide, high, hue="k", look="is-full", key=f"k {k}"),
            box(x, 92 + high + 3, wide, high, hue="v", look="is-full", key=f"v {k}"),
        ]
    return shapes


def _cost(kv_heads: int, tokens: int) -> list[Shape]:
    """The cache on one scale, beside the card's memory."""
    room, whole, mine = CARD.hbm_bytes, cache(HEADS, tokens), cache(kv_heads, tokens)
    wide = 360 / max(room, whole)
    shapes = [
        *captions(
            "heads.cost",
            tokens=tokens,
            layers=LAYERS,
            whole=whole,
            mine=mine,
            card=CARD.name,
            room=room,
            token=cache(kv_heads, 1),
            heads=kv_heads,
            d=WIDE,
        ),
        box(0, 56, whole * wide, 26, hue="k", look="is-pale", key="whole"),
        box(0, 122, mine * wide, 34, hue="k", look="is-full", key="mine"),
        path([(room * wide, 46), (room * wide, 166)], look="is-ink is-dashed"),
    ]
    if whole > room:
        shapes.append(draw_text(0, 300, t("heads.cost.no_room"), "is-bad"))
    return shapes


def _gqa(hk: int, tokens: int) -> list[Block]:
    words = t(
        "heads.words",
        heads=HEADS,
        kv=hk,
        tokens=tokens,
        bytes=cache(hk, tokens),
        whole=cache(HEADS, tokens),
    )
    panels = panel(405, 200, _sharing(hk)), panel(400, 310, _cost(hk, tokens))
    return [scene(t("heads.label"), words, *panels)]


WIDGETS = {
    "gqa": _gqa,
}


def _question(layers: int, kv: int) -> dict:
    wrong = (cache(kv, 1, layers) / 2, cache(HEADS, 1, layers), cache(kv, 1, 1))
    return {
        "answer": cache(kv, 1, layers) / 1024,
        "wrong": tuple(x / 1024 for x in wrong),
    }


FIGURES = {"gqa": lambda: {"heads": HEADS, "d": WIDE}}
QUESTIONS = {"gqa": _question}
