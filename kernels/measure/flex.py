"""A mask, a score and a sink for PyTorch's FlexAttention: what it asks of every position, made of
the same predicates and modifications. As many queries as keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import torch
from torch.nn.attention.flex_attention import (
    and_masks,
    create_block_mask,
    flex_attention,
    or_masks,
)

from ..spec.masks import Mask
from ..spec.predicates import Term, Terms
from ..spec.scores import MODIFICATIONS, Score, Step, slope

TABLED = ("document", "block")  # answered by a table of positions: one read, however many numbers


@lru_cache(maxsize=8)  # the same function again, or all would be compiled again
def mask_mod(mask: Mask, n: int, device: torch.device) -> Callable:
    """f(batch, head, row, key) → bool, of whole-number tensors with no dimension."""
    terms = [[_keeps(t, n, device) for t in _needed(term)] for term in mask.terms]
    return or_masks(*(and_masks(*term) for term in terms))


def _needed(term: Terms) -> list[Term]:
    """Without causal where a window that ends at the row says it too: as one writes it by hand."""
    ends = any(t.name == "window" and t.numbers[1] == 0 for t in term)
    return [t for t in term if not (ends and t.name == "causal")]


def _keeps(term: Term, n: int, device: torch.device) -> Callable:
    numbers, keep = term.numbers, term.predicate.keep
    if term.name not in TABLED:
        return lambda batch, head, row, key: keep(row, key, *numbers)
    at = torch.arange(n, device=device)
    if term.name == "document":
        lies_in = torch.searchsorted(at.new_tensor(numbers), at, right=True)
        return lambda batch, head, row, key: lies_in[row] == lies_in[key]
    tall, wide = numbers[:2]
    listed = keep(at[::tall, None], at[None, ::wide], *numbers)
    return lambda batch, head, row, key: listed[row // tall, key // wide]


@lru_cache(maxsize=8)
def score_mod(score: Score, heads: int, device: torch.device) -> Callable | None:
    """f(score, batch, head, row, key) → score, of tensors with no dimension; None for no change."""
    if not score.changes:
        return None
    slopes = torch.tensor([slope(h, heads) for h in range(heads)], device=device)
    steps = [_changes(step, device) for step in score.steps]

    def changed(s, batch, head, row, key):
        for step in steps:
            s = step(s, row, key, slopes[head])
        return s

    return changed


def _changes(step: Step, device: torch.device) -> Callable:
    name, numbers = step
    if name == "bias":
        table = torch.tensor(numbers, device=device)
        return lambda s, row, key, _: s + table[(row - key).clamp(0, len(numbers) - 1)]
    apply = MODIFICATIONS[name].apply
    return lambda s, row, key, slope: apply(s, row, key, slope, *numbers)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Mask, score: Score,
    sink: float | None = None, compiled: Callable = flex_attention,
) -> Callable[[], torch.Tensor]:  # fmt: skip
    """A function of no arguments to O (B, H, N, d) of FlexAttention on q (B, H, N, d) and k, v
    (B, Hk, N, d), Hk dividing H.

    `compiled` is flex_attention as it is or compiled. Which blocks the mask leaves out is found
    here, in no timed call. A sink, which it does not know, comes in by lse: O·σ(lse − sink).
    """
    n, heads, device = q.shape[2], q.shape[1], q.device
    blocks = None
    if mask.hides:
        blocks = create_block_mask(mask_mod(mask, n, device), None, None, n, n, device=device)
    how = {"score_mod": score_mod(score, heads, device), "block_mask": blocks}
    how["enable_gqa"] = heads != k.shape[1]
    if sink is None:
        return lambda: compiled(q, k, v, **how)

    def with_sink():
        o, lse = compiled(q, k, v, **how, return_lse=True)
        return o * torch.sigmoid(lse - sink)[..., None].to(o.dtype)

    return with_sink
