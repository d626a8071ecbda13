"""What each number format can hold, its bits, and attention in fp8: an outlier, and its sums."""

import math
from typing import Any

from explainer.base.amounts import format_significant
from explainer.base.cards import CARDS
from explainer.base.records import rows_where
from explainer.learn import precision
from explainer.learn.kit import Block, Words
from explainer.learn.lessons.formats import fp8
from kernels.spec.formats import FORMATS, Format

t = Words(__name__)

LOW = -150  # power of two at which the axis begins
BLOCK = 16  # rows that share a scale in fp8
RECORD = "fp8_nvidia_h200"
EVEN = 1.05  # times as large an error is no larger


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


def _range(f: Format, at: float) -> dict[str, Any]:
    """Return the ends of a format's numbers on the axis, ``at`` the place of x, whose line crosses
    no words, and which of the sides is wider."""
    small, normal, large = (
        math.log2(end) - LOW for end in (f.smallest_subnormal, f.smallest_normal, f.largest)
    )
    cut = min(max(at, normal), large)
    return {
        "small": small,
        "normal": normal,
        "cut": cut,
        "large": large,
        "has_low": normal < cut,
        "has_high": cut < large,
        "is_low_wider": cut - normal >= large - cut,
    }


def compute(show: str, x: float, power: int, size: int, keys: int, mean: int) -> Block:
    """Show the ranges, the bits of x · 2^power, or the errors with an outlier or by sums."""
    x = math.ldexp(x, power)
    if show == "fp8":
        errors = fp8.errors(size, BLOCK)
        return t.picture(
            "errors", "scaled", "fp8", size=size, errors=errors, least=min(errors.values()),
            share=errors["rotated"] / errors["tensor"],
        )  # fmt: skip
    if show == "sums":
        errors = fp8.sum_errors(keys, mean)
        times = errors["one"] / errors["two"]
        return t.picture(
            "errors", "summed", "sums", keys=keys, mean=mean, errors=errors, times=times,
            loses=times > EVEN,
        )  # fmt: skip
    formats = [*FORMATS.values()]
    if show == "bits":
        formats = [FORMATS[key] for key in ("bf16", "fp16", "e5m2", "e4m3")]
    at = math.log2(x) - LOW
    return t.picture(
        "label",
        "spoken",
        show,
        x=x,
        said="; ".join(f"{f.title}: {_fate(f, x)}" for f in FORMATS.values()),
        formats=formats,
        fates=[_fate(f, x) for f in formats],
        ranges=[_range(f, at) for f in formats],
        bits=[[[*part] for part in f.fields(x)] for f in formats],
        values=[format_significant(float(f.round_to(x)), 8) for f in formats],
        now=(at - 0.5, at + 0.5),
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
    one, two = (
        rows_where(RECORD, method=method, n=4096, d=64, mask="full")[0]["rmse"]["shifted"]
        for method in ("fp8", "fp8_two_level")
    )
    times = {"times": f"{card.tensor_tflops / card.fp32_tflops:.0f}", "levels": f"{one / two:.0f}"}
    return times | {
        f"off_{stored}": f"{format_significant(100 * error, 2)} %" for stored, error in off.items()
    }
