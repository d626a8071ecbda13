"""A tile among four warps: split its keys or its rows; how many blocks an SM holds; coalescing."""

from __future__ import annotations

from functools import lru_cache

from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, t
from explainer.learn.gpu import LANES, SECTOR, sectors
from explainer.learn.linear_algebra import make_problem
from explainer.learn.scene import box, captions, draw_text, panel, path, scene
from explainer.memory import tile_budget
from explainer.memory.compiled_tiles import slots
from explainer.memory.workload import Workload
from explainer.parallel.warps import warps
from kernels.spec.formats import ITEMSIZE
from kernels.spec.occupancy import MOST_REGISTERS, room

WARPS = 4
HUES = ("q", "k", "v", "o")  # of the warps
TITLES, WHO = t.named("warp_split.titles"), t.named("warp_split.who")
WIDTH, HEIGHT, SIDE = 266.0, 390.0, 160.0


@lru_cache(maxsize=64)
def exchanged(split: str, block_q: int, block_k: int, d: int) -> tuple[int, int]:
    """(bytes that four warps pass through shared memory in one whole tile, barriers); ``split`` "k"
    as in FA-1, "q" as in FA-2. The bytes depend on the shape only."""
    problem = make_problem(max(block_q, block_k), d, block_q, block_k=block_k, dtype="fp16")
    found = warps(problem, 0, 0, split, WARPS)
    return found.exchanged_bytes, found.barriers


def partial_output(block_q: int, d: int) -> int:
    """Bytes of the partial O that the warps of a tile write where the keys are split."""
    steps = warps(make_problem(block_q, d, block_q, dtype="fp16"), 0, 0, "k", WARPS).steps
    return sum(x.nbytes for s in steps for x in s.exchanges if (x.tensor, x.op) == ("O", "write"))


def too_much(split: str, block_q: int, d: int, card_key: str) -> bool:
    """Whether the partial O of all warps, which lie there at once, are more than a thread block's
    shared memory; split by rows there are none."""
    return split == "k" and partial_output(block_q, d) > CARDS[card_key].shared_bytes


