"""Number formats: what each can hold, its bits, and attention in fp8 with an outlier."""

from __future__ import annotations

import math

from explainer.base.amounts import format_fixed, format_significant, power
from explainer.base.cards import CARDS
from explainer.learn import fp8, precision
from explainer.learn.blocks import Block, bars, bits, t, text
from explainer.learn.scene import Shape, box, draw_text, panel, path, scene
from kernels.spec.formats import FORMATS, Format

LOW, HIGH = -150, 130  # powers of two of the axis
LEFT, WIDE, ROW, WIDTH = 118.0, 420.0, 58.0, 844.0
USES = t.named("number_formats.uses")
BLOCK = 16  # rows that share a scale in fp8


def rounded(key: str, x: float) -> float:
    """What the format keeps of x."""
    return float(FORMATS[key].round_to(x))


def _x(power_of_two: float, left: float = LEFT, wide: float = WIDE) -> float:
    return left + wide * (power_of_two - LOW) / (HIGH - LOW)


def _fate(f: Format, x: float) -> tuple[str, str]:
    """What f makes of x, and how that looks."""
    stored = float(f.round_to(x))
    if math.isinf(stored) or (abs(x) > f.largest and not f.has_infinity):
        return t("number_formats.overflow"), "is-bad"
    if stored == 0:
        return t("number_formats.zero"), "is-bad"
    off = abs(stored - x) / x
    return t("number_formats.off", share=100 * off), ""


def _bits_of(f: Format) -> str:
    return t("number_formats.bits", exponent_bits=f.exponent_bits, mantissa_bits=f.mantissa_bits)


def _range(f: Format, y: float, high: float, left: float = LEFT, wide: float = WIDE) -> list[Shape]:
    """The bar of a format, subnormal numbers pale."""
    ends = f.smallest_subnormal, f.smallest_normal, f.largest
    a, b, c = (_x(math.log2(end), left, wide) for end in ends)
    return [box(a, y, b - a, high, hue="q", look="is-pale"), box(b, y, c - b, high, hue="q")]


def _ranges(x: float) -> Block:
    """From the smallest to the largest number of each format, on one axis of powers of two."""
    shapes = []
    spoken = []
    for k, (key, f) in enumerate(FORMATS.items()):
        y, use, (words, look) = 30 + ROW * k, USES.get(key, ""), _fate(f, x)
        shapes += [
            draw_text(0, y + 16, f.title, "is-bold"),
            draw_text(0, y + 35, _bits_of(f), "is-small is-quiet"),
            *_range(f, y, 26),
            draw_text(LEFT + WIDE + 16, y + 12, words, look or "is-bold"),
            draw_text(LEFT + WIDE + 16, y + 32, use, "is-small"),
        ]
        spoken.append(f"{f.title}: {words}, {use}")
    at, base = _x(math.log2(x)), 30 + ROW * len(FORMATS)
    where = min(max(at, 80), 560)
    shapes += [
        path([(at, 22), (at, base - 8)], "o"),
        draw_text(where, 14, f"x = {format_significant(x, 3)}", "is-middle", hue="o"),
    ]
    for tick in (-120, -60, 0, 60, 120):
        shapes.append(draw_text(_x(tick), base + 10, power(2, tick), "is-small is-quiet is-middle"))
    title = t("number_formats.range")
    spoken = t("number_formats.spoken", x=x, formats="; ".join(spoken))
    return scene(title, spoken, panel(WIDTH, base + 14, shapes, only="wide"), _narrow(x))


def _narrow(x: float) -> dict[str, object]:
    """The same for a phone: what is said of a format above its bar."""
    wide, row = 350.0, 76.0
    at, base = _x(math.log2(x), 0, wide), 30 + row * len(FORMATS)
    shapes = [
        draw_text(
            min(max(at, 60), wide - 60), 14, f"x = {format_significant(x, 3)}", "is-middle", hue="o"
        )
    ]
    for k, (key, f) in enumerate(FORMATS.items()):
        y, (words, look) = 40 + row * k, _fate(f, x)
        shapes += [
            draw_text(0, y, f.title, "is-bold"),
            draw_text(wide, y, words, f"{look or 'is-bold'} is-end"),
            draw_text(0, y + 19, _bits_of(f), "is-small is-quiet"),
            draw_text(wide, y + 19, USES.get(key, ""), "is-small is-end"),
            *_range(f, y + 27, 18, 0, wide),
            path([(at, y + 24), (at, y + 48)], "o"),
        ]
    shapes += [
        draw_text(_x(tick, 0, wide), base + 10, power(2, tick), "is-small is-quiet is-middle")
        for tick in (-120, 0, 120)
    ]
    return panel(wide + 8, base + 14, shapes, only="narrow")


def _bits(x: float) -> list[Block]:
    made = []
    for key in ("bf16", "fp16", "e5m2", "e4m3"):
        f = FORMATS[key]
        stored = rounded(key, x)
        made.append(
            bits(f.title, *f.fields(x), format_significant(stored, 8), precision.fate(f, x, stored))
        )
    return made


def _outliers(size: float) -> list[Block]:
    """Attention in e4m3 whose inputs have one column ``size`` times as large."""
    found = fp8.errors("channel", size, BLOCK)
    best = min(found, key=lambda way: found[way][0])
    less = found["tensor"][0] / found[best][0]
    least = {"way": fp8.WAYS[best], "error": format_fixed(found[best][0])}
    spoken = (
        t("number_formats.least", less=less, **least)
        if less >= 1.05
        else t("number_formats.alike", **least)
    )
    return [
        bars(
            t("number_formats.errors"),
            [(name, found[way][0], format_fixed(found[way][0])) for way, name in fp8.WAYS.items()],
            colour="o",
        ),
        text(spoken, "good"),
        text(t("number_formats.note", size=size, n=fp8.N, d=fp8.D, draws=fp8.DRAWS), "fine"),
    ]


def _formats(show: str, x: float, power: int, size: int) -> list[Block]:
    x = math.ldexp(x, power)
    if show == "fp8":
        return _outliers(size)
    return [_ranges(x)] if show == "range" else _bits(x)


WIDGETS = {
    "formats": _formats,
}


def _figures() -> dict[str, str]:
    card, row = CARDS["h100"], precision.long_row()
    return {"times": f"{card.tensor_tflops / card.fp32_tflops:.0f}"} | {
        f"off_{stored}": f"{format_significant(100 * error, 2)} %" for stored, error in row.items()
    }


def _question(key: str, x: float) -> dict:
    """Of a whole number that the format cannot hold: the answer, and: the neighbor on the other
    side, the number itself."""
    stored = rounded(key, x)
    gap = math.ldexp(1, math.frexp(x)[1] - 1 - FORMATS[key].mantissa_bits)
    return {"answer": stored, "wrong": (stored + math.copysign(gap, x - stored), x)}


FIGURES = {"formats": _figures}
QUESTIONS = {"formats": _question}
