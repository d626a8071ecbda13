"""Step 2: the tiled forward pass in NumPy.

One row block of Q stays, key blocks come past. S and P exist for one tile at a time; O is not
divided until the last. The loop reports each tile, and the checker names the first wrong one.
Lesson, in the app: http://127.0.0.1:7860/?page=learn&lesson=tiled
Check: flashattention-check step2_forward.py
"""

import numpy as np


def update(S, V, m, l, o):
    """Return m, l and o after one more tile.

    S (rows, keys) are the scores of the tile, −inf where masked, V (keys, d) its values; m and l
    (rows,) and o (rows, d) what the row block knows so far: −inf, 0 and 0 before its first tile.
    """
    raise NotImplementedError("write the online softmax of one tile")


def finish(m, l, o):
    """Return O (rows, d) and lse (rows,) of a row block after its last tile; a row that saw no key
    has O = 0 and lse = −inf."""
    raise NotImplementedError("write the end of a row block")


def attention(q, k, v, *, causal=False, scale=None, block_q=4, block_k=4, report=None):
    """Given: the loops, the scores and the mask."""
    n, nk, d = q.shape[2], k.shape[2], q.shape[3]
    scale = np.float32(scale or d**-0.5)
    O, lse = np.zeros_like(q), np.zeros(q.shape[:3], np.float32)
    for b, h in np.ndindex(q.shape[:2]):
        Q, K, V = (x[b, h].astype(np.float32) for x in (q, k, v))
        for i, r in enumerate(range(0, n, block_q)):
            rows = np.arange(r, min(r + block_q, n))
            m, l = np.full(len(rows), -np.inf, np.float32), np.zeros(len(rows), np.float32)
            o = np.zeros((len(rows), d), np.float32)
            for j, c in enumerate(range(0, nk, block_k)):
                cols = np.arange(c, min(c + block_k, nk))
                if causal and c > rows[-1] + nk - n:
                    break
                S = Q[rows] @ K[cols].T * scale
                if causal:
                    S = np.where(rows[:, None] + nk - n >= cols, S, -np.inf)
                m, l, o = update(S, V[cols], m, l, o)
                if report:
                    report(i, j, m=m, l=l, o=o)
            O[b, h, rows], lse[b, h, rows] = finish(m, l, o)
    return O, lse
