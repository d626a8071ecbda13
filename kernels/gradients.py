"""Call the backward pass, and record it for PyTorch's autograd."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import triton

from .checks import check_score, check_sink, check_tensors, is_uneven, scale_of, widen
from .configs import Config, card_of, choose_backward, has_pass_for_dq, pad
from .fa2_backward import delta_kernel, keys_kernel, scale_kernel
from .fa2_backward_rows import rows_kernel
from .hopper import backward as hopper_backward
from .launching import MAX_CALLS, Launch, on_device, without_warnings
from .progress import expect
from .spans import is_rising, row_blocks
from .spec import masks
from .tables import SPANS, rules

ROWS = 64  # of one program that computes D
SIZE = 2048  # numbers of one program that scales dQ
METHODS = ("readable", "hopper")
# "hopper": the kernel of `kernels.hopper` where it takes the input and no tile is requested.
METHOD = os.environ.get("KERNELS_BACKWARD", "hopper")
Gradients = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None]
_calls: dict[tuple, Callable] = {}


def backward(
    grad_o: torch.Tensor | None,
    grad_lse: torch.Tensor | None,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    sink: float | torch.Tensor | None = None,
    *,
    causal: bool = False,
    mask: str | masks.Mask | None = None,
    score: str | None = None,
    scale: float | None = None,
    block_m: int | None = None,
    block_n: int | None = None,
    precision: str = "ieee",
    deterministic: bool | None = None,
    method: str | None = None,
    spans: torch.Tensor | None = None,
) -> Gradients:
    """Compute the gradients of a loss from its gradients by O and by lse (arXiv 2307.08691,
    Algorithm 2).

    Returns dQ, dK and dV, of the shapes of q, k and v and in q's dtype, and dsink (H,) in fp32, or
    None without a sink. `grad_o` like O, any strides; `grad_lse` like lse; either may be None,
    which is 0. O and lse are what the forward returned for the other arguments, which are
    `kernels.flash_attention`'s; P is recomputed from lse. `block_m` and `block_n` are lowered to
    the largest that fits. `deterministic`: dQ by a pass of its own, or serialized, the same bits at
    each call; None means torch.are_deterministic_algorithms_enabled(). `method` "readable" or
    "hopper": that kernel or a ValueError that says why not; None: METHOD where it takes the input
    and no block is requested. `spans` (B, Nq, 2), int32: the mask, as `spans.py` has it.
    Raises TypeError, ValueError or RuntimeError with one sentence for input that cannot run.
    """
    if deterministic is None:
        deterministic = torch.are_deterministic_algorithms_enabled()
    if sink is not None:
        sink = check_sink(sink, q)
    grad_o = torch.zeros_like(o) if grad_o is None else grad_o.resolve_neg()
    lse = lse.contiguous()
    tiled = block_m is not None or block_n is not None
    is_serial = deterministic and max(q.shape[-1], v.shape[-1]) <= hopper_backward.WIDEST
    is_readable = tiled or (spans is not None and (is_serial or not is_rising(spans)))
    chosen = method or (METHODS[0] if is_readable else METHOD), method is not None
    rule = mask if spans is None else SPANS
    options = causal, rule, score, scale, block_m, block_n, precision, *chosen, deterministic
    tensors = q, k, v, o, grad_o, lse
    key = (
        *[part for x in tensors for part in (x.shape, x.stride(), x.data_ptr() & 15)],
        q.dtype, q.device, options,
    )  # fmt: skip
    call = _calls.get(key)
    if call is None:
        call = _prepare(*tensors, *options)
        if len(_calls) >= MAX_CALLS:
            _calls.clear()
        _calls[key] = call
    return on_device(call, *tensors, grad_lse, sink, spans)


def _prepare(
    q, k, v, o, grad_o, lse, causal=False, mask=None, score=None, scale=None, block_m=None,
    block_n=None, precision="ieee", method=METHODS[0], required=True, deterministic=False,
    states: tuple[torch.Tensor, ...] | None = None,
) -> Callable[..., Gradients]:  # fmt: skip
    """Return a function of tensors like these, the gradient by lse and the sink, to the gradients.

    `states`: tensors as `gradient_states` returns them, which the kernel fills.
    """
    check_tensors(q, k, v, is_even=False)
    check_tensors(grad_o, v, v)
    lse_shape = q.shape[:-1]
    o_shape = (*lse_shape, v.shape[-1])
    for name, x, shape in (("grad_o", grad_o, o_shape), ("o", o, o_shape), ("lse", lse, lse_shape)):
        if x.shape != shape:
            raise ValueError(f"{name} has shape {tuple(x.shape)}, not {tuple(shape)}.")
    (batch, heads, n_q, d), (_, k_heads, n_k, _) = q.shape, k.shape
    if 0 in q.shape or 0 in k.shape:
        return _empty_gradients
    own_scale, scale, device = scale, scale_of(scale, d), q.device
    parsed = masks.from_keywords(causal, mask)
    modified = check_score(score)
    if method == "hopper":
        reason = hopper_backward.why_not(q, k, v, parsed, modified, scale)
        if not reason:
            found = hopper_backward.prepare(
                q, k, v, o, grad_o, parsed, modified, scale, deterministic
            )
            return _with_sink(found)
        if required and not is_uneven(q, k, v):
            raise ValueError(reason)
    elif method not in METHODS:
        raise ValueError(f"method = {method!r} is not allowed: {', '.join(METHODS)}.")
    if is_uneven(q, k, v):
        others = {
            "causal": causal, "mask": mask, "score": score, "block_m": block_m, "block_n": block_n,
            "precision": precision, "method": method, "required": required,
            "deterministic": deterministic,
        }  # fmt: skip
        return _prepare_widened((q, k, v, o, grad_o), lse, own_scale, others)
    if block_m is block_n is states is None:
        has_pass = has_pass_for_dq(card_of(device), d, q.element_size())
        deterministic = deterministic or has_pass
    config = config_for(q, block_m, block_n, deterministic)
    blocks, group = (config.block_m, config.block_n), heads // k_heads
    make_tables = partial(rules, parsed, modified, n_q, n_k, device, *blocks)
    strides = q.stride(), k.stride(), v.stride(), grad_o.stride()
    sizes, constants = (n_q, n_k, scale), config.constants(d, q.dtype, precision)
    ragged = {"RAGGED_N": n_k % config.block_n != 0}

    texts, by_keys = make_tables(by_keys=True)
    delta_of = Launch(
        delta_kernel, triton.cdiv(n_q, ROWS) * batch * heads,
        (o.stride(), grad_o.stride(), heads, n_q),
        {
            "D": d, "ROWS": ROWS, "PAD_D": pad(d), "ADD_DQ": not deterministic,
            "BF16_BITS": constants["BF16_BITS"],
        },
    )  # fmt: skip
    by_columns = Launch(
        keys_kernel, triton.cdiv(n_k, config.block_n) * batch * k_heads,
        (*strides, heads, *sizes, by_keys, states),
        {
            **texts, **constants, **ragged, "GROUP": group, "ADD_DQ": not deterministic,
            "RAGGED_M": n_q % config.block_m != 0,
        },
    )  # fmt: skip
    if deterministic:
        texts, by_rows = make_tables()
        last = Launch(
            rows_kernel, triton.cdiv(n_q, config.block_m) * batch * heads,
            (*strides, heads, group, *sizes, by_rows), {**texts, **constants, **ragged},
        )  # fmt: skip
    else:
        last = Launch(
            scale_kernel, triton.cdiv(q.numel(), SIZE), (q.numel(), scale),
            {"SIZE": SIZE, "BF16_BITS": constants["BF16_BITS"]},
        )  # fmt: skip

    def call(q, k, v, o, grad_o, lse, grad_lse, sink, spans):
        expect(sum(launch.programs for launch in (delta_of, by_columns, last)))
        delta, dsink = torch.empty_like(lse), None
        added = delta  # neither read nor written
        if not deterministic:
            added = torch.empty(q.shape, dtype=torch.float32, device=device)
        delta_of(o, grad_o, delta, added)
        if grad_lse is not None:  # d lse_i / dS_ij = P_ij as well: it joins D with a minus
            delta -= grad_lse
        if sink is not None:
            dsink = _of_sink(sink, lse, delta)
        dk, dv = (torch.empty(k.shape, dtype=k.dtype, device=device) for _ in range(2))
        dq = torch.empty(q.shape, dtype=q.dtype, device=device)
        seen = delta, delta  # not read
        if spans is not None:
            seen = spans, row_blocks(spans, n_k, *blocks)
        by_columns(q, k, v, grad_o, lse, delta, added, dk, dv, *seen)
        if deterministic:
            last(q, k, v, grad_o, lse, delta, dq, seen[0])
        else:
            last(added, dq)
        return dq, dk, dv, dsink

    return without_warnings(call)


def _prepare_widened(tensors, lse, scale: float | None, others: dict) -> Callable:
    """Return what `_prepare` does for v of another head dimension, by a call of tensors of one
    dimension: only the Hopper kernels take such tensors as they are."""
    d, d_v = tensors[0].shape[-1], tensors[2].shape[-1]

    def widened(q, k, v, o, grad_o) -> tuple[tuple, float | None]:
        q, k, v, wide_scale = widen(q, k, v, scale)
        o, grad_o = (torch.nn.functional.pad(x, (0, v.shape[-1] - d_v)) for x in (o, grad_o))
        return (q, k, v, o, grad_o), wide_scale

    (q, k, v, o, grad_o), wide_scale = widened(*tensors)
    call = _prepare(q, k, v, o, grad_o, lse, scale=wide_scale, **others)

    def narrowed(q, k, v, o, grad_o, *more):
        wide, _ = widened(q, k, v, o, grad_o)
        dq, dk, dv, dsink = call(*wide, *more)
        dq, dk = (x[..., :d].contiguous() for x in (dq, dk))
        return dq, dk, dv[..., :d_v].contiguous(), dsink

    return narrowed


def gradient_states(
    grad_o: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    *,
    block_m: int | None = None,
    block_n: int | None = None,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute what each tile contributes, by the same kernel compiled to report it; arguments as
    `backward`.

    Returns what a tile adds to dQ_i, (B, H, Tr, Tc, block_m, d), and dK_j and dV_j after it, each
    (B, H, Tr, Tc, block_n, d), fp32, the first two without the scale; NaN where the tile is skipped
    and beyond Nq or Nk. Where query heads share a key head, dK_j and dV_j go on from head to head.
    """
    check_tensors(q, k, v)
    config = config_for(q, block_m, block_n)
    blocks = config.block_m, config.block_n, config.block_n
    tiles = triton.cdiv(q.shape[2], config.block_m), triton.cdiv(k.shape[2], config.block_n)
    dq, dk, dv = (
        torch.full((*q.shape[:2], *tiles, block, q.shape[3]), float("nan"), device=q.device)
        for block in blocks
    )
    states = dq, dk, dv
    tensors = q, k, v, o, grad_o, lse.contiguous()
    call = _prepare(*tensors, block_m=block_m, block_n=block_n, **options, states=states)
    on_device(call, *tensors, None, None, None)
    return states


