"""Spans: the keys start … stop − 1 that each row sees, a tensor (B, Nq, 2), int32, on the device.

A mask by text is known when a kernel is compiled. Lengths of sequences are not: they differ from
batch to batch. Every mask that they make has one interval of keys a row, and these functions make
tables of it without waiting for the device.
"""

from __future__ import annotations

import torch


def of_offsets(
    cu_q: torch.Tensor, cu_k: torch.Tensor, n_q: int, n_k: int, causal: bool
) -> torch.Tensor:
    """Return the spans (1, Nq, 2) of sequences that lie one after the other, the i-th from
    offset cu[i] to cu[i + 1]. `causal` is aligned bottom-right in each."""
    rows = torch.arange(n_q, device=cu_q.device, dtype=cu_q.dtype)
    place = torch.searchsorted(cu_q[1:], rows, right=True).clamp(max=len(cu_q) - 2)
    start, stop = cu_k[place], cu_k[place + 1]
    if causal:
        stop = torch.maximum(start, stop + rows + 1 - cu_q[place + 1])
    return torch.stack((start, stop), -1).to(torch.int32)[None]


def of_mask(mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the spans of a dense mask (B, Nq, Nk), True where a key is visible, and whether each
    row's are all that it sees, in a tensor: in a row with a gap they are more."""
    count, n_k = mask.sum(-1, dtype=torch.int32), mask.shape[-1]
    bits = mask.to(torch.uint8)
    start = bits.argmax(-1).to(torch.int32)
    stop = n_k - bits.flip(-1).argmax(-1).to(torch.int32)
    stop = torch.where(count > 0, stop, start)
    return torch.stack((start, stop), -1), (stop - start == count).all()


def is_rising(spans: torch.Tensor) -> bool:
    """Return whether neither end falls from row to row; False where nobody has looked."""
    return not torch.compiler.is_compiling() and vars(spans).get("is_rising", False)


def merged(spans: torch.Tensor, n_k: int) -> torch.Tensor:
    """Return the spans (1, B · Nq, 2) of a batch whose rows, and keys, follow each other."""
    shift = torch.arange(len(spans), device=spans.device, dtype=torch.int32) * n_k
    return (spans + shift[:, None, None]).flatten(0, 1)[None]


def by_keys(spans: torch.Tensor, n_k: int) -> torch.Tensor:
    """Return the rows (1, Nk, 2) that see each key, of spans (1, Nq, 2) neither end of which falls
    from row to row."""
    keys = torch.arange(n_k, device=spans.device, dtype=torch.int32)
    start, stop = spans[0].T.contiguous()
    ends = [torch.searchsorted(x, keys, right=True, out_int32=True) for x in (stop, start)]
    return torch.stack(ends, -1)[None]


def row_blocks(spans: torch.Tensor, n_k: int, block_m: int, block_n: int) -> torch.Tensor:
    """Return (B, Tc, 2), int32: the row blocks that see some key of a block lie in start … stop −
    1."""
    start, stop = spans.unbind(-1)
    is_blind, missing = start >= stop, -spans.shape[1] % block_m
    pad = torch.nn.functional.pad
    low = pad(start.masked_fill(is_blind, n_k), (0, missing), value=n_k)
    high = pad(stop.masked_fill(is_blind, 0), (0, missing))
    low, high = low.unflatten(1, (-1, block_m)).amin(2), high.unflatten(1, (-1, block_m)).amax(2)
    first = torch.arange(0, n_k, block_n, device=spans.device)[:, None]
    sees = (low[:, None] < first + block_n) & (high[:, None] > first)
    blocks = torch.arange(1, low.shape[1] + 1, device=spans.device)
    begin = torch.where(sees, blocks, low.shape[1] + 1).amin(2) - 1
    return torch.stack((begin, (sees * blocks).amax(2)), -1).to(torch.int32)
