"""Judge kernels: plain attention in the inputs' dtype, and float64 attention, in PyTorch alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from .checks import check_dropout, check_score, scale_of
from .spec import masks
from .spec.dropout import factors
from .spec.scores import Score

CHUNK_BYTES = 1 << 28  # of float64 scores at once


@dataclass(frozen=True)
class Rules:
    """What a call says beside q, k and v, parsed. ``sinks`` (H,), or None; ``first_head`` of
    ``heads`` and ``first_sequence``: of which tensor q is a part."""

    mask: masks.Mask
    score: Score
    sinks: torch.Tensor | None
    scale: float
    first_head: int
    heads: int
    first_sequence: int
    dropout: float
    seed: int

    def factors(self, b: int, h: int, rows: slice, n_q: int, n_k: int, like: torch.Tensor):
        """Return dropout's factors of these rows of P of a head, as spec/dropout.py counts them,
        (rows, Nk) in the dtype and on the device of ``like``."""
        pair = (self.first_sequence + b) * self.heads + self.first_head + h
        at = pair * n_q + np.arange(n_q)[rows, None]
        found = factors(self.dropout, self.seed, at, np.arange(n_k)[None, :], n_k)
        return torch.from_numpy(found).to(like)

    def all_factors(self, q: torch.Tensor, n_k: int) -> torch.Tensor | None:
        """Return the factors of P of all heads, (B, H, Nq, Nk), in q's dtype, on its device; None
        without dropout."""
        if not self.dropout:
            return None
        batch, heads, n_q, _ = q.shape
        pairs = np.ndindex(batch, heads)
        every = [self.factors(b, h, slice(n_q), n_q, n_k, q) for b, h in pairs]
        return torch.stack(every).view(batch, heads, n_q, n_k)


def parse_rules(
    q: torch.Tensor, dtype: torch.dtype = torch.float64, *, causal: bool = False,
    mask: str | None = None, score: str | None = None, sink: float | torch.Tensor | None = None,
    scale: float | None = None, of_heads: tuple[int, ...] | None = None, dropout: float = 0.0,
    seed: int = 0,
) -> Rules:  # fmt: skip
    """Parse the keyword arguments that all judges of this module take.

    They are `kernels.flash_attention`'s, and `of_heads`, which alibi and dropout need: q is a part
    of a tensor with that many heads (second) from that head on (first), and from that sequence of
    its batch on (third).
    """
    check_dropout(dropout, seed)
    sinks = sink
    if sinks is not None:
        sinks = torch.as_tensor(sinks, dtype=dtype, device=q.device).expand(q.shape[1])
    first_head, heads, first_sequence = (*(of_heads or (0, q.shape[1])), 0)[:3]
    parsed, scale = masks.from_keywords(causal, mask), scale_of(scale, q.shape[-1])
    of_tensor = first_head, heads, first_sequence
    return Rules(parsed, check_score(score), sinks, scale, *of_tensor, dropout, seed)


def _positions(q_at: torch.Tensor, n_q: int, n_k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows (…, 1) and keys (1, Nk) of these queries, counted as keys are."""
    return q_at[:, None] + (n_k - n_q), torch.arange(n_k, device=q_at.device)[None, :]


def naive_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any
) -> torch.Tensor:
    """Compute softmax((scale · Q) Kᵀ) V with S and P (B, H, Nq, Nk) in the inputs' dtype.

    q (B, H, Nq, d), k and v (B, Hk, Nk, d), Hk dividing H; options as `parse_rules`. Returns O like
    q. Rows without a visible key give 0. Without a score or a sink it allocates the two N×N
    matrices and O alone.
    """
    rules = parse_rules(q, q.dtype, **options)
    return materialized(q, k, v, rules, rules.all_factors(q, k.shape[2]), blind(rules.mask, q, k))


