"""Rungs 2.3 and 2.4: what three kernels carry through HBM and back, as a sum one can follow; and
whether bytes or operations set the pace, before and after fusion."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.algorithms.algorithm import LEAST
from explainer.algorithms.traffic import launches, least
from explainer.base.amounts import amount, count, milliseconds
from explainer.base.cards import CARDS
from explainer.base.formats import ITEMSIZE
from explainer.learn.blocks import Block, Widget, picture
from explainer.learn.content import rung
from explainer.learn.controls import card, commas, pick
from explainer.problem import Problem

Values = Mapping[str, float | str]
Moves = list[tuple[str, dict[str, int], dict[str, int]]]

CARD, D, DTYPE = "h200", 128, "fp16"
NAMES = {"scores": "Q Kᵀ", "softmax": "softmax", "output": "P V"}
LENGTHS = (512, 2048, 8192, 32768, 131072)
HEADS = 96
ASKED = ((32768, 96), (16384, 96), (65536, 32))  # N, heads of the questions


# ---- round trips


def kernels(n: int, heads: int) -> Moves:
    """[(kernel, {tensor: bytes read}, {tensor: bytes written})] of standard attention's three
    launches, each matrix once per kernel, all heads."""
    side = min(n, 128)
    short = Problem(n=side, d=D, block_q=side, block_k=side, causal=False, order="standard",
                    dtype=DTYPE, inputs="random")  # fmt: skip
    size = ITEMSIZE[DTYPE]
    exact = {t: heads * n * size * (n if t in "SP" else D) for t in "QKVSPO"}  # any N
    return [
        (NAMES[name], {t: exact[t] for t, (r, _) in moved.items() if r},
         {t: exact[t] for t, (_, w) in moved.items() if w})
        for name, moved in launches(short, LEAST)
    ]  # fmt: skip


def square(n: int, heads: int) -> int:
    """Bytes of S of so many heads."""
    return heads * n * n * ITEMSIZE[DTYPE]


def _trips(v: Values) -> list[Block]:
    n, heads, hardware = int(v["n"]), int(v["heads"]), CARDS[CARD]
    moves = kernels(n, heads)
    total = sum(sum(r.values()) + sum(w.values()) for _, r, w in moves)
    fused = 4 * heads * n * D * ITEMSIZE[DTYPE]
    trips = 4 * square(n, heads)
    seconds = trips / hardware.hbm_bytes_per_s
    steps = [
        [f"{n:,} × {n:,} scores × 2 bytes", f"{amount(square(n, 1))} per head"],
        [f"× {count(heads, 'head')}", f"{amount(square(n, heads))} for S"],
        ["× 4: S written and read, P written and read", amount(trips)],
        [f"÷ {hardware.hbm_bytes_per_s / 1e12:g} TB/s of an {hardware.name.split()[0]}",
         milliseconds(seconds * 1e3)],
        ["Q, K, V and O together", amount(fused)],
    ]  # fmt: skip
    ladder = [
        {"n": f"{x:,}", "bytes": square(x, heads), "said": amount(square(x, heads)), "now": x == n}
        for x in LENGTHS
        if x <= n
    ]
    fits = square(n, heads) <= hardware.hbm_bytes
    words = (
        f"N = {n:,}, {count(heads, 'head')}. "
        + " ".join(
            f"{name} reads {', '.join(f'{t} ({amount(b)})' for t, b in r.items())} and writes "
            f"{', '.join(f'{t} ({amount(b)})' for t, b in w.items())}."
            for name, r, w in moves
        )
        + f" {amount(total)} in all; the {amount(trips)} of S and P alone take {steps[3][1]}. "
        + ("S alone fits" if fits else "S alone does not fit")
        + f" into the {amount(hardware.hbm_bytes)} of the card."
    )
    data = {
        "kernels": [
            {"name": name, "reads": [[t, b, amount(b)] for t, b in r.items()],
             "writes": [[t, b, amount(b)] for t, b in w.items()]} for name, r, w in moves
        ],
        "steps": steps, "ladder": ladder, "heads": heads, "room": hardware.hbm_bytes,
        "room_said": f"{hardware.name.split()[0]}'s memory, {amount(hardware.hbm_bytes)}",
        "most": square(LENGTHS[-1], heads), "least": square(LENGTHS[0], 1),
    }  # fmt: skip
    return [picture("trips", f"Three kernels, N = {n:,}, {count(heads, 'head')}", words, data)]


def _gib(n: int, heads: int) -> dict:
    return {
        "words": f"N = {n:,}, {heads} heads, fp16. How many GiB does S take?",
        "answer": square(n, heads) / 2**30,
        "wrong": tuple(
            x / 2**30 for x in (square(8192, heads) * n / 8192, 2 * square(n, heads), square(n, 1))
        ),
    }


# ---- roofline


def intensity(n: int, d: int, order: str, dtype: str = DTYPE) -> float:
    """Operations per byte of one head: 4·N²·d over the least bytes, each matrix once per kernel."""
    return 4 * n * n * d / least(n, d, dtype, order)


def ridge(key: str) -> float:
    """Operations per byte from which a card's matrix units set the pace."""
    return CARDS[key].tensor_tflops * 1e12 / CARDS[key].hbm_bytes_per_s


