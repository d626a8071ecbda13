"""Dispatch attention to the fastest kernel that takes the input; `which` names that kernel.

`attention` is a PyTorch operator, `kernels::attention`: `torch.compile` sees it whole, CUDA graphs
capture it. `varlen.py` and `hugging_face.py` call it with spans in place of a mask.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch._C._functorch import TransformType, peek_interpreter_stack

from . import decode, gradients, hopper, orders
from .checks import (
    check_call,
    check_sink,
    check_sink_number,
    check_tensors,
    is_traced,
    is_uneven,
    widen,
)
from .launching import Calls
from .spec import masks
from .spec.scores import Score
from .tables import SPANS

IN_A_TENSOR = "in a tensor"  # stands for a sink that each call passes
SMALL_TILES = 16  # of 128 × 128 scores: a GPU computes them before the next call starts


@dataclass(frozen=True)
class Choice:
    """The kernel that `attention` runs: "hopper", "decode" or "fa2", and why in one sentence."""

    kernel: str
    why: str


def which(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *,
    causal: bool = False, mask: str | None = None, score: str | None = None,
    sink: float | torch.Tensor | None = None, scale: float | None = None,
) -> Choice:  # fmt: skip
    """Return the kernel that `attention` runs for this input. Raises what `attention` raises."""
    parsed, modified, _ = check_call(q, k, v, causal, mask, score, scale, is_even=False)
    if sink is not None:
        check_sink(sink, q)
    sink_key = IN_A_TENSOR if isinstance(sink, torch.Tensor) else sink
    return _choice(q, k, v, parsed, modified, sink_key, scale)


def _choice(q, k, v, mask: masks.Mask, score: Score, sink: float | str | None, scale) -> Choice:
    """Choose as `which` does; of a sink in a tensor it suffices that it is one."""
    (batch, heads, n_q, _), n_k = q.shape, k.shape[2]
    is_plain = mask.plain and not score.changes and sink is None
    if is_plain and n_q <= decode.MAX_QUERIES:
        return Choice("decode", f"So few queries, Nq = {n_q}: the keys are split among programs.")
    if sink == IN_A_TENSOR:
        return Choice("fa2", "A sink in a tensor: the readable kernel reads it when it runs.")
    options = {"mask": mask, "score": score.text, "sink": sink, "scale": scale}
    reason = hopper.why_not(q, k, v, **options)
    if reason:
        return Choice("fa2", reason)
    if batch * heads * -(-n_q // 128) * -(-n_k // 128) <= SMALL_TILES:
        return Choice("fa2", "So little work: the readable kernel is the one launched sooner.")
    return Choice("hopper", "The Hopper kernel takes this input and is the fastest that does.")


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *,
    causal: bool = False, mask: str | None = None, score: str | None = None,
    sink: float | torch.Tensor | None = None, scale: float | None = None,
    return_lse: bool = False, deterministic: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Compute exact attention, O = softmax(scale · Q Kᵀ) V, by the fastest kernel that takes it.

    Arguments, masks, scores, sinks, gradients and errors as `kernels.flash_attention`, whose
    orders and tiles are chosen here; `which` says how. Returns O (B, H, Nq, d) in q's dtype,
    contiguous; with `return_lse` also lse (B, H, Nq), fp32, natural log.
    """
    options = {"causal": causal, "mask": mask, "score": score, "scale": scale}
    o, lse = attend(q, k, v, sink, None, options, deterministic)
    return (o, lse) if return_lse else o


def attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sink: float | torch.Tensor | None,
    spans: torch.Tensor | None, options: dict, deterministic: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Return O and lse as `attention` does, with its `options`; `spans` (B, Nq, 2), int32 and
    contiguous on q's device, are the mask where they are given."""
    are_tensors = type(q) is type(k) is type(v) is torch.Tensor
    if not are_tensors and not all(isinstance(x, torch.Tensor) for x in (q, k, v)):
        check_tensors(q, k, v)  # raises, naming the one that is none
    is_operator, is_recorded = not are_tensors or is_traced(), gradients.wanted(q, k, v, sink)
    # Eagerly the dispatcher, which would call the same, costs a third of the call.
    if is_operator:
        return traced(q, k, v, sink, options, deterministic, spans)
    if is_recorded:

        def run(q, k, v, sink, spans):
            return _run(q, k, v, **options, sink=sink, spans=spans)

        how = options | {"deterministic": deterministic}
        return gradients.Recorded.apply(q, k, v, sink, spans, run, how)
    return _run(q, k, v, **options, sink=sink, spans=spans)


