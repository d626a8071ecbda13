"""The judges: plain attention in the inputs' dtype, and float64 attention. No Triton here."""

from __future__ import annotations

import math

import torch

from . import masks

CHUNK_BYTES = 1 << 28  # of float64 scores held at once


def _hidden(mask: masks.Mask, rows: torch.Tensor, n_q: int, n_k: int) -> torch.Tensor:
    """bool (rows, Nk): True where a key is hidden from a row; `mask.keep`, made on the device."""
    keys = torch.arange(n_k, device=rows.device)
    return mask.hidden(rows[:, None] + (n_k - n_q), keys[None, :])


def naive_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    mask: str | None = None,
    scale: float | None = None,
) -> torch.Tensor:
    """softmax((scale · Q) Kᵀ) V with S and P materialized (B, H, Nq, Nk) in the inputs' dtype.

    q (B, H, Nq, d), k and v (B, Hk, Nk, d), Hk dividing H. Returns O like q. Rows that see no key
    give 0. The two N×N matrices are all that it holds besides its inputs.
    """
    asked = masks.asked(causal, mask)
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    group = q.shape[1] // k.shape[1]
    if group > 1:
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    o = materialized(q, k, v, asked, scale)
    if asked.hides:
        first, stop = asked.key_range(q.shape[2], k.shape[2], 1)
        if (blind := first == stop).any():
            o[:, :, torch.from_numpy(blind)] = 0.0
    return o


def materialized(q, k, v, mask: masks.Mask, scale: float) -> torch.Tensor:
    """`naive_attention` of as many heads in k and v as in q; rows that see no key give NaN.

    Operators of PyTorch and nothing else, so that torch.compile takes it as one graph. The scale is
    on Q, which is N × d: on S it would be one more pass over N × N.
    """
    n_q, n_k = q.shape[2], k.shape[2]
    s = torch.matmul(q * scale, k.transpose(-1, -2))
    if mask.hides:
        s.masked_fill_(_hidden(mask, torch.arange(n_q, device=q.device), n_q, n_k), float("-inf"))
    p = torch.softmax(s, dim=-1)
    del s
    return torch.matmul(p, v)


