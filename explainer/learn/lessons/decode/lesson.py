"""Decoding: one query, the keys of its cache in parts, and lse to merge them; why it is slow."""

from explainer.base.cards import CARDS
from explainer.base.records import about
from explainer.learn.example import WORDS, make_example
from explainer.learn.kit import Block, Words
from explainer.memory.workload import Workload
from explainer.parallel import split_keys

t = Words(__name__)

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
    weights = [p.weight for p in found]
    us, rule = times()
    bytes_us, flops_us = bound()
    drawn = [n for n in us if n in (1, parts, rule)]
    return t.picture(
        n=len(found),
        lse=lse,
        each=[p.lse for p in found],
        weights=weights,
        largest=max(weights),
        texts=[" ".join(WORDS[p.first : p.last]) for p in found],
        output=O,
        size=4 * TOKENS * D,
        bytes_us=bytes_us,
        flops_us=flops_us,
        parts=drawn,
        us=[us[n] for n in drawn],
        rule=rule,
        about=about("decode_nvidia_h200"),
    )


def question(keys: int, heads: int, layers: int) -> dict:
    """ms that reading a cache takes at least, d = D, fp16; and: K alone, one layer, 4 bytes per
    number."""
    size = 2 * keys * heads * layers * D * 2
    ms = size / CARD.hbm_bytes_per_s * 1e3
    figures = {"size": size, "rate": CARD.hbm_bytes_per_s / 1e12, "d": D}
    return {"answer": ms, "wrong": (ms / 2, ms / layers, 2 * ms), "figures": figures}
