import torch
import triton
import triton.language as tl


@triton.jit
def forward(
    Q,
    K,
    V,
    O,
    L,
    n,
    nk,
    scale,
    D: tl.constexpr,
    BR: tl.constexpr,
    BC: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    i, head = tl.program_id(0), tl.program_id(1)
    rows, dims = i * BR + tl.arange(0, BR), tl.arange(0, D)
    at_q = head * n * D + rows[:, None] * D + dims[None, :]
    q = tl.load(Q + at_q, mask=rows[:, None] < n, other=0.0).to(tl.float32)
    m = tl.full([BR], float("-inf"), tl.float32)
    l = tl.zeros([BR], tl.float32)
    acc = tl.zeros([BR, D], tl.float32)
    stop = nk
    if CAUSAL:
        stop = tl.minimum(nk, (i + 1) * BR + nk - n)
    for start in range(0, stop, BC):
        keys = start + tl.arange(0, BC)
        at_k = head * nk * D + keys[:, None] * D + dims[None, :]
        k = tl.load(K + at_k, mask=keys[:, None] < nk, other=0.0).to(tl.float32)
        v = tl.load(V + at_k, mask=keys[:, None] < nk, other=0.0).to(tl.float32)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        s = tl.where(keys[None, :] < nk, s, float("-inf"))
        if CAUSAL:
            s = tl.where(rows[:, None] + nk - n >= keys[None, :], s, float("-inf"))
        new = tl.maximum(m, tl.max(s, 1))
        safe = tl.where(new == float("-inf"), 0.0, new)
        p = tl.exp(s - safe[:, None])
        alpha = tl.exp(m - safe)
        l = l * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p, v, input_precision="ieee")
        m = new
    lse = m + tl.log(l)
    acc = acc / tl.where(l > 0, l, 1.0)[:, None]
    tl.store(O + at_q, acc, mask=rows[:, None] < n)
    tl.store(L + head * n + rows, lse, mask=rows < n)


def attention(q, k, v, *, causal=False, scale=None, block_q=16, block_k=16):
    b, h, n, d = q.shape
    o, lse = torch.empty_like(q), torch.empty(b, h, n, device=q.device)
    scale = d**-0.5 if scale is None else scale
    grid = (triton.cdiv(n, block_q), b * h)
    forward[grid](
        q.contiguous(),
        k.contiguous(),
        v.contiguous(),
        o,
        lse,
        n,
        k.shape[2],
        scale,
        D=d,
        BR=block_q,
        BC=block_k,
        CAUSAL=causal,
    )
    return o, lse
