"""Tiles and launch settings per card: tables chosen offline, without a search at run time; their
numbers are in configs.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .availability import INTERPRETED

if TYPE_CHECKING:
    import torch

# Shared memory that one thread block may use, KiB (CUDA C++ programming guide, table of compute
# capabilities).
SHARED_KIB = {"sm_80": 163, "sm_89": 99, "sm_90": 227, "sm_100": 227, "sm_120": 99}
INSPECTED = ("sm_80", "sm_89", "sm_90", "sm_120")  # for which pages show compiled code
# Largest padded block on a GPU: beyond it registers spill and compiling takes minutes.
MAX_TILE = 256
MAX_TILE_ELEMENTS = 1 << 20  # Triton's own limit for one block of values


@dataclass(frozen=True)
class Config:
    """Logical tile and the launch settings of the program that works on it."""

    block_m: int
    block_n: int
    num_warps: int
    num_stages: int

    def constants(self, d: int, dtype: object, precision: str) -> dict:
        """Return the constexpr arguments that all kernels on tiles share, for a torch `dtype`."""
        return {
            "D": d, "BLOCK_M": self.block_m, "BLOCK_N": self.block_n, "PAD_M": pad(self.block_m),
            "PAD_N": pad(self.block_n), "PAD_D": pad(d), "PRECISION": precision,
            "BF16_BITS": INTERPRETED and str(dtype) == "torch.bfloat16",
            "num_warps": self.num_warps, "num_stages": self.num_stages, "enable_fp_fusion": True,
        }  # fmt: skip


_DATA = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
Table = dict[tuple[int, int], Config]


def _tables(name: str) -> dict[str, Table]:
    """Return by card {(d padded to a power of two, bytes of an element): configuration}."""
    return {
        arch: {(d, itemsize): Config(*settings) for d, itemsize, *settings in rows}
        for arch, rows in _DATA[name].items()
    }


# Whatever the mask. sm_90 at 2 bytes: the best of seven at d = 64 and 128, of three at d = 256, on
# an H200 (bf16, 16 k tokens, N = 1 k, 4 k, 16 k). The others are not measured: the largest tiles
# tried that compile without spilling registers. sm_89 has as little shared memory and as many
# registers as sm_120. The interpreter pays per tile, whatever its size.
TABLE = _tables("forward")
# Largest BLOCK_M. Not measured: the largest tiles that compile for sm_90 without spilling registers
# and of which two programs fit even the smallest card's 99 KiB of shared memory at BLOCK_M = 16.
# The interpreter's give parts of several tiles at small N.
DECODE = _tables("decode")
# The backward pass holds K_j, V_j, dK_j, dV_j, S, dP and a part of dQ: smaller tiles, the largest
# tried that compile for sm_90 with at most 120 bytes spilled.
BACKWARD = _tables("backward")
# The fastest on an H200 of those compared in LOG.md, for calls that request no tile: by whether dQ
# has a pass of its own. At d = 256 with that pass: of six, 1.5 to 2.6 times the tile before.
FASTEST = {False: _tables("backward_fastest"), True: _tables("backward_fastest_deterministic")}


def has_pass_for_dq(arch: str, d: int, itemsize: int) -> bool:
    """Return whether dQ has a pass of its own also where it may be summed in any order: of both
    forms only this one has a configuration that was found by measurement."""
    key = nearest(BACKWARD[arch], d, itemsize)
    return key in FASTEST[True].get(arch, {}) and key not in FASTEST[False].get(arch, {})


def nearest(table: Table, d: int, itemsize: int) -> tuple[int, int]:
    """Return the key of the table's narrowest entry that d fits in."""
    return min(key for key in table if key[0] >= pad(d) and key[1] == itemsize)


def pad(size: int) -> int:
    """Return the physical size of a logical tile side: the next power of two of at least 16."""
    return max(16, 1 << (size - 1).bit_length())


def card_of(device: torch.device) -> str:
    """Return the tables' key for a device: of a GPU by a block's largest shared memory."""
    import torch

    if device.type != "cuda":
        return "interpreter"
    major, minor = torch.cuda.get_device_capability(device)
    if major in (9, 10):
        return f"sm_{major}0"
    if (major, minor) in ((8, 0), (8, 7)):
        return "sm_80"
    return "sm_120"


def choose(arch: str, d: int, itemsize: int, block_m: int | None, block_n: int | None) -> Config:
    """Return the table's configuration, or launch settings for the tile that the caller requests.

    d: head dimension; itemsize: bytes per element of Q, K, V. A side given as None comes from the
    table. Raises ValueError naming the block that is too large for one program.
    """
    best = TABLE[arch][nearest(TABLE[arch], d, itemsize)]
    sides = (block_m or best.block_m, block_n or best.block_n)
    if sides == (best.block_m, best.block_n):
        return best
    for name, block in zip(("block_m", "block_n"), sides, strict=True):
        if arch != "interpreter" and pad(block) > MAX_TILE:
            raise ValueError(
                f"{name} = {block} is too large for one program on a GPU: 1 to {MAX_TILE}."
            )
    m, n = pad(sides[0]), pad(sides[1])
    if max(m * n, m * pad(d), n * pad(d)) > MAX_TILE_ELEMENTS:
        raise ValueError(
            f"block_m = {sides[0]} and block_n = {sides[1]} are too large for d = {d}: a padded "
            f"tile may hold at most {MAX_TILE_ELEMENTS:,} elements."
        )
    # Q, and K and V once per stage, stay in shared memory; keep two stages where they fit.
    q_bytes, kv_bytes = m * pad(d) * itemsize, 2 * n * pad(d) * itemsize
    fits = q_bytes + 2 * kv_bytes <= SHARED_KIB.get(arch, 1 << 20) * 1024
    return Config(*sides, num_warps=8 if m * max(n, pad(d)) >= 8192 else 4, num_stages=1 + fits)


def choose_backward(
    arch: str,
    d: int,
    itemsize: int,
    block_m: int | None,
    block_n: int | None,
    deterministic: bool,
) -> Config:
    """Return the table's configuration of the backward pass.

    A requested side that is larger than the table's, as the forward's may be, becomes the table's:
    the largest known to fit.
    """
    key = nearest(BACKWARD[arch], d, itemsize)
    best = BACKWARD[arch][key]
    if block_m is None and block_n is None:
        return FASTEST[deterministic].get(arch, {}).get(key, best)
    sides = (min(block_m or best.block_m, best.block_m), min(block_n or best.block_n, best.block_n))
    return Config(*sides, best.num_warps, best.num_stages)
