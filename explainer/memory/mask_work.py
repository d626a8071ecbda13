"""How much of N² a mask leaves: scores, tiles, FLOPs and bytes of one head, counted, for any N."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.traffic import requested_bytes
from explainer.memory.workload import Workload
from kernels.spec.masks import Mask
from kernels.spec.masks import flops as forward_flops

# The products of FlashAttention's passes, 2·d FLOPs each for a score: what is made, and of what.
PRODUCTS = {
    "forward": {"S": "Q Kᵀ", "O": "P V"},
    "backward": {"S": "Q Kᵀ", "dV": "Pᵀ dO", "dP": "dO Vᵀ", "dQ": "dS K", "dK": "dSᵀ Q"},
}


def flops(mask: Mask, heads: int, n: int, d: int, pass_: str = "forward") -> float:
    """FLOPs of a pass, as :func:`kernels.spec.masks.flops` does; backward 2.5 × forward."""
    forward = forward_flops(mask, heads, n, n, d)
    return forward * len(PRODUCTS[pass_]) / len(PRODUCTS["forward"])


@dataclass(frozen=True)
class Work:
    """Of one head, forward: ``scores`` that the mask keeps, ``tiles`` that FA-2 visits and those of
    them that are ``partial`` (ragged ones too), ``flops`` of the products, ``nbytes`` that FA-2
    requests."""

    scores: int
    tiles: int
    partial: int
    flops: float
    nbytes: int


@lru_cache(maxsize=64)
def work(w: Workload) -> Work:
    """Of the workload's mask. Raises ProblemError above 2²⁴ tiles."""
    # refuses too many tiles
    nbytes = requested_bytes(w.n, w.d, w.mask, w.dtype, "fa2", w.block_q, w.block_k)
    found = tiling.counts(w.problem("fa2"))
    return Work(
        w.mask.visible(w.n, w.n),
        found["full"] + found["partial"],
        found["partial"],
        flops(w.mask, 1, w.n, w.d),
        nbytes,
    )


# ---- decoding

LONG = 131_072  # tokens, “128 k”


def is_cached(mask: Mask, n: int) -> np.ndarray:
    """Return which of n keys must stay in the cache once n tokens are there, (n,) bool: those that
    the last one or a later one, up to 2n, sees; no query sees a key that comes after it."""
    _, stop = mask.row_range(2 * n, 2 * n, 1)
    return stop[:n] >= n


@lru_cache(maxsize=64)
def cached_keys(mask: Mask, n: int) -> int:
    """Count the keys that must stay in the cache."""
    return int(is_cached(mask, n).sum())


def key_heads(heads: int) -> tuple[int, ...]:
    """Heads of K and V that may serve ``heads`` of Q: H (MHA), fewer (GQA) down to 1 (MQA)."""
    return (*(heads // g for g in (1, 2, 4, 8) if not heads % g and heads > g), 1)


def cache_bytes(w: Workload, k_heads: int, tokens: int) -> int:
    """Bytes of K and V of this many tokens, of one sequence in one layer."""
    return 2 * k_heads * w.d * w.itemsize * tokens
