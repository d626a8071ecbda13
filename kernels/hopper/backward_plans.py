"""Choose tile and schedule of the Hopper backward; LOG.md has the measurements."""

from __future__ import annotations

from dataclasses import dataclass

from ..spec.masks import Mask
from . import versions
from .plans import box

KEYS = 128  # of a tile
WIDE_BLOCK = 64  # keys and rows of a tile of scores where d > 128
# Rows of a tile by its width, the most for which dK, dV, S, dP and a half of dQ fit the registers.
ROWS = {64: 128, 128: 64}


@dataclass(frozen=True)
class Plan:
    """One compile-time variant of the kernel.

    block_m: rows of a tile. masked: some key does not see every row, or is beyond Nk. grouped:
    several query heads share a key head. serialized: key blocks add to dQ one after the other, in
    the order of the tiles: the same bits at each call. stages: slots of the rings of Q and dO.
    registers: of a thread. peeled: the first row block of a tile has code of its own, without a
    product for dQ. dk_first: the product for dK starts before dS is stored. score: "none" or
    "alibi".
    """

    block_m: int
    masked: bool
    grouped: bool
    serialized: bool = False
    stages: int = 2
    producer_registers: int = 24
    consumer_registers: int = 240
    peeled: bool = False
    dk_first: bool = False
    score: str = "none"


def peels(rows: int) -> bool:
    """Return whether tiles of these rows have code of their own for the first row block.

    With 128 rows its products would wait for each other (ptxas's C7512); ptxas 13.4, of Triton 3.9,
    keeps 150 bytes of a thread in memory.
    """
    return rows == 64 and versions.release(versions.installed()) == "3.6"


def choose(
    d: int, mask: Mask, n_k: int, group: int, deterministic: bool = False, score: str = "none"
) -> Plan:
    """Return the plan for d, this mask, Nk keys, `group` query heads a key head and this kind of
    score."""
    rows = ROWS[box(d)]
    return Plan(
        rows, mask.hides or n_k % KEYS != 0, group > 1, serialized=deterministic,
        peeled=peels(rows), dk_first=rows == 64, score=score,
    )  # fmt: skip


@dataclass(frozen=True)
class WidePlan:
    """One compile-time variant of the two kernels for d above 128.

    parts, v_parts, width: a row of Q and of V lies in so many boxes of so many columns. masked: as
    in a `Plan`. stages: slots of the rings of Q and dO, and of K. v_stages: of V.
    has_spare_registers, score: what the functions of `variants` need to know.
    """

    parts: int
    v_parts: int
    width: int
    masked: bool
    stages: int
    v_stages: int
    producer_registers: int = 24
    consumer_registers: int = 240
    has_spare_registers: bool = True
    score: str = "none"


def choose_wide(d: int, d_v: int, mask: Mask, n_k: int) -> WidePlan:
    """Return the plan for d and the head dimension of V, the larger above 128, this mask and Nk
    keys."""
    masked = mask.hides or n_k % WIDE_BLOCK != 0
    width, v_stages = (64, 2) if max(d, d_v) <= 192 else (128, 1)
    return WidePlan(-(-d // width), -(-d_v // width), width, masked, stages=2, v_stages=v_stages)
