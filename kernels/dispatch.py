"""Dispatch attention to the fastest kernel that takes the input; `which` names that kernel.

`attention` is a PyTorch operator, `kernels::attention`: `torch.compile` sees it whole, CUDA graphs
capture it. `transformers_attention` is its form for Hugging Face Transformers:

    import kernels, transformers
    transformers.AttentionInterface.register("tiled", kernels.transformers_attention)
    transformers.AttentionMaskInterface.register("tiled", transformers.masking_utils.sdpa_mask)

after which `attn_implementation="tiled"` runs it. The last line passes it the mask of a model: it
refuses one that it does not run, such as a padded batch, which Transformers would otherwise leave
out silently.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode

from . import decode, gradients, hopper, orders
from .checks import check_device, check_score, check_sink, check_tensors
from .launching import Calls
from .spec import masks
from .spec.scores import Score

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
    check_tensors(q, k, v)
    check_device(q.device)
    if sink is not None:
        check_sink(sink, q)
    sink_key = IN_A_TENSOR if isinstance(sink, torch.Tensor) else sink
    return _choice(q, k, v, masks.from_keywords(causal, mask), check_score(score), sink_key, scale)


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
    are_tensors = type(q) is type(k) is type(v) is torch.Tensor
    if not are_tensors and not all(isinstance(x, torch.Tensor) for x in (q, k, v)):
        check_tensors(q, k, v)  # raises, naming the one that is none
    # Eagerly the dispatcher, which would call the same, costs a third of the call.
    is_traced = torch.compiler.is_compiling() or _get_current_dispatch_mode() is not None
    if not are_tensors or is_traced:
        if sink is not None and not isinstance(sink, torch.Tensor):
            sink = q.new_full((q.shape[1],), sink, dtype=torch.float32)
        o, lse = _operator(q, k, v, causal, mask, scale, score, sink, deterministic)
    elif gradients.wanted(q, k, v, sink):
        options = {"causal": causal, "mask": mask, "score": score, "scale": scale}
        run = partial(_run_options, options=options)
        options = options | {"deterministic": deterministic}
        o, lse = gradients.Recorded.apply(q, k, v, sink, run, options)
    elif score is None and sink is None:
        o, lse = _calls(q, k, v, causal, mask, scale)
    else:
        o, lse = _run(q, k, v, causal, mask, scale, score, sink)
    return (o, lse) if return_lse else o


def transformers_attention(
    module, query, key, value, attention_mask, scaling=None, dropout=0.0, **more
):
    """Compute attention for Transformers' `attn_implementation`.

    query (B, H, Nq, d), key and value (B, Hk, Nk, d); returns O (B, Nq, H, d) and None. A soft cap,
    a sliding window and sinks are run; raises ValueError with one sentence for dropout and for a
    mask that is not the causal one within the window.
    """
    if dropout:
        raise ValueError(f"dropout = {dropout} is not allowed: kernels.attention has none.")
    causal = more.get("is_causal")
    if causal is None:
        causal = getattr(module, "is_causal", True)
    # One query sees all keys; Transformers says "causal" for it too, and bottom-right agrees.
    mask, window = "causal" if causal else "full", more.get("sliding_window")
    if window is not None:
        if not causal:
            raise ValueError(f"sliding_window = {window} is not allowed without a causal mask.")
        mask = f"causal&window:{window - 1},0"  # the query itself is one of the window
    if attention_mask is not None and not _is_mask(attention_mask, mask, query, key):
        raise ValueError(
            f"attention_mask is not allowed unless it is {mask}: leave padding out of the batch."
        )
    cap, sink = more.get("softcap"), more.get("s_aux")
    score = None if cap is None else f"softcap:{cap}"
    options = {"mask": mask, "score": score, "sink": sink, "scale": scaling}
    o, _ = attention(query, key, value, **options, return_lse=True)
    return o.transpose(1, 2), None


def _is_mask(attention_mask, mask: str, q, k) -> bool:
    """Return whether a dense mask, True where a key is visible, is this one.

    It is compared on the GPU once, and then carries its name: all layers of a model pass the same
    tensor.
    """
    if getattr(attention_mask, "_known_as", None) == mask:
        return True
    n_q, n_k = q.shape[2], k.shape[2]
    dense = isinstance(attention_mask, torch.Tensor) and attention_mask.dtype == torch.bool
    if not dense or attention_mask.shape[-2:] != (n_q, n_k):
        return False
    rows, keys = (torch.arange(n, device=q.device) for n in (n_q, n_k))
    seen = masks.from_keywords(False, mask).sees(rows[:, None] + (n_k - n_q), keys[None, :])
    if same := bool((attention_mask == seen).all()):
        vars(attention_mask)["_known_as"] = mask
    return same


def _prepare(q, k, v, causal, mask, scale, score=None, sink=None):
    """Return the prepared call of the kernel chosen for such input: of (q, k, v), and of a sink if
    that is `IN_A_TENSOR`."""
    check_tensors(q, k, v)
    check_device(q.device)
    parsed = masks.from_keywords(causal, mask)
    chosen = _choice(q, k, v, parsed, check_score(score), sink, scale).kernel
    if chosen == "hopper":
        return hopper.prepare(q, k, v, causal, mask, scale, None, score, sink)
    if chosen == "decode":
        return decode.prepare(q, k, v, parsed.hides, scale, None, True)
    call = orders.prepare(q, k, v, causal, mask, scale, score=score, has_sink=sink is not None)
    if sink is None or sink == IN_A_TENSOR:
        return call
    constant = check_sink(sink, q)
    return lambda q, k, v: call(q, k, v, constant)


_calls = Calls(_prepare)


def _run(
    q, k, v, causal=False, mask=None, scale=None, score=None, sink=None, deterministic=None
):  # fmt: skip
    if score is None and sink is None:  # the dispatcher leaves defaults out
        return _calls(q, k, v, causal, mask, scale)
    if isinstance(sink, torch.Tensor):
        one = check_sink(sink, q)
        return _calls(q, k, v, causal, mask, scale, score, IN_A_TENSOR, sink=one)
    if sink is not None:
        check_tensors(q, k, v)
        check_sink(sink, q)
    return _calls(q, k, v, causal, mask, scale, score, sink)


def _run_options(q, k, v, sink, options):
    return _run(q, k, v, **options, sink=sink)


def _shapes(q, k, v, *options, **named):
    """Return tensors like the operator's, for tracers without data."""
    return q.new_empty(q.shape), q.new_empty(q.shape[:-1], dtype=torch.float32)


