"""What the lessons on variants compute: sizes of K and V, masks at the size that models have, and
in NumPy RoPE, an input step, and linear attention, which no kernel of ours runs."""

from collections.abc import Callable

import numpy as np

from explainer.base.facts import number
from explainer.problem import Problem
from kernels.spec.masks import Mask, parse

EXAMPLE = Problem(mask="causal")  # N = 16, d = 8, tiles of 4
HEADS, WIDE, ELEMENT = 32, 128, 2  # H, d, bytes: Llama 3 8B, fp16
FEW = 8  # heads, of which ALiBi's slopes are shown
DOCUMENT = 2_048  # tokens of a packed document


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


# ---- what the models compute ---------------------------------------------------------------------


def rope(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """x (N, d), d even, float64, with row i rotated by its position p: the pair (x_c, x_{c+d/2}) by
    the angle p · 10,000^(−2c/d), as :func:`kernels.rotary.rope` does (arXiv 2104.09864)."""
    first, second = np.split(x.astype(float), 2, axis=-1)
    speed = 10_000 ** (np.arange(0, x.shape[-1], 2) / -x.shape[-1])
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


def at_size(key: str, n: int) -> Mask:
    """What a variant keeps of N × N scores, with the sizes that models have."""
    return parse(SIZES.get(key, lambda n: "causal")(n))


def per_token(kv_heads: int) -> int:
    """Bytes of K and V of one token in one layer."""
    return 2 * kv_heads * WIDE * ELEMENT


def linear_bytes() -> int:
    """Bytes that a layer of linear attention keeps, however many tokens it has seen."""
    return HEADS * (WIDE * WIDE + WIDE) * ELEMENT


def products(q: np.ndarray, k: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """RoPE's q·k/√d of one q at the positions i and one k at the positions j, (len i, len j)."""
    rows = (rope(np.repeat(x[None], len(at), 0), at) for x, at in ((q, i), (k, j)))
    return next(rows) @ next(rows).T * EXAMPLE.scale
