"""Demonstrations of "Said often, and wrong" that count: bytes, tiles, operations, time."""

from dataclasses import replace

import numpy as np

from explainer.algorithms.algorithm import COMPULSORY, CONVENTIONS, REQUESTED, WHERE
from explainer.algorithms.traffic import both, compulsory_bytes, requested_bytes, summed
from explainer.base.amounts import listed
from explainer.learn.claim_demos import Values
from explainer.learn.lessons.recompute.lesson import products
from explainer.learn.linear_algebra import make_problem
from explainer.learn.matrix_units import clock_hz, exps_per_s
from explainer.memory import capacity, levels
from explainer.memory.workload import Workload


def io(d: int, block: int) -> Values:
    """Bytes that one head asks for, and the least, over N, beside the extra memory."""
    ns = [2**p for p in range(10, 17)]
    standard, requested = (
        np.array([requested_bytes(n, d, "full", "fp16", o, block, block) for n in ns])
        for o in ("standard", "fa2")
    )
    once = [compulsory_bytes(n, d, "fp16", "fa2") for n in ns]
    extra = np.array([dict(levels.hbm_tensors(Workload(n=n, heads=1), "fa2"))["lse"] for n in ns])
    return {
        "block": block,
        "ns": ns,
        "curves": [standard, requested, once, extra],
        "from_n": ns[:-1],
        "to_n": ns[1:],
        "asked": requested[1:] / requested[:-1],
        "extra": extra[1:] / extra[:-1],
        "shares": requested[1:] / standard[1:],
    }


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


def flops(n: int, d: int, block: int) -> Values:
    """Operations of the forward pass of standard attention and of FA-2, counted tile by tile."""
    found = operations(n, d, block).values()
    standard, fa2 = ([work[o] for work in found] for o in ("standard", "fa2"))
    a, b = sum(standard), sum(fa2)
    return {"standard": [*standard, a], "fa2": [*fa2, b], "forward": b / a}


def again(n: int, d: int, block: int) -> Values:
    """The backward pass with P stored and with P computed again: products and bytes, counted."""
    fa2 = make_problem(n, d, block, dtype="fp16")
    ways = replace(fa2, order="standard"), fa2
    one = 2 * n * n * d
    times = [len(products("fa2")["forward"]), *(len(products(p.order)["backward"]) for p in ways)]
    w = Workload(n=n, d=d, heads=1, block_q=block, block_k=block)
    between = [capacity.saved_bytes(w, p.order) for p in ways]
    return {
        "n": n,
        "d": d,
        "work": [one * x for x in times],
        "times": times,
        "one": one / 1e9,
        "where": [WHERE[c] for c in CONVENTIONS],
        "moved": [[both(summed(p, c, "backward")) for p in ways] for c in CONVENTIONS],
        "saved": between,
        "computed": (times[0] + times[2]) / (times[0] + times[1]),
        "between": between[0] / between[1],
    }


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


def bound(card: str, n: int, d: int) -> Values:
    """What holds up attention: HBM, matrix units or exp."""
    w = Workload(card=card, n=n, d=d, block_q=128, block_k=128)
    found, hardware, units = bounds(w), w.hardware, ("memory", "products", "exp")
    ridge = hardware.tensor_tflops * 1e12 / hardware.hbm_bytes_per_s
    us = [{unit: 1e6 * way[unit] for unit in units} for way in found.values()]
    return {
        "card": hardware,
        "ridge": ridge,
        "ways": [*found.values()],
        "us": us,
        "longest": [listed([u for u in units if x[u] > 0.99 * max(x.values())]) for x in us],
        "waits": found[f"fa2 {REQUESTED}"]["intensity"] < ridge,
        "memory": hardware.hbm_bytes_per_s / 1e12,
        "exps": exps_per_s(hardware) / 1e12,
        "clock": clock_hz(hardware) / 1e9,
    }
