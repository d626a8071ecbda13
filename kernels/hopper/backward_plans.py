"""Which tile and schedule the Hopper backward uses; what was measured stands in LOG.md."""

from __future__ import annotations

from dataclasses import dataclass

from ..spec.masks import Mask

KEYS = 128  # of a tile
# Rows of a tile by d, the most for which dK, dV, S, dP and a half of dQ fit the registers.
ROWS = {64: 128, 128: 64}


@dataclass(frozen=True)
class Plan:
    """One compile-time variant of the kernel.

    block_m: rows of a tile. masked: some key does not see every row, or is none. grouped: several
    query heads share a key head. stages: slots of the rings of Q and dO. order: "rows" (tiles in
    turn, each program every so many) or "queue" (whoever is free takes the next; longest first in
    both). turns: key blocks add to dQ one after the other, in the order of the tiles: the same bits
    at each call. registers: of a thread.
    """

    block_m: int
    masked: bool
    grouped: bool
    order: str = "queue"
    turns: bool = False
    stages: int = 2
    producer_registers: int = 24
    consumer_registers: int = 240


def choose(d: int, mask: Mask, n_k: int, group: int, deterministic: bool = False) -> Plan:
    """The plan for d (64 or 128), this mask, Nk keys and `group` query heads for each key head."""
    return Plan(ROWS[d], mask.hides or n_k % KEYS != 0, group > 1, turns=deterministic)
