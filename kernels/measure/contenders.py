"""What is compared, by name: every kernel here, every backend of PyTorch's SDPA, and others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import kernels

from .. import hopper, masks, scores
from ..checks import DTYPES
from ..hopper import plans
from ..reference import materialized
from .calls import Call
from .chooser import sdpa_choice

ORDERS = ("standard", "fa1", "fa2")
SDPA = {
    "sdpa_flash": SDPBackend.FLASH_ATTENTION,
    "sdpa_cudnn": SDPBackend.CUDNN_ATTENTION,
    "sdpa_efficient": SDPBackend.EFFICIENT_ATTENTION,
    "sdpa_math": SDPBackend.MATH,
}
# Made for one problem by a compiler, in seconds: naive attention and FlexAttention by PyTorch's, in
# its default mode, and FlashAttention-4 by CuTe's.
COMPILED = ("naive_compiled", "flex", "fa4")
NAMES = ("naive", *ORDERS, "hopper", *SDPA, "sdpa_dense", *COMPILED)
# Bytes of N×N matrices held at once, for each pair of a row and a key: S and P in the inputs' dtype
# (measured as peak memory on an H200), and the copies that SDPA's math backend makes.
PAIR_BYTES = {
    **dict.fromkeys(("naive", "naive_compiled", "standard"), lambda itemsize: 2 * itemsize),
    "sdpa_math": lambda itemsize: 12,
}
# Bytes for each pair of a row and a key, whatever the heads: SDPA's dense mask, and that mask as
# it is added to the scores; row − key and two comparisons, while FlexAttention sorts its blocks.
DENSE_BYTES = {"sdpa_dense": lambda itemsize: 1 + itemsize, "flex": lambda itemsize: 10}
STRIP = 1024  # rows of a dense mask that are made at once
OF_OPERATORS = ("naive", "sdpa_math")  # made of PyTorch's operators, each through memory
SHARE = 0.9  # of the free memory that a contender may take
# FA-1 runs one program a head, and one program gets this far, on an H200 (LOG.md, section 4).
FA1_FLOPS_A_PROGRAM = 0.7e12
SLOWEST_S = 4.0
_compiled_for: list = []  # the problem that PyTorch's compiler last worked for


class NotAvailable(Exception):
    """One sentence: why a contender does not run this problem here."""


@dataclass(frozen=True)
class Problem:
    """Self-attention on q, k, v (batch, heads, n, d) under the mask of this text, with score and
    sink as `kernels.flash_attention` takes them."""

    n: int
    d: int
    mask: str
    dtype: str
    batch: int
    heads: int
    score: str = "none"
    sink: float | None = None

    @property
    def asked(self) -> masks.Mask:
        """The mask. Raises ValueError with one sentence if there is none such."""
        return masks.asked(False, self.mask)

    @property
    def flops(self) -> float:
        """4·B·H·N²·d, times the mask's share."""
        return masks.flops(self.asked, self.batch * self.heads, self.n, self.n, self.d)

    def tensors(self, seed: int = 0, device: str = "cuda") -> tuple[torch.Tensor, ...]:
        """q, k, v from a standard normal."""
        random = torch.Generator(device).manual_seed(seed)
        shape = (self.batch, self.heads, self.n, self.d)
        dtype = DTYPES[self.dtype]
        return tuple(
            torch.randn(shape, device=device, dtype=dtype, generator=random) for _ in range(3)
        )


def contender(
    name: str,
    problem: Problem,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    block_m: int | None = None,
    block_n: int | None = None,
) -> Callable[[], torch.Tensor]:
    """A function of no arguments that computes O by this contender and no other.

    `block_m` and `block_n` are for the orders of `kernels.flash_attention`; the others have tiles
    of their own. On a GPU it is run once; raises NotAvailable with a sentence where that fails,
    cannot fit in memory or would take minutes.
    """
    admit(name, problem, q.device)
    blocks = {"block_m": block_m, "block_n": block_n}
    if q.device.type == "cpu":
        return _function(name, problem, q, k, v, **blocks)
    try:
        function = _function(name, problem, q, k, v, **blocks)
        function()
        torch.cuda.synchronize()
    except torch.cuda.OutOfMemoryError as error:
        torch.cuda.empty_cache()
        raise NotAvailable("It ran out of GPU memory.") from error
    except NotAvailable:
        raise
    except Exception as error:  # others' compilers raise what they like
        text = " ".join(str(error).split())
        if "CUDA error" in text or "CUDA driver" in text:
            raise  # that is no refusal: the process is broken
        if name not in COMPILED and not isinstance(error, (RuntimeError, ValueError)):
            raise
        if name in SDPA:
            choice = sdpa_choice(q, k, v, causal=problem.asked.hides)
            text = choice["reasons"].get(name) or text
        raise NotAvailable(text[:300] or type(error).__name__) from error
    return function


def tiles(
    name: str,
    problem: Problem,
    q: torch.Tensor,
    block_m: int | None = None,
    block_n: int | None = None,
) -> tuple[int, int] | None:
    """(BLOCK_M, BLOCK_N) of this contender on q (B, H, N, d); None for those that are not ours."""
    if name == "hopper":
        plan = plans.choose(problem.d, problem.asked, problem.n, problem.n)
        return plan.block_m, plan.block_n
    if name in ORDERS:
        config = kernels.orders.config_for(q, block_m, block_n)
        return config.block_m, config.block_n
    return None


