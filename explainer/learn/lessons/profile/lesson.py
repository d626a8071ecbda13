"""A recorded profile, read in four steps, and a benchmark's arithmetic."""

from functools import cache

import numpy as np

from explainer.base.cards import CARDS
from explainer.base.records import about, load, rows_where
from explainer.learn.kit import Block, Words

t = Words(__name__)

N, D, SIDE, ELEMENT = 4096, 64, 64, 2
KERNELS = t.named("kernels")


def _rows() -> list[dict]:
    """Return what was recorded of the problem shown: standard attention, then FA-2."""
    found = {r["order"]: r for r in rows_where("traffic_nvidia_h200", n=N, d=D, side=SIDE)}
    return [found[order] for order in ("standard", "fa2")]


@cache
def counters() -> dict[str, tuple[int, int]]:
    """Return {kernel: (bytes at DRAM, bytes between L2 and the SMs)}, read and written together."""
    return {
        name: (c["dram_read"] + c["dram_write"], c["sm_to_l2"] + c["l2_to_sm"])
        for found in _rows()
        for name, c in found["measured_bytes"].items()
    }


@cache
def lasted() -> dict[str, float]:
    """Return {kernel: µs from its start to its end}, caches emptied before it."""
    return {name: ns / 1e3 for found in _rows() for name, ns in found["measured_ns"].items()}


def totals(at: int) -> tuple[int, int]:
    """Return (standard, FA-2) bytes: at DRAM (0) or between L2 and the SMs (1)."""
    found = counters()
    mine = found["fa2_kernel"][at]
    return sum(x[at] for x in found.values()) - mine, mine


def bounds() -> dict[str, tuple[float, float]]:
    """Return {"standard" | "fa2": (µs for its DRAM bytes, µs for its matmuls)} at the rates
    measured."""
    rates = load()["ceilings"]["fp16"]
    matmuls = 4 * N * N * D / rates["flops"] * 1e6
    return {
        name: (bytes_ / rates["hbm_bytes_per_s"] * 1e6, matmuls)
        for name, bytes_ in zip(("standard", "fa2"), totals(0), strict=True)
    }


def _sentence(step: int) -> str:
    """Return what is said of the picture."""
    dram, l2, limits, card = totals(0), totals(1), bounds(), CARDS["h200"]
    many = timed("fa2", N)
    heads = many["batch"] * many["heads"]
    return (
        t("ran_why"),
        t("hbm_why", times=dram[0] / dram[1], scores=N * N * ELEMENT, l2=card.l2_bytes),
        t("l2_why", standard=l2[0], fa2=l2[1]),
        t(
            "limits_why",
            programs=N // SIDE,
            sms=card.sms,
            heads=heads,
            alone=heads * limits["fa2"][1] / 1e3,
            ms=many["median_ms"],
        ),
    )[step - 1]


def compute(step: int) -> Block:
    """Show the kernels in time, and what the step asks of them."""
    us, rates = lasted(), load()["ceilings"]["fp16"]
    ends = np.cumsum([*us.values()][:-1])
    took = {"standard": float(ends[-1]), "fa2": us["fa2_kernel"]}
    at = step - 2
    return t.picture(
        step=step,
        title=t.row("steps")[step - 1],
        sentence=_sentence(step),
        keys=[*us],
        names=[KERNELS[kernel] for kernel in us],
        us=[*us.values()],
        apart=[*KERNELS.values()][:-1],
        us_apart=[*us.values()][:-1],
        keys_apart=[*us][:-1],
        starts=[0, *ends[:-1]],
        ends=[*ends],
        has_bytes=step in (2, 3),
        has_bounds=step == 4,
        bytes_title=t.row("bytes_titles")[at % 2],
        sizes=[both[at % 2] for both in counters().values()],
        most=max(max(x) for x in counters().values()),
        bound_names=[f"{t(name)}: {bound}" for name in took for bound in t.row("bounds")],
        bounds=[us for name, both in bounds().items() for us in (*both, took[name])],
        about=about("traffic_nvidia_h200"),
        memory=rates["hbm_bytes_per_s"] / 1e12,
        matmuls=rates["flops"] / 1e12,
    )


def timed(method: str, n: int) -> dict:
    """Return the recorded row: fp16, d = 64, no mask, forward."""
    (found,) = rows_where(method=method, n=n, d=D, mask="full", dtype="fp16")
    return found


def question(method: str, n: int) -> dict:
    """TFLOP/s; and: one head, a multiply–add as one, and one of two matmuls."""
    found = timed(method, n)
    heads = found["batch"] * found["heads"]
    ms = round(found["median_ms"], 3)  # as it is shown, so that a reader's quotient is ours
    rate = 4 * heads * n * n * D / (ms * 1e-3) / 1e12
    words = t("question", name=t.named("called")[method], heads=heads, n=n, d=D, ms=ms)
    wrong = (rate / heads, rate / 2, rate / 4)
    return {
        "answer": float(f"{rate:.3g}"),
        "tolerance": 0.02 * rate,
        "words": words,
        "wrong": tuple(float(f"{x:.{2 if x < 10 else 3}g}") for x in wrong),
    }