_OPTIONS = ("causal", "mask", "scale", "score", "deterministic")


def _run_backward(grad_o, grad_lse, q, k, v, o, lse, sink, *options):
    named = dict(zip(_OPTIONS, options, strict=True))
    *grads, dsink = gradients.of_tensors(grad_o, grad_lse, q, k, v, o, lse, sink, named)
    return *grads, lse.new_empty(0) if dsink is None else dsink


def _shapes_backward(grad_o, grad_lse, q, k, v, o, lse, sink, *options):
    """Return tensors like those of `_run_backward`, for tracers without data."""
    dsink = lse.new_empty(0) if sink is None else sink.new_empty(sink.shape)
    return *(x.new_empty(x.shape) for x in (q, k, v)), dsink


def _save(ctx, inputs, output):
    q, k, v, causal, mask, scale, score, sink, deterministic = inputs
    ctx.save_for_backward(q, k, v, *output, sink)
    ctx.options = causal, mask, scale, score, deterministic
    ctx.set_materialize_grads(False)


def _backward(ctx, grad_o, grad_lse):
    if grad_o is None and grad_lse is None:
        return (None,) * 9
    *grads, dsink = _backward_operator(grad_o, grad_lse, *ctx.saved_tensors, *ctx.options)
    dsink = None if ctx.saved_tensors[-1] is None else dsink
    return *grads, None, None, None, None, dsink, None


_library = torch.library.Library("kernels", "DEF")
_library.define(
    "attention(Tensor q, Tensor k, Tensor v, bool causal=False, str? mask=None, "
    "float? scale=None, str? score=None, Tensor? sink=None, bool? deterministic=None) "
    "-> (Tensor, Tensor)",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_library.define(
    "attention_backward(Tensor? grad_o, Tensor? grad_lse, Tensor q, Tensor k, Tensor v, Tensor o, "
    "Tensor lse, Tensor? sink, bool causal, str? mask, float? scale, str? score, "
    "bool? deterministic) -> (Tensor, Tensor, Tensor, Tensor)",
    tags=(torch.Tag.pt2_compliant_tag,),
)
for _name, _call, _fake in (
    ("attention", _run, _shapes),
    ("attention_backward", _run_backward, _shapes_backward),
):
    _library.impl(_name, _call, "CUDA")
    _library.impl(_name, _call, "CPU")
    torch.library.register_fake(f"kernels::{_name}", _fake, lib=_library)
torch.library.register_autograd("kernels::attention", _backward, setup_context=_save, lib=_library)
torch.library.register_autograd("kernels::attention_backward", gradients.no_second, lib=_library)
_operator = torch.ops.kernels.attention.default
_backward_operator = torch.ops.kernels.attention_backward.default
