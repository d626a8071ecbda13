"""6.1: K and V by their number of heads."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, Widget
from explainer.learn.content import rung
from explainer.learn.controls import commas, pick
from explainer.learn.scene import Shape, box, panel, path, say, scene
from explainer.learn.variants import HEADS, WIDE, per_token

Values = Mapping[str, float | str]
LAYERS, CARD = 32, CARDS["h200"]
TOKENS = (8_192, 65_536, 524_288)
NAMES = {HEADS: "every head its own", 1: "MQA: one for all"}
ASKED = ((80, 8), (32, 8), (40, 4))  # layers and heads of K and V, question and variants


def cache(kv_heads: int, tokens: int, layers: int = LAYERS) -> int:
    """Bytes of K and V of all layers, fp16."""
    return layers * tokens * per_token(kv_heads)


def _sharing(kv_heads: int) -> list[Shape]:
    """Every query head above, what it reads below."""
    gap, group = 400 / HEADS, HEADS // kv_heads
    shapes = [say(0, 16, f"{HEADS} query heads", "is-bold", hue="q")]
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
    heads = f"{kv_heads} heads" if kv_heads > 1 else "1 head"
    return [
        *shapes,
        say(0, 164, f"{heads} of K and V", "is-bold", hue="k"),
        say(0, 188, NAMES.get(kv_heads, f"GQA: {group} query heads share one"), "is-quiet"),
    ]


def _cost(kv_heads: int, tokens: int) -> list[Shape]:
    """The cache on one scale, beside the card's memory."""
    room, whole, mine = CARD.hbm_bytes, cache(HEADS, tokens), cache(kv_heads, tokens)
    wide = 360 / max(room, whole)
    shapes = [
        say(0, 16, f"K and V of {tokens:,} tokens, {LAYERS} layers", "is-bold"),
        say(0, 48, f"Hk = {HEADS}: {amount(whole)}", "is-quiet"),
        box(0, 56, whole * wide, 26, hue="k", look="is-pale", key="whole"),
        say(0, 112, f"Hk = {kv_heads}: {amount(mine)}", "is-big", hue="k"),
        box(0, 122, mine * wide, 34, hue="k", look="is-full", key="mine"),
        path([(room * wide, 46), (room * wide, 166)], look="is-ink is-dashed"),
        say(0, 190, f"dashed: all of an {CARD.name}, {amount(room)}", "is-quiet is-small"),
        say(0, 240, f"Per token: {amount(cache(kv_heads, 1))}", "is-big"),
        say(0, 266, f"2 · {LAYERS} layers · {kv_heads} heads · {WIDE} · 2 B", "is-quiet"),
    ]  # fmt: skip
    if whole > room:
        shapes.append(say(0, 300, "With every head its own it does not fit.", "is-bad"))
    return shapes


def _gqa(v: Values) -> list[Block]:
    kv_heads, tokens = int(v["hk"]), int(v["tokens"])
    words = (f"{HEADS} query heads read {kv_heads} of K and V. {tokens:,} tokens take "
             f"{amount(cache(kv_heads, tokens))}, with {HEADS} heads of K and V "
             f"{amount(cache(HEADS, tokens))}.")  # fmt: skip
    return [
        scene(
            "Who reads which K and V, and what is stored",
            words,
            panel(405, 200, _sharing(kv_heads)),
            panel(400, 310, _cost(kv_heads, tokens)),
        )
    ]


WIDGETS = (
    Widget("heads", "Heads of K and V", (
        pick("hk", "Heads of K and V", HEADS, (32, 16, 8, 4, 2, 1), closed=(8, 4)),
        pick("tokens", "Tokens in the cache", TOKENS[1], commas(TOKENS)),
    ), _gqa),
)  # fmt: skip
WORDS = (
    "{layers} layers, {heads} query heads, {kv} heads of K and V, d = {d}, fp16. How many KiB of "
    "cache does a token take?"
)


def _asked(layers: int, kv: int) -> dict:
    words = WORDS.format(layers=layers, heads=HEADS, kv=kv, d=WIDE)
    wrong = (cache(kv, 1, layers) / 2, cache(HEADS, 1, layers), cache(kv, 1, 1))
    return {"answer": cache(kv, 1, layers) / 1024, "words": words,
            "wrong": tuple(x / 1024 for x in wrong)}  # fmt: skip


_first, *_others = (_asked(*x) for x in ASKED)
RUNGS = (rung("gqa", **_first, variants=_others),)
