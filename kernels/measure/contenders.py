"""Contenders of the benchmarks, by name: our kernels, the backends of PyTorch's SDPA, others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

import torch
import torch.nn.functional as F
from torch.nn.attention import sdpa_kernel

import kernels

from .. import hopper
from ..checks import DTYPES
from ..hopper import plans
from ..orders import ORDERS
from ..reference import blind, materialized, parse_rules
from ..spec import scores
from ..spec.algorithms import SERIAL
from ..spec.cases import BenchmarkCase
from ..spec.methods import COMPILED, WHOLE
from .calls import Call
from .chooser import SDPA, sdpa_choice

# Bytes of N×N matrices alive at once for each pair of a row and a key: S and P in the inputs' dtype
# (measured as peak memory on an H200), and the copies that SDPA's math backend makes.
PAIR_BYTES = {
    **dict.fromkeys(("naive", "naive_compiled", "standard"), lambda itemsize: 2 * itemsize),
    "sdpa_math": lambda itemsize: 12,
}
# Bytes for each pair of a row and a key, whatever the heads: SDPA's dense mask, and that mask as
# it is added to the scores; row − key and two comparisons, while FlexAttention sorts its blocks.
DENSE_BYTES = {"sdpa_dense": lambda itemsize: 1 + itemsize, "flex": lambda itemsize: 10}
# Why these do not run on a CPU; all others do.
GPU_ALONE = {
    "hopper": "It is written for NVIDIA's Hopper GPUs.",
    "sdpa_flash": "PyTorch's FlashAttention-2 needs an NVIDIA GPU.",
    "sdpa_cudnn": "cuDNN needs an NVIDIA GPU.",
    "sdpa_efficient": "PyTorch's memory-efficient kernel needs an NVIDIA GPU.",
    "naive_compiled": "It is compiled for an NVIDIA GPU alone.",
    "fa4": "FlashAttention-4 needs a Hopper or a Blackwell GPU.",
}
STRIP = 1024  # rows of a dense mask that are made at once
# Made of PyTorch's operators, each of which goes through memory.
OF_OPERATORS = tuple(name for name in WHOLE if name not in COMPILED)
SHARE = 0.9  # of the free memory that a contender may take
# FA-1 runs one program a head, and one program gets this far, on an H200 (LOG.md, section 4).
FA1_FLOPS_A_PROGRAM = 0.7e12
SLOWEST_S = 4.0
MOST_FACTORS = 1 << 24  # of dropout, for each weight of P, which NumPy makes for naive attention
_compiled_for: list = []  # the problem that PyTorch's compiler last worked for


class NotAvailable(Exception):
    """One sentence: why a contender does not run this problem here."""


def refusal(error: Exception) -> NotAvailable:
    """Return the reason that an error of a contender stands for; raise the error if it says that
    the process cannot use the GPU any more."""
    text = " ".join(str(error).split())
    if "CUDA error" in text or "CUDA driver" in text:
        raise error
    return NotAvailable(text[:300] or type(error).__name__)


def tried(function: Callable[[], object]) -> Callable:
    """Return the function after a first call. Raises NotAvailable where that fails."""
    try:
        function()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    except Exception as error:  # compilers of others raise errors of all types
        raise refusal(error) from error
    return function


def random_tensors(
    case: BenchmarkCase, seed: int = 0, device: str = "cuda"
) -> tuple[torch.Tensor, ...]:
    """Draw q, k, v of this case from a standard normal."""
    random = torch.Generator(device).manual_seed(seed)
    dtype, kv_heads = DTYPES[case.dtype], case.kv_heads or case.heads
    return tuple(
        torch.randn((case.batch, h, case.n, case.d), device=device, dtype=dtype, generator=random)
        for h in (case.heads, kv_heads, kv_heads)
    )


def head_of(q, k, v, b: int, h: int) -> list[torch.Tensor]:
    """Return q, k, v (1, 1, n, d) of one head of a batch, its key head by h // group."""
    g = h // (q.shape[1] // k.shape[1])
    return [x[b : b + 1, at : at + 1] for x, at in ((q, h), (k, g), (v, g))]


