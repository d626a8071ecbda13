"""Number formats: what each can hold, its bits, and attention in fp8 with an outlier."""

from __future__ import annotations

import math
from collections.abc import Mapping

from explainer.base.amounts import power, shown, written
from explainer.base.cards import CARDS
from explainer.base.formats import FORMATS, Format
from explainer.learn import fp8, precision
from explainer.learn.blocks import Block, Widget, bars, bits, text
from explainer.learn.content import rung
from explainer.learn.controls import pick, slider
from explainer.learn.rungs_low import whole
from explainer.learn.scene import Shape, box, panel, path, say, scene

LOW, HIGH = -150, 130  # powers of two of the axis
LEFT, WIDE, ROW, WIDTH = 118.0, 420.0, 58.0, 844.0
USES = {
    "fp32": "m, ℓ, lse, the sum O; weights",
    "tf32": "fp32 products, Triton's default",
    "bf16": "training: fp32's range",
    "fp16": "inference; training with a scale",
    "e5m2": "fp8 gradients: range",
    "e4m3": "fp8 forward: precision",
}
NUMBERS = (("0.1", "0.1"), ("0.3333333333333333", "1/3"), ("3", "3"))
BLOCK = 16  # rows that share a scale in fp8
# Format and a whole number that it cannot hold
QUESTIONS = (("bf16", 517), ("e4m3", 33), ("fp16", 4103))


def rounded(key: str, x: float) -> float:
    """What the format keeps of x."""
    return float(FORMATS[key].round_to(x))


def _x(power_of_two: float) -> float:
    return LEFT + WIDE * (power_of_two - LOW) / (HIGH - LOW)


def _kept(f: Format, x: float) -> tuple[str, str]:
    """What f makes of x, and how that looks."""
    kept = float(f.round_to(x))
    if math.isinf(kept) or (abs(x) > f.largest and not f.has_infinity):
        return "overflow", "is-bad"
    if kept == 0:
        return "becomes 0", "is-bad"
    off = abs(kept - x) / x
    return f"off by {written(100 * off, 2)} %", ""


def _ranges(x: float) -> Block:
    """From the smallest to the largest number of each format, on one axis of powers of two."""
    shapes: list[Shape] = []
    said = []
    for k, (key, f) in enumerate(FORMATS.items()):
        y = 30 + ROW * k
        ends = math.log2(f.smallest_subnormal), math.log2(f.smallest_normal), math.log2(f.largest)
        a, b, c = map(_x, ends)
        words, look = _kept(f, x)
        shapes += [
            say(0, y + 16, f.title, "is-bold"),
            say(0, y + 35, f"{f.exponent_bits} + {f.mantissa_bits} bits", "is-small is-quiet"),
            box(a, y, b - a, 26, hue="q", look="is-pale"), box(b, y, c - b, 26, hue="q"),
            say(LEFT + WIDE + 16, y + 12, words, look or "is-bold"),
            say(LEFT + WIDE + 16, y + 32, USES.get(key, ""), "is-small"),
        ]  # fmt: skip
        said.append(f"{f.title}: {words}, {USES.get(key, '')}")
    at, base = _x(math.log2(x)), 30 + ROW * len(FORMATS)
    where = min(max(at, 80), 560)
    shapes += [path([(at, 22), (at, base - 8)], "o"),
               say(where, 14, f"x = {written(x, 3)}", "is-middle", hue="o")]  # fmt: skip
    for tick in (-120, -60, 0, 60, 120):
        shapes.append(say(_x(tick), base + 10, power(2, tick), "is-small is-quiet is-middle"))
    title = "What each format can hold; pale: subnormal, fewer bits"
    spoken = f"x = {written(x, 6)}. " + "; ".join(said)
    return scene(title, spoken, panel(WIDTH, base + 14, shapes))


def _bits(x: float) -> list[Block]:
    made = []
    for key in ("bf16", "fp16", "e5m2", "e4m3"):
        f = FORMATS[key]
        kept = rounded(key, x)
        made.append(bits(f.title, *f.fields(x), written(kept, 8), precision.fate(f, x, kept)))
    return made


def _outliers(size: float) -> list[Block]:
    """Attention in e4m3 whose inputs have one column ``size`` times as large."""
    found = fp8.errors("channel", size, BLOCK)
    best = min(found, key=lambda way: found[way][0])
    less = found["tensor"][0] / found[best][0]
    beside = (
        f"{less:.1f} times less than with one scale per tensor"
        if less >= 1.05
        else ("no scale does much better than another here")
    )
    return [
        bars("Error of O against float64, root mean square; shorter is better",
             [(name, found[way][0], shown(found[way][0])) for way, name in fp8.WAYS.items()],
             colour="o"),
        text(f"Least: {fp8.WAYS[best]}, {shown(found[best][0])}: {beside}.", "good"),
        text(f"One column of Q and K is {size:g} times as large as the rest. Q, K, V and P in "
             f"e4m3, sums and softmax in fp32; N = {fp8.N}, d = {fp8.D}, {fp8.DRAWS} draws. A "
             "rotation M spreads the column over the row: (Q M)(K M)ᵀ = Q Kᵀ.", "fine"),
    ]  # fmt: skip


def _formats(v: Mapping[str, float | str]) -> list[Block]:
    x = math.ldexp(float(v["x"]), whole(v["power"]))
    if v["show"] == "fp8":
        return _outliers(float(v["size"]))
    return [_ranges(x)] if v["show"] == "range" else _bits(x)


WIDGETS = (
    Widget("formats", "Six formats", (
        pick("show", "Show", "range",
             (("range", "range"), ("bits", "bits"), ("fp8", "fp8 outliers"))),
        pick("x", "x", "0.1", NUMBERS),
        slider("power", "times 2 to the power", 0, -140, 120),
        pick("size", "fp8: outlier", 30, [(s, f"{s:,} times") for s in (1, 10, 30, 100, 1000)]),
    ), _formats),
)  # fmt: skip


def _figures() -> dict[str, str]:
    card, row = CARDS["h100"], precision.long_row("bf16", 2048, 16, 1.0)
    return {"times": f"{card.tensor_tflops / card.fp32_tflops:.0f}"} | {
        f"off_{kept}": f"{written(100 * error, 2)} %" for kept, error in row.items()
    }


def _asked(key: str, x: float) -> dict:
    """The answer, and: the neighbor on the other side, the number itself."""
    kept = rounded(key, x)
    gap = math.ldexp(1, math.frexp(x)[1] - 1 - FORMATS[key].mantissa_bits)
    return {"answer": kept, "wrong": (kept + math.copysign(gap, x - kept), x)}


_first, *_others = (_asked(*x) for x in QUESTIONS)
RUNGS = (
    rung("formats", _figures(), **_first, variants=_others),
)  # fmt: skip
