"""One door for users: `attention` runs the fastest kernel that takes the input; `which` names it.

`attention` is a PyTorch operator, `kernels::attention`: `torch.compile` sees it whole, CUDA graphs
capture it. `transformers_attention` is its form for Hugging Face Transformers:

    import kernels, transformers
    transformers.AttentionInterface.register("tiled", kernels.transformers_attention)
    transformers.AttentionMaskInterface.register("tiled", transformers.masking_utils.sdpa_mask)

after which `attn_implementation="tiled"` runs it. The last line lets it see the mask that a model
asks for: it refuses one that it does not run, such as a padded batch, which Transformers would
otherwise leave out silently.
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

IN_A_TENSOR = "in a tensor"  # stands for a sink that each call brings along
SMALL_TILES = 16  # of 128 × 128 scores: a GPU is done with them before the next call comes


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
    """The kernel that `attention` runs for this input. Raises what `attention` raises for it."""
    check_tensors(q, k, v)
    check_device(q.device)
    if sink is not None:
        check_sink(sink, q)
    given = IN_A_TENSOR if isinstance(sink, torch.Tensor) else sink
    return _choice(q, k, v, masks.from_keywords(causal, mask), check_score(score), given, scale)


def _choice(q, k, v, mask: masks.Mask, score: Score, sink: float | str | None, scale) -> Choice:
    """As `which`; of a sink in a tensor only that it is one."""
    (batch, heads, n_q, _), n_k = q.shape, k.shape[2]
    plain = mask.plain and not score.changes and sink is None
    if plain and n_q <= decode.MAX_QUERIES:
        return Choice("decode", f"So few queries, Nq = {n_q}: the keys are split among programs.")
    if sink == IN_A_TENSOR:
        return Choice("fa2", "A sink in a tensor: the readable kernel reads it when it runs.")
    how = {"mask": mask.text, "score": score.text, "sink": sink, "scale": scale}
    works, reason = hopper.supports(q, k, v, **how)
    if works and batch * heads * -(-n_q // 128) * -(-n_k // 128) <= SMALL_TILES:
        return Choice("fa2", "So little work: the readable kernel is the one launched sooner.")
    if works:
        return Choice("hopper", "The Hopper kernel takes this input and is the fastest that does.")
    return Choice("fa2", reason)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *,
    causal: bool = False, mask: str | None = None, score: str | None = None,
    sink: float | torch.Tensor | None = None, scale: float | None = None,
    return_lse: bool = False, deterministic: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Exact attention, O = softmax(scale · Q Kᵀ) V, by the fastest kernel that takes the input.

    Arguments, masks, scores, sinks, gradients and errors as `kernels.flash_attention`, whose
    orders and tiles are chosen here; `which` says how. Returns O (B, H, Nq, d) in q's dtype,
    contiguous; with `return_lse` also lse (B, H, Nq), fp32, natural log.
    """
    tensors = type(q) is type(k) is type(v) is torch.Tensor
    if not tensors and not all(isinstance(x, torch.Tensor) for x in (q, k, v)):
        check_tensors(q, k, v)  # says which is not
    # Eagerly the dispatcher, which would call the same, costs a third of the call.
    traced = torch.compiler.is_compiling() or _get_current_dispatch_mode() is not None
    if not tensors or traced:
        if sink is not None and not isinstance(sink, torch.Tensor):
            sink = q.new_full((q.shape[1],), sink, dtype=torch.float32)
        o, lse = _operator(q, k, v, causal, mask, scale, score, sink, deterministic)
    elif gradients.wanted(q, k, v, sink):
        how = {"causal": causal, "mask": mask, "score": score, "scale": scale}
        run = partial(_of_sink, how=how)
        how = how | {"deterministic": deterministic}
        o, lse = gradients.Recorded.apply(q, k, v, sink, run, how)
    elif score is None and sink is None:
        o, lse = _calls(q, k, v, causal, mask, scale)
    else:
        o, lse = _run(q, k, v, causal, mask, scale, score, sink)
    return (o, lse) if return_lse else o


