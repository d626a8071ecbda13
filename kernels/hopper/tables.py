"""Make tables of a mask for the Hopper kernels: the keys of each row, the key blocks of each tile.

Each row of such a mask sees one interval of keys (`Mask.spans`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from ..spec.masks import Mask

WIDTH = 16  # numbers of a tile: 3, and 4 for each of at most three warpgroups
ROWS = 64  # of a warpgroup


@dataclass(frozen=True)
class Tables:
    """On the device, int32, contiguous.

    spans (Tr · BLOCK_M, 2): keys start … stop − 1 that a row sees; 0, 0 beyond the last row.
    tiles (Tr, 16), most key blocks first: row block i, key blocks first … end − 1 of the tile; for
    each warpgroup its own first, end, and the keys from … to − 1 that all of its rows see. Every
    tile and warpgroup has at least one key block, which may be masked as a whole.
    """

    spans: torch.Tensor
    tiles: torch.Tensor


@lru_cache(maxsize=64)
def spans(
    mask: Mask, n_q: int, n_k: int, by_keys: bool = False
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return `mask.spans`, from a cache."""
    return mask.spans(n_q, n_k, by_keys)


@lru_cache(maxsize=64)
def on_device(
    mask: Mask, n_q: int, n_k: int, block_m: int, block_n: int, device, by_keys: bool = False
) -> Tables:
    """Return the tables of this mask on the device. Its `spans` must not be None.

    `by_keys`, for the backward, exchanges rows and keys: the rows that each of block_m keys sees.
    """
    intervals = spans(mask, n_q, n_k, by_keys)
    assert intervals is not None, "a row sees more than one interval of keys"
    made = of_spans(torch.from_numpy(np.stack(intervals, 1)), block_m, block_n, by_keys)
    return Tables(made.spans.to(device), made.tiles.to(device))


@lru_cache(maxsize=64)
def ranks_on_device(
    mask: Mask, n_q: int, n_k: int, block_m: int, block_n: int, device
) -> torch.Tensor:
    """Return (Tc, Tr) int32: the number of tiles of `on_device` by keys that visit row block i
    before tile j does."""
    tiles = on_device(mask, n_q, n_k, block_m, block_n, torch.device("cpu"), True).tiles.numpy()
    found = np.zeros((len(tiles), -(-n_q // block_n)), np.int32)
    before = np.zeros(found.shape[1], np.int32)
    for j, first, end in tiles[:, :3]:
        found[j] = before
        before[first:end] += 1
    return torch.from_numpy(found).to(device)


def of_spans(spans: torch.Tensor, block_m: int, block_n: int, by_keys: bool = False) -> Tables:
    """Return the tables, on their device, of rows that see the keys start … stop − 1, (Nq, 2).

    Of a row beyond the last nothing is stored, so it may see every key. A key beyond the last,
    `by_keys`, sees no row: dQ is a sum over keys.
    """
    n_q, groups = len(spans), block_m // ROWS
    row_blocks = -(-n_q // block_m)
    spans = torch.nn.functional.pad(spans, (0, 0, 0, row_blocks * block_m - n_q))
    spans = spans.masked_fill(spans[:, :1] >= spans[:, 1:], 0)  # every empty interval alike
    counts = torch.arange(len(spans), device=spans.device) < n_q
    counts |= by_keys
    start, stop, counts = (x.reshape(row_blocks, groups, ROWS) for x in (*spans.unbind(1), counts))
    far = torch.iinfo(torch.int32).max
    # of each warpgroup: what some row sees, in key blocks, and what all see, in keys
    first = start.masked_fill(start >= stop, far).amin(2) // block_n
    end = (stop.amax(2) + block_n - 1) // block_n
    is_blind = end == 0
    whole = start.masked_fill(~counts, 0).amax(2), stop.masked_fill(~counts, far).amin(2)
    tile_end = end.amax(1).clamp(min=1)
    tile_first = first.amin(1).masked_fill(tile_end == 1, 0)
    first = torch.where(is_blind, tile_first[:, None], first)
    end = torch.where(is_blind, tile_first[:, None] + 1, end)
    of_groups = torch.stack((first, end, *whole), 2).flatten(1)
    block = torch.arange(row_blocks, device=spans.device, dtype=torch.int32)
    tiles = torch.cat((torch.stack((block, tile_first, tile_end), 1), of_groups), 1)
    tiles = torch.nn.functional.pad(tiles, (0, WIDTH - tiles.shape[1]))
    longest_first = torch.argsort(tile_first - tile_end, stable=True)
    return Tables(spans.contiguous(), tiles[longest_first])
