"""What the benchmark compares: every kernel here and every backend of PyTorch's SDPA, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import kernels

from . import hopper

MATRICES = {"naive": 3, "standard": 2, "sdpa_math": 6}  # N×N held at once, in 16-bit elements
_SDPA = {
    "sdpa_flash": SDPBackend.FLASH_ATTENTION,
    "sdpa_cudnn": SDPBackend.CUDNN_ATTENTION,
    "sdpa_efficient": SDPBackend.EFFICIENT_ATTENTION,
    "sdpa_math": SDPBackend.MATH,
}
NAMES = ("naive", "standard", "fa1", "fa2", "hopper", *_SDPA)


class NotAvailable(Exception):
    """One sentence: why a contender does not run this problem here."""


@dataclass(frozen=True)
class Problem:
    """Self-attention on standard normal q, k, v (batch, heads, n, d)."""

    n: int
    d: int
    causal: bool
    dtype: str
    batch: int
    heads: int

    def tensors(self, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """q, k, v on the GPU."""
        random = torch.Generator("cuda").manual_seed(seed)
        shape = (self.batch, self.heads, self.n, self.d)
        dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[self.dtype]
        return tuple(
            torch.randn(shape, device="cuda", dtype=dtype, generator=random) for _ in range(3)
        )


def contender(name: str, problem: Problem, q, k, v) -> Callable[[], torch.Tensor]:
    """A function of no arguments that computes O by this contender and no other.

    Runs it once; raises NotAvailable with a sentence where that fails or cannot fit in memory.
    """
    _admit(name, problem)
    function = _function(name, problem, q, k, v)
    try:
        function()
        torch.cuda.synchronize()
    except torch.cuda.OutOfMemoryError as error:
        raise NotAvailable("it ran out of GPU memory.") from error
    except (RuntimeError, ValueError) as error:
        text = " ".join(str(error).split())
        raise NotAvailable(text[:300]) from error
    return function


def _admit(name: str, problem: Problem) -> None:
    pairs = problem.batch * problem.heads * problem.n**2
    needed = MATRICES.get(name, 0) * 2 * pairs
    free = torch.cuda.mem_get_info()[0]
    if needed > 0.9 * free:
        raise NotAvailable(
            f"its N×N matrices need about {needed / 2**30:.0f} GiB, {free / 2**30:.0f} are free."
        )


def _function(name: str, problem: Problem, q, k, v) -> Callable[[], torch.Tensor]:
    causal = problem.causal
    if name == "naive":
        return lambda: kernels.naive_attention(q, k, v, causal=causal)
    if name == "hopper":
        works, reason = hopper.supports(q, k, v)
        if not works:
            raise NotAvailable(reason)
        return lambda: hopper.flash_attention(q, k, v, causal=causal)
    if name not in _SDPA:
        return lambda: kernels.flash_attention(q, k, v, causal=causal, order=name)

    def sdpa():
        with sdpa_kernel(_SDPA[name]):  # this backend or an error
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return sdpa
