"""Step 1: softmax in blocks.

Scores arrive block by block, and a later block may hold a larger one. Keep two numbers per row,
the largest score so far and the sum of exp(score − largest): one pass over the blocks gives both.
Lesson, in the app: http://127.0.0.1:7860/?page=learn&lesson=online
Check: flashattention-check step1_softmax.py
"""

import numpy as np


def statistics(S, block):
    """Return m and l (rows,) of scores S (rows, keys), reading `block` keys at a time.

    m is the largest score of a row, l the sum of exp(S − m). Masked scores are −inf; a row of these
    alone has m = −inf and l = 0. Never look at two blocks at once.
    """
    raise NotImplementedError("write the loop over the blocks of S")


def attention(q, k, v, *, causal=False, scale=None, block_q=4, block_k=4):
    """Given: scores, mask, and the weights from your m and l."""
    n, nk = q.shape[2], k.shape[2]
    S = (q @ k.swapaxes(2, 3) * (scale or q.shape[3] ** -0.5)).astype(np.float32)
    if causal:
        S = np.where(np.arange(n)[:, None] + nk - n >= np.arange(nk), S, -np.inf)
    O, lse = np.zeros_like(q), np.zeros(q.shape[:3], np.float32)
    for b, h in np.ndindex(q.shape[:2]):
        m, l = statistics(S[b, h], block_k)
        P = np.exp(S[b, h] - np.where(np.isinf(m), 0, m)[:, None])
        O[b, h] = P @ v[b, h] / np.where(l == 0, 1, l)[:, None]
        with np.errstate(divide="ignore"):
            lse[b, h] = m + np.log(l)
    return O, lse
