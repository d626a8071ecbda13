"""Rung 14's numbers: variants of attention, as the masks and scores that the kernels take.

What is no mask and no score is here in NumPy: RoPE, an input step, and linear attention, which no
kernel of ours runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from explainer.base.facts import FACTS, number
from explainer.learn.content import stored
from explainer.learn.presets import PRESETS
from explainer.learn.rungs_low import softmax
from explainer.problem import Problem
from explainer.trace import trace
from kernels.masks import Mask, parse

SHOWN = Problem(mask="causal")  # N = 16, d = 8, tiles of 4
HEADS, GROUPS, WIDE, ELEMENT = 32, {"gqa": 8, "mqa": 1}, 128, 2  # H, Hk, d, bytes: Llama 3 8B, fp16
FEW = 8  # heads on screen
DOCUMENT = 2_048  # tokens of each document in the table


def _blocks(n: int) -> str:
    """Of 8 × 8 blocks in each row its own, the first, and one between."""
    listed = sorted({(i, j) for i in range(8) for j in (0, i // 2, i)})
    size = max(1, n // 8)
    return f"causal&block:{size}x{size}," + ",".join(f"{i}.{j}" for i, j in listed)


# What is kept at N tokens, with the figures that models have; the others keep all that is causal.
SIZES: dict[str, Callable[[int], str]] = {
    "window": lambda n: f"causal&window:{number('preset.window') - 1:.0f},0",
    "documents": lambda n: "causal&document:" + ",".join(map(str, range(0, n, DOCUMENT))),
    "block": _blocks,
}
ON_SCREEN = {p.key: p for p in PRESETS}


@dataclass(frozen=True)
class Variant:
    """``does`` what changes in the kernel; ``says`` why; ``models`` that use it, ``fact`` the
    entry that is the ground of that, both those of ``preset`` where there is one; ``link`` what the
    link below it says."""

    key: str
    title: str
    does: str
    says: str
    link: str
    preset: str = ""
    models: str = ""
    fact: str = ""

    @property
    def problem(self) -> Problem:
        """Its mask and score on the tokens on screen."""
        if self.key == "block":
            return replace(SHOWN, mask=_blocks(SHOWN.n), block_q=2, block_k=2)
        preset = ON_SCREEN.get(self.preset, ON_SCREEN["causal"])
        return replace(SHOWN, mask=preset.mask(SHOWN.n), score=preset.score)

    @property
    def grounds(self) -> tuple[str, str]:
        """Models, and the source that says so."""
        preset = ON_SCREEN.get(self.preset)
        models, fact = (preset.models, preset.fact) if preset else (self.models, self.fact)
        return models, FACTS[fact].ground


VARIANTS = {
    x["key"]: Variant(**x) for x in stored("variants", heads=HEADS, gqa_heads=GROUPS["gqa"])
}


# ---- what the models compute ---------------------------------------------------------------------


def rope(x: np.ndarray, positions: np.ndarray, base: float = 10_000.0) -> np.ndarray:
    """x (N, d), d even, float64, with row i rotated by its position p: the pair (x_c, x_{c+d/2}) by
    the angle p · base^(−2c/d), as :func:`kernels.rotary.rope` does (arXiv 2104.09864)."""
    first, second = np.split(x.astype(float), 2, axis=-1)
    speed = base ** (np.arange(0, x.shape[-1], 2) / -x.shape[-1])
    cos, sin = np.cos(positions[:, None] * speed), np.sin(positions[:, None] * speed)
    return np.concatenate((first * cos - second * sin, second * cos + first * sin), -1)


def feature(x: np.ndarray) -> np.ndarray:
    """φ(x) = elu(x) + 1, positive everywhere."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """O (N, d) of causal linear attention (arXiv 2006.16236, on causal masking): one pass over a
    state of d × d and d numbers, no N × N scores."""
    state, total, rows = np.zeros((K.shape[1], V.shape[1])), np.zeros(K.shape[1]), []
    for q, k, v in zip(feature(Q), feature(K), V, strict=True):
        state, total = state + np.outer(k, v), total + k
        rows.append(q @ state / (q @ total))
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class Example:
    """Q, K, V (N, d) on screen as float64, and ``other``, the queries of a second head."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    other: np.ndarray


