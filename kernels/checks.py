"""Check arguments of the kernels; a refusal is one sentence."""

from __future__ import annotations

import math
from functools import lru_cache
from numbers import Real

import torch
from torch._C._functorch import peek_interpreter_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode

from .availability import INTERPRETED, available
from .spec import masks, scores

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
PRECISIONS = ("ieee", "tf32", "tf32x3")
MAX_D = 256


def check_is_tensor(name: str, x: object) -> None:
    """Raise TypeError with one sentence for what is no tensor."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, not {type(x).__name__}.")


def check_is_beside(name: str, x: torch.Tensor, device: torch.device) -> None:
    """Raise RuntimeError with one sentence for a tensor that is not on q's device."""
    if x.device != device:
        raise RuntimeError(f"q is on {device} but {name} is on {x.device}.")


def aligned(x: torch.Tensor) -> torch.Tensor:
    """Return x, contiguous and at an address that is a multiple of 16, for which Triton
    compiles."""
    x = x.resolve_neg().contiguous()
    return x.clone() if x.data_ptr() & 15 else x


def check_call(
    q, k, v, causal: bool, mask: str | masks.Mask | None, score: str | None, scale: float | None,
    is_even: bool = True,
) -> tuple[masks.Mask, scores.Score, float]:  # fmt: skip
    """Return the mask, the score and the scale of a call after every check of these arguments and
    of the device. Raises TypeError, ValueError or RuntimeError with one sentence."""
    check_tensors(q, k, v, is_even)
    check_is_resolved(q, k, v)
    check_device(q.device)
    scale = scale_of(scale, q.shape[-1])
    return masks.from_keywords(causal, mask), check_score(score), scale


