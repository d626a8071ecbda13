"""What rungs 1 to 9 share: text, addresses, a little mathematics."""

from __future__ import annotations

import itertools
from functools import lru_cache
from urllib.parse import urlencode

import numpy as np

from explainer.base.amounts import shown
from explainer.problem import Problem

# "cat" rung: one row of scores a visit, so that one query can be followed through all three passes
CAT = Problem(
    n=3, d=4, block_q=1, block_k=3, causal=False, order="standard", inputs="sentence",
    text="the cat sat", gain=3.0,
)  # fmt: skip

SPREAD_D = (1, 4, 16, 64, 256)
KEYS_EACH = 8  # keys that share one query's weight in the experiment with random vectors

A = np.array([[1, 2, 0, -1], [3, -1, 2, 1], [0, 1, -2, 2]])
B = np.array([[2, 0, 1], [-1, -1, 0], [0, 3, 3], [1, 0, 2]])
LOOPS = {
    "ijk": "i, j, k: cell after cell",
    "ikj": "i, k, j: row after row",
    "kij": "k, i, j: a little of every cell",
}
PRODUCTS = A.shape[0] * A.shape[1] * B.shape[1]


def products(a: np.ndarray, b: np.ndarray, digits: int) -> str:
    """The sum that a dot product is, written out."""
    pairs = zip(a, b, strict=True)
    return " + ".join(f"({shown(x, digits)})·({shown(y, digits)})" for x, y in pairs)


def address(problem: Problem, step: int, phase: str) -> str:
    """The query of a Problem and a place in it, as it stands in the address after "?"."""
    return urlencode(problem.to_query() | {"step": str(step), "phase": phase})


def whole(value: float | str) -> int:
    """A control's value as a whole number: a slider's steps are not enforced elsewhere."""
    return int(float(value) + 0.5)


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Of ``x``, any shape and dtype, along ``axis``; rows of −inf alone become NaN, as 0/0 is."""
    with np.errstate(invalid="ignore"):
        weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


@lru_cache(maxsize=len(SPREAD_D))
def spread(d: int) -> dict[str, float]:
    """Random normal vectors of d numbers, 500 queries with 8 keys each: the standard deviation of
    their dot products, and a query's largest softmax weight on average, raw and divided by √d."""
    rng = np.random.default_rng(d)
    q = rng.standard_normal((500, 1, d), dtype=np.float32)
    k = rng.standard_normal((500, KEYS_EACH, d), dtype=np.float32)
    raw = np.einsum("qid,qkd->qk", q, k).astype(float)
    scaled = raw / np.sqrt(d)
    return {
        "raw": float(raw.std()),
        "scaled": float(scaled.std()),
        "raw_top": float(softmax(raw).max(axis=1).mean()),
        "scaled_top": float(softmax(scaled).max(axis=1).mean()),
    }


def measures(a: np.ndarray, b: np.ndarray) -> dict[str, float | None]:
    """Norms, dot product and cosine of two vectors; the cosine is None beside a zero vector."""
    norms = float(np.sqrt((a * a).sum())), float(np.sqrt((b * b).sum()))
    dot = float((a * b).sum())
    cosine = dot / (norms[0] * norms[1]) if norms[0] * norms[1] else None
    return {"norm_a": norms[0], "norm_b": norms[1], "dot": dot, "cosine": cosine}


def product(order: str, done: int) -> tuple[np.ndarray, tuple[int, int, int] | None]:
    """A B after ``done`` multiply-adds of the three loops nested as in ``order``, and the last
    (i, j, k) done."""
    sizes = {"i": A.shape[0], "j": B.shape[1], "k": A.shape[1]}
    C, last = np.zeros((sizes["i"], sizes["j"]), A.dtype), None
    for at in itertools.islice(itertools.product(*(range(sizes[x]) for x in order)), done):
        place = dict(zip(order, at, strict=True))
        last = i, j, k = place["i"], place["j"], place["k"]
        C[i, j] += A[i, k] * B[k, j]
    return C, last
