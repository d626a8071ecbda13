"""Random masks, scores and sinks on random sizes, each drawn from the number of its case alone."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch

from tests.by_hand import draw_mask
from tests.kernels.attention_checks import DEVICE, make_qkv


@dataclass(frozen=True)
class Case:
    """One problem for the kernels; sizes as `make_qkv` and `flash_attention` take them."""

    mask: str
    score: str
    sink: bool
    scale: float | None
    n_q: int
    n_k: int
    d: int
    heads: int
    k_heads: int
    block_m: int
    block_n: int
    dtype: str
    order: str

    def tensors(self, number: int, batch: int = 1) -> tuple[torch.Tensor, ...]:
        """q, k and v of the case of this number."""
        sizes = {"n_k": self.n_k, "batch": batch, "heads": self.heads, "k_heads": self.k_heads}
        return make_qkv(self.n_q, self.d, **sizes, dtype=self.dtype, seed=number)

    def rules(self, number: int) -> dict:
        """Mask, score, scale and sink, one for all heads or one for each."""
        sink = 0.7 if number % 2 else torch.linspace(-2, 3, self.heads, device=DEVICE)
        how = {"mask": self.mask, "score": self.score, "scale": self.scale}
        return how | {"sink": sink if self.sink else None}


def score(r: random.Random) -> str:
    """None half of the time, else one or two modifications."""
    steps = [
        "alibi",
        f"softcap:{r.choice([0.5, 5, 30])}",
        f"scale:{r.choice([0.3, 0.9, 2])}",
        "bias:" + ",".join(str(round(r.uniform(-2, 2), 2)) for _ in range(r.randint(1, 6))),
    ]
    return "none" if r.random() < 0.5 else "&".join(r.sample(steps, r.randint(1, 2)))


def case(number: int, largest: int, dtypes=("fp32", "fp16", "bf16")) -> Case:
    """The case of this number, of at most `largest` queries and keys."""
    r = random.Random(number)
    n_q, n_k = r.randint(1, largest), r.randint(1, largest)
    if r.random() < 0.5:
        n_k = n_q
    k_heads = r.choice([1, 1, 2])
    return Case(
        mask=draw_mask(r, max(n_q, n_k)),
        score=score(r),
        sink=r.random() < 0.4,
        scale=r.choice([None, None, 0.5, -0.3, 0.0]),
        n_q=n_q,
        n_k=n_k,
        d=r.choice([4, 16, 20, 32, 64]),
        heads=k_heads * r.choice([1, 1, 3]),
        k_heads=k_heads,
        block_m=r.choice([5, 8, 16, 24, 32, 64]),
        block_n=r.choice([5, 8, 16, 24, 32, 64]),
        dtype=dtypes[number % len(dtypes)],
        order=("fa2", "fa1", "standard")[number // len(dtypes) % 3],
    )


def run_all(
    run: Callable[[Case, int], None], first: int, count: int, config: pytest.Config, *sizes
) -> None:
    """The cases of a test, each by its number: under --full `count` of them, else the first."""
    for number in range(first, first + (count if config.getoption("--full") else 1)):
        c = case(number, *sizes)
        try:
            run(c, number)
        except Exception as error:
            raise AssertionError(f"case {number}: {c}") from error
