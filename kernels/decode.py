"""Decoding, one query against many keys: the keys split among programs, their parts combined."""

from __future__ import annotations

import torch

from .orders import flash_attention


def combine(o: torch.Tensor, lse: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """O and lse over all keys, from those over parts of them: exact in real arithmetic.

    o (..., parts, rows, d) and lse (..., parts, rows), natural log, each part normalised by itself.
    lse = log Σ exp(lse_p), O = Σ exp(lse_p − lse) O_p. A part that sees no key has lse −inf.
    Returns o (..., rows, d) in o's dtype and lse (..., rows).
    """
    whole = torch.logsumexp(lse, -2)
    shift = torch.where(whole == float("-inf"), 0.0, whole)
    weights = torch.exp(lse - shift.unsqueeze(-2))
    return (weights.unsqueeze(-1) * o.float()).sum(-3).to(o.dtype), whole


def split_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, splits: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of q (B, H, Nq, d) to k and v (B, H, Nk, d), Nk a multiple of `splits`: each part
    of the keys is a head of its own to the FA-2 kernel. Returns O (B, H, Nq, d), lse (B, H, Nq).

    Raises ValueError if Nk cannot be divided evenly.
    """
    batch, heads, n_q, d = q.shape
    n_k = k.shape[2]
    if splits < 1 or n_k % splits:
        raise ValueError(f"splits = {splits} is not allowed: Nk = {n_k} must be a multiple of it.")
    shape = (batch, heads * splits, n_k // splits, d)
    spread = q.unsqueeze(2).expand(batch, heads, splits, n_q, d).reshape(batch, -1, n_q, d)
    o, lse = flash_attention(spread, k.reshape(shape), v.reshape(shape), return_lse=True)
    return combine(o.view(batch, heads, splits, n_q, d), lse.view(batch, heads, splits, n_q))
