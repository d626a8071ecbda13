"""The problem of a benchmark: shapes and rules of one call of attention, as records have them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from . import masks

SHAPE = ("n", "d", "dtype", "batch", "heads", "kv_heads")  # all else are rules


@dataclass(frozen=True)
class BenchmarkCase:
    """Self-attention on q (batch, heads, n, d) and k, v (batch, kv_heads, n, d; None: as many as
    q's) under the mask of this text, with score, sink, dropout and its seed as
    `kernels.flash_attention` takes them."""

    n: int
    d: int
    mask: str
    dtype: str
    batch: int
    heads: int
    score: str = "none"
    sink: float | None = None
    kv_heads: int | None = None
    dropout: float = 0.0
    seed: int = 0

    @property
    def rules(self) -> dict[str, Any]:
        """The keyword arguments of kernels and their judges beside q, k and v."""
        return {x.name: getattr(self, x.name) for x in fields(self) if x.name not in SHAPE}

    @property
    def is_grouped(self) -> bool:
        """Whether several query heads share one key head."""
        return self.kv_heads not in (None, self.heads)

    @property
    def parsed_mask(self) -> masks.Mask:
        """The mask. Raises ValueError with one sentence if the text names none."""
        return masks.from_keywords(False, self.mask)

    @property
    def flops(self) -> float:
        """4·B·H·N²·d, times the mask's share."""
        return masks.flops(self.parsed_mask, self.batch * self.heads, self.n, self.n, self.d)
