"""Judge the backward pass: gradients in float64, and bounds of the effect of rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .reference import CHUNK_BYTES, _blocks, _factor, _positions, _weights, parse_rules


def reference_gradients(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    grad_o: torch.Tensor,
    grad_lse: torch.Tensor | None = None,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Compute gradients in float64 of Σ (grad_o ∘ O), plus Σ (grad_lse ∘ lse) over finite lse.

    Returns dQ (B, H, Nq, d), dK and dV (B, Hk, Nk, d), dsink (H,), None without a sink.

    PyTorch's autograd of the definition, dense, with neither lse nor D in it, on blocks of rows so
    that long sequences fit. Options as `reference.parse_rules`, without dropout.
    """
    rules = parse_rules(q, **options)
    mask, sinks = rules.mask, rules.sinks
    group, n_q, n_k = q.shape[1] // k.shape[1], q.shape[2], k.shape[2]
    dq, dk, dv = (torch.zeros(x.shape, dtype=torch.float64, device=q.device) for x in (q, k, v))
    dsink = None if sinks is None else torch.zeros_like(sinks)
    chunk = max(1, CHUNK_BYTES // (32 * max(n_k, 1)))
    for b, h in np.ndindex(*q.shape[:2]):
        for start in range(0, n_q, chunk):
            at = torch.arange(start, min(start + chunk, n_q), device=q.device)
            rows, keys = _positions(at, n_q, n_k)
            hidden = mask.hidden(rows, keys)
            if sinks is None:  # no softmax of a row without a visible key
                sees = ~hidden.all(-1)
                at, rows, hidden = at[sees], rows[sees], hidden[sees]
            parts = [q[b, h, at], k[b, h // group], v[b, h // group]]
            parts += [] if sinks is None else [sinks[h : h + 1]]
            parts = [x.detach().double().requires_grad_() for x in parts]
            with torch.enable_grad():
                s = (parts[0] @ parts[1].T) * rules.scale
                s = rules.score.apply(s, rows, keys, rules.first_head + h, rules.heads)
                s = s.masked_fill(hidden, float("-inf"))
                if sinks is not None:
                    s = torch.cat((s, parts[3].expand(len(at), 1)), -1)
                o = torch.softmax(s, -1)[:, :n_k] @ parts[2]
                loss = (o * grad_o[b, h, at].double()).sum()
                if grad_lse is not None:
                    loss = loss + (torch.logsumexp(s, -1) * grad_lse[b, h, at].double()).sum()
            grads = torch.autograd.grad(loss, parts, materialize_grads=True)
            dq[b, h, at] = grads[0]
            dk[b, h // group] += grads[1]
            dv[b, h // group] += grads[2]
            if dsink is not None:
                dsink[h] += grads[3][0]
    return dq, dk, dv, dsink


def gradient_roundings(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, grad_o: torch.Tensor, **options: Any
) -> dict[str, float]:
    """Bound the effect on the gradients of a relative rounding of P or dS, per unit of rounding.

    Returns in float64 the largest of dQ, dK, dV and dsink if nothing in their sums cancelled, with
    |dS| ≤ P (|dO|·|V| + |dO|·|O|) times the slope of the score; the largest |S| (``scores``); and
    ‖q‖‖k‖·|scale| times the score's factors, with what it adds (``norms``). Options as
    `reference_gradients`."""
    rules, group = parse_rules(q, **options), q.shape[1] // k.shape[1]
    size = abs(rules.scale) * _factor(rules.score)
    sums = [torch.zeros(x.shape, dtype=torch.float64, device=q.device) for x in (q, k, v)]
    of_sinks = torch.zeros(q.shape[1], dtype=torch.float64, device=q.device)
    largest, lengths = 0.0, [x.double().norm(dim=-1).max().item() for x in (q, k)]
    for b, h, rows, s, v_bh, lse, _ in _blocks(q, k, v, rules):
        largest = max(largest, s.nan_to_num(neginf=0.0).abs().max().item())
        p, d_o = _weights(s, lse), grad_o[b, h, rows].double().abs()
        o = p @ v_bh.abs()
        d_s = p * (d_o @ v_bh.abs().T + (d_o * o).sum(-1, keepdim=True))
        of_sinks[h] += d_s.sum()
        d_s *= size
        sums[0][b, h, rows] = d_s @ k[b, h // group].double().abs()
        sums[1][b, h // group] += d_s.T @ q[b, h, rows].double().abs()
        sums[2][b, h // group] += p.T @ d_o
    norms = lengths[0] * lengths[1] * size + (largest if rules.score.changes else 0.0)
    names = ("dQ", "dK", "dV", "dsink")
    found = {name: x.max().item() for name, x in zip(names, (*sums, of_sinks), strict=True)}
    return found | {"scores": largest, "norms": norms}