def reference_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    mask: str | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention in float64 of the same inputs: O (B, H, Nq, d) and lse (B, H, Nq), natural log.

    Works on blocks of rows, so that long sequences fit. Rows that see no key: O = 0, lse = −inf.
    """
    batch, heads, n_q, d = q.shape
    o = torch.zeros(batch, heads, n_q, d, dtype=torch.float64, device=q.device)
    lse = torch.full((batch, heads, n_q), float("-inf"), dtype=torch.float64, device=q.device)
    for b, h, rows, s, v_bh in _blocks(q, k, v, masks.asked(causal, mask), scale):
        lse[b, h, rows] = torch.logsumexp(s, dim=-1)
        o[b, h, rows] = _weights(s, lse[b, h, rows]) @ v_bh
    return o, lse


def _blocks(q, k, v, mask: masks.Mask, scale: float | None):
    """(batch, head, slice of rows, their S, V of the head) in float64, as many rows as fit."""
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    group, n_q, n_k = q.shape[1] // k.shape[1], q.shape[2], k.shape[2]
    chunk = max(1, CHUNK_BYTES // (8 * n_k))
    for b, h in torch.cartesian_prod(*map(torch.arange, q.shape[:2])).tolist():
        k_bh, v_bh = k[b, h // group].double(), v[b, h // group].double()
        for start in range(0, n_q, chunk):
            s = (q[b, h, start : start + chunk].double() @ k_bh.T) * scale
            if mask.hides:
                rows = torch.arange(start, start + s.shape[0], device=q.device)
                s.masked_fill_(_hidden(mask, rows, n_q, n_k), float("-inf"))
            yield b, h, slice(start, start + s.shape[0]), s, v_bh


def _weights(s: torch.Tensor, lse: torch.Tensor) -> torch.Tensor:
    """P of these rows; 0 in a row that sees no key."""
    return torch.exp(s - lse.masked_fill(lse.isinf(), 0.0)[:, None])


def roundings(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, mask: str) -> dict[str, float]:
    """What a relative rounding of P, or of S, can do to O at most: to be multiplied by its size.

    In float64, the largest over all entries (i, c) of O: ``weights`` Σⱼ Pᵢⱼ|vⱼ|, which is |O|
    without cancellation; ``norms`` Σⱼ Pᵢⱼ (‖qᵢ‖‖kⱼ‖/√d + 1)(|vⱼ| + |Oᵢ|), for errors of S that
    grow with the norms of what was multiplied; ``scores`` Σⱼ Pᵢⱼ |Sᵢⱼ| (|vⱼ| + |Oᵢ|), for S rounded
    as a whole: to first order ΔO = Σⱼ Pᵢⱼ ΔSᵢⱼ (vⱼ − Oᵢ).
    """
    found = dict.fromkeys(("weights", "norms", "scores"), 0.0)
    scale = 1.0 / math.sqrt(q.shape[-1])
    group = q.shape[1] // k.shape[1]

    def keep(name: str, values: torch.Tensor) -> None:
        found[name] = max(found[name], values.max().item())

    for b, h, rows, s, v_bh in _blocks(q, k, v, masks.asked(False, mask), None):
        p, size = _weights(s, torch.logsumexp(s, dim=-1)), v_bh.abs()
        o = (p @ v_bh).abs()
        keep("weights", p @ size)
        lengths = [x.double().norm(dim=-1) for x in (q[b, h, rows], k[b, h // group])]
        reach = lengths[0][:, None] * lengths[1] * scale + 1.0
        for name, shift in (("norms", reach), ("scores", s.abs().nan_to_num(posinf=0.0))):
            moved = p * shift
            keep(name, moved @ size + moved.sum(-1, keepdim=True) * o)
    return found


def reference_states(
    q: torch.Tensor,
    k: torch.Tensor,
    *,
    causal: bool = False,
    mask: str | None = None,
    scale: float | None = None,
    block_m: int,
    block_n: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """m and l after every key block by definition, in float64 and with no tile in them.

    m_j = max over the keys up to block j's last, l_j = Σ exp(S − m_j) over the same keys. q, k
    (B, H, N, d), equally long. Returns m and l, each (B, H, Tr, Tc, block_m) float64 on the CPU,
    NaN where the mask hides the whole tile and in the rows beyond N.
    """
    asked = masks.asked(causal, mask)
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    batch, heads, n, _ = q.shape
    tr, tc = -(-n // block_m), -(-n // block_n)
    m = torch.full((batch, heads, tr * block_m, tc), float("nan"), dtype=torch.float64)
    l = m.clone()
    chunk = max(1, CHUNK_BYTES // (8 * tc * block_n))
    for b, h in torch.cartesian_prod(torch.arange(batch), torch.arange(heads)).tolist():
        keys = k[b, h].double().T
        for start in range(0, n, chunk):
            seen = slice(start, min(start + chunk, n))  # the last row block may be padded
            s = (q[b, h, seen].double() @ keys) * scale
            if asked.hides:
                rows = torch.arange(start, start + s.shape[0], device=q.device)
                s.masked_fill_(_hidden(asked, rows, n, n), float("-inf"))
            s = torch.nn.functional.pad(s, (0, tc * block_n - n), value=float("-inf"))
            s = s.view(-1, tc, block_n)
            m_rows = s.amax(-1).cummax(-1).values
            lse = s.logsumexp(-1).logcumsumexp(-1)
            m[b, h, seen] = m_rows.cpu()
            l[b, h, seen] = (lse - m_rows).exp().cpu()
    m, l = (x.view(batch, heads, tr, block_m, tc).transpose(-1, -2).contiguous() for x in (m, l))
    skipped = torch.from_numpy(asked.tiles(n, n, block_m, block_n) == masks.SKIPPED)
    m[:, :, skipped] = l[:, :, skipped] = float("nan")
    return m, l
