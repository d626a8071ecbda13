"""Judge kernels: plain attention in the inputs' dtype, and float64 attention, in PyTorch alone."""

from __future__ import annotations

import math

import numpy as np
import torch

from .checks import check_score
from .spec import masks
from .spec.dropout import factors
from .spec.scores import Score

CHUNK_BYTES = 1 << 28  # of float64 scores at once


def _positions(q_at: torch.Tensor, n_q: int, n_k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows (…, 1) and keys (1, Nk) of these queries, counted as keys are."""
    return q_at[:, None] + (n_k - n_q), torch.arange(n_k, device=q_at.device)[None, :]


def _sinks(sink: float | torch.Tensor | None, q: torch.Tensor, dtype: torch.dtype):
    """Return the sink's numbers (H,), or None."""
    if sink is None:
        return None
    return torch.as_tensor(sink, dtype=dtype, device=q.device).expand(q.shape[1])


def _factors(dropout: float, seed: int, first: int, stop: int, n_k: int, like: torch.Tensor):
    """Return the factors of rows ``first`` … ``stop`` of P, as spec/dropout.py counts them, (rows,
    Nk) in the dtype and on the device of ``like``."""
    rows, keys = np.arange(first, stop)[:, None], np.arange(n_k)[None, :]
    return torch.from_numpy(factors(dropout, seed, rows, keys, n_k)).to(like)


def _first_row(b: int, h: int, heads: int, n_q: int, of_heads: tuple[int, ...] | None) -> int:
    """Return dropout's number of the first row of a head, which may be a part (`of_heads`)."""
    first, all_heads, before = (*(of_heads or (0, heads)), 0)[:3]
    return ((before + b) * all_heads + first + h) * n_q


def all_factors(
    dropout: float, seed: int, q: torch.Tensor, n_k: int, of_heads: tuple[int, ...] | None = None
) -> torch.Tensor:
    """Return the factors of P of all heads, (B, H, Nq, Nk), in q's dtype, on its device."""
    batch, heads, n_q, _ = q.shape
    firsts = [_first_row(b, h, heads, n_q, of_heads) for b in range(batch) for h in range(heads)]
    every = [_factors(dropout, seed, first, first + n_q, n_k, q) for first in firsts]
    return torch.stack(every).view(batch, heads, n_q, n_k)


def naive_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    mask: str | None = None,
    score: str | None = None,
    sink: float | torch.Tensor | None = None,
    scale: float | None = None,
    of_heads: tuple[int, ...] | None = None,
    dropout: float = 0.0,
    seed: int = 0,
) -> torch.Tensor:
    """Compute softmax((scale · Q) Kᵀ) V with S and P (B, H, Nq, Nk) in the inputs' dtype.

    q (B, H, Nq, d), k and v (B, Hk, Nk, d), Hk dividing H; mask, score, sink, dropout and seed as
    `kernels.flash_attention`, of_heads as `reference_attention`. Returns O like q. Rows without a
    visible key give 0. Without a score or a sink it allocates the two N×N matrices and O alone.
    """
    parsed = masks.from_keywords(causal, mask)
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    drop = all_factors(dropout, seed, q, k.shape[2], of_heads) if dropout else None
    options = check_score(score), _sinks(sink, q, q.dtype), of_heads, drop
    return materialized(q, k, v, parsed, scale, *options, blind=blind(parsed, q, k))


