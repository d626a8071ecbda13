"""Heads of K and V, shared by query heads, and the KV cache that they make."""

from explainer.base.cards import CARDS
from explainer.learn.kit import Block, Words
from explainer.learn.variants import HEADS, WIDE, per_token

t = Words(__name__)

LAYERS, CARD = 32, CARDS["h200"]


def cache(kv_heads: int, tokens: int, layers: int = LAYERS) -> int:
    """Return the bytes of K and V of all layers, fp16."""
    return layers * tokens * per_token(kv_heads)


def compute(hk: int, tokens: int) -> Block:
    """Show which query heads share K and V, and the cache beside the card's memory."""
    whole = cache(HEADS, tokens)
    return t.picture(
        kv=hk,
        tokens=tokens,
        queries=range(HEADS),
        heads=range(hk),
        group=HEADS // hk,
        name=t.named("names").get(str(hk)) or t("gqa", n=HEADS // hk),
        whole=whole,
        bytes=cache(hk, tokens),
        high=max(CARD.hbm_bytes, whole),
        per_token=cache(hk, 1),
    )


def question(layers: int, kv: int) -> dict:
    """KiB: the answer, and: K alone, a head of K and V for each query head, one layer."""
    wrong = (cache(kv, 1, layers) / 2, cache(HEADS, 1, layers), cache(kv, 1, 1))
    return {"answer": cache(kv, 1, layers) / 1024, "wrong": tuple(x / 1024 for x in wrong)}


def figures() -> dict[str, object]:
    """Return what the question names."""
    return {"heads": HEADS, "d": WIDE}