def contender(
    name: str,
    problem: BenchmarkCase,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    **blocks: int | None,
) -> Callable[[], torch.Tensor]:
    """Return a function of no arguments that computes O by this contender and no other.

    `blocks`, block_m and block_n, are for the orders of `kernels.flash_attention`; the others have
    tiles of their own. On a GPU it is run once; raises NotAvailable with a sentence where that
    fails, cannot fit in memory or would take minutes.
    """
    admit(name, problem, q.device)
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
    except Exception as error:  # compilers of others raise errors of all types
        reason = refusal(error)
        if name not in COMPILED and not isinstance(error, (RuntimeError, ValueError)):
            raise
        if name in SDPA:
            choice = sdpa_choice(q, k, v, causal=problem.parsed_mask.hides)
            reason = NotAvailable((choice["reasons"].get(name) or str(reason))[:300])
        raise reason from error
    return function


def tiles(
    name: str, problem: BenchmarkCase, q: torch.Tensor, *blocks: int | None
) -> tuple[int, int] | None:
    """Return (BLOCK_M, BLOCK_N) of this contender on q (B, H, N, d), for blocks that are requested
    or the table's; None if it is not ours."""
    if name == "hopper":
        plan = plans.choose(problem.d, problem.parsed_mask, problem.n, problem.n)
        return plan.block_m, plan.block_n
    if name in ORDERS:
        config = kernels.orders.config_for(q, *blocks)
        return config.block_m, config.block_n
    return None


