"""A tile among four warps: split its keys or its rows; how many tiles an SM holds at once."""

from functools import lru_cache
from typing import Any

import numpy as np

from explainer.base.cards import CARDS
from explainer.learn.kit import Block, Words
from explainer.learn.lessons.gpu.lesson import LANES
from explainer.learn.linear_algebra import make_problem
from explainer.memory import tile_budget
from explainer.memory.compiled_tiles import slots
from explainer.memory.workload import Workload
from explainer.parallel.warps import warps
from kernels.spec.formats import ITEMSIZE
from kernels.spec.occupancy import room

t = Words(__name__)

WARPS, CARD = 4, CARDS["h200"]


@lru_cache(maxsize=64)
def exchanged(split: str, block_q: int, block_k: int, d: int) -> tuple[int, int]:
    """Return (bytes that four warps pass through shared memory in one whole tile, barriers);
    ``split`` "k" as in FA-1, "q" as in FA-2."""
    problem = make_problem(max(block_q, block_k), d, block_q, block_k=block_k, dtype="fp16")
    found = warps(problem, 0, 0, split, WARPS)
    return found.moved, found.barriers


def partial_output(block_q: int, d: int) -> int:
    """Return the bytes of partial O that the warps of a tile write where the keys are split."""
    steps = warps(make_problem(block_q, d, block_q, dtype="fp16"), 0, 0, "k", WARPS).steps
    return sum(step.moved for step in steps if (step.phase, step.part) == ("output", "write"))


def resident(block_q: int, block_k: int, d: int) -> dict[str, int]:
    """Return {resource: such tiles in fp16 that an SM would hold at once for it alone}, each
    operand once and four warps a tile: a compiled kernel holds fewer."""
    parts = tile_budget.tile_parts(block_q, block_k, d, ITEMSIZE["fp16"])
    shared = tile_budget.bytes_in(parts, tile_budget.SHARED)
    registers = -(-tile_budget.bytes_in(parts, tile_budget.REGISTERS) // (4 * WARPS * LANES))
    return room(CARD.arch, WARPS, registers, shared)


def _split(split: str, br: int, bc: int, d: int) -> dict[str, Any]:
    """Return what a way to share the tile passes, and the keys or rows of each warp."""
    passed, barriers = exchanged(split, br, bc, d)
    firsts = np.arange(WARPS) * ((bc if split == "k" else br) // WARPS)
    lasts = firsts + firsts[1] - 1
    return {"passed": passed, "barriers": barriers, "firsts": firsts, "lasts": lasts}


def compute(br: int, bc: int, d: int) -> Block:
    """Show both ways to share a tile, and what limits the tiles on an SM."""
    found = resident(br, bc, d)
    fewest = min(found.values())
    names = ("shared memory", "registers", "threads")
    keys, rows = (_split(split, br, bc, d) for split in "kq")
    return t.picture(
        br=br,
        bc=bc,
        d=d,
        keys=keys["passed"],
        rows=rows["passed"],
        by_keys=keys,
        by_rows=rows,
        count=fewest,
        names=names,
        tiles=[found[name] for name in names],
    )


def question(block_q: int, d: int) -> dict:
    """KiB: the answer, and: one warp's, in 16 bits, one number a row."""
    kib = partial_output(block_q, d) / 1024
    return {"answer": kib, "wrong": (kib / WARPS, kib / 2, kib / d)}


def figures() -> dict[str, object]:
    """Return how many compiled tiles an SM holds, and what a store of O touches from an mma's
    registers: four threads side by side hold a row's 8 numbers, two each."""
    per_sm, known = slots(Workload(card="h200", d=64, block_q=64, block_k=64), "fa2")
    assert known
    return {"compiled": per_sm, "rows": LANES // 4, "bytes": 4 * 2 * ITEMSIZE["fp16"]}
