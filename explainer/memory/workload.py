"""What the Memory and Parallel pages talk about: attention of a real size on a named card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from explainer.base.cards import CARDS, Card
from explainer.base.fields import MAX_N, NAMES, choice, whole
from explainer.base.texts import Texts
from explainer.problem import Problem, causal_keyword, mask_of
from kernels.spec.formats import ITEMSIZE
from kernels.spec.masks import Mask

MIN_N, MIN_BLOCK, MAX_BLOCK = 16, 16, 256  # blocks as a program on a GPU takes them
# field → key in a query; what a sentence calls it is in base.fields
FIELDS = ("card", "n", "d", "block_q", "block_k", "batch", "heads", "mask", "dtype")
KEYS = tuple(NAMES[field][0] for field in FIELDS)
say = Texts("fields")


@causal_keyword
@dataclass(frozen=True)
class Workload:
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
    mask: Mask | str = "full"
    dtype: str = "fp16"

    def __post_init__(self) -> None:
        def put(field: str, value: object) -> None:
            object.__setattr__(self, field, value)

        put("card", choice("card", self.card))
        put("n", whole("n", self.n, MIN_N, MAX_N))
        put("d", whole("d", self.d))
        most, here = min(MAX_BLOCK, self.n), say("here.n", n=self.n)
        put("block_q", whole("block_q", self.block_q, MIN_BLOCK, most, here))
        put("block_k", whole("block_k", self.block_k, MIN_BLOCK, most, here))
        put("batch", whole("batch", self.batch))
        put("heads", whole("heads", self.heads))
        put("dtype", choice("dtype", self.dtype))
        put("mask", mask_of(self.mask))

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
        return "causal" if self.causal else "full"

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

    @classmethod
    def from_query(cls, query: Mapping[str, object]) -> Workload:
        """From the keys of ``KEYS``; the others take their default. Raises ProblemError."""
        known = {f: query[k] for f, k in zip(FIELDS, KEYS, strict=True) if k in query}
        if "n" in known:
            n = whole("n", known["n"], MIN_N, MAX_N)
            for block in ("block_q", "block_k"):
                known.setdefault(block, min(64, n))
        return cls(**known)  # type: ignore[arg-type]

    def to_query(self) -> dict[str, str]:
        """``from_query`` gives the same back."""
        return {k: str(getattr(self, f)) for f, k in zip(FIELDS, KEYS, strict=True)}
