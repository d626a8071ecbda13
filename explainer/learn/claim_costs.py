"""Demonstrations of "Said often, and wrong" that count: bytes, tiles, operations, time."""

from __future__ import annotations

from dataclasses import replace

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import CONVENTIONS, WHERE
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import asked, both, least, summed
from explainer.base.amounts import amount, listed, written
from explainer.base.cards import KIB, Card
from explainer.base.facts import fact, number
from explainer.learn.blocks import Block, bars, plot, table, text
from explainer.learn.matrix_units import clock_hz
from explainer.memory import capacity, levels, tile_budget
from explainer.memory.workload import Workload
from explainer.problem import Problem

UNITS = ("memory", "products", "exp")
A100_ON_CHIP = int(number("a100.on_chip")) * KIB
Given = dict[str, float | str]


def _random(n: int, d: int, block: int, causal: bool = False) -> Problem:
    return Problem(n=n, d=d, block_q=block, block_k=block, causal=causal, inputs="random")


def io(given: Given) -> list[Block]:
    """Bytes that one head asks for, and the least, over N, beside the extra memory."""
    d, block, ns = int(given["d"]), int(given["block"]), [2**p for p in range(10, 17)]
    moved = {o: [asked(n, d, "full", "fp16", o, block, block) for n in ns]
             for o in ("standard", "fa2")}  # fmt: skip
    extra = [dict(levels.tensors(Workload(n=n, heads=1), "fa2"))["lse"] for n in ns]
    names = {"standard": "standard: bytes asked", "fa2": "FA-2: bytes asked"}
    series = [{"name": names[o], "x": ns, "y": y, "colour": c}
              for (o, y), c in zip(moved.items(), "so", strict=True)]  # fmt: skip
    once = [least(n, d, "fp16", "fa2") for n in ns]
    series.append({"name": "FA-2: each matrix once", "x": ns, "y": once, "colour": "k"})
    series.append({"name": "FA-2: extra memory (lse)", "x": ns, "y": extra, "colour": "l"})
    f, s, e = moved["fa2"], moved["standard"], extra
    rows = [(f"{a:,} to {2 * a:,}", f"×{f[i + 1] / f[i]:.2f}", f"×{e[i + 1] / e[i]:.2f}",
             f"{f[i + 1] / s[i + 1]:.2f}") for i, a in enumerate(ns[:-1])]  # fmt: skip
    head = ("N doubled from", "FA-2 asks", "extra memory grows", "asked, FA-2 ÷ standard")
    return [
        plot("Bytes over N, one head, fp16", series, x_label="N", y_label="bytes", log_x=True,
             log_y=True),
        table("What doubling N does", head, rows),
        text(f"A tile of {block} changes the factor in front of N², not the square."),
        text("Asked is every load and store of every tile. Each matrix once grows with N: that is "
             "what HBM moves while K and V of the heads at work fit in the L2 cache."),
    ]  # fmt: skip


def operations(n: int, d: int, block: int) -> dict[str, dict[str, int]]:
    """{kind of work: {"standard" | "fa2": operations}} of one head, full mask; max, exp, add,
    multiply and divide count one each. Scaling Q Kᵀ by 1/√d is the same on both sides: left out."""
    p = _random(n, d, block)
    high, wide = ([s.stop - s.start for s in (side(p, x) for x in range(count))]
                  for side, count in ((tiling.rows, p.Tr), (tiling.cols, p.Tc)))  # fmt: skip
    tiles = [(r, c) for r in high for c in wide]
    pairs, visited = sum(r * c for r, c in tiles), sum(r for r, _ in tiles)
    softmax = 4 * n * n - 2 * n  # max, subtract, exp, sum over whole rows
    tiled = sum(4 * r * c - 2 * r for r, c in tiles)
    return {
        "products Q Kᵀ and P V": {"standard": 4 * n * n * d, "fa2": 4 * pairs * d},
        "max, subtract, exp, sum": {"standard": softmax, "fa2": tiled},
        "divide by ℓ": {"standard": n * n, "fa2": n * d},
        # a visit's row: max with m, subtract, exp; α·ℓ and add; α·O. O's adds are in the product.
        "α: rescale m, ℓ and O": {"standard": 0, "fa2": visited * (5 + d)},
        "lse = m + log ℓ": {"standard": 0, "fa2": 2 * n},
        "backward: five products against four": {"standard": 8 * n * n * d, "fa2": 10 * pairs * d},
    }


