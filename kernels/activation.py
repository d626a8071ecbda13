"""Make these kernels PyTorch's flash implementation on CUDA, and undo it.

After `activate()` PyTorch's own attention runs them: `F.scaled_dot_product_attention`, models of
Transformers with "sdpa", and `torch.distributed.tensor.experimental.context_parallel` call the aten
operators that are replaced here, as `torch/nn/attention/_fa4.py` does for FlashAttention-4. A call
that the kernels do not run goes to PyTorch's own implementation; `fallback_reasons()` says why.
"""

from __future__ import annotations

import importlib
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial

import torch

from . import dispatch, gradients
from .checks import check_device, check_tensors
from .spec import masks
from .spec.predicates import MAX_LENGTH

NAME = "tiled"  # in PyTorch's registry
_reasons: Counter[str] = Counter()
Tensors = tuple[torch.Tensor, ...]


class _Refusal(Exception):
    """Why the kernels do not run a call, in one sentence."""


def activate() -> None:
    """Make the kernels PyTorch's flash implementation for CUDA tensors in this process.

    Raises RuntimeError with one sentence if this PyTorch has no registry of implementations.
    """
    registry = _registry()
    registry.register_flash_attention_impl(NAME, register_fn=_Handle)
    registry.activate_flash_attention_impl(NAME)


def deactivate() -> None:
    """Give PyTorch its own flash implementation back, if `activate` replaced it."""
    registry = _registry()
    if registry.current_flash_attention_impl() == NAME:
        registry.restore_flash_attention_impl()


def fallback_reasons() -> dict[str, int]:
    """Return why calls since `activate` went to PyTorch's own kernels, and how many did."""
    return dict(_reasons)


def _registry():
    attention = importlib.import_module("torch.nn.attention")
    if not hasattr(attention, "register_flash_attention_impl"):
        raise RuntimeError(
            f"PyTorch {torch.__version__} has no torch.nn.attention.register_flash_attention_impl, "
            "so its flash implementation cannot be replaced."
        )
    return attention


class _Handle:
    """The replaced operators; they are given back when the library is let go."""

    def __init__(self) -> None:
        _reasons.clear()
        self.library: torch.library.Library | None = torch.library.Library("aten", "IMPL", "CUDA")
        for name, run in _OPERATORS.items():
            if hasattr(torch.ops.aten, name):  # PyTorch 2.11 lacks one of them
                call = partial(_call, run, _own_kernel(name))
                with warnings.catch_warnings():  # PyTorch says that a kernel is replaced: it is
                    warnings.filterwarnings("ignore", message="Warning only once for all operators")
                    self.library.impl(name, call, "CUDA", with_keyset=True)

    def remove(self) -> None:
        self.library = None


def _own_kernel(name: str):
    """Return PyTorch's kernel of this operator, None if it has none or does not give it."""
    try:
        return torch.library.get_kernel(f"aten::{name}", "CUDA")
    except (AttributeError, RuntimeError):
        return None


def _call(run: Callable, own, keys, *arguments, **options):
    """Run an operator, or PyTorch's own for what the kernels do not run."""
    try:
        return run(*arguments, **options)
    except _Refusal as refusal:
        reason = str(refusal)
    _reasons[reason] += 1
    if own is None:
        raise RuntimeError(f"{reason} PyTorch's own kernel is not there to run it.")
    return own.call_boxed(keys, *arguments, **options)


def _check(q, k, v, dropout, debug=False, lengths=None, **others) -> None:
    """Raise _Refusal for a call that the kernels do not run. `others`: options that they do not
    have, None where they are not requested."""
    if dropout:
        raise _Refusal(f"dropout_p = {dropout}: the kernels have no backward with dropout.")
    if debug:
        raise _Refusal("return_debug_mask = True: the kernels do not return their weights.")
    if lengths is not None:
        raise _Refusal("cum_seq_q: sequences side by side in one tensor are left to PyTorch.")
    for name, x in others.items():
        if x is not None:
            raise _Refusal(f"{name} is not None: the kernels do not have it.")
    try:
        check_tensors(q, k, v)
        check_device(q.device)
    except (TypeError, ValueError, RuntimeError) as error:
        raise _Refusal(str(error)) from error


