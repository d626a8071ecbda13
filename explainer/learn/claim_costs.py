"""Demonstrations of "Said often, and wrong" that count: bytes, tiles, operations, time."""

from __future__ import annotations

from dataclasses import replace

from explainer.algorithms.algorithm import COMPULSORY, CONVENTIONS, REQUESTED, WHERE
from explainer.algorithms.traffic import both, compulsory_bytes, requested_bytes, summed
from explainer.base.amounts import amount, format_significant, listed
from explainer.learn.blocks import Block, t, table, text
from explainer.learn.claim_demos import bars
from explainer.learn.kit import mark, picture
from explainer.learn.lessons.recompute.lesson import products
from explainer.learn.linear_algebra import make_problem
from explainer.learn.matrix_units import clock_hz, exps_per_s
from explainer.memory import capacity, levels
from explainer.memory.workload import Workload

UNITS = t.named("claim_costs.bound.units")


def io(d: int, block: int) -> list[Block]:
    """Bytes that one head asks for, and the least, over N, beside the extra memory."""
    ns = [2**p for p in range(10, 17)]
    moved = {
        o: [requested_bytes(n, d, "full", "fp16", o, block, block) for n in ns]
        for o in ("standard", "fa2")
    }
    extra = [dict(levels.hbm_tensors(Workload(n=n, heads=1), "fa2"))["lse"] for n in ns]
    once = [compulsory_bytes(n, d, "fp16", "fa2") for n in ns]
    curves = {
        "standard": (moved["standard"], "s"),
        "fa2": (moved["fa2"], "o"),
        "once": (once, "k"),
        "extra": (extra, "l"),
    }
    names = t.named("claim_costs.io.series")
    lines = [
        mark("series", name=names[key], x=ns, y=y, hue=hue) for key, (y, hue) in curves.items()
    ]
    f, s, e = moved["fa2"], moved["standard"], extra
    rows = [
        (
            t("claim_costs.io.doubled", a=a, b=2 * a),
            f"×{f[i + 1] / f[i]:.2f}",
            f"×{e[i + 1] / e[i]:.2f}",
            f"{f[i + 1] / s[i + 1]:.2f}",
        )
        for i, a in enumerate(ns[:-1])
    ]
    title = t("claim_costs.io.title")
    x, y = (mark("axis", label=label, log=True) for label in ("N", t("claim_costs.io.bytes")))
    plot = mark("plot", title=title, series=lines, x=x, y=y)
    return [
        picture(title, ", ".join(names.values()), plot),
        table(t("claim_costs.io.doubling"), t.row("claim_costs.io.head"), rows),
        text(t("claim_costs.io.tile", block=block)),
        text(t("claim_costs.io.requested")),
    ]