def flops(given: Given) -> list[Block]:
    """Operations of standard attention and of FA-2, counted tile by tile."""
    found = operations(int(given["n"]), int(given["d"]), int(given["block"]))
    rows = [(kind, f"{c['standard']:,}", f"{c['fa2']:,}") for kind, c in found.items()]
    *forward, _ = found.values()
    a, b = (sum(c[o] for c in forward) for o in ("standard", "fa2"))
    both = [sum(c[o] for c in found.values()) for o in ("standard", "fa2")]
    rows += [("forward in all", f"{a:,}", f"{b:,}"),
             ("forward and backward", f"{both[0]:,}", f"{both[1]:,}")]  # fmt: skip
    return [
        table("Operations, one head", ("work", "standard", "FA-2"), rows),
        text(f"FA-2 ÷ standard: forward {b / a:.4f}, with the backward pass "
             f"{both[1] / both[0]:.3f} (its products; S is computed again). What it saves "
             "is bytes, hardly any operations."),
    ]  # fmt: skip


def multiplied(p: Problem, pass_: str) -> int:
    """FLOPs of all products of one head in this pass, tile by tile as its loops visit them."""
    of_products = {"scores", "output", "dV", "dP", "dQ", "dK"}
    tiles = [x for x in schedule(p, pass_) if x.i is not None and x.j is not None]
    sizes = [[s.stop - s.start for s in (tiling.rows(p, x.i), tiling.cols(p, x.j))] for x in tiles]
    counts = [len(of_products.intersection(x.phases)) for x in tiles]
    return sum(2 * r * c * p.d * k for (r, c), k in zip(sizes, counts, strict=True))


def again(given: Given) -> list[Block]:
    """The backward pass with P stored and with P computed again: products and bytes, counted."""
    n, d, block = (int(given[x]) for x in ("n", "d", "block"))
    fa2 = replace(_random(n, d, block), dtype="fp16")
    ways = {"P stored": replace(fa2, order="standard"), "P again": fa2}
    work = {"forward": multiplied(fa2, "forward")}
    work |= {f"backward, {way}": multiplied(p, "backward") for way, p in ways.items()}
    one = work["forward"] // 2
    moved = [[both(summed(p, convention, "backward")) for p in ways.values()]
             for convention in CONVENTIONS]  # fmt: skip
    w = Workload(n=n, d=d, heads=1, block_q=block, block_k=block)
    between = [capacity.kept(w, p.order) for p in ways.values()]
    rows = [(f"bytes {WHERE[c]}", *map(amount, x)) for c, x in zip(CONVENTIONS, moved, strict=True)]
    rows.append(("kept between the passes, beside Q, K, V, O", *map(amount, between)))
    stored, computed = (work["forward"] + work[f"backward, {way}"] for way in ways)
    items = [(name, float(x), f"{x / one:.3g} × {one / 1e9:.3g}") for name, x in work.items()]
    return [
        bars(f"Products of one head, N = {n:,}, d = {d}, in GFLOP", items, colour="s"),
        table("Backward, fp16", ("", *ways), rows),
        text(f"With P computed again both passes do {computed / stored:.3g} times the work, not "
             f"twice, and keep {between[0] / between[1]:,.0f} times fewer bytes in between."),
    ]  # fmt: skip