def attainable(key: str, per_byte: float) -> float:
    """TFLOP/s that the roofs allow at this intensity."""
    hardware = CARDS[key]
    return min(hardware.tensor_tflops, per_byte * hardware.hbm_bytes_per_s / 1e12)


def _roofline(v: Values) -> list[Block]:
    n, d, key = int(v["n"]), int(v["d"]), str(v["card"])
    hardware, edge, points, said = CARDS[key], ridge(str(v["card"])), [], []
    for order, name in (("standard", "three kernels"), ("fa2", "fused")):
        at = intensity(n, d, order)
        most = attainable(key, at)
        bound = "memory" if at < edge else "the matrix units"
        points.append(
            {
                "name": name,
                "x": at,
                "y": most,
                "said": f"{at:,.0f} operations per byte",
                "most": f"at most {most:,.0f} TFLOP/s",
                "bound": f"bound by {bound}",
            }
        )
        said.append(f"{name}: {at:,.0f} operations per byte, at most {most:,.0f} TFLOP/s, bound "
                    f"by {bound}")  # fmt: skip
    words = (
        f"{hardware.name}, N = {n:,}, d = {d}, {DTYPE}. The memory roof rises at "
        f"{hardware.hbm_bytes_per_s / 1e12:g} TB/s, the flat one is "
        f"{hardware.tensor_tflops:,.0f} TFLOP/s; they meet at {edge:,.0f} operations per byte. "
        f"{'. '.join(said)}."
    )
    data = {
        "points": points, "edge": edge, "edge_said": f"{edge:,.0f}", "peak": hardware.tensor_tflops,
        "per_s": hardware.hbm_bytes_per_s, "low": 1, "high": 65536, "card": hardware.name,
        "memory": f"{hardware.hbm_bytes_per_s / 1e12:g} TB/s, data sheet",
        "units": f"{hardware.tensor_tflops:,.0f} TFLOP/s fp16, data sheet",
    }  # fmt: skip
    return [picture("roofline", f"Bound by what? N = {n:,}, d = {d}", words, data)]


CHOICES = {"h200": (128, 512, 4096, 16384), "b200": (256, 512, 1024, 8192),
           "rtx4090": (64, 128, 256, 512)}  # fmt: skip


def first_bound(key: str) -> int:
    """The first power of two N where a fused head is bound by the matrix units, not by HBM."""
    n = 16
    while intensity(n, D, "fa2") < ridge(key):
        n *= 2
    return n


def _bound(key: str) -> dict:
    """The question for this card: from which N on the fused kernel is bound by the matrix units."""
    right, edge, options = first_bound(key), ridge(key), CHOICES[key]

    def why(n: int) -> str:
        at = intensity(n, D, "fa2")
        if n < right:
            return f"{at:,.0f} operations per byte there, less than {edge:,.0f}: memory."
        return f"{at:,.0f} operations per byte there, more than {edge:,.0f}" + (
            "." if n == right else f", but {right:,} is already beyond it."
        )

    return {
        "words": f"The ridge of the {CARDS[key].name.removesuffix(' SXM')} is at {edge:,.0f} "
        f"operations per byte. With d = {D}, from which of these N on is the fused kernel "
        "beyond it?",
        "options": tuple((f"{n:,}", why(n)) for n in options),
        "answer": options.index(right),
    }


FIRST_GIB, *OTHER_GIB = (_gib(*asked) for asked in ASKED)
FIRST_BOUND, *OTHER_BOUND = (_bound(key) for key in CHOICES)
RUNGS = (
    rung("trips", {"l2": amount(CARDS[CARD].l2_bytes)}, variants=OTHER_GIB, **FIRST_GIB),
    rung("roofline", variants=OTHER_BOUND, **FIRST_BOUND),
)

WIDGETS = (
    Widget("trips", "Three kernels", (
        pick("n", "N", 8192, commas(LENGTHS), closed=(32768, 131072)),
        pick("heads", "Heads", HEADS, (1, 8, 32, 96))), _trips),
    Widget("roofline", "Bound by what?", (
        pick("n", "N", 4096, commas((64, 128, 256, 512, 1024, 4096, 16384)),
             closed=(64, 128, 256, 512, 1024)),
        pick("d", "d", 128, (32, 64, 128, 256)), card(CARD)), _roofline),
)  # fmt: skip