def traced(q, k, v, sink, options: dict, deterministic, spans=None, tiling: str | None = None):
    """Return O and lse by the operator, which PyTorch's compiler and its transforms see whole;
    `tiling` as `_run` has it."""
    check_tensors(q, k, v, is_even=False)
    for name, kind, what in (
        ("causal", bool, "True or False"), ("mask", str, "a text such as 'causal'"),
        ("score", str, "a text such as 'softcap:30'"), ("scale", (int, float), "a number"),
    ):  # fmt: skip
        given = options.get(name)
        if given is not None and not isinstance(given, kind):
            raise TypeError(f"{name} must be {what}, not {type(given).__name__}.")
    if sink is not None and not isinstance(sink, torch.Tensor):
        check_sink_number(sink)
        # Not of q, by whose batch torch.vmap would have one for each.
        sink = torch.full((q.shape[1],), sink, dtype=torch.float32, device=q.device)
    transform = None if torch.compiler.is_compiling() else peek_interpreter_stack()
    if transform is not None and transform.key() != TransformType.Vmap:
        raise RuntimeError(
            f"torch.func's {transform.key().name.lower()} is not run: torch.autograd.grad and "
            "torch.vmap are."
        )
    rules = options.get("causal", False), *map(options.get, ("mask", "scale", "score"))
    return _operator(q, k, v, *rules, sink, deterministic, spans, tiling)


def _prepare(q, k, v, causal, mask, scale, score=None, sink=None):
    """Return the prepared call of the kernel chosen for such input: of (q, k, v), of spans where
    `mask` is SPANS, and of a sink if that is `IN_A_TENSOR`."""
    parsed, modified, _ = check_call(q, k, v, causal, mask, score, scale, is_even=False)
    chosen = _choice(q, k, v, parsed, modified, sink, scale).kernel
    if chosen == "hopper":
        return hopper.prepare(q, k, v, causal, mask, scale, None, score, sink)
    if is_uneven(q, k, v):
        return _prepare_widened(q, k, v, causal, mask, scale, score, sink)
    if chosen == "decode":
        return decode.prepare(q, k, v, parsed.hides, scale, None, True)
    call = orders.prepare(q, k, v, causal, mask, scale, score=score, has_sink=sink is not None)
    if sink is None or sink == IN_A_TENSOR:
        return call
    constant = check_sink(sink, q)
    return lambda *tensors: call(*tensors, constant)


def _prepare_widened(q, k, v, causal, mask, scale, score, sink):
    """Return a prepared call for v of another head dimension, by one of tensors of one dimension.

    Only the Hopper kernel takes such tensors as they are.
    """
    wide_q, wide_k, wide_v, wide_scale = widen(q, k, v, scale)
    call = _prepare(wide_q, wide_k, wide_v, causal, mask, wide_scale, score, sink)
    d_v = v.shape[-1]

    def widened(q, k, v, *more):
        q, k, v, _ = widen(q, k, v, scale)
        o, lse = call(q, k, v, *more)
        return o[..., :d_v].contiguous(), lse

    return widened


_calls = Calls(_prepare)


def _run(
    q, k, v, causal=False, mask=None, scale=None, score=None, sink=None, deterministic=None,
    spans=None, tiling=None,
):  # fmt: skip
    """Return O and lse. `tiling`: order, block_m, block_n and precision of `flash_attention`, by
    commas, for that function in place of the kernel chosen here."""
    if tiling is not None:
        order, *tile = _parts(tiling)
        return orders.run(q, k, v, sink, None, (causal, mask, scale, order, *tile, True), score)
    if score is None and sink is None and spans is None:  # the dispatcher leaves defaults out
        return _calls(q, k, v, causal, mask, scale)
    rule, more = (mask, ()) if spans is None else (SPANS, (spans,))
    if isinstance(sink, torch.Tensor):
        more = (*more, check_sink(sink, q))
        return _calls(q, k, v, causal, rule, scale, score, IN_A_TENSOR, more=more)
    if sink is not None:
        check_tensors(q, k, v)
        check_sink(sink, q)
    return _calls(q, k, v, causal, rule, scale, score, sink, more=more)


def _shapes(q, k, v, *options, **named):
    """Return tensors like the operator's, for tracers without data."""
    o_shape = *q.shape[:-1], v.shape[-1]
    return q.new_empty(o_shape), q.new_empty(q.shape[:-1], dtype=torch.float32)


