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
    arrays = _make(spans(mask, n_q, n_k, by_keys), block_m, block_n)
    return Tables(*(torch.from_numpy(x).to(device) for x in arrays))


@lru_cache(maxsize=64)
def ranks_on_device(
    mask: Mask, n_q: int, n_k: int, block_m: int, block_n: int, device
) -> torch.Tensor:
    """Return (Tc, Tr) int32: the number of tiles of `on_device` by keys that visit row block i
    before tile j does."""
    _, tiles = _make(spans(mask, n_q, n_k, True), block_m, block_n)
    found = np.zeros((len(tiles), -(-n_q // block_n)), np.int32)
    before = np.zeros(found.shape[1], np.int32)
    for j, first, end in tiles[:, :3]:
        found[j] = before
        before[first:end] += 1
    return torch.from_numpy(found).to(device)


def _make(
    intervals: tuple[np.ndarray, np.ndarray] | None, block_m: int, block_n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return spans and tiles, as `Tables` has them, of rows that see the keys start … stop − 1."""
    assert intervals is not None, "a row sees more than one interval of keys"
    start, stop = intervals
    n_q, groups = len(start), block_m // ROWS
    row_blocks = -(-n_q // block_m)
    spans = np.zeros((row_blocks * block_m, 2), np.int32)
    spans[:n_q, 0], spans[:n_q, 1] = start, stop
    spans[spans[:, 0] >= spans[:, 1]] = 0  # every empty interval alike
    exists = (np.arange(len(spans)) < n_q).reshape(row_blocks, groups, ROWS)
    start, stop = spans.reshape(row_blocks, groups, ROWS, 2).transpose(3, 0, 1, 2)
    some, far = start < stop, np.iinfo(np.int32).max
    # of each warpgroup: what some row sees, in key blocks, and what all see, in keys
    first = np.where(some, start, far).min(2) // block_n
    end = -(-stop.max(2) // block_n)
    is_blind = end == 0
    whole = np.where(exists, start, 0).max(2), np.where(exists, stop, far).min(2)
    tile_first, tile_end = first.min(1), np.maximum(end.max(1), 1)
    tile_first[tile_end == 1] = 0
    first = np.where(is_blind, tile_first[:, None], first)
    end = np.where(is_blind, tile_first[:, None] + 1, end)
    tiles = np.zeros((row_blocks, WIDTH), np.int32)
    tiles[:, 0], tiles[:, 1], tiles[:, 2] = np.arange(row_blocks), tile_first, tile_end
    for at, of_groups in enumerate((first, end, *whole)):
        tiles[:, 3 + at : 3 + 4 * groups : 4] = of_groups
    longest_first = np.argsort(tile_first - tile_end, kind="stable")
    return spans, np.ascontiguousarray(tiles[longest_first])
