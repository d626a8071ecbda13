"""What keeps a deep stack of attention steady: √d, fp32 sums, residuals, layer norm."""

import math
from functools import lru_cache

import numpy as np

from explainer.base.amounts import format_significant, power
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import softmax
from explainer.learn.precision import counted
from kernels.spec.formats import FORMATS

t = Words(__name__)
LAYERS, TOKENS, WIDTH = 12, 32, 64
TERMS, STRIDE = 4096, 32  # of a sum, and of its curve
MEASURES = t.named("measures")
ALL = tuple(MEASURES)


def normed(x: np.ndarray) -> np.ndarray:
    """Each row of x (tokens, width) with mean 0 and variance 1."""
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)


def spread(x: np.ndarray) -> float:
    """How much the tokens (rows) differ: the length of what is left without their mean, relative to
    the whole. 1: nothing in common; 0: all alike."""
    x = x.astype(float)
    size = np.linalg.norm(x)
    return float(np.linalg.norm(x - x.mean(0)) / size) if size > 0 else 0.0


def short_sum(P: np.ndarray, V: np.ndarray) -> np.ndarray:
    """P V added up term by term in fp16, which NumPy rounds to as a GPU does."""
    P, V = P.astype(np.float16), V.astype(np.float16)
    out = np.zeros((len(P), V.shape[1]), np.float16)
    for j in range(P.shape[1]):
        out += P[:, j : j + 1] * V[j]
    return out.astype(np.float32)


@lru_cache(maxsize=16)
def stack(habits: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
    """Random tokens through LAYERS layers of attention with random weights, all in fp32, of
    MEASURES those in ``kept``. Before the first layer and after each: "spread" of the tokens,
    "size" (root mean square), "top" (the largest weight of a row on average; none before the first
    layer)."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((TOKENS, WIDTH)).astype(np.float32)
    found = {"spread": [spread(x)], "size": [1.0], "top": []}
    for _ in range(LAYERS):
        made = rng.standard_normal((3, WIDTH, WIDTH)) / np.sqrt(WIDTH)
        Wq, Wk, Wv = made.astype(np.float32)
        h = normed(x) if "norm" in habits else x
        S = (h @ Wq) @ (h @ Wk).T
        P = softmax(S / np.float32(np.sqrt(WIDTH)) if "scale" in habits else S)
        out = P @ (h @ Wv) if "sums" in habits else short_sum(P, h @ Wv)
        x = x + out if "residual" in habits else out
        found["spread"].append(spread(x))
        found["size"].append(float(np.sqrt((x**2).mean())))
        found["top"].append(float(P.max(1).mean()))
    return {key: tuple(values) for key, values in found.items()}


@lru_cache(maxsize=2)
def sums(n: int, fmt: type) -> tuple[float, ...]:
    """A row of n equal weights 1/n, added up term by term in this format of NumPy's: (n + 1,) sums
    from 0 on."""
    found = [fmt(0)]
    for _ in range(n):
        found.append(fmt(found[-1] + fmt(1 / n)))
    return tuple(map(float, found))


def compute(**is_on: bool) -> Block:
    """The stack by four measures, each beside the one with all habits."""
    habits = tuple(key for key in ALL if is_on[key])
    mine, long = stack(habits), sums(TERMS, np.float32)[::STRIDE]
    added = long if "sums" in habits else sums(TERMS, np.float16)[::STRIDE]
    return t.picture(
        habits=[MEASURES[k] for k in habits] or t("none"),
        ends={key: format_significant(values[-1], 2) for key, values in mine.items()},
        whole=stack(ALL),
        mine=mine,
        layers=range(LAYERS + 1),
        after=range(1, LAYERS + 1),
        terms=range(0, len(long) * STRIDE, STRIDE),
        long=long,
        added=added,
        sum=added[-1],
    )


def figures() -> dict[str, object]:
    """Where counts stop; and how the stack ends without residuals, and with all but √d."""
    alone, wide = (stack(tuple(key for key in ALL if key != off)) for off in ("residual", "scale"))
    whole = stack(ALL)
    counts = {key: counted(FORMATS[key], 4096) for key in ("e4m3", "bf16", "fp16")}
    return {
        **counts,
        "size": alone["size"][-1],
        "spread": power(10, math.ceil(math.log10(alone["spread"][-1]))),
        "top": alone["top"][-1],
        "least": 1 / TOKENS,
        "scaled": whole["top"][0],
        "unscaled": wide["top"][0],
    }