def _parts(tiling: str) -> tuple:
    order, block_m, block_n, precision = tiling.split(",")
    return order, *(int(x) if x else None for x in (block_m, block_n)), precision


_OPTIONS = ("causal", "mask", "scale", "score", "deterministic", "tiling")


def _run_backward(grad_o, grad_lse, q, k, v, o, lse, sink, spans, *options):
    named = dict(zip(_OPTIONS, options, strict=True))
    if (tiling := named.pop("tiling")) is not None:
        tile = zip(("block_m", "block_n", "precision"), _parts(tiling)[1:], strict=True)
        named |= dict(tile)
    *grads, dsink = gradients.of_tensors(grad_o, grad_lse, q, k, v, o, lse, sink, spans, named)
    return *grads, lse.new_empty(0) if dsink is None else dsink


def _shapes_backward(grad_o, grad_lse, q, k, v, o, lse, sink, spans, *options):
    """Return tensors like those of `_run_backward`, for tracers without data."""
    dsink = lse.new_empty(0) if sink is None else sink.new_empty(sink.shape)
    return *(x.new_empty(x.shape) for x in (q, k, v)), dsink


def _save(ctx, inputs, output):
    q, k, v, causal, mask, scale, score, sink, deterministic, spans, tiling = inputs
    ctx.save_for_backward(q, k, v, *output, sink, spans)
    ctx.options = causal, mask, scale, score, deterministic, tiling
    ctx.set_materialize_grads(False)


def _backward(ctx, grad_o, grad_lse):
    if grad_o is None and grad_lse is None:
        return (None,) * 11
    *grads, dsink = _backward_operator(grad_o, grad_lse, *ctx.saved_tensors, *ctx.options)
    dsink = None if ctx.saved_tensors[-2] is None else dsink
    return *grads, None, None, None, None, dsink, None, None, None


_library = torch.library.Library("kernels", "DEF")
_library.define(
    "attention(Tensor q, Tensor k, Tensor v, bool causal=False, str? mask=None, "
    "float? scale=None, str? score=None, Tensor? sink=None, bool? deterministic=None, "
    "Tensor? spans=None, str? tiling=None) -> (Tensor, Tensor)",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_library.define(
    "attention_backward(Tensor? grad_o, Tensor? grad_lse, Tensor q, Tensor k, Tensor v, Tensor o, "
    "Tensor lse, Tensor? sink, Tensor? spans, bool causal, str? mask, float? scale, str? score, "
    "bool? deterministic, str? tiling) -> (Tensor, Tensor, Tensor, Tensor)",
    tags=(torch.Tag.pt2_compliant_tag,),
)
for _name, _call, _fake in (
    ("attention", _run, _shapes),
    ("attention_backward", _run_backward, _shapes_backward),
):
    _library.impl(_name, _call, "CUDA")
    _library.impl(_name, _call, "CPU")
    torch.library.register_fake(f"kernels::{_name}", _fake, lib=_library)


def _vmap_rule(call, tensors: tuple[int, ...]):
    """Return the rule by which `torch.vmap` runs an operator, of whose arguments those at these
    places begin with B: one call of a larger batch."""

    def rule(info, dims, *arguments):
        others = [dim for at, dim in enumerate(dims) if at not in tensors]
        if any(dim is not None for dim in others):
            raise ValueError("sink is not allowed to differ under torch.vmap: call it in a loop.")
        if call is _backward_operator and arguments[7] is not None:
            raise ValueError("sink is not allowed to have a gradient under torch.vmap.")
        flat, size = list(arguments), info.batch_size
        for at in tensors:
            x, dim = (arguments[at], dims[at]) if at < len(arguments) else (None, None)
            if x is not None:
                whole = x.movedim(dim, 0) if dim is not None else x.expand(size, *x.shape)
                flat[at] = whole.flatten(0, 1)
        found = call(*flat)
        split = [x.unflatten(0, (size, len(x) // size)) if x.numel() else x for x in found]
        return tuple(split), tuple(0 if x.numel() else None for x in split)

    return rule


torch.library.register_autograd("kernels::attention", _backward, setup_context=_save, lib=_library)
torch.library.register_autograd("kernels::attention_backward", gradients.no_second, lib=_library)
_operator = torch.ops.kernels.attention.default
_backward_operator = torch.ops.kernels.attention_backward.default
torch.library.register_vmap("kernels::attention", _vmap_rule(_operator, (0, 1, 2, 9)), lib=_library)
torch.library.register_vmap(
    "kernels::attention_backward", _vmap_rule(_backward_operator, (*range(7), 8)), lib=_library
)
