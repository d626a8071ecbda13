"""RoPE: positions as rotations of Q and K, before any kernel, in PyTorch."""

from __future__ import annotations

import math

import torch


def rope(x: torch.Tensor, base: float = 10_000.0, offset: int = 0) -> torch.Tensor:
    """Rotate row i of x (…, N, d), d even, by its position p = i + offset (arXiv 2104.09864, 3.2).

    The pair (x_c, x_{c+d/2}) is rotated by the angle p · base^(−2c/d), c from 0. Llama and GPT-NeoX
    pair so; the paper pairs neighbors, which is the same up to the order of dimensions. The product
    of rotated q and k depends on the distance of their positions alone. Where Nq < Nk, queries
    begin at offset Nk − Nq. Computed in fp32 from float64 angles; returns x's dtype.
    Raises ValueError with one sentence for an odd d, or a base or an offset out of range.
    """
    n, d = x.shape[-2:]
    if d % 2:
        raise ValueError(f"d = {d} is not allowed: RoPE rotates pairs, so d must be even.")
    if not (math.isfinite(base) and base > 0):
        raise ValueError(f"base = {base} is not allowed: it must be a positive number.")
    if isinstance(offset, bool) or not isinstance(offset, int) or abs(offset) > 1 << 40:
        raise ValueError(f"offset = {str(offset)[:40]} is not allowed: a whole number up to 2^40.")
    position = torch.arange(offset, offset + n, dtype=torch.float64, device=x.device)
    speed = base ** (torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / -d)
    angle = position[:, None] * speed
    cos, sin = angle.cos().float(), angle.sin().float()
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1).to(x.dtype)
