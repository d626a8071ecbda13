"""Launch the fast kernel for Hopper GPUs (H100, H200) as `flash_attention` does, in fp16 and bf16.

Gluon is imported at the first call only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import torch

from ..availability import INTERPRETED
from ..checks import check_score, check_tensors, scale_of
from ..launching import Calls, Launch, allocator, empty_result, on_device, once, refuse_capture
from ..spec import masks
from ..tables import SPANS
from ..triton_internals import active_driver
from . import folding, plans, tables, versions

DIMENSIONS = range(32, 257, 8)  # a row is a multiple of 16 bytes; less is little work a tile
DTYPES = (torch.float16, torch.bfloat16)
_counters: dict[tuple[int, int], torch.Tensor] = {}


def why_not(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, scale: float | None = None,
    mask: str | masks.Mask = "full", score: str | None = None,
    sink: float | Sequence[float] | None = None,
) -> str:  # fmt: skip
    """Return in one sentence why `flash_attention` does not run this input here; "" if it does.

    q (B, H, Nq, d), k and v (B, Hk, Nk, d), as `kernels.flash_attention` accepts them, v also of
    another head dimension. Raises what `check_tensors` raises for input that no kernel takes, and
    ValueError for a mask, a score or a sink that is none.
    """
    check_tensors(q, k, v, is_even=False)
    folding.sinks(sink, q.shape[1])
    return (
        why_not_here(q.device)
        or _why_not_this(q, k, v, scale, masks.from_keywords(False, mask), check_score(score), sink)
        or versions.trusted(q.device, _unchecked)
    )


def flash_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    mask: str | None = None,
    scale: float | None = None,
    return_lse: bool = False,
    score: str | None = None,
    sink: float | Sequence[float] | None = None,
    plan: plans.Plan | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Compute exact attention, forward only, as `kernels.flash_attention` with order "fa2".

    q (B, H, Nq, d), k and v (B, Hk, Nk, d), Hk dividing H, d a multiple of 8 from 32 to 256, of v
    also another, fp16 or bf16. `causal`, or `mask` = "causal", is aligned bottom-right. `mask` is
    any of which each row sees one interval of keys; `score` any of `scale`, and once softcap or
    alibi. `sink`: a logit in every row's softmax, or one for each head. `plan` overrides the table
    of `plans` (what the mask, the score and the sink say is set here). Returns O (B, H, Nq, d) with
    the d of v, with `return_lse` also lse (B, H, Nq), fp32, natural log.
    Raises ValueError with the sentence of `why_not` for what it does not run.
    """
    if sink is not None and not isinstance(sink, (int, float)):
        sink = tuple(sink)
    o, lse = _calls(q, k, v, causal, mask, scale, plan, score, sink)
    return (o, lse) if return_lse else o


def prepare(
    q, k, v, causal=False, mask=None, scale=None, plan=None, score=None, sink=None
) -> Callable:
    """Prepare a call as `orders.prepare` does; arguments and errors as `flash_attention`."""
    parsed, modified = masks.from_keywords(causal, mask), check_score(score)
    reason = why_not(q, k, v, scale=scale, mask=parsed, score=score, sink=sink)
    if reason:
        raise ValueError(reason)
    scale = scale_of(scale, q.shape[-1])
    if 0 in q.shape or 0 in k.shape:
        return empty_result
    n_q, n_k, d, d_v = q.shape[2], *k.shape[2:], v.shape[3]
    kind = folding.kind(modified) or "none"
    chosen = plans.choose(d, parsed, n_q, n_k, kind, sink is not None, d_v)
    if plan is not None and chosen.table:
        chosen = replace(plan, order="queue", table=True, score=kind, sink=sink is not None)
    elif plan is not None:
        chosen = plans.fit(replace(plan, causal=parsed.hides), n_q, n_k)
    if not chosen.table:
        return _prepared(q, k, v, chosen, scale * math.log2(math.e))
    refuse_capture(f"mask = {parsed}, score = {modified}")
    folded = folding.fold(modified, sink, scale, q.shape[1], q.device)
    blocks = chosen.block_m, chosen.block_n

    def with_table(q, k, v, table: tables.Tables, **fields) -> Callable:
        extra = table.spans, table.tiles, *folded.rest
        return _prepared(q, k, v, replace(chosen, **fields), folded.scale_log2, extra)

    if parsed != SPANS:
        return with_table(q, k, v, tables.on_device(parsed, n_q, n_k, *blocks, q.device))

    def call(q, k, v, spans):
        def make() -> Callable:
            has_ranges = k.shape[2] > plans.SHORT * vars(spans).get("cuts", 0)
            return with_table(q, k, v, tables.of_spans(spans[0], *blocks), ranges=has_ranges)

        return once(spans, call, make)(q, k, v)

    return call


