"""Decoding: one query, the keys of its cache in parts, and lse to merge them; why it is slow."""

from __future__ import annotations

from explainer.base.cards import CARDS
from explainer.base.records import about
from explainer.learn.example import WORDS, make_example
from explainer.learn.kit import Block, arrow, bar, drawn, node, picture, words_of
from explainer.memory.workload import Workload
from explainer.parallel import split_keys

t = words_of(__name__)

CARD, TOKENS, D = CARDS["h200"], 16_384, 128  # of the comparison of times
RECORDED = Workload(n=16_384, d=64, batch=1, heads=16)


def bound() -> tuple[float, float]:
    """Return µs of one decoding step of a head at TOKENS keys, fp16: (its bytes, its FLOPs)."""
    loaded, flops = 2 * TOKENS * D * 2, 4 * TOKENS * D
    return loaded / CARD.hbm_bytes_per_s * 1e6, flops / (CARD.tensor_tflops * 1e12) * 1e6


def times() -> tuple[dict[int, float], int]:
    """Return ({parts: µs}, the parts that the kernel chooses) of the recorded decoding kernel."""
    rows = split_keys.recorded_rows(RECORDED)
    rule = next(r for r in rows if r["rule"])
    return {r["splits"]: r["median_ms"] * 1e3 for r in rows}, rule["splits"]


def compute(parts: int) -> Block:
    """Show the last word's query against its cache in ``parts`` parts, and what splitting gains."""
    found, O, lse = split_keys.parts(make_example("causal"), parts)
    cache = [
        node(
            f"part {k}",
            " ".join(WORDS[p.first : p.last]),
            t("part", lse=p.lse),
            "k",
            on=p.weight == max(x.weight for x in found),
        )
        for k, p in enumerate(found)
    ]
    arrows = [arrow("q", f"part {k}", hue="q") for k in range(len(found))]
    arrows += [
        arrow(f"part {k}", "O", t("weight", weight=p.weight), "l", amount=p.weight)
        for k, p in enumerate(found)
    ]
    us, rule = times()
    bytes_us, flops_us = bound()
    values = {
        "n": len(found),
        "lse": lse,
        "query": WORDS[-1],
        "cache": cache,
        "arrows": arrows,
        "output": O,
        "tokens": TOKENS,
        "d": D,
        "card": CARD.name,
        "size": 4 * TOKENS * D,
        "bytes_us": bytes_us,
        "flops_us": flops_us,
        "timed": [
            bar(t("parts", n=n), us[n], t("us", us=us[n]), "l", on=n == rule, key=str(n))
            for n in us
            if n in (1, parts, rule)
        ],
        "recorded": [RECORDED.n, RECORDED.heads, RECORDED.d],
        "about": about("decode_nvidia_h200"),
    }
    lses, weights = [p.lse for p in found], [p.weight for p in found]
    spoken = t("spoken", n=len(found), each=lses, lse=lse, weights=weights)
    return picture(t("label"), spoken, *drawn(__name__, values))


def question(keys: int, heads: int, layers: int) -> dict:
    """ms that reading a cache takes at least, d = D, fp16; and: K alone, one layer, 4 bytes per
    number."""
    size = 2 * keys * heads * layers * D * 2
    ms = size / CARD.hbm_bytes_per_s * 1e3
    figures = {"size": size, "rate": CARD.hbm_bytes_per_s / 1e12, "d": D}
    return {"answer": ms, "wrong": (ms / 2, ms / layers, 2 * ms), "figures": figures}
