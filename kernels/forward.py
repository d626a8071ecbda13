"""What every algorithm's `prepare` is given: checked tensors and options of a forward pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import e, log2

import torch
import triton

from .configs import Config
from .spec.masks import Mask
from .spec.scores import Score
from .tables import NONE, Tables, dropping, rules

# A function of (q, k, v), of spans if the mask is `tables.SPANS` and of a sink if there is one, to
# O (B, H, Nq, d) and lse (B, H, Nq).
Run = Callable[..., tuple[torch.Tensor, torch.Tensor | None]]


@dataclass(frozen=True, eq=False)
class ForwardInputs:
    """Tensors q (B, H, Nq, d), k and v (B, Hk, Nk, d), which stand for all of their shapes, strides
    and dtype, and options, all checked. A prepared function is cached, so it must not hold this:
    the tensors would stay in memory.

    `has_sink`: the prepared function is given a sink (H,) in fp32 as well. `dropout`: its
    probability and its seed. Without `keep_lse` an algorithm may return None in its place. Written
    on demand: `states` (2, B, H, Tr, Tc, Br), m and l of every tile; `stamps` (programs, 3), int64:
    where and when each program ran, on a GPU.
    """

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    mask: Mask
    scale: float
    config: Config
    precision: str = "ieee"
    score: Score = NONE
    has_sink: bool = False
    dropout: tuple[float, int] = (0.0, 0)
    keep_lse: bool = True
    states: torch.Tensor | None = None
    stamps: torch.Tensor | None = None

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """H, the query heads that share a key head, Nq and Nk, as the kernels take them."""
        _, heads, n_q, _ = self.q.shape
        _, k_heads, n_k, _ = self.k.shape
        return heads, heads // k_heads, n_q, n_k

    @property
    def pairs(self) -> int:
        """B · H."""
        return self.q.shape[0] * self.q.shape[1]

    @property
    def row_blocks(self) -> int:
        """Row blocks of all heads and batches."""
        return triton.cdiv(self.q.shape[2], self.config.block_m) * self.pairs

    @property
    def output_strides(self) -> tuple[int, ...]:
        """Strides of O, which is contiguous."""
        _, heads, n_q, d = self.q.shape
        return heads * n_q * d, n_q * d, d, 1

    @property
    def tile(self) -> dict:
        """The constexpr arguments that all kernels on tiles share."""
        return self.config.constants(self.q.shape[-1], self.q.dtype, self.precision)

    @property
    def is_ragged(self) -> bool:
        """Return whether the last key block ends early."""
        return self.k.shape[2] % self.config.block_n != 0

    def rules(self, by_keys: bool = False) -> tuple[dict, Tables]:
        """Return the texts MASK, SCORE and DROPOUT, and their TABLES; lists of tiles by row block,
        or `by_keys` by key block."""
        blocks, device = (self.config.block_m, self.config.block_n), self.q.device
        *_, n_q, n_k = self.sizes
        texts, tables = rules(self.mask, self.score, n_q, n_k, device, *blocks, by_keys)
        drop, tables = dropping(*self.dropout, tables, device)
        return texts | {"DROPOUT": drop}, tables

    @property
    def sign(self) -> Callable[[torch.Tensor], torch.Tensor]:
        """What puts the scale's sign into Q, exactly, for kernels that scale the row maximum."""
        if self.scale > 0:
            return lambda q: q
        return torch.neg if self.scale else torch.zeros_like

    @property
    def scale_log2(self) -> float:
        """The scale's size, times log2 e where no score follows that is not scaled."""
        return (abs(self.scale) or 1.0) * (1.0 if self.score.changes else log2(e))
