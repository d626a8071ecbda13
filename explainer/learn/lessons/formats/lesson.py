"""What each number format can hold, its bits, and attention in fp8 with an outlier."""

from __future__ import annotations

import math

from explainer.base.amounts import format_fixed, format_significant, power
from explainer.base.cards import CARDS
from explainer.learn import precision
from explainer.learn.kit import (
    Block,
    Mark,
    bar,
    bars,
    column,
    grid,
    note,
    picture,
    row,
    span,
    timeline,
    words_of,
)
from explainer.learn.lessons.formats import fp8
from kernels.spec.formats import FORMATS, Format

t = words_of(__name__)

LOW = -150  # power of two at which the axis begins
BLOCK = 16  # rows that share a scale in fp8


def rounded(key: str, x: float) -> float:
    """Return what the format makes of x."""
    return float(FORMATS[key].round_to(x))


def _fate(f: Format, x: float) -> str:
    """Say what becomes of x."""
    stored = float(f.round_to(x))
    if math.isinf(stored) or (abs(x) > f.largest and not f.has_infinity):
        return t("overflow")
    if stored == 0:
        return t("underflow")
    return t("off", share=100 * abs(stored - x) / x)


def _ranges(x: float) -> Mark:
    """A lane for each format: its normal numbers, the subnormal ones pale, and x on the axis."""
    at = math.log2(x) - LOW
    lanes = []
    for f in FORMATS.values():
        small, normal, large = (
            math.log2(end) - LOW for end in (f.smallest_subnormal, f.smallest_normal, f.largest)
        )
        sizes = t("bits", exponent=f.exponent_bits, mantissa=f.mantissa_bits)
        cut = min(max(at, normal), large)  # x: its line crosses no words
        sides = [(normal, cut), (cut, large)]
        wider = max(sides, key=lambda ends: ends[1] - ends[0])
        spans = [span(small, normal, look="pale", hue="q")]
        spans += [
            span(*ends, sizes if ends == wider else "", look="full", hue="q")
            for ends in sides
            if ends[0] < ends[1]
        ]
        lanes.append((t("lane", title=f.title, fate=_fate(f, x)), spans))
    ticks = [(e - LOW, power(2, e)) for e in (-120, -60, 0, 60, 120)]
    return timeline(
        t("range", x=format_significant(x, 3)),
        lanes,
        high=130 - LOW,
        ticks=ticks,
        now=(at - 0.5, at + 0.5),
    )


def _bits(x: float) -> Mark:
    """The bits of x in four formats: sign, exponent, mantissa."""
    made = []
    for key in ("bf16", "fp16", "e5m2", "e4m3"):
        f = FORMATS[key]
        sign, exponent, mantissa = f.fields(x)
        value = format_significant(rounded(key, x), 8)
        made.append(
            row(
                grid(f.title, [[*sign]], "l"),
                grid(t("exponent"), [[*exponent]], "k"),
                grid(t("mantissa"), [[*mantissa]], "v"),
                note(t("value", value=value, fate=_fate(f, x))),
            )
        )
    return column(*made)


def _outliers(size: float) -> Mark:
    """Errors of attention in e4m3 whose inputs have one column ``size`` times as large."""
    found = fp8.errors(size, BLOCK)
    best = min(found, key=found.__getitem__)
    items = [
        bar(name, found[way], format_fixed(found[way]), "v" if way == best else "o", key=way)
        for way, name in fp8.WAYS.items()
    ]
    remark = t("outlier", size=size, n=fp8.N, d=fp8.D)
    return bars(t("errors"), items, remark=remark)


def compute(show: str, x: float, power: int, size: int) -> Block:
    """Show the ranges, the bits of x · 2^power, or the errors with an outlier."""
    x = math.ldexp(x, power)
    if show == "fp8":
        return picture(t("label"), t("errors"), _outliers(size))
    fates = "; ".join(f"{f.title}: {_fate(f, x)}" for f in FORMATS.values())
    return picture(
        t("label"), t("spoken", x=x, fates=fates), _bits(x) if show == "bits" else _ranges(x)
    )


def question(key: str, x: float) -> dict:
    """Of a whole number that the format cannot hold: the answer, and: the neighbor on the other
    side, the number itself."""
    stored = rounded(key, x)
    gap = math.ldexp(1, math.frexp(x)[1] - 1 - FORMATS[key].mantissa_bits)
    return {"answer": stored, "wrong": (stored + math.copysign(gap, x - stored), x)}


def figures() -> dict[str, str]:
    """Return what the text names."""
    card, off = CARDS["h100"], precision.long_row()
    return {"times": f"{card.tensor_tflops / card.fp32_tflops:.0f}"} | {
        f"off_{stored}": f"{format_significant(100 * error, 2)} %" for stored, error in off.items()
    }
