"""7.3: a recorded profile, read step by step, and a benchmark's arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.base.records import about, load
from explainer.base.texts import Texts
from explainer.learn.blocks import Block, Widget, text
from explainer.learn.content import rung
from explainer.learn.controls import slider
from explainer.learn.rungs_low import whole
from explainer.learn.scene import box, panel, path, say, scene

tell = Texts("learn")

Values = Mapping[str, float | str]
N, D, SIDE, ELEMENT = 4096, 64, 64, 2
KERNELS = {
    "scores_kernel": "S = Q Kᵀ",
    "softmax_kernel": "P = softmax(S)",
    "output_kernel": "O = P V",
    "fa2_kernel": "FA-2",
}
STEPS = tell.row("profiling.steps")


@lru_cache(maxsize=1)
def counters() -> dict[str, tuple[int, int]]:
    """{kernel: (bytes at DRAM, bytes between L2 and the SMs)}, read and written together."""
    rows = load("traffic_nvidia_h200")["rows"]
    found = {}
    for order in ("standard", "fa2"):
        row = next(
            r for r in rows if (r["n"], r["d"], r["side"], r["order"]) == (N, D, SIDE, order)
        )
        for name, c in row["measured_bytes"].items():
            found[name] = (c["dram_read"] + c["dram_write"], c["sm_to_l2"] + c["l2_to_sm"])
    return found


def totals(at: int) -> tuple[int, int]:
    """(standard, FA-2) bytes: at DRAM (0) or between L2 and the SMs (1)."""
    found = counters()
    mine = found["fa2_kernel"][at]
    return sum(x[at] for x in found.values()) - mine, mine


def bounds() -> dict[str, tuple[float, float]]:
    """{"standard" | "fa2": (µs for its DRAM bytes, µs for its products)} at the rates measured."""
    rates = load()["ceilings"]["fp16"]
    products = 4 * N * N * D / rates["flops"] * 1e6
    return {name: (bytes_ / rates["hbm_bytes_per_s"] * 1e6, products)
            for name, bytes_ in zip(("standard", "fa2"), totals(0), strict=True)}  # fmt: skip


def _said(step: int) -> list[str]:
    """The lines below the picture."""
    dram, l2, limits, card = totals(0), totals(1), bounds(), CARDS["h200"]
    (bytes_, products), (fused_bytes, fused_products) = limits["standard"], limits["fa2"]
    return {
        1: tell("profiling.ran"),
        2: tell("profiling.hbm", standard=amount(dram[0]), fa2=amount(dram[1]),
                times=dram[0] / dram[1], scores=amount(N * N * ELEMENT), l2=amount(card.l2_bytes)),
        3: tell("profiling.l2", standard=amount(l2[0]), fa2=amount(l2[1])),
        4: tell("profiling.limits", bytes=bytes_, products=products, fused_bytes=fused_bytes,
                fused_products=fused_products, side=SIDE, programs=N // SIDE, sms=card.sms),
    }[step].split("\n")  # fmt: skip


def _profile(v: Values) -> list[Block]:
    step, found, shapes = whole(v["step"]), counters(), []
    at = {2: 0, 3: 1}.get(step)
    most = max(max(x) for x in found.values())
    for k, (kernel, (dram, l2)) in enumerate(found.items()):
        y = 34 + k * 62 + (16 if kernel == "fa2_kernel" else 0)
        shapes += [
            say(0, y + 18, KERNELS[kernel], "is-bold"),
            say(0, y + 38, kernel, "is-small is-quiet"),
            box(
                190,
                y,
                dram / most * 430,
                22,
                hue="o",
                look="is-full" if at in (0, None) else "is-pale",
                key=f"d {k}",
            ),
            say(198 + dram / most * 430, y + 17, f"DRAM {amount(dram)}", "is-small", key=f"dt {k}"),
            box(
                190,
                y + 25,
                l2 / most * 430,
                22,
                hue="q",
                look="is-full" if at in (1, None) else "is-pale",
                key=f"l {k}",
            ),
            say(198 + l2 / most * 430, y + 42, f"L2 {amount(l2)}", "is-small", key=f"lt {k}"),
        ]
    said = _said(step)
    shapes += [
        say(0, 16, tell("profiling.run", n=N, d=D, side=SIDE), "is-quiet is-small"),
        path([(0, 230), (780, 230)], look="is-thin"),
        say(0, 326, f"{step}. {STEPS[step - 1]}", "is-big"),
        *(say(0, 352 + 22 * k, line) for k, line in enumerate(said)),
    ]  # fmt: skip
    rates = load()["ceilings"]["fp16"]
    return [scene(tell("profiling.title"), f"{STEPS[step - 1]}. {' '.join(said)}",
                  panel(800, 402, shapes)),
            text(tell("profiling.fine", about=about("traffic_nvidia_h200"),
                      memory=rates["hbm_bytes_per_s"] / 1e12, products=rates["flops"] / 1e12),
                 "fine")]  # fmt: skip


WIDGETS = (
    Widget("profile", tell("profiling.widget"),
           (slider("step", tell("profiling.label.step"), 1, 1, len(STEPS)),), _profile),
)  # fmt: skip
ASKED = (("fa2", 4096), ("naive", 4096), ("fa2", 8192))
CALLED = tell.named("profiling.called")


def timed(method: str, n: int) -> dict:
    """The recorded row: fp16, d = 64, no mask, forward."""
    wanted = (method, n, D, "full", "fp16", "forward")
    return next(r for r in load()["rows"] if (r["method"], r["n"], r["d"], r["mask"], r["dtype"],
                                              r.get("pass", "forward")) == wanted)  # fmt: skip


def _asked(method: str, n: int) -> dict:
    row = timed(method, n)
    heads = row["batch"] * row["heads"]
    rate = 4 * heads * n * n * D / (row["median_ms"] * 1e-3) / 1e12
    words = tell("profiling.asked", name=CALLED[method], heads=heads, n=n, d=D, ms=row["median_ms"])
    return {"answer": round(rate, 1), "tolerance": 0.02 * rate, "words": words,
            "wrong": (rate / heads, rate / 2, rate / 4)}  # fmt: skip


_first, *_others = (_asked(*x) for x in ASKED)
RUNGS = (rung("profile", **_first, variants=_others),)
