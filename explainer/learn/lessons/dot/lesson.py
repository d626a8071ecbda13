"""Two arrows and their dot product, and random ones by the thousand."""

import math
from functools import lru_cache

import numpy as np

from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import softmax

t = Words(__name__)
PLANE = {"low": [-2, -1], "high": [5, 4], "step": 0.5}  # where the arrows may end
SPREAD_D = (1, 4, 16, 64, 256)
KEYS_EACH = 8  # keys that share one query's weight in the experiment with random vectors
QUERIES = 500
REACH = 3  # spreads of q·k that the histogram shows to either side
BINS = 48


@lru_cache(maxsize=len(SPREAD_D))
def spread(d: int) -> dict[str, dict]:
    """Of 500 random normal queries of d numbers with 8 keys each, "raw" and "scaled" by 1/√d: the
    standard deviation of their dot products, a query's largest softmax weight on average, and the
    shares of BINS bins over ±REACH·√d."""
    rng = np.random.default_rng(d)
    q = rng.standard_normal((QUERIES, 1, d), dtype=np.float32)
    k = rng.standard_normal((QUERIES, KEYS_EACH, d), dtype=np.float32)
    raw = np.einsum("qid,qkd->qk", q, k).astype(float)
    edges = np.linspace(-1, 1, BINS + 1) * REACH * np.sqrt(d)
    found = {}
    for name, x in (("raw", raw), ("scaled", raw / np.sqrt(d))):
        counts, _ = np.histogram(x, edges)
        found[name] = {
            "spread": float(x.std()),
            "top": float(softmax(x).max(axis=1).mean()),
            "shares": [round(float(c) / x.size, 5) for c in counts],
        }
    return found


def compute(qx: float, qy: float, kx: float, ky: float, d: int) -> Block:
    dot, q_length, k_length = qx * kx + qy * ky, math.hypot(qx, qy), math.hypot(kx, ky)
    where = t("zero")
    if q_length and k_length:
        angle = np.degrees(np.arccos(np.clip(dot / (q_length * k_length), -1, 1)))
        where = t("angle", angle=angle, length=dot / k_length)
    reach = REACH * d**0.5
    shown = t.picture(
        q=[qx, qy],
        k=[kx, ky],
        dot=dot,
        length=k_length,
        where=where,
        d=d,
        spread=spread(d),
        many=QUERIES * KEYS_EACH,
        reach=reach,
        ticks=[round(reach * x / 3) for x in (-3, -2, -1, 0, 1, 2, 3)],
    )
    return shown | {"words": shown["words"].replace("-", "−")}