def admit(name: str, problem: Problem, device: torch.device) -> None:
    """Raises NotAvailable before anything is allocated that cannot fit or would never end."""
    if device.type == "cpu":
        if name not in ("naive", *ORDERS):
            raise NotAvailable("It needs an NVIDIA GPU.")
        return
    itemsize, pairs = DTYPES[problem.dtype].itemsize, problem.n**2
    needed, what = 0, "matrices"
    if name in PAIR_BYTES:
        needed = PAIR_BYTES[name](itemsize) * problem.batch * problem.heads * pairs
    elif name == "sdpa_dense" or not problem.asked.plain:
        needed, what = DENSE_BYTES.get(name, lambda _: 0)(itemsize) * pairs, "mask"
    if needed:
        torch.cuda.empty_cache()  # what the allocator only keeps is free
        free = torch.cuda.mem_get_info(device)[0]
        if needed > SHARE * free:
            raise NotAvailable(
                f"Its N × N {what} would need {needed / 2**30:,.1f} GiB: a method may take "
                f"{SHARE:.0%} of the {free / 2**30:.1f} GiB free here, {SHARE * free / 2**30:.1f} "
                "GiB."
            )
    if name == "fa1":
        programs = problem.batch * problem.heads
        at_once = torch.cuda.get_device_properties(device).multi_processor_count
        seconds = problem.flops / programs * -(-programs // at_once) / FA1_FLOPS_A_PROGRAM
        if seconds > SLOWEST_S:
            raise NotAvailable(
                f"FA-1 has one program a head: one run would take about {seconds:.0f} s."
            )


def _function(name, problem, q, k, v, block_m=None, block_n=None) -> Callable[[], torch.Tensor]:
    mask, rules = problem.asked.text, {"score": problem.score, "sink": problem.sink}
    plain = problem.score == "none" and problem.sink is None
    if name == "naive":
        return lambda: kernels.naive_attention(q, k, v, mask=mask, **rules)
    if name == "naive_compiled" and plain:
        scale = 1.0 / math.sqrt(q.shape[-1])
        return partial(_compiled(materialized, problem), q, k, v, problem.asked, scale)
    if name == "hopper":
        works, reason = hopper.supports(q, k, v, mask=mask, **rules)
        if not works:
            raise NotAvailable(reason)
        return lambda: hopper.flash_attention(q, k, v, mask=mask, **rules)
    if name in ORDERS:
        blocks = {"block_m": block_m, "block_n": block_n}
        return lambda: kernels.flash_attention(q, k, v, mask=mask, order=name, **rules, **blocks)
    if name == "flex":
        return _flex(problem, q, k, v)
    if not plain:
        raise NotAvailable("It takes no change of the scores and no sink.")
    if name == "sdpa_dense":  # SDPA chooses among its backends that take a mask
        return partial(F.scaled_dot_product_attention, q, k, v, attn_mask=_dense(problem, q.device))
    if not problem.asked.plain:
        raise NotAvailable("It is asked for full and causal alone: others as SDPA dense.")
    if name == "fa4":
        return _fa4(q, k, v, mask == "causal")
    sdpa = partial(F.scaled_dot_product_attention, q, k, v, is_causal=mask == "causal")
    return Call(sdpa, within=lambda: sdpa_kernel(SDPA[name]))  # this backend or an error


def _compiled(function: Callable, problem: Problem) -> Callable:
    """The function, compiled by PyTorch for this one shape.

    Of every function PyTorch keeps eight shapes and then no longer compiles: what other problems
    left is dropped first.
    """
    if _compiled_for != [problem]:
        torch.compiler.reset()
        _compiled_for[:] = [problem]
    return torch.compile(function, dynamic=False, fullgraph=True)


def _dense(problem: Problem, device: torch.device) -> torch.Tensor:
    """(N, N) bool: True where a score is kept."""
    n, found = problem.n, torch.empty(problem.n, problem.n, dtype=torch.bool, device=device)
    keys = torch.arange(n, device=device)[None, :]
    for start in range(0, n, STRIP):
        rows = torch.arange(start, min(start + STRIP, n), device=device)[:, None]
        found[start : start + STRIP] = problem.asked.sees(rows, keys)
    return found


def _flex(problem: Problem, q, k, v) -> Callable[[], torch.Tensor]:
    """FlexAttention, compiled from the problem's mask and score."""
    from . import flex

    asked = problem.asked, scores.parse(problem.score), problem.sink
    return flex.attention(q, k, v, *asked, _compiled(flex.flex_attention, problem))


def _fa4(q, k, v, causal: bool) -> Callable[[], torch.Tensor]:
    """FlashAttention-4 on views (B, N, H, d): its layout costs no copy."""
    if torch.cuda.get_device_capability(q.device)[0] not in (9, 10):
        raise NotAvailable("FlashAttention-4 needs a Hopper or a Blackwell GPU.")
    try:
        from flash_attn.cute import flash_attn_func
    except ImportError as error:
        raise NotAvailable(f"FlashAttention-4 needs the package flash-attn-4: {error}.") from error
    views = [x.transpose(1, 2) for x in (q, k, v)]
    return Call(lambda: flash_attn_func(*views, causal=causal)[0], seen=lambda o: o.transpose(1, 2))