def _prepared(q, k, v, plan: plans.Plan, scale_log2: float, extra: tuple = (None,) * 5) -> Callable:
    """Prepare a call for input that `why_not` lets through; `extra` as `hopper_kernel` has it."""
    from .kernel import hopper_kernel

    (batch, heads, n_q, d), (_, k_heads, n_k, d_v) = q.shape, v.shape
    dtype, device = q.dtype, q.device
    row_blocks = -(-n_q // plan.block_m)
    tiles = row_blocks * batch * heads
    multiprocessors = torch.cuda.get_device_properties(device).multi_processor_count
    if plan.order == "pairs" and tiles <= multiprocessors:
        plan = plans.unpaired(plan)
    section = max(1, min(batch * heads, plans.L2_SECTION_BYTES // (2 * n_k * (d + d_v))))
    programs = tiles // 2 if plan.order == "pairs" else tiles
    width = plans.box(max(d, d_v)) // plan.chunks
    rows, keys = (partial(describe_rows, rows=n, width=width) for n in (64, plan.block_n))
    launch = Launch(
        hopper_kernel, min(programs, multiprocessors),
        (
            row_blocks, batch * heads, heads, heads // k_heads, n_q, n_k, section,
            scale_log2, 0, *extra,
        ),
        {"plan": plan, **versions.OPTIONS},
        boxes=(rows, keys, keys, rows),
    )  # fmt: skip
    make_o = allocator(batch, heads, n_q, d_v, dtype=dtype, device=device)
    make_lse = allocator(batch, heads, n_q, dtype=torch.float32, device=device)
    no_queue = torch.empty(0, dtype=torch.int32, device=device)

    def call(q, k, v):
        o, lse = make_o(), make_lse()
        queue = counter_of(device) if plan.order == "queue" else no_queue
        launch(q, k, v, o, lse, queue)
        return o, lse

    return call


_calls = Calls(prepare)


def _unchecked(q, k, v, causal: bool) -> torch.Tensor:
    """Return O with any version of Triton, for the check of versions.py."""
    plan = plans.choose(q.shape[3], masks.of(causal), q.shape[2], k.shape[2])
    call = _prepared(q, k, v, plan, math.log2(math.e) / math.sqrt(q.shape[3]))
    return on_device(call, q, k, v)[0]


@lru_cache(maxsize=16)
def why_not_here(device: torch.device) -> str:
    """Return in one sentence what this machine or device lacks; "" if nothing."""
    if device.type != "cuda" or INTERPRETED:
        return "The Hopper kernel needs CUDA tensors and no interpreter."
    if torch.version.hip or torch.cuda.get_device_capability(device)[0] != 9:
        return f"The Hopper kernel needs an H100 or H200, not {torch.cuda.get_device_name(device)}."
    return ""


def _why_not_this(q, k, v, scale, mask, score, sink) -> str:
    """Return in one sentence what the kernel does not take; "" if it takes all."""
    if mask == SPANS and len(q) > 1:
        return f"B = {len(q)}: the Hopper kernel takes the spans of one batch."
    if not mask.plain and mask != SPANS and tables.spans(mask, q.shape[2], k.shape[2]) is None:
        return (
            f"mask = {mask.text[:80]}: some row sees more than one interval of keys, and the "
            "Hopper kernel takes one."
        )
    if folding.kind(score) is None:
        return (
            f"score = {score.text[:80]}: the Hopper kernel takes scale, of a positive number, and "
            "once softcap or alibi."
        )
    if sink is not None and not k.shape[2]:
        return "Nk = 0 with a sink: the Hopper kernel has no key to begin with."
    return unsupported_tensors("kernel", q, k, v, scale)


def unsupported_tensors(pass_name: str, q, k, v, scale: float | None) -> str:
    """Return in one sentence what neither pass takes of these; "" if they are taken."""
    if q.dtype not in DTYPES:
        return f"q is {q.dtype}: the Hopper {pass_name} takes float16 and bfloat16."
    for d in (q.shape[-1], v.shape[-1]):
        if d not in DIMENSIONS:
            return f"d = {d}: the Hopper {pass_name} takes multiples of 8, 32 to 256."
    if scale is not None and not scale > 0:
        return f"scale = {scale}: the Hopper {pass_name} needs a positive scale."
    return by_tma(q=q, k=k, v=v)


def by_tma(**tensors: torch.Tensor) -> str:
    """Return in one sentence which of these TMA does not copy; "" if it copies all."""
    for name, x in tensors.items():
        steps = [x.stride(dim) for dim in range(3) if x.shape[dim] > 1]
        if x.stride(3) != 1 or x.data_ptr() % 16 or any(s % 8 or s == 0 for s in steps):
            return (
                f"{name} has strides {tuple(x.stride())}: the Hopper kernel copies rows by TMA, "
                "which needs d contiguous and every row at a multiple of 16 bytes."
            )
    return ""


def describe_rows(x: torch.Tensor, rows: int, width: int | None = None):
    """Return the TMA descriptor of x (B, H, N, d), boxes of `rows` rows, as wide as a tile if no
    width is given."""
    from .gluon import describe

    d = x.shape[3]
    strides = [x.stride(dim) if x.shape[dim] > 1 else d for dim in range(3)]
    return describe(x, (1, 1, rows, width or plans.box(d)), strides=[*strides, 1])


def describe_list(x: torch.Tensor, size: int):
    """Return the TMA descriptor of a contiguous tensor as a list, boxes of `size` numbers."""
    from .gluon import describe

    return describe(x, (size,), [x.numel()], [1])


def counter_of(device: torch.device) -> torch.Tensor:
    """Return the counter of the queue of tiles, for a launch on the device's current stream.

    It is back at 0 only at the end of a launch, so launches that may run at once must not share
    one. Eager launches of a stream follow each other; those captured in a graph have one each, set
    to 0 by the graph, since any graphs may be replayed at once.
    """
    if torch.cuda.is_current_stream_capturing():
        return torch.zeros(1, dtype=torch.int32, device=device)
    stream = active_driver().get_current_stream(device.index)
    counter = _counters.get((device.index, stream))
    if counter is None:
        counter = torch.zeros(1, dtype=torch.int32, device=device)
        counter = _counters.setdefault((device.index, stream), counter)
    return counter