def check_is_resolved(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> None:
    """Raise ValueError with one sentence for a view that PyTorch negates when it is read: a kernel
    would read the values of its memory. A tracer resolves it itself."""
    if is_traced():
        return
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.is_neg():
            raise ValueError(
                f"{name} is a negated view, as z.conj().imag is one: pass {name}.resolve_neg()."
            )


def check_tensors(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, is_even: bool = True) -> None:
    """Check q (B, H, Nq, d), k and v (B, Hk, Nk, d): Hk divides H, one dtype, one device. B, H, Nq
    and Nk may be 0. v may have another head dimension if not `is_even`.

    Raises TypeError (not tensors, dtype), ValueError (shapes) or RuntimeError (device), each with
    one sentence.
    """
    for name, x in (("q", q), ("k", k), ("v", v)):
        check_is_tensor(name, x)
        if not is_dense(x):
            raise TypeError(f"{name} is sparse or nested: only dense tensors are allowed.")
        if x.dim() != 4:
            raise ValueError(f"{name} must have 4 dimensions (B, H, N, d), not {tuple(x.shape)}.")
        if x.dtype not in DTYPES.values():
            raise TypeError(f"{name} is {x.dtype}: only float16, bfloat16 and float32 are allowed.")
        if x.dtype != q.dtype:
            raise TypeError(f"q is {q.dtype} but {name} is {x.dtype}: they must have one dtype.")
        check_is_beside(name, x, q.device)
    if k.shape != v.shape and (is_even or not is_uneven(q, k, v)):
        raise ValueError(f"k and v must have one shape, not {tuple(k.shape)} and {tuple(v.shape)}.")
    (batch, heads, _, d), (k_batch, k_heads, _, k_d) = q.shape, k.shape
    if batch != k_batch:
        raise ValueError(f"q has batch {batch} but k and v have {k_batch}.")
    if heads % (k_heads or 1) or (heads and not k_heads):
        raise ValueError(f"k has {k_heads} heads, which do not divide q's {heads} heads.")
    if d != k_d:
        raise ValueError(f"q has head dimension {d} but k and v have {k_d}.")
    d = max(d, v.shape[-1])
    if not 1 <= d <= MAX_D:
        raise ValueError(f"d = {d} is not allowed: the head dimension is 1 to {MAX_D}.")


def check_options(
    order: str,
    orders: tuple[str, ...],
    block_m: int | None,
    block_n: int | None,
    precision: str,
) -> None:
    """Check options of a call. Raises ValueError or TypeError with one sentence."""
    if order not in orders:
        raise ValueError(f"order = {str(order)[:40]!r} is not allowed: {', '.join(orders)}.")
    if precision not in PRECISIONS:
        raise ValueError(
            f"precision = {str(precision)[:40]!r} is not allowed: {', '.join(PRECISIONS)}."
        )
    for name, block in (("block_m", block_m), ("block_n", block_n)):
        if block is not None and (isinstance(block, bool) or not isinstance(block, int)):
            raise TypeError(f"{name} must be a whole number or None, not {type(block).__name__}.")
        if block is not None and block < 1:
            raise ValueError(f"{name} = {block} is not allowed: it must be at least 1.")


def scale_of(scale: float | None, d: int) -> float:
    """Return the factor of Q Kᵀ, 1/√d for None. Raises TypeError or ValueError with one
    sentence."""
    if scale is None:
        return 1.0 / math.sqrt(d)
    if isinstance(scale, bool) or not isinstance(scale, Real):
        raise TypeError(f"scale must be a number, not {type(scale).__name__}.")
    if scale == 0 or (math.isfinite(scale) and 1e-30 <= abs(scale) <= 1e30):  # fp32 in the kernels
        return float(scale)
    raise ValueError(
        f"scale = {scale} is not allowed: it must be 0 or, without its sign, 1e-30 to 1e30."
    )


def check_score(text: str | None) -> scores.Score:
    """Return the score of this text, None for none. Raises TypeError or ValueError with one
    sentence."""
    if text is not None and not isinstance(text, str):
        raise TypeError(f"score must be a text such as 'softcap:30', not {type(text).__name__}.")
    try:
        return scores.parse("none" if text is None else text)
    except scores.ScoreError as error:
        raise ValueError(f"score = {str(text)[:40]!r} is not allowed: {error}.") from error


def check_sink(sink: float | torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Return the sink (H,), fp32, on q's device: a finite number for all heads, or one for each.

    Raises TypeError, ValueError or RuntimeError with one sentence.
    """
    if not isinstance(sink, torch.Tensor):
        check_sink_number(sink)
        return _constant_sink(float(sink), q.shape[1], q.device)
    if sink.shape != (q.shape[1],) or not sink.is_floating_point():
        raise ValueError(
            f"sink has shape {tuple(sink.shape)} and {sink.dtype}: it must be a number, or a "
            f"floating-point tensor with one for each of q's {q.shape[1]} heads."
        )
    check_is_beside("sink", sink, q.device)
    return aligned(sink.detach().to(torch.float32))


def check_sink_number(sink: float) -> None:
    """Check a sink that is no tensor. Raises TypeError or ValueError with one sentence."""
    if isinstance(sink, bool) or not isinstance(sink, int | float):
        raise TypeError(f"sink must be a number or a tensor, not {type(sink).__name__}.")
    if not abs(sink) <= 1e30:
        raise ValueError(f"sink = {sink} is not allowed: a number from -1e30 to 1e30.")


def check_dropout(dropout: float, seed: int) -> None:
    """Check a probability and a seed. Raises TypeError or ValueError with one sentence."""
    if isinstance(dropout, bool) or not isinstance(dropout, int | float):
        raise TypeError(f"dropout must be a number, not {type(dropout).__name__}.")
    if not 0 <= dropout <= 0.999:
        raise ValueError(f"dropout = {dropout} is not allowed: a number from 0 to 0.999.")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 31:
        raise ValueError(f"seed = {str(seed)[:40]} is not allowed: 0 to {2**31 - 1:,}.")


@lru_cache(maxsize=64)
def _constant_sink(sink: float, heads: int, device: torch.device) -> torch.Tensor:
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        raise RuntimeError(f"sink = {sink}: call it once before capturing a CUDA graph.")
    return torch.full((heads,), sink, dtype=torch.float32, device=device)


def is_traced() -> bool:
    """Return whether PyTorch compiles, records or transforms calls, which then see no data.

    A dispatch mode that only watches operators, as the one that counts memory, does not.
    """
    if torch.compiler.is_compiling():
        return True
    mode = _get_current_dispatch_mode()
    return (mode is not None and type(mode).is_infra_mode()) or peek_interpreter_stack() is not None


def is_dense(x: torch.Tensor) -> bool:
    """Return whether a tensor has one shape and strides."""
    return x.layout == torch.strided and not x.is_nested


def is_uneven(q, k, v) -> bool:
    """Return whether v has another head dimension than q and k, which have one."""
    if not all(isinstance(x, torch.Tensor) and is_dense(x) for x in (q, k, v)):
        return False
    return v.shape[-1:] != q.shape[-1:] == k.shape[-1:] and k.shape[:-1] == v.shape[:-1]


def widen(q, k, v, scale):
    """Return q, k, v, of which v has another head dimension, with zeros up to the larger one, and
    the scale of q's own."""
    d, d_v = q.shape[-1], v.shape[-1]
    if d_v < d:
        return q, k, torch.nn.functional.pad(v, (0, d - d_v)), scale
    q, k = (torch.nn.functional.pad(x, (0, d_v - d)) for x in (q, k))
    return q, k, v, d**-0.5 if scale is None else scale


def check_device(device: torch.device) -> None:
    """Check that the kernels run on this device. Raises RuntimeError with one sentence."""
    works, reason = available()
    if not works and (device.type == "cuda" or INTERPRETED):
        raise RuntimeError(reason)
    if device.type == "cuda" and INTERPRETED:
        raise RuntimeError(
            "These are CUDA tensors, but TRITON_INTERPRET=1 was set when kernels was imported: "
            "move them to the CPU, or unset it and start again."
        )
    if device.type == "cpu" and not INTERPRETED:
        raise RuntimeError(
            "CPU tensors need Triton's interpreter: set TRITON_INTERPRET=1 before importing "
            "kernels, or move the tensors to a CUDA GPU."
        )
    if device.type not in ("cpu", "cuda"):
        raise RuntimeError(f"The kernels run on CUDA or CPU tensors, not on {device.type}.")


def check_whole(name: str, value: int, largest: int) -> None:
    """Check a whole number from 1 to largest. Raises ValueError with one sentence."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= largest:
        raise ValueError(
            f"{name} = {str(value)[:40]} is not allowed: a whole number from 1 to {largest:,}."
        )
