"""7.3: a recorded profile, read step by step, and a benchmark's arithmetic."""

from __future__ import annotations

import textwrap
from functools import cache

from explainer.algorithms.traffic import compulsory_bytes
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.base.records import about, load, rows_where
from explainer.learn.blocks import Block, t, text
from explainer.learn.scene import CHARACTER, Shape, box, draw_text, panel, path, scene

N, D, SIDE, ELEMENT = 4096, 64, 64, 2
KERNELS = {
    "scores_kernel": "S = Q Kᵀ",
    "softmax_kernel": "P = softmax(S)",
    "output_kernel": "O = P V",
    "fa2_kernel": "FA-2",
}
STEPS = t.row("profiling.steps")


def _rows() -> list[dict]:
    """What was recorded of the problem shown: standard attention, then FA-2."""
    found = {r["order"]: r for r in rows_where("traffic_nvidia_h200", n=N, d=D, side=SIDE)}
    return [found[order] for order in ("standard", "fa2")]


@cache
def counters() -> dict[str, tuple[int, int]]:
    """{kernel: (bytes at DRAM, bytes between L2 and the SMs)}, read and written together."""
    return {
        name: (c["dram_read"] + c["dram_write"], c["sm_to_l2"] + c["l2_to_sm"])
        for row in _rows()
        for name, c in row["measured_bytes"].items()
    }


@cache
def lasted() -> dict[str, float]:
    """{kernel: µs from its start to its end}, caches emptied before it."""
    return {name: ns / 1e3 for row in _rows() for name, ns in row["measured_ns"].items()}


def totals(at: int) -> tuple[int, int]:
    """(standard, FA-2) bytes: at DRAM (0) or between L2 and the SMs (1)."""
    found = counters()
    mine = found["fa2_kernel"][at]
    return sum(x[at] for x in found.values()) - mine, mine


def bounds() -> dict[str, tuple[float, float]]:
    """{"standard" | "fa2": (µs for its DRAM bytes, µs for its products)} at the rates measured."""
    rates = load()["ceilings"]["fp16"]
    products = 4 * N * N * D / rates["flops"] * 1e6
    return {
        name: (bytes_ / rates["hbm_bytes_per_s"] * 1e6, products)
        for name, bytes_ in zip(("standard", "fa2"), totals(0), strict=True)
    }


def _sentence(step: int) -> str:
    """What is said of the picture."""
    dram, l2, limits, card = totals(0), totals(1), bounds(), CARDS["h200"]
    (bytes_, products), (fused_bytes, fused_products) = limits["standard"], limits["fa2"]
    many, took = timed("fa2", N), lasted()
    heads = many["batch"] * many["heads"]
    return {
        1: t("profiling.ran"),
        2: t(
            "profiling.hbm",
            standard=dram[0],
            fa2=dram[1],
            times=dram[0] / dram[1],
            scores=N * N * ELEMENT,
            l2=card.l2_bytes,
            least=compulsory_bytes(N, D, "fp16", "fa2"),
        ),
        3: t("profiling.l2", standard=l2[0], fa2=l2[1]),
        4: t(
            "profiling.limits",
            bytes=bytes_,
            products=products,
            fused_bytes=fused_bytes,
            fused_products=fused_products,
            programs=N // SIDE,
            sms=card.sms,
            heads=heads,
            alone=heads * products / 1e3,
            ms=many["median_ms"],
            took=took["fa2_kernel"],
            apart=sum(took.values()) - took["fa2_kernel"],
        ),
    }[step]


def _bars(step: int, left: float, wide: float, y: float) -> list[Shape]:
    """Each kernel's bytes at DRAM and at L2; a name beside its bars, or above where there is no
    room at the left."""
    found, shapes = counters(), []
    at = {2: 0, 3: 1}.get(step)
    most = max(max(x) for x in found.values())
    high = 56 if left else 82
    for k, (kernel, both) in enumerate(found.items()):
        top = y + k * high + (16 if kernel == "fa2_kernel" else 0)
        named = t("profiling.lasted", kernel=kernel, us=lasted()[kernel]) if step == 4 else kernel
        shapes += [
            draw_text(0, top + 18, KERNELS[kernel], "is-bold"),
            draw_text(0 if left else 150, top + (38 if left else 18), named, "is-small is-quiet"),
        ]
        for part, (name, value, hue) in enumerate(zip(("HBM", "L2"), both, "oq", strict=True)):
            row = top + 25 * part + (0 if left else 26)
            size = value / most * wide
            shapes += [
                box(
                    left,
                    row,
                    size,
                    22,
                    hue=hue,
                    key=f"{name} {k}",
                    look="is-full" if at in (part, None) else "is-pale",
                ),
                draw_text(
                    left + size + 8,
                    row + 17,
                    f"{name} {amount(value)}",
                    "is-small",
                    key=f"{name} t{k}",
                ),
            ]
    return shapes


def _profile(step: int) -> list[Block]:
    head, sentence = f"{step}. {STEPS[step - 1]}", _sentence(step)
    run = t("profiling.run", n=N, d=D, side=SIDE)
    rates = load()["ceilings"]["fp16"]
    return [
        scene(
            t("profiling.title"),
            STEPS[step - 1],
            panel(
                800,
                298,
                draw_text(0, 16, run, "is-quiet is-small"),
                _bars(step, 190, 430, 34),
                path([(0, 208), (780, 208)], look="is-thin"),
                draw_text(0, 294, head, "is-big"),
                only="wide",
            ),
            panel(
                360,
                408,
                _lines(run, 360),
                _bars(step, 0, 220, 40),
                path([(0, 292), (360, 292)], look="is-thin"),
                draw_text(0, 404, head, "is-big"),
                only="narrow",
            ),
        ),
        text(sentence),
        text(
            t(
                "profiling.fine",
                about=about("traffic_nvidia_h200"),
                memory=rates["hbm_bytes_per_s"] / 1e12,
                products=rates["flops"] / 1e12,
            ),
            "fine",
        ),
    ]


def _lines(words: str, wide: float) -> list[Shape]:
    """Small type, broken where the place ends."""
    rows = textwrap.wrap(words, int(wide / CHARACTER * 1.07))
    return [draw_text(0, 14 + 18 * k, row, "is-quiet is-small") for k, row in enumerate(rows)]


WIDGETS = {
    "profile": _profile,
}
CALLED = t.named("profiling.called")


def timed(method: str, n: int) -> dict:
    """The recorded row: fp16, d = 64, no mask, forward."""
    (row,) = rows_where(method=method, n=n, d=D, mask="full", dtype="fp16")
    return row


def _question(method: str, n: int) -> dict:
    row = timed(method, n)
    heads = row["batch"] * row["heads"]
    ms = round(row["median_ms"], 3)  # as it is shown, so that a reader's quotient is ours
    rate = 4 * heads * n * n * D / (ms * 1e-3) / 1e12
    words = t("profiling.question", name=CALLED[method], heads=heads, n=n, d=D, ms=ms)
    wrong = (rate / heads, rate / 2, rate / 4)
    return {
        "answer": float(f"{rate:.3g}"),
        "tolerance": 0.02 * rate,
        "words": words,
        "wrong": tuple(float(f"{x:.{2 if x < 10 else 3}g}") for x in wrong),
    }


QUESTIONS = {"profile": _question}
