"""Attention of packed sequences, which lie one after the other without padding."""

from __future__ import annotations

import torch

from . import spans
from .checks import (
    check_device,
    check_is_beside,
    check_is_tensor,
    check_tensors,
    is_traced,
    is_uneven,
)
from .dispatch import attend
from .launching import refuse_capture
from .spec import masks

ROWS = 128  # of a tile, and keys of a block, of the Hopper kernel
FULL = 0.8  # share of these rows that a sequence fills, from which a dense batch is no slower
MAX_CACHED = 16  # pairs of offsets whose spans are kept
_cache: dict[tuple, tuple] = {}


def attention_varlen(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_q: torch.Tensor,
    cu_k: torch.Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    return_lse: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Compute exact attention of each of many sequences to itself, or to its own keys.

    q (total, H, d), k and v (total, Hk, d); Hk, dtypes, d and errors as `kernels.attention`. The
    rows of sequence i are cu_q[i] to cu_q[i + 1] − 1, its keys cu_k[i] to cu_k[i + 1] − 1: int32
    offsets on q's device that rise from 0 to the totals. A sequence may be empty. `causal` is
    aligned bottom-right in each sequence. Differentiable by q, k and v. No score between two
    sequences is computed but in tiles that hold rows of both. Offsets are checked at their first
    use, which waits for the device; the same tensor, unchanged, is not checked again. Under
    `torch.compile` they are not checked, and false ones give no error.

    If all sequences have one number of rows and one of keys, each at least 80 % of full blocks of
    128, and Hk = H, they are computed as a dense batch, by the kernel and at the speed of
    `kernels.attention`. `torch.compile` does not know the offsets, so it never does that.

    Returns O (total, H, d) in q's dtype; with `return_lse` also lse (total, H), fp32, natural log;
    a row that sees no key gives 0 and −inf.
    """
    for name, x in (("q", q), ("k", k), ("v", v)):
        check_is_tensor(name, x)
        if x.dim() != 3:
            raise ValueError(f"{name} must have 3 dimensions (total, H, d), not {tuple(x.shape)}.")
    q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))
    if not is_uneven(q, k, v):
        check_tensors(q, k, v)
    if not isinstance(causal, bool):  # a compiler need not trace the parser
        masks.from_keywords(causal)  # raises
    if not is_traced():  # a tracer has no device to ask; the operator asks when it runs
        check_device(q.device)
    found = spans_of_offsets(cu_q, cu_k, q.shape[2], k.shape[2], q.device, causal)
    o, lse = attend_packed(q, k, v, None, found, {"scale": scale})
    o, lse = o.squeeze(0).transpose(0, 1), lse.squeeze(0).T  # its backward copies nothing
    return (o, lse) if return_lse else o


def attend_packed(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sink: torch.Tensor | None,
    found: torch.Tensor, options: dict,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Return O and lse as `dispatch.attend` does, of one batch under these spans; by sequences in
    place of spans where `spans_of_offsets` found that they are a dense batch."""
    notes = {} if is_traced() else vars(found)
    count = notes.get("sequences", 0)
    if not count or q.shape[1] != k.shape[1] or sink is not None:
        return attend(q, k, v, sink, found, options)
    # Heads are the batch and sequences the heads: then O, lse and the gradients, contiguous as the
    # kernels write them, are views of packed ones.
    q, k, v = (x.squeeze(0).unflatten(1, (count, -1)) for x in (q, k, v))
    o, lse = attend(q, k, v, None, None, options | {"causal": notes["causal"]})
    return o.flatten(1, 2)[None], lse.flatten(1, 2)[None]


def spans_of_offsets(
    cu_q: torch.Tensor, cu_k: torch.Tensor, n_q: int, n_k: int, device: torch.device, causal: bool
) -> torch.Tensor:
    """Return the spans (1, Nq, 2) of checked offsets, once for the same unchanged tensors, with
    what `attend_packed` needs. Raises TypeError, ValueError or RuntimeError with one sentence."""
    for name, cu in (("cu_q", cu_q), ("cu_k", cu_k)):
        check_is_tensor(name, cu)
        if cu.dtype not in (torch.int32, torch.int64) or cu.dim() != 1 or not len(cu):
            raise ValueError(
                f"{name} has shape {tuple(cu.shape)} and {cu.dtype}: it must be a row of int32 "
                "offsets."
            )
        check_is_beside(name, cu, device)
    if len(cu_q) != len(cu_k):
        raise ValueError(
            f"cu_q has {len(cu_q)} offsets but cu_k {len(cu_k)}: one more than there "
            "are sequences in both."
        )
    if is_traced():
        return spans.of_offsets(cu_q, cu_k, n_q, n_k, causal)
    key = id(cu_q), id(cu_k), n_q, n_k, causal
    versions = [None if cu.is_inference() else cu._version for cu in (cu_q, cu_k)]
    *_, known, found = _cache.get(key, (None, None))
    if found is not None and known == versions and None not in versions:
        return found
    refuse_capture("cu_q and cu_k")
    cuts, is_batch = 0, True
    for name, cu, total in (("cu_q", cu_q, n_q), ("cu_k", cu_k, n_k)):
        least, most = torch.aminmax(cu.diff() if len(cu) > 1 else cu)
        cut = (cu % ROWS != 0).sum()
        first, last, step, longest, cuts = torch.stack((cu[0], cu[-1], least, most, cut)).tolist()
        if first or last != total or step < 0:
            raise ValueError(
                f"{name} goes from {first:,} to {last:,}"
                f"{' and falls' if step < 0 else ''}: offsets rise from 0 to the total, {total:,}."
            )
        is_batch &= step == longest and 0 < FULL * ROWS * -(-step // ROWS) <= step
    found = spans.of_offsets(cu_q, cu_k, n_q, n_k, causal)
    sequences = len(cu_q) - 1 if is_batch else 0
    vars(found).update(is_rising=True, cuts=cuts, sequences=sequences, causal=causal)
    if len(_cache) >= MAX_CACHED:
        _cache.clear()
    _cache[key] = cu_q, cu_k, versions, found  # with the tensors, so that their ids stay theirs
    return found