@lru_cache(maxsize=1)
def example() -> Example:
    one, two = trace(SHOWN), trace(replace(SHOWN, seed=SHOWN.seed + 1))
    return Example(*(x.astype(float) for x in (one.Q, one.K, one.V, two.Q)))


def weights(key: str = "causal", second: bool = False) -> np.ndarray:
    """P (N, N) of the tokens on screen under a variant; of linear attention what stands in P's
    place; ``second`` with the queries of another head of the group."""
    x, at = example(), np.arange(SHOWN.n)
    Q, K = x.other if second else x.Q, x.K
    p = VARIANTS[key].problem if key in VARIANTS else SHOWN
    keep = p.mask.keep(p.n, p.n)
    if key == "linear":
        found = np.where(keep, feature(Q) @ feature(K).T, 0)
        return found / found.sum(axis=1, keepdims=True)
    if key == "rope":
        Q, K = rope(Q, at), rope(K, at)
    S = p.score.apply(Q @ K.T * p.scale, at[:, None], at[None], head=0, heads=FEW)
    return softmax(np.where(keep, S, -np.inf))


def at_size(key: str, n: int) -> Mask:
    """What a variant keeps of N × N scores, with the sizes that models have."""
    return parse(SIZES.get(key, lambda n: "causal")(n))


def per_token(kv_heads: int) -> int:
    """Bytes of K and V of one token in one layer."""
    return 2 * kv_heads * WIDE * ELEMENT


def cache(key: str, n: int) -> int:
    """Bytes that a layer keeps to go on after N tokens: K and V of all that a later query may see,
    or the state of linear attention."""
    if key == "linear":
        return HEADS * (WIDE * WIDE + WIDE) * ELEMENT
    most = {"window": int(number("preset.window")), "documents": DOCUMENT}.get(key, n)
    return min(n, most) * per_token(GROUPS.get(key, HEADS))


def products(q: np.ndarray, k: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """RoPE's q·k/√d of one q at the positions i and one k at the positions j, (len i, len j)."""
    rows = (rope(np.repeat(x[None], len(at), 0), at) for x, at in ((q, i), (k, j)))
    return next(rows) @ next(rows).T * SHOWN.scale


def errors() -> dict[str, float]:
    """{what: largest difference of O on screen to softmax attention in float64}."""
    x = example()
    O = weights() @ x.V
    made = {
        "FA-2, tile by tile, fp32": trace(SHOWN).O,
        "linear attention, float64": linear(x.Q, x.K, x.V),
    }
    return {name: float(np.abs(found - O).max()) for name, found in made.items()}


# ---- as pictures ---------------------------------------------------------------------------------


def _levels(values: np.ndarray, keep: np.ndarray) -> list[str]:
    """A digit from 1 for the least to 9 for the largest of what is kept, "." for the rest."""
    low, high = values[keep].min(), values[keep].max()
    part = (values - low) / (high - low) if high > low else np.ones_like(values)
    digits = np.where(keep, np.rint(1 + 8 * part.clip(0, 1)).astype(int), 0)
    return ["".join(str(x) if x else "." for x in row) for row in digits]


def levels(key: str) -> list[str]:
    """The picture of a variant: which head of K and V a head reads; what ALiBi adds; RoPE's product
    of one q and one k; the weights of linear attention; else what is kept."""
    if key in GROUPS:
        few = FEW * GROUPS[key] // HEADS or 1
        reads = np.arange(FEW)[:, None] * few // FEW == np.arange(few)
        return _levels(np.ones_like(reads, float), reads)
    p, at, x = VARIANTS[key].problem, np.arange(SHOWN.n), example()
    values = {
        "alibi": lambda: p.score.apply(np.zeros((p.n, p.n)), at[:, None], at[None], 0, FEW),
        "rope": lambda: products(x.Q[0], x.K[0], at, at),
        "linear": lambda: weights("linear"),
    }.get(key, lambda: np.ones((p.n, p.n)))()
    return _levels(values, p.mask.keep(p.n, p.n))
