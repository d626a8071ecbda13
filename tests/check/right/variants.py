"""A right loop in many ways; the first lines choose one."""

import math

import numpy as np

TORCH, ORDER, TILE, BASE2, HIDDEN, SKIPS, REPORTS, NORMALIZED = CHOSEN  # noqa: F821


def blocks(n, size):
    return [(j, c, min(c + size, n)) for j, c in enumerate(range(0, n, size))]


def head(q, k, v, causal, scale, br, bc, report):
    n, nk, d = len(q), len(k), q.shape[1]
    unit = np.float32(math.log2(math.e) if BASE2 else 1)
    exp, log = (np.exp2, np.log2) if BASE2 else (np.exp, np.log)
    m, l = np.full(n, -np.inf, np.float32), np.zeros(n, np.float32)
    o = np.zeros((n, d), np.float32)
    parts = []

    def tile(i, r0, r1, j, c0, c1):
        rows, cols = np.arange(r0, r1), np.arange(c0, c1)
        if causal and SKIPS and c0 > rows[-1] + nk - n:
            return
        s = q[r0:r1] @ k[c0:c1].T * np.float32(scale) * unit
        if causal:
            s = np.where(rows[:, None] + nk - n >= cols, s, np.float32(HIDDEN))
        new = np.maximum(m[r0:r1], s.max(1))
        safe = np.where(np.isinf(new), 0, new)
        p = exp(s - safe[:, None])
        alpha = exp(m[r0:r1] - safe)
        before = l[r0:r1].copy()
        l[r0:r1] = l[r0:r1] * alpha + p.sum(1)
        if NORMALIZED:
            old = o[r0:r1] * (before * alpha)[:, None]
            o[r0:r1] = (old + p @ v[c0:c1]) / np.where(l[r0:r1] > 0, l[r0:r1], 1)[:, None]
        else:
            o[r0:r1] = o[r0:r1] * alpha[:, None] + p @ v[c0:c1]
        m[r0:r1] = new
        if report and REPORTS:
            report(i, j, m=m[r0:r1], l=l[r0:r1], o=o[r0:r1])

    rows, keys = blocks(n, br), blocks(nk, bc)
    if ORDER == "keys":
        for key in keys:
            for row in rows:
                tile(*row, *key)
    elif ORDER == "split":
        for half in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
            m[:], l[:], o[:] = -np.inf, 0, 0
            for row in rows:
                for key in half:
                    tile(*row, *key)
            parts.append((m.copy(), l.copy(), o.copy()))
        (m1, l1, o1), (m2, l2, o2) = parts
        top = np.maximum(m1, m2)
        top0 = np.where(np.isinf(top), 0, top)
        a, b = exp(m1 - top0), exp(m2 - top0)
        if NORMALIZED:
            a, b = a * l1, b * l2
            l1, l2 = np.ones_like(l1), np.ones_like(l2)
            l = a + b
        else:
            l = a * l1 + b * l2
        m, o = top, a[:, None] * o1 + b[:, None] * o2
    else:
        for row in rows:
            for key in keys[::-1] if ORDER == "reversed" else keys:
                tile(*row, *key)
    if not NORMALIZED or ORDER == "split":
        o = o / np.where(l > 0, l, 1)[:, None]
    seen = np.arange(n) + nk - n >= 0 if causal else np.ones(n, bool)
    o = np.where(seen[:, None], o, 0)
    lse = np.where(seen, (m + log(np.where(l > 0, l, 1))) / unit, -np.inf)
    return o, lse


def attention(q, k, v, *, causal=False, scale=None, block_q=4, block_k=4, report=None):
    if TORCH:
        import torch

        kind, (q, k, v) = q.dtype, (x.detach().float().numpy() for x in (q, k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    br, bc = (TILE, TILE) if TILE else (block_q, block_k)
    O, L = np.zeros(q.shape, q.dtype), np.zeros(q.shape[:3], np.float32)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            x = [y[b, h].astype(np.float32) for y in (q, k, v)]
            with np.errstate(all="ignore"):
                O[b, h], L[b, h] = head(*x, causal, scale, br, bc, report)
    return (torch.from_numpy(O).to(kind), torch.from_numpy(L)) if TORCH else (O, L)
