"""Heads of K and V, shared by query heads, and the KV cache that they make."""

from __future__ import annotations

from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.learn.kit import Block, bar, drawn, part, picture, stack, words_of
from explainer.learn.variants import HEADS, WIDE, per_token

t = words_of(__name__)

LAYERS, CARD = 32, CARDS["h200"]


def cache(kv_heads: int, tokens: int, layers: int = LAYERS) -> int:
    """Return the bytes of K and V of all layers, fp16."""
    return layers * tokens * per_token(kv_heads)


def compute(hk: int, tokens: int) -> Block:
    """Show which query heads share K and V, and the cache beside the card's memory."""
    whole, mine = cache(HEADS, tokens), cache(hk, tokens)
    group = HEADS // hk
    name = t.named("names").get(str(hk)) or t("gqa", n=group)
    rows = [stack(t("queries", n=HEADS), [part("", 1, hue="q", key=f"q{k}") for k in range(HEADS)])]
    for tensor, title in (("k", t("keys", n=hk)), ("v", t("values", n=hk))):
        heads = [part("", group, hue=tensor, key=f"{tensor}{k}") for k in range(hk)]
        rows.append(stack(title, heads))
    items = [
        bar(t("mha"), whole, amount(whole), "k", key="whole"),
        bar(name, mine, amount(mine), "v", on=True, key="mine"),
    ]
    values = {
        "rows": rows,
        "items": items,
        "tokens": tokens,
        "layers": LAYERS,
        "room": CARD.hbm_bytes,
        "high": max(CARD.hbm_bytes, whole),
        "card": CARD.name,
        "bytes": cache(hk, 1),
        "kv": hk,
        "d": WIDE,
    }
    spoken = t("spoken", heads=HEADS, kv=hk, tokens=tokens, bytes=mine, whole=whole)
    return picture(t("label"), spoken, *drawn(__name__, values))


def question(layers: int, kv: int) -> dict:
    """KiB: the answer, and: K alone, a head of K and V for each query head, one layer."""
    wrong = (cache(kv, 1, layers) / 2, cache(HEADS, 1, layers), cache(kv, 1, 1))
    return {"answer": cache(kv, 1, layers) / 1024, "wrong": tuple(x / 1024 for x in wrong)}


def figures() -> dict[str, object]:
    """Return what the question names."""
    return {"heads": HEADS, "d": WIDE}