def _mask(is_causal: bool, left: int | None, right: int | None, n_k: int) -> masks.Mask:
    """Return the mask of these options; a side of a window that is None or negative is open."""
    window = [MAX_LENGTH if x is None or x < 0 else x for x in (left, right)]
    if min(window) == MAX_LENGTH:
        return masks.of(is_causal)
    if max(window) > MAX_LENGTH or (MAX_LENGTH in window and n_k > MAX_LENGTH):
        raise _Refusal(f"window_size of {n_k:,} keys: a window reaches at most {MAX_LENGTH:,}.")
    return masks.parse("&".join([*["causal"] * is_causal, f"window:{window[0]},{window[1]}"]))


def _like(x: torch.Tensor, original: torch.Tensor) -> torch.Tensor:
    """Return x in the memory layout of `torch.empty_like(original)`, which tracers expect."""
    empty = torch.empty_like(original)
    return x if x.stride() == empty.stride() else empty.copy_(x)


def _random_state(q: torch.Tensor) -> Tensors:
    """Return seed, offset and debug mask, which nothing reads without dropout."""
    numbers = {"dtype": torch.uint64, "device": q.device}
    return torch.empty(2, **numbers), torch.empty((), **numbers), q.new_empty(0)


def _sdpa_forward(q, k, v, dropout_p=0.0, is_causal=False, debug=False, *, scale=None):
    _check(q, k, v, dropout_p, debug)
    o, lse = dispatch._run(q, k, v, causal=is_causal, scale=scale)
    return _like(o, q), lse, None, None, q.shape[2], k.shape[2], *_random_state(q)


def _sdpa_backward(
    grad_o, q, k, v, o, lse, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, *_, scale=None
) -> Tensors:
    _check(q, k, v, dropout_p)
    found = gradients.backward(grad_o, None, q, k, v, o, lse, causal=is_causal, scale=scale)
    return tuple(_like(x, like) for x, like in zip(found[:3], (q, k, v), strict=True))


# The tensors of the other operators are (B, N, H, d).


def _flash_forward(
    q, k, v, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, debug, *, scale=None,
    window_size_left=None, window_size_right=None, **others,
) -> Tensors:  # fmt: skip
    q_bhnd, k_bhnd, v_bhnd = (x.transpose(1, -2) for x in (q, k, v))
    _check(q_bhnd, k_bhnd, v_bhnd, dropout_p, debug, cum_q, **others)
    mask = _mask(is_causal, window_size_left, window_size_right, k.shape[1])
    o, lse = dispatch._run(q_bhnd, k_bhnd, v_bhnd, mask=mask, scale=scale)
    return _like(o.transpose(1, 2), q), lse, *_random_state(q)


def _flash_forward_inplace(out, *arguments, **options) -> torch.Tensor:
    o, lse, *_ = _flash_forward(*arguments, **options)
    out.copy_(o)
    return lse


def _flash_backward(
    grad_o, q, k, v, o, lse, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, *_, scale=None,
    window_size_left=None, window_size_right=None,
) -> Tensors:  # fmt: skip
    turned = [x.transpose(1, -2) for x in (q, k, v, o, grad_o)]
    _check(turned[0], turned[1], turned[2], dropout_p, lengths=cum_q if q.dim() == 3 else None)
    mask = _mask(is_causal, window_size_left, window_size_right, k.shape[1])
    found = gradients.backward(turned.pop(), None, *turned, lse=lse, mask=mask, scale=scale)
    return tuple(
        _like(x.transpose(1, 2), like) for x, like in zip(found[:3], (q, k, v), strict=True)
    )


_OPERATORS = {
    "_scaled_dot_product_flash_attention": _sdpa_forward,
    "_scaled_dot_product_flash_attention_backward": _sdpa_backward,
    "_flash_attention_forward": _flash_forward,
    "_flash_attention_forward_no_dropout_inplace": _flash_forward_inplace,
    "_flash_attention_backward": _flash_backward,
}
