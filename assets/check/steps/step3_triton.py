"""Step 3: the forward pass as a Triton kernel, with the causal skip.

One program per row block and head. Without a GPU the checker runs it in Triton's interpreter.
Lesson, in the app: http://127.0.0.1:7860/?page=learn&lesson=read
Check: flashattention-check step3_triton.py
"""

import torch
import triton
import triton.language as tl


@triton.jit
def forward(Q, K, V, O, L, n, nk, scale, D: tl.constexpr, BR: tl.constexpr, BC: tl.constexpr,
            CAUSAL: tl.constexpr):  # fmt: skip
    """Q, O (heads, n, D), K, V (heads, nk, D) and L (heads, n) are contiguous. Rows at or beyond n
    and keys at or beyond nk do not exist. Under CAUSAL row i sees the keys up to i + nk − n: load
    no key block that no row of this program sees."""
    i, head = tl.program_id(0), tl.program_id(1)
    rows, dims = i * BR + tl.arange(0, BR), tl.arange(0, D)
    at_q = (head * n + rows[:, None]) * D + dims[None, :]
    q = tl.load(Q + at_q, mask=rows[:, None] < n, other=0.0).to(tl.float32)
    tl.static_assert(False, "write the loop over key blocks, then store O and L")


def attention(q, k, v, *, causal=False, scale=None, block_q=16, block_k=16):
    """Given: the launch."""
    b, h, n, d = q.shape
    q, k, v = (x.contiguous() for x in (q, k, v))
    o, lse = torch.empty_like(q), torch.empty(b, h, n, device=q.device)
    grid = (triton.cdiv(n, block_q), b * h)
    sizes = {"D": d, "BR": block_q, "BC": block_k, "CAUSAL": causal}
    forward[grid](q, k, v, o, lse, n, k.shape[2], scale or d**-0.5, **sizes)
    return o, lse