def blind(mask: masks.Mask, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor | None:
    """Return the rows without a visible key, (Nq, 1) bool on q's device; None if there are none."""
    if not mask.hides:
        return None
    first, stop = mask.key_range(q.shape[2], k.shape[2], 1)
    found = first == stop
    return torch.from_numpy(found).to(q.device)[:, None] if found.any() else None


def materialized(q, k, v, rules: Rules, drop, blind) -> torch.Tensor:
    """Compute `naive_attention` from its rules, P's factors `drop`, and `blind` rows.

    It consists of PyTorch's operators alone, so that torch.compile takes it as one graph. The scale
    multiplies Q, which is N × d: on S it would be one more pass over N × N.
    """
    mask, score, sinks = rules.mask, rules.score, rules.sinks
    n_q, n_k, group = q.shape[2], k.shape[2], q.shape[1] // k.shape[1]
    if group > 1:
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    s = torch.matmul(q * rules.scale, k.transpose(-1, -2))
    if mask.hides or score.changes:
        rows, keys = _positions(torch.arange(n_q, device=q.device), n_q, n_k)
    if score.changes:
        each = enumerate(s.unbind(1), rules.first_head)
        changed = [score.apply(one, rows, keys, h, rules.heads) for h, one in each]
        s = torch.stack(changed, 1)
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


def reference_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute attention in float64: O (B, H, Nq, d) and lse (B, H, Nq), natural log.

    Options as `parse_rules`. Works on blocks of rows, so that long sequences fit. Rows without a
    visible key: O = 0, lse = −inf or the sink.
    """
    batch, heads, n_q, _ = q.shape
    o = torch.zeros(*q.shape[:3], v.shape[3], dtype=torch.float64, device=q.device)
    lse = torch.full((batch, heads, n_q), float("-inf"), dtype=torch.float64, device=q.device)
    for b, h, rows, s, v_bh, lse_rows, dropped in _blocks(q, k, v, parse_rules(q, **options)):
        lse[b, h, rows] = lse_rows
        o[b, h, rows] = (_weights(s, lse_rows) * dropped) @ v_bh
    return o, lse


def _blocks(q, k, v, rules: Rules) -> Iterator[tuple]:
    """Yield batch, head, slice of rows, their S, V of the head, lse, and dropout's factors or 1; in
    float64."""
    group, n_q, n_k = q.shape[1] // k.shape[1], q.shape[2], k.shape[2]
    chunk = max(1, CHUNK_BYTES // (8 * max(n_k, 1)))
    for b, h in np.ndindex(*q.shape[:2]):
        k_bh, v_bh = k[b, h // group].double(), v[b, h // group].double()
        for start in range(0, n_q, chunk):
            s = (q[b, h, start : start + chunk].double() @ k_bh.T) * rules.scale
            here = slice(start, start + s.shape[0])
            rows, keys = _positions(torch.arange(n_q, device=q.device)[here], n_q, n_k)
            s = rules.score.apply(s, rows, keys, rules.first_head + h, rules.heads)
            if rules.mask.hides:
                s.masked_fill_(rules.mask.hidden(rows, keys), float("-inf"))
            lse = torch.logsumexp(s, dim=-1)
            if rules.sinks is not None:
                lse = torch.logaddexp(lse, rules.sinks[h])
            dropped = rules.factors(b, h, here, n_q, n_k, s) if rules.dropout else 1.0
            yield b, h, here, s, v_bh, lse, dropped


def _weights(s: torch.Tensor, lse: torch.Tensor) -> torch.Tensor:
    """Return P of these rows; 0 in a row without a visible key."""
    return torch.exp(s - lse.masked_fill(lse.isinf(), 0.0)[:, None])


def roundings(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any
) -> dict[str, float]:
    """Bound the effect on O of a relative rounding of P or S, per unit of rounding.

    Returns in float64 the largest over all entries (i, c) of O: ``weights`` Σⱼ Pᵢⱼ|vⱼ|, |O|
    without cancellation; ``norms`` Σⱼ Pᵢⱼ (‖qᵢ‖‖kⱼ‖/√d + 1)(|vⱼ| + |Oᵢ|), for errors of S that
    grow with the norms of what was multiplied; ``scores`` Σⱼ Pᵢⱼ |Sᵢⱼ| (|vⱼ| + |Oᵢ|), for S rounded
    as a whole: to first order ΔO = Σⱼ Pᵢⱼ ΔSᵢⱼ (vⱼ − Oᵢ). A score that modifies Sᵢⱼ passes an error
    on, times its factors `scale`, and adds one of the size of what it makes: |Sᵢⱼ| joins the norms.
    With dropout vⱼ is multiplied by its factor, in O and in |vⱼ|. Options as `parse_rules`.
    """
    found = {"weights": 0.0, "norms": 0.0, "scores": 0.0}
    rules = parse_rules(q, **options)
    size_of_scale = abs(rules.scale) * _factor(rules.score)
    group = q.shape[1] // k.shape[1]

    def raise_to(name: str, values: torch.Tensor) -> None:
        found[name] = max(found[name], values.max().item())

    for b, h, rows, s, v_bh, lse, dropped in _blocks(q, k, v, rules):
        p, size = _weights(s, lse), v_bh.abs()
        o = ((p * dropped) @ v_bh).abs()
        raise_to("weights", (p * dropped) @ size)
        lengths = [x.double().norm(dim=-1) for x in (q[b, h, rows], k[b, h // group])]
        norms = lengths[0][:, None] * lengths[1] * size_of_scale + 1.0
        large = s.abs().nan_to_num(posinf=0.0)
        if rules.score.changes:
            norms = norms + large
        for name, shift in (("norms", norms), ("scores", large)):
            moved = p * shift
            raise_to(name, (moved * dropped) @ size + moved.sum(-1, keepdim=True) * o)
    return found


def _factor(score: Score) -> float:
    """Return by how much a score's factors multiply."""
    return math.prod(abs(numbers[0]) for name, numbers in score.steps if name == "scale")


def reference_states(
    q: torch.Tensor, k: torch.Tensor, *, block_m: int, block_n: int, **options: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute m and l after every key block by definition, in float64 and without tiles.

    m_j = max over the keys up to block j's last, l_j = Σ exp(S − m_j) over the same keys; a sink is
    one key more, from the start. q (B, H, Nq, d), k (B, Hk, Nk, d), Hk dividing H. Returns m and l,
    each (B, H, Tr, Tc, block_m) float64 on the CPU, NaN where the mask hides the whole tile and in
    the rows beyond Nq. Options as `parse_rules`.
    """
    rules = parse_rules(q, **options)
    (batch, heads, n_q, _), n_k = q.shape, k.shape[2]
    tr, tc = -(-n_q // block_m), -(-n_k // block_n)
    m = torch.full((batch, heads, tr * block_m, tc), float("nan"), dtype=torch.float64)
    l = m.clone()
    for b, h, rows, s, *_ in _blocks(q, k, k, rules):
        s = torch.nn.functional.pad(s, (0, tc * block_n - n_k), value=float("-inf"))
        s = s.view(-1, tc, block_n)
        m_rows = s.amax(-1).cummax(-1).values
        lse = s.logsumexp(-1).logcumsumexp(-1)
        if rules.sinks is not None:
            sink = rules.sinks[h]
            m_rows, lse = m_rows.clamp(min=sink), torch.logaddexp(lse, sink)
        m[b, h, rows] = m_rows.cpu()
        l[b, h, rows] = (lse - m_rows.nan_to_num(neginf=0.0)).exp().cpu()  # no −∞ − (−∞)
    m, l = (x.view(batch, heads, tr, block_m, tc).transpose(-1, -2).contiguous() for x in (m, l))
    skipped = torch.from_numpy(rules.mask.tiles(n_q, n_k, block_m, block_n) == masks.SKIPPED)
    m[:, :, skipped] = l[:, :, skipped] = float("nan")
    return m, l
