"""A tile among four warps: split its keys or its rows; how many tiles an SM holds at once."""

from __future__ import annotations

from functools import lru_cache

from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.learn.kit import (
    Block,
    Mark,
    arrow,
    bar,
    bars,
    column,
    flow,
    frame,
    node,
    note,
    picture,
    row,
    words_of,
)
from explainer.learn.lessons.gpu.lesson import LANES
from explainer.learn.linear_algebra import make_problem
from explainer.memory import tile_budget
from explainer.memory.compiled_tiles import slots
from explainer.memory.workload import Workload
from explainer.parallel.warps import warps
from kernels.spec.formats import ITEMSIZE
from kernels.spec.occupancy import room

t = words_of(__name__)

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
    return sum(x.nbytes for s in steps for x in s.exchanges if (x.tensor, x.op) == ("O", "write"))


def resident(block_q: int, block_k: int, d: int) -> dict[str, int]:
    """Return {resource: such tiles in fp16 that an SM would hold at once for it alone}, each
    operand once and four warps a tile: a compiled kernel holds fewer."""
    parts = tile_budget.tile_parts(block_q, block_k, d, ITEMSIZE["fp16"])
    shared = tile_budget.bytes_in(parts, tile_budget.SHARED)
    registers = -(-tile_budget.bytes_in(parts, tile_budget.REGISTERS) // (4 * WARPS * LANES))
    return room(CARD.arch, WARPS, registers, shared)


def _split(split: str, br: int, bc: int, d: int) -> Mark:
    """The tile among its warps, and the way of their results."""
    passed, barriers = exchanged(split, br, bc, d)
    by_keys = split == "k"
    size = (bc if by_keys else br) // WARPS
    boxes = [
        node(
            f"{split}{k}",
            t("warp", k=k),
            t("keys" if by_keys else "rows", first=k * size, last=(k + 1) * size - 1),
            "s",
        )
        for k in range(WARPS)
    ]
    if by_keys:
        shared = node("shared", amount(passed), t("through"), "bad", on=True)
        columns = [boxes, [shared], [node("O", "O", t("barriers", n=barriers), "o")]]
        arrows = [arrow(f"k{k}", "shared", amount=0.6) for k in range(WARPS)]
        arrows.append(arrow("shared", "O", amount=0.6))
    else:
        outputs = [node(f"O{k}", t("own", k=k), hue="o") for k in range(WARPS)]
        columns, arrows = [boxes, outputs], [arrow(f"q{k}", f"O{k}") for k in range(WARPS)]
    return frame(
        t.named("titles")[split],
        flow("", columns, arrows),
        note(
            t("nothing") if not passed else t("all", size=passed), "good" if not passed else "bad"
        ),
        look="line",
    )


def compute(br: int, bc: int, d: int) -> Block:
    """Show both ways to share a tile, and what limits the tiles on an SM."""
    found = resident(br, bc, d)
    names, fewest = t.named("resources"), min(found.values())
    items = []
    for key, name in names.items():
        is_fewest = found[key] == fewest
        hue = "l" if is_fewest else "q"
        items.append(bar(name, found[key], str(found[key]), hue, on=is_fewest))
    moved = {split: exchanged(split, br, bc, d)[0] for split in "kq"}
    return picture(
        t("label", br=br, bc=bc, d=d),
        t("spoken", keys=moved["k"], rows=moved["q"], count=fewest),
        row(_split("k", br, bc, d), _split("q", br, bc, d), align="stretch", grow=(1, 1)),
        column(bars(t("occupancy", card=CARD.name, count=fewest), items), aside=True),
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
