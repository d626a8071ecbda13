"""Attention for Hugging Face Transformers: `kernels.register()` makes it an `attn_implementation`.

Transformers takes two functions: one makes a mask for a whole forward pass, the other computes
attention in each layer. Padding on either side, packed sequences, caches and windows all let a
row see one interval of keys, so the mask is spans (B, 1, Nq, 2), int32, instead of N × N numbers.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

import torch

from . import hopper, spans
from .dispatch import attend
from .tables import SPANS
from .varlen import attend_packed, spans_of_offsets

STRIP = 1 << 26  # scores of a dense mask that are made at once
# What models pass to attention that changes it.
REFUSED = ("position_bias", "head_mask", "indices", "block_indices", "sinks", "output_attentions")
_made: dict[str, Any] = {}  # Transformers' module of masks: a compiler sees no import


def register(name: str = "tiled") -> None:
    """Make `attn_implementation=name` run `kernels.attention` in Hugging Face Transformers.

    What is not run is refused with one sentence when a model calls it: dropout, a bias of the
    scores (T5), a mask with a gap between the keys of a row. Raises RuntimeError without
    Transformers.
    """
    try:
        transformers: Any = import_module("transformers")
    except ImportError as error:
        raise RuntimeError("kernels.register() needs the package transformers.") from error
    _made["masks"] = masks = import_module("transformers.masking_utils")
    if "q_length" not in signature(masks.sdpa_mask).parameters:
        raise RuntimeError(
            f"kernels.register() needs Transformers 5, not {transformers.__version__}."
        )
    transformers.AttentionInterface.register(name, transformers_attention)
    transformers.AttentionMaskInterface.register(name, transformers_mask)


def transformers_mask(
    batch_size: int, q_length: int, kv_length: int, q_offset: Any = 0, kv_offset: int = 0,
    mask_function: Any = None, attention_mask: torch.Tensor | None = None,
    local_size: int | None = None, allow_is_causal_skip: bool = True,
    allow_is_bidirectional_skip: bool = False, **more: Any,
) -> torch.Tensor | None:  # fmt: skip
    """Return the mask of a model as spans (B, 1, Nq, 2), or None where it is the plain causal or
    the full one; arguments as Transformers' `sdpa_mask`. Raises ValueError for a mask with gaps."""
    made = _made["masks"]
    function = mask_function or made.causal_mask_function
    is_traced = torch.compiler.is_compiling()
    is_last = not is_traced and int(q_offset) + q_length == kv_offset + kv_length
    is_plain = function is made.causal_mask_function and allow_is_causal_skip and is_last
    is_full = function is made.bidirectional_mask_function and allow_is_bidirectional_skip
    if not is_traced and (is_plain or is_full):
        if attention_mask is None:
            return None
        padding = attention_mask[:, kv_offset : kv_offset + kv_length]
        if padding.shape[1] == kv_length and bool(padding.all()):
            return None
    height, parts, whole = max(1, STRIP // (batch_size * kv_length)), [], []
    for start in range(0, q_length, height):
        rows = min(height, q_length - start)
        dense = made.sdpa_mask(
            batch_size, rows, kv_length, q_offset + start, kv_offset, function, attention_mask,
            allow_is_causal_skip=False, **more,
        )  # fmt: skip
        part, is_whole = spans.of_mask(dense[:, 0])
        parts.append(part)
        whole.append(is_whole)
    found, is_whole = torch.cat(parts, 1), torch.stack(whole).all()
    if is_traced:  # its value would end the graph
        torch.ops.aten._assert_async.msg(is_whole, GAP)
        return found[:, None]
    is_window, rule = is_whole, None
    if local_size is not None and is_last:
        stop = torch.arange(1, q_length + 1, device=found.device) + (kv_length - q_length)
        window = torch.stack(((stop - local_size).clamp(min=0), stop), -1)
        is_window, rule = (found == window).all(), f"causal&window:{local_size - 1},0"
    # One wait for the device
    rises = (found.diff(dim=1) >= 0).all()
    is_whole, is_window, is_rising = torch.stack((is_whole, is_window, rises)).tolist()
    if not is_whole:
        raise ValueError(GAP)
    mask = found[:, None]
    vars(mask).update(_keys=kv_length, _rule=rule if is_window else None, _spans=found)
    vars(found)["is_rising"] = is_rising
    return mask


GAP = (
    "attention_mask is not allowed where a row sees keys with a gap between them: use "
    "attn_implementation = 'sdpa'."
)


def transformers_attention(
    module, query, key, value, attention_mask, scaling=None, dropout=0.0, **more
):
    """Compute attention for Transformers' `attn_implementation`.

    query (B, H, Nq, d), key and value (B, Hk, Nk, d); returns O (B, Nq, H, d) and None. A mask is
    None, `transformers_mask`'s or a dense one; a soft cap, a sliding window, sinks and offsets of
    packed sequences are run. Raises ValueError with one sentence for what is not.
    """
    if dropout:
        raise ValueError(f"dropout = {dropout} is not allowed: kernels.attention has none.")
    for name in REFUSED:
        if (given := more.get(name)) is not None and given is not False:
            raise ValueError(
                f"{name} is not allowed: kernels.attention has none, attn_implementation = 'eager' "
                "has."
            )
    cap, sink = more.get("softcap"), more.get("s_aux")
    options = {"score": None if cap is None else f"softcap:{cap}", "scale": scaling}
    if attention_mask is None:
        found = _without_mask(module, query, key, options, **more)
    else:
        found = _given(attention_mask, query, key, options)
    if found is not None and (one := _as_one(query, key, value, found, options)) is not None:
        q, k, v, of_all = one
        o, _ = attend(q, k, v, sink, of_all, options)
        return o.squeeze(0).transpose(0, 1).unflatten(0, (len(query), -1)), None
    if found is None:
        o, _ = attend(query, key, value, sink, None, options)
    else:
        o, _ = attend_packed(query, key, value, sink, found, options)
    return o.transpose(1, 2), None


def _as_one(q, k, v, found: torch.Tensor, options: dict) -> tuple | None:
    """Return q, k, v and spans of one batch that holds all rows one after the other, if the Hopper
    kernel takes that where it takes no batch of spans, and no copy is needed."""
    if len(q) == 1 or torch.compiler.is_compiling() or not q.is_cuda:
        return None
    if any(x.stride(0) != x.shape[2] * x.stride(2) for x in (q, k, v)):
        return None
    one = [x.transpose(1, 2).flatten(0, 1).transpose(0, 1)[None] for x in (q, k, v)]
    if hopper.why_not(*one, mask=SPANS, score=options["score"], scale=options["scale"]):
        return None
    notes = vars(found)
    if "merged" not in notes:
        notes["merged"] = spans.merged(found, k.shape[2])
        vars(notes["merged"])["is_rising"] = spans.is_rising(found)
    q, k, v = one
    return q, k, v, notes["merged"]


def _without_mask(
    module, q, k, options: dict, is_causal=None, sliding_window=None, cu_seq_lens_q=None,
    cu_seq_lens_k=None, **more,
) -> torch.Tensor | None:  # fmt: skip
    """Return the spans of packed sequences, or None with the mask put into the options."""
    config: Any = getattr(module, "config", None)
    name = getattr(config, "_attn_implementation", None)
    if name is not None and not torch.compiler.is_compiling():
        masks: Any = import_module("transformers.masking_utils")
        if name not in masks.ALL_MASK_ATTENTION_FUNCTIONS.valid_keys():
            raise ValueError(
                f"attn_implementation = {name!r} has no function for masks, without which padding "
                "would be ignored: call kernels.register()."
            )
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    if cu_seq_lens_q is not None and sliding_window is None and len(q) == 1:
        ends = cu_seq_lens_q, cu_seq_lens_q if cu_seq_lens_k is None else cu_seq_lens_k
        return spans_of_offsets(*ends, q.shape[2], k.shape[2], q.device, is_causal)
    if cu_seq_lens_q is not None:
        raise ValueError(
            "cu_seq_lens_q is not allowed with a sliding window or a batch of more than one row of "
            "sequences."
        )
    # One query sees all keys; Transformers says "causal" for it too, and bottom-right agrees.
    options["mask"] = "causal" if is_causal else "full"
    if sliding_window is not None:
        if not is_causal:
            raise ValueError(
                f"sliding_window = {sliding_window} is not allowed without a causal mask."
            )
        # the query itself is one of the window
        options["mask"] = f"causal&window:{sliding_window - 1},0"
    return None


def _given(mask: torch.Tensor, q, k, options: dict) -> torch.Tensor | None:
    """Return the spans of a mask, or None with its text put into the options."""
    sizes = (len(q), 1, q.shape[2])
    if not isinstance(mask, torch.Tensor) or mask.dim() != 4 or mask.shape[:3] != sizes:
        shape = getattr(mask, "shape", type(mask).__name__)
        raise ValueError(
            f"attention_mask of {shape} is not allowed: for this batch it is a tensor of "
            f"{(*sizes, k.shape[2])}."
        )
    known = {} if torch.compiler.is_compiling() else vars(mask)
    if mask.dtype == torch.int32 and mask.shape[3] == 2:
        if known.get("_keys", k.shape[2]) != k.shape[2]:
            raise ValueError(
                f"attention_mask is for {known['_keys']} keys, but key has {k.shape[2]}."
            )
        options["mask"] = known.get("_rule")
        return known.get("_spans", mask[:, 0]) if options["mask"] is None else None
    return _of_dense(mask, k.shape[2])


def _of_dense(mask: torch.Tensor, n_k: int) -> torch.Tensor:
    """Return the spans of a dense mask: bool, or 0 and the least number or −∞ where masked.

    They are found once: all layers of a model pass the same tensor.
    """
    if mask.shape[3] != n_k:
        raise ValueError(f"attention_mask is for {mask.shape[3]} keys, but key has {n_k}.")
    is_traced = torch.compiler.is_compiling()
    version = None if is_traced or mask.is_inference() else mask._version
    if version is not None and vars(mask).get("_version_seen") == version:
        return vars(mask)["_spans"]
    visible, is_one = mask, torch.tensor(True, device=mask.device)
    if mask.dtype != torch.bool:
        if not mask.is_floating_point():
            raise ValueError(f"attention_mask is {mask.dtype}: only bool and numbers to add are.")
        visible = mask == 0
        is_one = (visible | (mask <= torch.finfo(mask.dtype).min)).all()
    found, is_whole = spans.of_mask(visible[:, 0])
    if is_traced:
        torch.ops.aten._assert_async.msg(is_whole & is_one, GAP)
        return found
    if not is_one:
        raise ValueError(
            "attention_mask is not allowed where it adds other numbers than 0 and −∞ to the "
            "scores: use attn_implementation = 'sdpa'."
        )
    if not is_whole:
        raise ValueError(GAP)
    vars(mask).update(_version_seen=version, _spans=found)
    return found