def _with_sink(found: Callable) -> Callable[..., Gradients]:
    """Return the call with the gradient by a sink."""

    def call(q, k, v, o, grad_o, lse, grad_lse, sink, spans):
        dq, dk, dv, less = found(q, k, v, o, grad_o, lse, grad_lse, spans)
        return dq, dk, dv, None if sink is None else _of_sink(sink, lse, -less)

    return call


def _of_sink(sink, lse, delta) -> torch.Tensor:
    """Return dsink (H,), that of a key whose dP is 0 because it has no value."""
    return -(torch.exp(sink[:, None] - lse) * delta).sum((0, 2))


def _empty_gradients(q, k, v, o, grad_o, lse, grad_lse, sink, spans) -> Gradients:
    """Return the gradients without a row or a key: 0, but of a sink alone in its rows' lse."""
    dsink = None if sink is None else torch.zeros_like(sink)
    if dsink is not None and grad_lse is not None:
        dsink += grad_lse.sum((0, 2))
    dq, dk, dv = (torch.zeros(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
    return dq, dk, dv, dsink


def config_for(
    q: torch.Tensor,
    block_m: int | None = None,
    block_n: int | None = None,
    deterministic: bool = False,
) -> Config:
    """Return the configuration of the backward pass for this q (B, H, Nq, d) on its device."""
    arch = card_of(q.device)
    return choose_backward(arch, q.shape[-1], q.element_size(), block_m, block_n, deterministic)


def wanted(q, k, v, sink) -> bool:
    """Return whether autograd records a gradient of any of these."""
    return torch.is_grad_enabled() and (
        getattr(q, "requires_grad", False) or getattr(k, "requires_grad", False)
        or getattr(v, "requires_grad", False) or getattr(sink, "requires_grad", False)
    )  # fmt: skip


class Recorded(torch.autograd.Function):
    """A forward call with its backward: apply(q, k, v, sink, spans, run, options).

    run(q, k, v, sink, spans) → O and lse; `options` are the keywords of `backward` but sink and
    spans. Eagerly it costs less than an operator.
    """

    @staticmethod
    def forward(ctx, q, k, v, sink, spans, run, options):
        o, lse = run(q, k, v, sink, spans)
        ctx.options = options
        sink = sink if isinstance(sink, torch.Tensor) else None
        ctx.save_for_backward(q, k, v, o, lse, sink, spans)
        ctx.set_materialize_grads(False)
        return o, lse

    @staticmethod
    def backward(ctx, grad_o, grad_lse):
        if grad_o is None and grad_lse is None:
            return (None,) * 7
        # With create_graph = True a graph of the gradients is requested.
        call: Callable = Once.apply if torch.is_grad_enabled() else of_tensors
        return *call(grad_o, grad_lse, *ctx.saved_tensors, ctx.options), None, None, None


def of_tensors(grad_o, grad_lse, q, k, v, o, lse, sink, spans, options: dict) -> Gradients:
    """Call `backward`, with dsink in the dtype of the sink, which is a tensor or None."""
    dq, dk, dv, dsink = backward(grad_o, grad_lse, q, k, v, o, lse, sink, **options, spans=spans)
    return dq, dk, dv, None if dsink is None else dsink.to(sink.dtype)


class Once(torch.autograd.Function):
    """Call `of_tensors` where a graph of it is requested: it has none."""

    @staticmethod
    def forward(ctx, *arguments):
        return of_tensors(*arguments)

    @staticmethod
    def backward(ctx, *grads):
        no_second(ctx)


def no_second(ctx, *grads):
    """Refuse to differentiate the gradients."""
    raise RuntimeError(
        "The gradients of attention have no gradient: a second backward pass is not implemented."
    )
