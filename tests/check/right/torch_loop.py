import math

import torch


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal, scale, block_q, block_k):
        n, nk = q.shape[2], k.shape[2]
        out, lse = torch.empty_like(q), torch.empty(q.shape[:3])
        for start in range(0, n, block_q):
            rows = torch.arange(start, min(start + block_q, n))
            query = q[:, :, rows].float()
            m = torch.full(query.shape[:3], -1e30)
            l = torch.zeros(query.shape[:3])
            acc = torch.zeros_like(query)
            for first in range(0, nk, block_k):
                cols = torch.arange(first, min(first + block_k, nk))
                key, value = k[:, :, cols].float(), v[:, :, cols].float()
                s = torch.einsum("bhid,bhjd->bhij", query, key) * scale
                if causal:
                    s = s.masked_fill(rows[:, None] + nk - n < cols, -math.inf)
                new = torch.maximum(m, s.amax(-1))
                p = torch.exp(s - new.unsqueeze(-1))
                alpha = torch.exp(m - new)
                l = alpha * l + p.sum(-1)
                acc = alpha.unsqueeze(-1) * acc + p @ value
                m = new
            out[:, :, rows] = (acc / l.clamp(min=1e-30).unsqueeze(-1)).to(q.dtype)
            lse[:, :, rows] = m + torch.log(l)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.rules = causal, scale, block_q, block_k
        return out, lse

    @staticmethod
    def backward(ctx, dout, _):
        q, k, v, out, lse = ctx.saved_tensors
        causal, scale, block_q, block_k = ctx.rules
        n, nk = q.shape[2], k.shape[2]
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        D = (dout * out).sum(-1)
        for first in range(0, nk, block_k):
            cols = torch.arange(first, min(first + block_k, nk))
            key, value = k[:, :, cols], v[:, :, cols]
            for start in range(0, n, block_q):
                rows = torch.arange(start, min(start + block_q, n))
                query, do = q[:, :, rows], dout[:, :, rows]
                s = query @ key.mT * scale
                if causal:
                    s = s.masked_fill(rows[:, None] + nk - n < cols, -math.inf)
                p = torch.exp(s - lse[:, :, rows].unsqueeze(-1))
                dv[:, :, cols] += p.mT @ do
                dp = do @ value.mT
                ds = p * (dp - D[:, :, rows].unsqueeze(-1))
                dq[:, :, rows] += ds @ key * scale
                dk[:, :, cols] += ds.mT @ query * scale
        return dq, dk, dv, None, None, None, None


def attention(q, k, v, *, causal=False, scale=None, block_q=16, block_k=16):
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    return Attention.apply(q, k, v, causal, scale, block_q, block_k)
