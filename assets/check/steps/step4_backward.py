"""Step 4: the backward pass, tile by tile.

P is not saved: it comes again from S and lse. Keys outside, rows inside; dK and dV of a key block
are sums over rows, dQ of a row block one over keys.
Lesson, in the app: http://127.0.0.1:7860/?page=learn&lesson=backward
Check: flashattention-check step4_backward.py
"""

import numpy as np


def tile(Q, K, V, dO, lse, D, visible, scale):
    """Return what one tile adds to dQ (rows, d), dK and dV (keys, d).

    Q and dO (rows, d), lse and D = rowsum(dO ∘ O) (rows,), K and V (keys, d); visible (rows, keys)
    bool is the mask; S = scale · Q Kᵀ.
    """
    raise NotImplementedError("write S, P, dV, dP, dS, dQ and dK of a tile")


def backward(q, k, v, o, lse, do, *, causal, scale=None, block_q=4, block_k=4):
    """Given: the loops."""
    n, nk = q.shape[2], k.shape[2]
    scale = scale or q.shape[3] ** -0.5
    dQ, dK, dV = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for b, h in np.ndindex(q.shape[:2]):
        D = (do[b, h] * o[b, h]).sum(1)
        for c in range(0, nk, block_k):
            cols = np.arange(c, min(c + block_k, nk))
            for r in range(0, n, block_q):
                rows = np.arange(r, min(r + block_q, n))
                seen = rows[:, None] + nk - n >= cols if causal else np.ones((1, 1), bool)
                mine = q[b, h, rows], k[b, h, cols], v[b, h, cols], do[b, h, rows]
                added = tile(*mine, lse[b, h, rows], D[rows], seen, scale)
                for total, at, part in zip((dQ, dK, dV), (rows, cols, cols), added, strict=True):
                    total[b, h, at] += part
    return dQ, dK, dV


def attention(q, k, v, *, causal=False, scale=None):
    """Given: the forward pass, not in tiles."""
    n, nk = q.shape[2], k.shape[2]
    S = q.astype(np.float32) @ k.swapaxes(2, 3).astype(np.float32)
    S = S * np.float32(scale or q.shape[3] ** -0.5)
    if causal:
        S = np.where(np.arange(n)[:, None] + nk - n >= np.arange(nk), S, -np.inf)
    m = S.max(3, keepdims=True)
    P = np.exp(S - np.where(np.isinf(m), 0, m))
    l = P.sum(3, keepdims=True)
    with np.errstate(divide="ignore"):
        return (P @ v / np.where(l == 0, 1, l)).astype(q.dtype), (m + np.log(l))[..., 0]
