"""How numbers and bytes are written, everywhere the same: KiB, MiB, GiB are steps of 1,024."""

import math
from collections.abc import Callable

import numpy as np

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def scientific(x: float) -> str:
    """2.4e-07 → “2.4 × 10⁻⁷”; 0 and what is not finite as they are."""
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else "not finite"
    return _with_tens(f"{x:.1e}")


def _with_tens(text: str) -> str:
    """Python's “-2.40e-07” as the page writes it: a true minus, a power of ten."""
    digits, _, tens = text.partition("e")
    return f"{digits.replace('-', '−')}\u00a0×\u00a0{power(10, int(tens))}"


def amount(n_bytes: float) -> str:
    """Bytes in units of 1,024, three digits, as assets/js/lib/format.js writes them too."""
    power = 0
    while n_bytes >= 1024 and power < 4:
        n_bytes, power = n_bytes / 1024, power + 1
    digits = f"{n_bytes:,.0f}" if n_bytes >= 100 or power == 0 else f"{n_bytes:.3g}"
    return f"{digits} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def milliseconds(ms: float) -> str:
    """Three digits, zeros too, in µs below a tenth of a millisecond."""
    if ms < 0.1:
        return f"{ms * 1000:.1f} µs"
    x, unit = (ms, "ms") if ms < 999.5 else (ms / 1000, "s")
    return f"{x:#.3g}".rstrip(".") + f" {unit}"


def count(n: int, noun: str) -> str:
    """“1 program”, “1,024 programs”."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(parts: list[str]) -> str:
    """“a”, “a and b”, “a, b and c”."""
    *first, last = parts or [""]
    return f"{', '.join(first)} and {last}" if first else last


def rounded(x: float) -> str:
    """Three digits, with no power of ten."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def two_digits(x: float) -> str:
    """“2.4”, “22”, “1,340”: two digits, whole from a hundred on."""
    return f"{x:.2g}" if x < 100 else f"{x:,.0f}"


def power(base: int | str, exponent: int) -> str:
    """2⁻²⁴ and the like."""
    return f"{base}{str(exponent).translate(SUPERSCRIPTS)}"


def format_significant(x: float, digits: int = 4) -> str:
    """A number as the page writes it: this many digits that count, a true minus, powers of ten
    where they are shorter, ∞ and NaN by name."""
    if math.isnan(x):
        return "NaN"
    sign, size = "−" if math.copysign(1, x) < 0 else "", abs(x)
    if math.isinf(x):
        return sign + "∞"
    if size < 10**7 and size == round(size):
        return f"{sign}{size:,.0f}"
    if 1e-4 <= size < 10**7:
        text = np.format_float_positional(size, digits, fractional=False, trim="-")
        whole, dot, rest = text.partition(".")
        return f"{sign}{int(whole):,}{dot}{rest}"
    mantissa, _, tens = f"{size:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return sign + _with_tens(f"{mantissa}e{tens}")


def format_fixed(x: float, digits: int = 3) -> str:
    """A number for a sentence: ``digits`` places; powers of ten where that says nothing."""
    x = float(x)
    if x != x:
        return "NaN"
    if x - x != 0:
        return "∞" if x > 0 else "−∞"
    if x == 0:
        return "0"
    if 10.0**-digits <= abs(x) < 1e6:
        return f"{x:,.{digits}f}".replace("-", "−")
    return _with_tens(f"{x:.2e}")


def format_places(x: float, digits: int = 2) -> str:
    """So many places, zeros too, with a true minus; ∞ by name."""
    return f"{x:.{digits}f}".replace("-", "−").replace("inf", "∞")


# The functions that a text or a template may name.
FORMATS: dict[str, Callable[..., str]] = {
    "bytes": amount,  # 1536 → 1.5 KiB
    "fixed": format_fixed,
    "places": format_places,  # -0.5 → −0.50
    "milliseconds": milliseconds,  # 0.02 → 20.0 µs
    "scientific": scientific,  # 2.4e-07 → 2.4 × 10⁻⁷
    "significant": format_significant,
    "three_digits": rounded,  # 0.12345 → 0.123
    "two_digits": two_digits,
}


def round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10 … that is at least so much."""
    ten = 10.0 ** math.floor(math.log10(least))
    return next(k * ten for k in (1, 2, 5, 10) if k * ten >= least * (1 - 1e-9))
