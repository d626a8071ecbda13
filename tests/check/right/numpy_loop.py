import numpy as np


def attention(q, k, v, *, causal=False, scale=None, block_q=None, block_k=None, report=None):
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    O, L = np.zeros(q.shape, q.dtype), np.zeros(q.shape[:3], np.float32)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            O[b, h], L[b, h] = one_head(
                *(x[b, h].astype(np.float32) for x in (q, k, v)),
                causal,
                np.float32(scale),
                block_q,
                block_k,
                report,
            )
    return O, L


def one_head(q, k, v, causal, scale, br, bc, report):
    n, d = q.shape
    nk = len(k)
    offset = nk - n
    O, L = np.zeros_like(q), np.zeros(n, np.float32)
    tr, tc = -(-n // br), -(-nk // bc)
    for i in range(tr):
        qi = q[i * br : (i + 1) * br]
        rows = i * br + np.arange(len(qi))
        m = np.full(len(qi), -np.inf, np.float32)
        l = np.zeros(len(qi), np.float32)
        o = np.zeros((len(qi), d), np.float32)
        for j in range(tc):
            if causal and j * bc > rows[-1] + offset:
                continue
            kj = k[j * bc : (j + 1) * bc]
            vj = v[j * bc : (j + 1) * bc]
            cols = j * bc + np.arange(len(kj))
            s = qi @ kj.T * scale
            if causal:
                s = np.where(rows[:, None] + offset >= cols, s, -np.inf)
            m_new = np.maximum(m, s.max(1))
            safe = np.where(np.isinf(m_new), 0, m_new)
            p = np.exp(s - safe[:, None])
            alpha = np.exp(m - safe)
            l = l * alpha + p.sum(1)
            o = o * alpha[:, None] + p @ vj
            m = m_new
            if report:
                report(i, j, m=m, l=l, o=o)
        with np.errstate(all="ignore"):
            O[i * br : (i + 1) * br] = o / np.where(l > 0, l, 1)[:, None]
            L[i * br : (i + 1) * br] = m + np.log(l)
    return O, L