def kept(given: Given) -> list[Block]:
    """What is on chip and what is off chip, for both ways: like with like."""
    w = Workload(n=int(given["n"]), d=64, heads=1, block_q=int(given["block"]),
                 block_k=int(given["block"]), dtype="fp32")  # fmt: skip
    tile = {p.tensor: p.nbytes for p in tile_budget.budget(w.problem("fa2"))}
    off = {o: dict(levels.tensors(w, o)) for o in ("standard", "fa2")}
    extra = {o: sum(v for t, v in parts.items() if t not in "QKVO") for o, parts in off.items()}
    less = {o: sum(v for t, v in levels.tensors(replace(w, n=w.n // 2), o) if t not in "QKVO")
            for o in off}  # fmt: skip
    operands = sum(tile[t] for t in "QKVO")
    rows = [
        ("on chip: the tiles of Q, K, V, O", *[amount(operands)] * 2),
        ("off chip: S", amount(off["standard"]["S"]), "none"),
        ("off chip: S and P, or lse", amount(extra["standard"]), amount(extra["fa2"])),
        ("from N/2 to N that grows", *(f"×{extra[o] / less[o]:g}" for o in off)),
    ]  # fmt: skip
    return [
        table(f"One head, N = {w.n:,}, d = 64, fp32", ("where", "standard", "FA-2"), rows),
        text(f"The {amount(operands)} on chip are no difference: any tiled kernel has them. "
             f"The saving is {amount(extra['standard'])} off chip against "
             f"{amount(extra['fa2'])}: and it grows with N."),
    ]  # fmt: skip


def exp_rate(card: Card) -> float:
    """Exponentials per second of a card, at the clock that its rate of products belongs to."""
    return number("sm.exps") * card.sms * clock_hz(card)


def bounds(w: Workload) -> dict[str, dict[str, float]]:
    """{way: FLOPs per byte of HBM, and the seconds of one head for memory, products, exp} on the
    whole card, fp16, at its data sheet's rates, products and exp at one clock; each unit alone,
    nothing overlaps."""
    card, work, exps = w.hardware, 4 * w.n**2 * w.d, w.n**2
    ways = {
        f"{name}, {cache}": count
        for order, name in (("standard", "standard"), ("fa2", "fused"))
        for cache, count in (
            ("no cache: asked", asked(w.n, w.d, "full", w.dtype, order, w.block_q, w.block_k)),
            ("each matrix once", least(w.n, w.d, w.dtype, order)),
        )
    }
    return {
        name: {
            "intensity": work / size,
            "memory": size / card.hbm_bytes_per_s,
            "products": work / (card.tensor_tflops * 1e12),
            "exp": exps / exp_rate(card),
        }
        for name, size in ways.items()
    }


def bound(given: Given) -> list[Block]:
    """What holds up attention: HBM, matrix units or exp."""
    w = Workload(card=str(given["card"]), n=int(given["n"]), d=int(given["d"]), block_q=128,
                 block_k=128)  # fmt: skip
    found, card = bounds(w), w.hardware
    ridge = card.tensor_tflops * 1e12 / card.hbm_bytes_per_s
    items = [(name, x["intensity"], f"{x['intensity']:,.0f}") for name, x in found.items()]
    rows = [
        (name, *(f"{written(1e6 * x[unit], 2)} µs" for unit in UNITS),
         listed([unit for unit in UNITS if x[unit] > 0.99 * max(x[u] for u in UNITS)]))
        for name, x in found.items()
    ]  # fmt: skip
    cached = "Left of the line memory is the limit, right of it a unit of the chip. "
    if found["fused, no cache: asked"]["intensity"] < ridge:
        cached += "Were K and V read from HBM every time, the fused one would wait too: L2 counts."
    return [
        bars(f"FLOPs per byte of HBM; the line is the {card.name}'s ridge, {ridge:.0f}", items,
             log=True, limit=ridge),
        table("Time of one head for each unit alone", ("way", "memory", "products", "exp",
                                                       "longest"), rows),
        text(cached),
        text(f"Rates: {card.hbm_bytes_per_s / 1e12:.2f} TB/s, {card.tensor_tflops:g} TFLOP/s fp16, "
             f"{exp_rate(card) / 1e12:.1f} × 10¹² exp/s. The last two are at "
             f"{clock_hz(card) / 1e9:.2f} GHz, the clock that the data sheet's TFLOP/s imply; "
             f"{fact('sm.exps')} exp per SM and clock (the FA-3 paper counts {fact('fa3.exps')} "
             "for an H100). Each unit alone, nothing overlaps.", "fine"),
    ]  # fmt: skip
