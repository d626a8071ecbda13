"""The workload of the Memory and Parallel pages: attention of a real size on a named card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial

from explainer.base.cards import CARDS, Card
from explainer.base.fields import KEYS as KEY_OF
from explainer.base.fields import FieldValues, Parsed, Range, accept_causal, parse_mask
from explainer.base.texts import Texts
from explainer.problem import Problem
from kernels.spec.fields import MAX_N
from kernels.spec.formats import ITEMSIZE
from kernels.spec.masks import Mask

MIN_N, MIN_BLOCK, MAX_BLOCK = 16, 16, 256  # blocks as a program on a GPU takes them
t = Texts("fields")


@accept_causal
@dataclass(frozen=True)
class Workload(FieldValues):
    """``batch`` × ``heads`` heads of (n, d) on ``card``, in tiles of ``block_q`` × ``block_k``.

    ``card`` a key of :data:`explainer.base.cards.CARDS`; ``n`` 16…65,536; ``d`` 1…256; blocks
    16…256 and at most n; ``batch`` 1…64, ``heads`` 1…128; ``dtype`` fp32 | fp16 | bf16. Raises
    :class:`~explainer.base.fields.ProblemError` on construction.
    """

    card: str = "h200"
    n: int = 4096
    d: int = 64
    block_q: int = 64
    block_k: int = 64
    batch: int = 1
    heads: int = 16
    mask: Parsed[Mask] = Parsed(parse_mask, "full")
    dtype: str = "fp16"

    def _range_of(self, name: str) -> Range | None:
        if name == "n":
            return MIN_N, MAX_N, None
        if name in ("block_q", "block_k"):
            return MIN_BLOCK, min(MAX_BLOCK, self.n), partial(t, "here.n", n=self.n)
        return None

    @property
    def is_causal(self) -> bool:
        """Whether the mask is "causal" itself."""
        return self.mask.text == "causal"

    @property
    def hardware(self) -> Card:
        """The card's data."""
        return CARDS[self.card]

    @property
    def itemsize(self) -> int:
        """Bytes of an element of Q, K, V."""
        return ITEMSIZE[self.dtype]

    @property
    def stands_for(self) -> str:
        """The mask whose kernel was compiled and timed: causal, or full for any other."""
        return "causal" if self.is_causal else "full"

    def problem(self, order: str) -> Problem:
        """One head of it, in this loop order."""
        return Problem(
            n=self.n,
            d=self.d,
            block_q=self.block_q,
            block_k=self.block_k,
            mask=self.mask,
            order=order,
            dtype=self.dtype,
            inputs="random",
        )

    def with_tile(self, row: Mapping[str, int]) -> Workload:
        """The same in the tile that a kernel says it ran in (``block_m``, ``block_n``)."""
        return replace(self, block_q=row["block_m"], block_k=row["block_n"])


KEYS = tuple(KEY_OF[field.name] for field in fields(Workload))