def registers_per_thread(block_q: int, block_k: int, d: int) -> int:
    """Of four warps, for S, O, m and l of such a tile in fp32 alone."""
    parts = tile_budget.tile_parts(block_q, block_k, d, ITEMSIZE["fp16"])
    return -(-tile_budget.bytes_in(parts, tile_budget.REGISTERS) // (4 * WARPS * LANES))


def resident(block_q: int, block_k: int, d: int, card_key: str) -> dict[str, int]:
    """{resource: such tiles in fp16 that an SM would hold at once for it alone}, each operand once
    and four warps a tile: a compiled kernel holds fewer."""
    parts = tile_budget.tile_parts(block_q, block_k, d, ITEMSIZE["fp16"])
    shared = tile_budget.bytes_in(parts, tile_budget.SHARED)
    registers = registers_per_thread(block_q, block_k, d)
    return room(CARDS[card_key].arch, WARPS, registers, shared)


def _split(split: str, br: int, bc: int, d: int, card_key: str) -> dict[str, object]:
    passed, barriers = exchanged(split, br, bc, d)
    where, look = t("warp_split.through" if passed else "warp_split.registers"), "is-small"
    if too_much(split, br, d, card_key):
        most = amount(CARDS[card_key].shared_bytes)
        where = t("warp_split.at_once", size=partial_output(br, d), most=most)
        look = "is-small is-bad"
    part, left, top = SIDE / WARPS, 40.0, 66.0
    shapes = captions("warp_split.split", title=TITLES[split], who=WHO[split])
    y, middle = top + SIDE + 40, left + SIDE / 2
    for k, hue in enumerate(HUES):
        if split == "k":
            x = left + k * part
            shapes.append(box(x, top, part - 2, SIDE, f"w{k}", hue=hue))
            shapes.append(path([(x + part / 2, y - 8), (x + part / 2, y + 24)], hue, tip=8))
        else:
            shapes.append(box(left, top + k * part, SIDE, part - 2, f"w{k}", hue=hue))
    shapes += [
        draw_text(left - 8, top + SIDE / 2, f"{br}", "is-small is-end"),
        draw_text(middle, top + SIDE + 20, f"S: {br} × {bc}", "is-small is-middle"),
        box(
            8,
            y + 28,
            WIDTH - 16,
            40,
            amount(passed) if passed else t("warp_split.nothing"),
            hue="l" if passed else "",
            look="is-pale" if passed else "is-empty",
        ),
        draw_text(8, y + 92, where, look),
        draw_text(8, y + 114, t("warp_split.barriers", n=barriers), "is-bold"),
    ]
    return panel(WIDTH, HEIGHT, shapes)


def _occupancy(br: int, bc: int, d: int, card_key: str) -> dict[str, object]:
    """Thread blocks in one SM, and what a warp's store touches."""
    found = resident(br, bc, d, card_key)
    count, each = min(found.values()), registers_per_thread(br, bc, d)
    shapes = captions("warp_split.occupancy", card=CARDS[card_key].name, bytes=SECTOR)
    for k, (key, name) in enumerate(t.named("warp_split.resources").items()):
        y, drawn = 52 + 50 * k, min(found[key], 16)
        wide = (WIDTH - 8) / max(drawn, 1)
        shapes += [
            box(0, y, WIDTH - 8, 24, look="is-line"),
            *(box(n * wide + 1, y + 1, wide - 2, 22, hue="q") for n in range(drawn)),
            draw_text(0, y + 41, f"{name}: {found[key]}", "is-small"),
        ]
    verdict = t("warp_split.tiles", count=count) if count else t("warp_split.no_room")
    hint = t("warp_split.hide") if count > 1 else t("warp_split.wait")
    if each > MOST_REGISTERS:
        hint = t("warp_split.threads", registers=each, most=MOST_REGISTERS)
    shapes += [draw_text(0, 216, verdict, "is-bold"), draw_text(0, 238, hint, "is-small")]
    both = zip(t.row("warp_split.stores"), (1, d), strict=True)
    for k, (name, stride) in enumerate(both):
        y, count = 272 + 52 * k, len(set(sectors(stride, ITEMSIZE["fp16"])))
        shapes.append(draw_text(0, y, f"{name}: {count}", "is-small"))
        wide = (WIDTH - 8) / LANES
        shapes += [
            box(n * wide, y + 8, wide - 1.5, 16, hue="o" if stride > 1 else "v")
            for n in range(count)
        ]
    return panel(WIDTH, HEIGHT, shapes, only="desk")


def _warp_split(br: int, bc: int, d: int, card: str) -> list[Block]:
    found = {split: exchanged(split, br, bc, d) for split in TITLES}
    count = min(resident(br, bc, d, card).values())
    spoken = " ".join(
        t("warp_split.spoken", split=TITLES[s], size=n, barriers=b) for s, (n, b) in found.items()
    )
    if too_much("k", br, d, card):
        spoken += " " + t("warp_split.too_much", size=partial_output(br, d))
    spoken += " " + t("warp_split.resident", count=count)
    return [
        scene(
            t("warp_split.title", br=br, bc=bc, d=d, warps=WARPS),
            spoken,
            _split("k", br, bc, d, card),
            _split("q", br, bc, d, card),
            _occupancy(br, bc, d, card),
        )
    ]


WIDGETS = {
    "warps": _warp_split,
}


def _question(block_q: int, d: int) -> dict:
    """KiB: the answer, and: one warp's, in 16 bits, one number a row."""
    kib = partial_output(block_q, d) / 1024
    return {"answer": kib, "wrong": (kib / WARPS, kib / 2, kib / d)}


def _figures() -> dict[str, object]:
    """How many compiled tiles an SM holds, and what a store of O touches from an mma's registers:
    four lanes side by side hold a row's 8 numbers, two each."""
    per_sm, known = slots(Workload(card="h200", d=64, block_q=64, block_k=64), "fa2")
    assert known
    return {"compiled": per_sm, "rows": LANES // 4, "bytes": 4 * 2 * ITEMSIZE["fp16"]}


FIGURES = {"warps": _figures}
QUESTIONS = {"warps": _question}