def operations(n: int, d: int, block: int) -> dict[str, dict[str, int]]:
    """{kind of work: {"standard" | "fa2": operations}} of one head's forward pass, full mask; max,
    exp, add, multiply and divide count one each. Scaling Q Kᵀ by 1/√d is the same on both sides:
    left out."""
    scores, visited = n * n, n * -(-n // block)  # rows of tiles that are visited
    return {
        "products": {"standard": 4 * scores * d, "fa2": 4 * scores * d},
        # max, subtract, exp, sum over whole rows, or over those of a tile
        "softmax": {"standard": 4 * scores - 2 * n, "fa2": 4 * scores - 2 * visited},
        "divide": {"standard": scores, "fa2": n * d},
        # a visit's row: max with m, subtract, exp; α·ℓ and add; α·O. O's adds are in the product.
        "rescale": {"standard": 0, "fa2": visited * (5 + d)},
        "lse": {"standard": 0, "fa2": 2 * n},
    }


def flops(n: int, d: int, block: int) -> list[Block]:
    """Operations of the forward pass of standard attention and of FA-2, counted tile by tile."""
    found = operations(n, d, block)
    names = t.named("claim_costs.flops.work")
    rows = [
        (name, *(f"{found[kind][o]:,}" for o in ("standard", "fa2")))
        for kind, name in names.items()
    ]
    a, b = (sum(found[kind][o] for kind in names) for o in ("standard", "fa2"))
    rows.append((t("claim_costs.flops.forward"), f"{a:,}", f"{b:,}"))
    return [
        table(t("claim_costs.flops.title"), t.row("claim_costs.flops.head"), rows),
        text(t("claim_costs.flops.finding", forward=b / a)),
    ]


def again(n: int, d: int, block: int) -> list[Block]:
    """The backward pass with P stored and with P computed again: products and bytes, counted."""
    fa2 = make_problem(n, d, block, dtype="fp16")
    ways = {"stored": replace(fa2, order="standard"), "again": fa2}
    one = 2 * n * n * d
    work = {"forward": one * len(products("fa2")["forward"])}
    work |= {way: one * len(products(p.order)["backward"]) for way, p in ways.items()}
    moved = [
        [both(summed(p, convention, "backward")) for p in ways.values()]
        for convention in CONVENTIONS
    ]
    w = Workload(n=n, d=d, heads=1, block_q=block, block_k=block)
    between = [capacity.saved_bytes(w, p.order) for p in ways.values()]
    rows = [
        (t("claim_costs.again.moved", where=WHERE[c]), *map(amount, x))
        for c, x in zip(CONVENTIONS, moved, strict=True)
    ]
    rows.append((t("claim_costs.again.saved"), *map(amount, between)))
    stored, computed = (work["forward"] + work[way] for way in ways)
    names = t.named("claim_costs.again.work")
    items = [(names[way], float(x), f"{x / one:.3g} × {one / 1e9:.3g}") for way, x in work.items()]
    return [
        bars(t("claim_costs.again.title", n=n, d=d), items, hue="s"),
        table(t("claim_costs.again.bytes"), t.row("claim_costs.again.head"), rows),
        text(
            t(
                "claim_costs.again.finding",
                computed=computed / stored,
                between=between[0] / between[1],
            )
        ),
    ]


def bounds(w: Workload) -> dict[str, dict[str, float]]:
    """{order and convention: FLOPs per byte of HBM, and the seconds of one head for memory,
    products, exp} on the whole card, fp16, at its data sheet's rates, products and exp at one
    clock; each unit alone, nothing overlaps."""
    card, work, exps = w.hardware, 4 * w.n**2 * w.d, w.n**2
    ways = {
        f"{order} {convention}": count
        for order in ("standard", "fa2")
        for convention, count in (
            (REQUESTED, requested_bytes(w.n, w.d, "full", w.dtype, order, w.block_q, w.block_k)),
            (COMPULSORY, compulsory_bytes(w.n, w.d, w.dtype, order)),
        )
    }
    return {
        name: {
            "intensity": work / size,
            "memory": size / card.hbm_bytes_per_s,
            "products": work / (card.tensor_tflops * 1e12),
            "exp": exps / exps_per_s(card),
        }
        for name, size in ways.items()
    }


def bound(card: str, n: int, d: int) -> list[Block]:
    """What holds up attention: HBM, matrix units or exp."""
    w = Workload(card=card, n=n, d=d, block_q=128, block_k=128)
    found, hardware = bounds(w), w.hardware
    ridge = hardware.tensor_tflops * 1e12 / hardware.hbm_bytes_per_s
    names = t.named("claim_costs.bound.ways")
    items = [(names[way], x["intensity"], f"{x['intensity']:,.0f}") for way, x in found.items()]
    rows = [
        (
            names[way],
            *(f"{format_significant(1e6 * x[unit], 2)} µs" for unit in UNITS),
            listed(
                [
                    unit_name
                    for unit, unit_name in UNITS.items()
                    if x[unit] > 0.99 * max(x[u] for u in UNITS)
                ]
            ),
        )
        for way, x in found.items()
    ]
    waits = found[f"fa2 {REQUESTED}"]["intensity"] < ridge
    return [
        bars(
            t("claim_costs.bound.title", card=hardware.name, ridge=ridge),
            items,
            log=True,
            limit=ridge,
        ),
        table(t("claim_costs.bound.each"), t.row("claim_costs.bound.head"), rows),
        text(t("claim_costs.bound.cache") if waits else t("claim_costs.bound.line")),
        text(
            t(
                "claim_costs.bound.rates",
                memory=hardware.hbm_bytes_per_s / 1e12,
                products=hardware.tensor_tflops,
                exps=exps_per_s(hardware) / 1e12,
                clock=clock_hz(hardware) / 1e9,
            ),
            "fine",
        ),
    ]