def transformers_attention(
    module, query, key, value, attention_mask, scaling=None, dropout=0.0, **more
):
    """What Transformers calls for `attn_implementation`: query (B, H, Nq, d), key and value
    (B, Hk, Nk, d); returns O (B, Nq, H, d) and None. A soft cap, a sliding window and sinks are
    run; dropout and a mask that is not the causal one within the window are refused in one sentence
    with ValueError."""
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
    if attention_mask is not None and not _says(attention_mask, mask, query, key):
        raise ValueError(
            f"attention_mask is not allowed unless it is {mask}: leave padding out of the batch."
        )
    cap, sink = more.get("softcap"), more.get("s_aux")
    score = None if cap is None else f"softcap:{cap}"
    o = attention(query, key, value, mask=mask, score=score, sink=sink, scale=scaling)
    return o.transpose(1, 2), None


def _says(attention_mask, mask: str, q, k) -> bool:
    """Is a dense mask, True where a key is seen, this one? Asked of the GPU once a mask: all layers
    of a model are given the same tensor."""
    if getattr(attention_mask, "_known_as", None) == mask:
        return True
    n_q, n_k = q.shape[2], k.shape[2]
    dense = isinstance(attention_mask, torch.Tensor) and attention_mask.dtype == torch.bool
    if not dense or attention_mask.shape[-2:] != (n_q, n_k):
        return False
    rows, keys = (torch.arange(n, device=q.device) for n in (n_q, n_k))
    seen = masks.from_keywords(False, mask).sees(rows[:, None] + (n_k - n_q), keys[None, :])
    if same := bool((attention_mask == seen).all()):
        attention_mask._known_as = mask
    return same


def _prepare(q, k, v, causal, mask, scale, score=None, sink=None):
    """The prepared call of the kernel chosen for such input: of (q, k, v), and of a sink if that is
    `IN_A_TENSOR`."""
    check_tensors(q, k, v)
    check_device(q.device)
    asked = masks.from_keywords(causal, mask)
    chosen = _choice(q, k, v, asked, check_score(score), sink, scale).kernel
    if chosen == "hopper":
        return hopper.prepare(q, k, v, causal, mask, scale, None, score, sink)
    if chosen == "decode":
        return decode.prepare(q, k, v, asked.hides, scale, None, True)
    call = orders.prepare(q, k, v, causal, mask, scale, score=score, sunk=sink is not None)
    if sink is None or sink == IN_A_TENSOR:
        return call
    known = check_sink(sink, q)
    return lambda q, k, v: call(q, k, v, known)


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


def _of_sink(q, k, v, sink, how):
    return _run(q, k, v, **how, sink=sink)


def _shapes(
    q, k, v, causal=False, mask=None, scale=None, score=None, sink=None, deterministic=None
):  # fmt: skip
    """What the operator returns, for tracers that carry no data."""
    return q.new_empty(q.shape), q.new_empty(q.shape[:-1], dtype=torch.float32)


_OPTIONS = ("causal", "mask", "scale", "score", "deterministic")


def _run_backward(grad_o, grad_lse, q, k, v, o, lse, sink, *options):
    how = dict(zip(_OPTIONS, options, strict=True))
    *found, dsink = gradients.of_tensors(grad_o, grad_lse, q, k, v, o, lse, sink, how)
    return *found, lse.new_empty(0) if dsink is None else dsink


def _shapes_backward(grad_o, grad_lse, q, k, v, o, lse, sink, *options):
    """What `_run_backward` returns, for tracers that carry no data."""
    dsink = lse.new_empty(0) if sink is None else sink.new_empty(sink.shape)
    return *(x.new_empty(x.shape) for x in (q, k, v)), dsink


def _keep(ctx, inputs, output):
    q, k, v, causal, mask, scale, score, sink, deterministic = inputs
    ctx.save_for_backward(q, k, v, *output, sink)
    ctx.options = causal, mask, scale, score, deterministic
    ctx.set_materialize_grads(False)


def _backward(ctx, grad_o, grad_lse):
    if grad_o is None and grad_lse is None:
        return (None,) * 9
    *found, dsink = _backward_operator(grad_o, grad_lse, *ctx.saved_tensors, *ctx.options)
    dsink = None if ctx.saved_tensors[-1] is None else dsink
    return *found, None, None, None, None, dsink, None


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
torch.library.register_autograd("kernels::attention", _backward, setup_context=_keep, lib=_library)
torch.library.register_autograd("kernels::attention_backward", gradients.no_second, lib=_library)
_operator = torch.ops.kernels.attention.default
_backward_operator = torch.ops.kernels.attention_backward.default