def admit(name: str, problem: BenchmarkCase, device: torch.device) -> None:
    """Raise NotAvailable, before any allocation, for what cannot fit or would take minutes."""
    if device.type == "cpu":
        if name in GPU_ALONE:
            raise NotAvailable(GPU_ALONE[name])
        return
    itemsize, pairs = DTYPES[problem.dtype].itemsize, problem.n**2
    factors = problem.batch * problem.heads * pairs
    if problem.dropout and name in ("naive", "naive_compiled") and factors > MOST_FACTORS:
        raise NotAvailable(
            f"Its dropout needs a factor for each weight, {factors:,} numbers made on the CPU: at "
            f"most {MOST_FACTORS:,} are."
        )
    needed, what = 0, "matrices"
    if name in PAIR_BYTES:
        needed = PAIR_BYTES[name](itemsize) * problem.batch * problem.heads * pairs
    elif name == "sdpa_dense" or not problem.parsed_mask.plain:
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
    if name == SERIAL:
        programs = problem.batch * problem.heads
        at_once = torch.cuda.get_device_properties(device).multi_processor_count
        seconds = problem.flops / programs * -(-programs // at_once) / FA1_FLOPS_A_PROGRAM
        if seconds > SLOWEST_S:
            raise NotAvailable(
                f"FA-1 has one program a head: one run would take about {seconds:.0f} s."
            )


def _function(name: str, problem: BenchmarkCase, q, k, v, **blocks: int | None) -> Callable:
    """Return the contender's function of no arguments, or raise NotAvailable."""
    is_plain = problem.score == "none" and problem.sink is None
    if name == "naive_compiled" and any(
        t.name == "block" for x in problem.parsed_mask.terms for t in x
    ):
        raise NotAvailable("PyTorch's compiler takes no list of blocks.")
    if name in ("naive", "naive_compiled") and (is_plain or name == "naive"):
        return _naive(problem, q, k, v, compiled=name == "naive_compiled")
    if name in ORDERS:
        options = {**problem.rules, "order": name, **blocks}
        return lambda: kernels.flash_attention(q, k, v, **options)
    if problem.dropout:
        raise NotAvailable(
            "It cannot drop the same weights: its dropout, if it has one, draws other random "
            "numbers."
        )
    rules = {"mask": problem.mask, "score": problem.score, "sink": problem.sink}
    if name == "hopper":
        reason = hopper.why_not(q, k, v, **rules)
        if reason:
            raise NotAvailable(reason)
        return lambda: hopper.flash_attention(q, k, v, **rules)
    if name == "flex":
        return _flex(problem, q, k, v)
    if not is_plain:
        raise NotAvailable("It takes no change of the scores and no sink.")
    grouped = {"enable_gqa": problem.is_grouped}
    if name == "sdpa_dense":  # SDPA chooses among its backends that take a mask
        if blind(problem.parsed_mask, q, k) is not None:
            raise NotAvailable("Some rows see no key here, and what it gives them is not said.")
        dense = _dense(problem, q.device)
        return partial(F.scaled_dot_product_attention, q, k, v, attn_mask=dense, **grouped)
    if not problem.parsed_mask.plain:
        raise NotAvailable("It is asked for full and causal alone: others as SDPA dense.")
    if name == "fa4":
        return _fa4(q, k, v, problem.parsed_mask.hides)
    return sdpa_call(name, q, k, v, is_causal=problem.parsed_mask.hides, **grouped)


def sdpa_call(name: str, q, k, v, **options) -> Call:
    """Return a function of no arguments to O by this backend of SDPA or an error; choosing it is
    not timed."""
    bare = partial(F.scaled_dot_product_attention, q, k, v, **options)
    return Call(bare, within=lambda: sdpa_kernel(SDPA[name]))


def _naive(problem: BenchmarkCase, q, k, v, compiled: bool) -> Callable[[], torch.Tensor]:
    """Return naive attention; what depends on mask and dropout alone is made here, untimed."""
    function = _compiled(materialized, problem) if compiled else materialized
    rules = parse_rules(q, q.dtype, **problem.rules)
    drop, no_keys = rules.all_factors(q, problem.n), blind(rules.mask, q, k)
    return partial(function, q, k, v, rules, drop, no_keys)


def _compiled(function: Callable, problem: BenchmarkCase) -> Callable:
    """Return the function, compiled by PyTorch for this one shape.

    PyTorch caches eight shapes of a function and then no longer compiles it: the cache of other
    problems is cleared first.
    """
    if _compiled_for != [problem]:
        torch.compiler.reset()
        _compiled_for[:] = [problem]
    return torch.compile(function, dynamic=False, fullgraph=True)


def _dense(problem: BenchmarkCase, device: torch.device) -> torch.Tensor:
    """Return (N, N) bool: True where a score is visible."""
    n, found = problem.n, torch.empty(problem.n, problem.n, dtype=torch.bool, device=device)
    keys = torch.arange(n, device=device)[None, :]
    for start in range(0, n, STRIP):
        rows = torch.arange(start, min(start + STRIP, n), device=device)[:, None]
        found[start : start + STRIP] = problem.parsed_mask.sees(rows, keys)
    return found


def _flex(problem: BenchmarkCase, q, k, v) -> Callable[[], torch.Tensor]:
    """Return FlexAttention, compiled from the problem's mask and score."""
    from . import flex

    mask, score = problem.parsed_mask, scores.parse(problem.score)
    if q.device.type == "cpu":  # where compiling takes longer than all else, and nothing is timed
        return flex.attention(q, k, v, mask, score, problem.sink)
    compiled = _compiled(flex.flex_attention, problem)
    return flex.attention(q, k, v, mask, score, problem.sink, compiled)


def fa4_function(name: str, device: torch.device) -> Callable:
    """Return this function of FlashAttention-4's package. Raises NotAvailable without it."""
    if torch.cuda.get_device_capability(device)[0] not in (9, 10):
        raise NotAvailable(GPU_ALONE["fa4"])
    try:
        return getattr(import_module("flash_attn.cute"), name)
    except ImportError as error:
        raise NotAvailable(f"FlashAttention-4 needs the package flash-attn-4: {error}.") from error


def _fa4(q, k, v, causal: bool) -> Callable[[], torch.Tensor]:
    """Return FlashAttention-4 on views (B, N, H, d): its layout costs no copy."""
    attend = fa4_function("flash_attn_func", q.device)
    views = [x.transpose(1, 2) for x in (q, k, v)]
    return Call(lambda: attend(*views, causal=causal)[0], seen=lambda o: o.transpose(1, 2))