def blind(mask: masks.Mask, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor | None:
    """Return the rows without a visible key, (Nq, 1) bool on q's device; None if there are none."""
    if not mask.hides:
        return None
    first, stop = mask.key_range(q.shape[2], k.shape[2], 1)
    found = first == stop
    return torch.from_numpy(found).to(q.device)[:, None] if found.any() else None


def materialized(
    q,
    k,
    v,
    mask: masks.Mask,
    scale: float,
    score: Score | None = None,
    sinks=None,
    of_heads=None,
    drop=None,
    blind=None,
) -> torch.Tensor:
    """Compute `naive_attention` from sinks (H,), P's factors `drop`, and `blind` rows.

    It consists of PyTorch's operators alone, so that torch.compile takes it as one graph. The scale
    multiplies Q, which is N × d: on S it would be one more pass over N × N.
    """
    n_q, n_k, group = q.shape[2], k.shape[2], q.shape[1] // k.shape[1]
    if group > 1:
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    s = torch.matmul(q * scale, k.transpose(-1, -2))
    if mask.hides or (score and score.changes):
        rows, keys = _positions(torch.arange(n_q, device=q.device), n_q, n_k)
    if score and score.changes:
        s = _by_head(score, s, rows, keys, *(of_heads or (0, q.shape[1]))[:2])
    if mask.hides:
        hidden = mask.hidden(rows, keys)
        if blind is not None:  # whose softmax would be NaN, and so the gradients of all rows
            hidden = hidden & ~blind
        s.masked_fill_(hidden, float("-inf"))
    if sinks is None:
        p = torch.softmax(s, dim=-1)
    else:
        s = torch.cat((s, sinks[:, None, None].expand(*s.shape[:3], 1)), -1)
        p = torch.softmax(s, dim=-1)[..., :n_k]
    del s
    if drop is not None:
        p = p * drop
    o = torch.matmul(p, v)
    return o if blind is None else o.masked_fill(blind, 0.0)


def _by_head(score: Score, s: torch.Tensor, rows, keys, first: int, heads: int) -> torch.Tensor:
    """Return the scores (B, H, Nq, Nk) after the score's steps, in their own dtype: of the heads
    from ``first`` on, of ``heads``."""
    each = enumerate(s.unbind(1), first)
    return torch.stack([score.apply(one, rows, keys, h, heads) for h, one in each], 1)


def reference_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    mask: str | None = None,
    score: str | None = None,
    sink: float | torch.Tensor | None = None,
    scale: float | None = None,
    of_heads: tuple[int, ...] | None = None,
    dropout: float = 0.0,
    seed: int = 0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute attention in float64: O (B, H, Nq, d) and lse (B, H, Nq), natural log.

    mask, score, sink, dropout and seed as `kernels.flash_attention`. Works on blocks of rows, so
    that long sequences fit. Rows without a visible key: O = 0, lse = −inf or the sink. `of_heads`,
    which alibi and dropout need: q is a part of a tensor with that many heads (second) from that
    head on (first), and from that sequence of its batch on (third).
    """
    batch, heads, n_q, d = q.shape
    o = torch.zeros(batch, heads, n_q, d, dtype=torch.float64, device=q.device)
    lse = torch.full((batch, heads, n_q), float("-inf"), dtype=torch.float64, device=q.device)
    rules = masks.from_keywords(causal, mask), scale, check_score(score), sink, of_heads
    for b, h, rows, s, v_bh, lse_rows in _blocks(q, k, v, *rules):
        lse[b, h, rows] = lse_rows
        p = _weights(s, lse_rows)
        if dropout:
            first = _first_row(b, h, heads, n_q, of_heads) + rows.start
            p = p * _factors(dropout, seed, first, first + len(p), k.shape[2], p)
        o[b, h, rows] = p @ v_bh
    return o, lse


def _blocks(q, k, v, mask: masks.Mask, scale: float | None, score: Score, sink, of_heads):
    """Yield (batch, head, slice of rows, their S, V of the head, lse) in float64."""
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    group, n_q, n_k = q.shape[1] // k.shape[1], q.shape[2], k.shape[2]
    first_head, heads = (of_heads or (0, q.shape[1]))[:2]
    sinks = _sinks(sink, q, torch.float64)
    chunk = max(1, CHUNK_BYTES // (8 * n_k))
    for b, h in torch.cartesian_prod(*map(torch.arange, q.shape[:2])).tolist():
        k_bh, v_bh = k[b, h // group].double(), v[b, h // group].double()
        for start in range(0, n_q, chunk):
            s = (q[b, h, start : start + chunk].double() @ k_bh.T) * scale
            at = torch.arange(start, start + s.shape[0], device=q.device)
            rows, keys = _positions(at, n_q, n_k)
            s = score.apply(s, rows, keys, first_head + h, heads)
            if mask.hides:
                s.masked_fill_(mask.hidden(rows, keys), float("-inf"))
            lse = torch.logsumexp(s, dim=-1)
            if sinks is not None:
                lse = torch.logaddexp(lse, sinks[h])
            yield b, h, slice(start, start + s.shape[0]), s, v_bh, lse


def _weights(s: torch.Tensor, lse: torch.Tensor) -> torch.Tensor:
    """Return P of these rows; 0 in a row without a visible key."""
    return torch.exp(s - lse.masked_fill(lse.isinf(), 0.0)[:, None])


def roundings(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, mask: str, score: str | None = None,
    sink: float | torch.Tensor | None = None, of_heads: tuple[int, ...] | None = None,
    dropout: float = 0.0, seed: int = 0, scale: float | None = None,
) -> dict[str, float]:  # fmt: skip
    """Bound the effect on O of a relative rounding of P or S, per unit of rounding.

    Returns in float64 the largest over all entries (i, c) of O: ``weights`` Σⱼ Pᵢⱼ|vⱼ|, |O|
    without cancellation; ``norms`` Σⱼ Pᵢⱼ (‖qᵢ‖‖kⱼ‖/√d + 1)(|vⱼ| + |Oᵢ|), for errors of S that
    grow with the norms of what was multiplied; ``scores`` Σⱼ Pᵢⱼ |Sᵢⱼ| (|vⱼ| + |Oᵢ|), for S rounded
    as a whole: to first order ΔO = Σⱼ Pᵢⱼ ΔSᵢⱼ (vⱼ − Oᵢ). A score that modifies Sᵢⱼ passes an error
    on, times its factors `scale`, and adds one of the size of what it makes: |Sᵢⱼ| joins the norms.
    With dropout vⱼ is multiplied by its factor, in O and in |vⱼ|. Other arguments as
    `reference_attention`.
    """
    found = {"weights": 0.0, "norms": 0.0, "scores": 0.0}
    size_of_scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else abs(scale)
    modified = check_score(score)
    factor = math.prod(abs(numbers[0]) for name, numbers in modified.steps if name == "scale")
    group = q.shape[1] // k.shape[1]

    def raise_to(name: str, values: torch.Tensor) -> None:
        found[name] = max(found[name], values.max().item())

    rules = masks.from_keywords(False, mask), scale, modified, sink, of_heads
    for b, h, rows, s, v_bh, lse in _blocks(q, k, v, *rules):
        p, size, dropped = _weights(s, lse), v_bh.abs(), 1.0
        if dropout:
            first = _first_row(b, h, q.shape[1], q.shape[2], of_heads) + rows.start
            dropped = _factors(dropout, seed, first, first + len(p), k.shape[2], p)
        o = ((p * dropped) @ v_bh).abs()
        raise_to("weights", (p * dropped) @ size)
        lengths = [x.double().norm(dim=-1) for x in (q[b, h, rows], k[b, h // group])]
        norms = lengths[0][:, None] * lengths[1] * (size_of_scale * factor) + 1.0
        large = s.abs().nan_to_num(posinf=0.0)
        if modified.changes:
            norms = norms + large
        for name, shift in (("norms", norms), ("scores", large)):
            moved = p * shift
            raise_to(name, (moved * dropped) @ size + moved.sum(-1, keepdim=True) * o)
    return found


def reference_states(
    q: torch.Tensor,
    k: torch.Tensor,
    *,
    causal: bool = False,
    mask: str | None = None,
    score: str | None = None,
    sink: float | torch.Tensor | None = None,
    scale: float | None = None,
    block_m: int,
    block_n: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute m and l after every key block by definition, in float64 and without tiles.

    m_j = max over the keys up to block j's last, l_j = Σ exp(S − m_j) over the same keys; a sink is
    one key more, from the start. q (B, H, Nq, d), k (B, Hk, Nk, d), Hk dividing H. Returns m and l,
    each (B, H, Tr, Tc, block_m) float64 on the CPU, NaN where the mask hides the whole tile and in
    the rows beyond Nq.
    """
    parsed = masks.from_keywords(causal, mask)
    (batch, heads, n_q, _), n_k = q.shape, k.shape[2]
    tr, tc = -(-n_q // block_m), -(-n_k // block_n)
    m = torch.full((batch, heads, tr * block_m, tc), float("nan"), dtype=torch.float64)
    l = m.clone()
    sinks = _sinks(sink, q, torch.float64)
    for b, h, rows, s, *_ in _blocks(q, k, k, parsed, scale, check_score(score), sink, None):
        s = torch.nn.functional.pad(s, (0, tc * block_n - n_k), value=float("-inf"))
        s = s.view(-1, tc, block_n)
        m_rows = s.amax(-1).cummax(-1).values
        lse = s.logsumexp(-1).logcumsumexp(-1)
        if sinks is not None:
            m_rows, lse = m_rows.clamp(min=sinks[h]), torch.logaddexp(lse, sinks[h])
        m[b, h, rows] = m_rows.cpu()
        l[b, h, rows] = (lse - m_rows.nan_to_num(neginf=0.0)).exp().cpu()  # no −∞ − (−∞)
    m, l = (x.view(batch, heads, tr, block_m, tc).transpose(-1, -2).contiguous() for x in (m, l))
    skipped = torch.from_numpy(parsed.tiles(n_q, n_k, block_m, block_n) == masks.SKIPPED)
    m[:, :, skipped] = l[:, :, skipped] = float("nan")
    return m, l
