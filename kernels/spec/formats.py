"""Number formats, exact: rounding, bits and ranges of fp32 down to fp8, in float64 NumPy; and the
fast rounding of float32 values to those that a tensor is stored in."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .fields import DTYPES, FP8


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: one sign bit, ``exponent_bits``, ``mantissa_bits``.

    ``has_infinity`` False is the "fn" layout (finite, NaN): the top exponent holds numbers too, and
    only all ones is NaN. Overflow gives infinity, or, where there is none, the largest number, as
    PyTorch's conversion does today (its releases before 2026 gave NaN).
    """

    name: str
    title: str
    exponent_bits: int
    mantissa_bits: int
    has_infinity: bool = True

    @property
    def width(self) -> int:
        """All bits."""
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def bias(self) -> int:
        """What the exponent's field is ahead of the exponent."""
        return 2 ** (self.exponent_bits - 1) - 1

    @property
    def lowest(self) -> int:
        """The exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def unit_roundoff(self) -> float:
        """The largest relative error of rounding a number in the normal range."""
        return 2.0 ** -(self.mantissa_bits + 1)

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number with a full mantissa."""
        return 2.0**self.lowest

    @property
    def smallest_subnormal(self) -> float:
        """The smallest positive number at all; the half of it rounds to 0."""
        return 2.0 ** (self.lowest - self.mantissa_bits)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        if self.has_infinity:
            return (2 - 2.0**-self.mantissa_bits) * 2.0**self.bias
        return (2 - 2 * 2.0**-self.mantissa_bits) * 2.0 ** (self.bias + 1)  # all ones is NaN

    def round_to(self, x: np.ndarray | float) -> np.ndarray:
        """``x`` (any shape, taken as float64) rounded once, to nearest even, as float64."""
        x = np.asarray(x, np.float64)
        exponent = np.maximum(np.frexp(x)[1] - 1, self.lowest)  # below it the gaps stay equal
        place = exponent - self.mantissa_bits  # the exponent of the last kept place
        with np.errstate(invalid="ignore"):
            rounded = np.ldexp(np.rint(np.ldexp(x, -place)), place)
        over = math.inf if self.has_infinity else self.largest
        return np.where(np.abs(rounded) > self.largest, np.copysign(over, x), rounded)

    def encode(self, x: np.ndarray | float) -> np.ndarray:
        """The bits of ``x`` rounded, uint32, right-aligned; NaN as one quiet NaN without a sign."""
        x = self.round_to(x)
        sign = np.signbit(x).astype(np.uint32) << (self.width - 1)
        size = np.where(np.isfinite(x), np.abs(x), 0.0)
        above = np.maximum(np.frexp(size)[1] - 1, self.lowest)
        exponent = np.where(size > 0, above, self.lowest)
        # A subnormal has no leading one to take away: its field is the number of gaps above 0.
        gaps = np.ldexp(size, self.mantissa_bits - exponent).astype(np.int64)
        field = (exponent - self.lowest).astype(np.int64) << self.mantissa_bits
        bits = (field + gaps).astype(np.uint32) | sign
        ones = np.uint32((1 << self.exponent_bits) - 1) << self.mantissa_bits
        bits = np.where(np.isinf(x), ones | sign, bits)
        quiet = (
            1 << (self.mantissa_bits - 1) if self.has_infinity else (1 << self.mantissa_bits) - 1
        )
        return np.where(np.isnan(x), ones | np.uint32(quiet), bits).astype(np.uint32)

    def fields(self, x: float) -> tuple[str, str, str]:
        """(sign, exponent, mantissa) of ``x`` rounded, as text of "0" and "1"."""
        bits = format(int(self.encode(x)), f"0{self.width}b")
        return bits[0], bits[1 : 1 + self.exponent_bits], bits[1 + self.exponent_bits :]


# TF32 is what a tensor core multiplies, kept in memory as fp32 with 13 bits unused. Rounded to
# nearest even here; NVIDIA's own conversion (cvt.rna) differs in exact ties, which go away from 0.
FORMATS = {
    f.name: f
    for f in (
        Format("fp32", "fp32", 8, 23),
        Format("tf32", "TF32", 8, 10),
        Format("bf16", "bf16", 8, 7),
        Format("fp16", "fp16", 5, 10),
        Format("e4m3", "fp8 e4m3", 4, 3, has_infinity=False),
        Format("e5m2", "fp8 e5m2", 5, 2),
    )
}
ITEMSIZE = {name: FORMATS[name].width // 8 for name in (*DTYPES, FP8)}  # bytes


def round_to(x: np.ndarray, dtype: str) -> np.ndarray:
    """``x`` (float32, any shape) rounded to ``dtype`` to nearest even, returned as float32.

    NumPy has no bfloat16, so its rounding is done on the bits: add half of the last kept place,
    minus one when that place is even, and clear the lower 16 bits. Infinities stay, NaN stays NaN,
    and fp16 overflows to infinity above 65,504 as the hardware's conversion does; e4m3 ends at
    ±448.
    """
    x = np.asarray(x, dtype=np.float32)
    if dtype == "fp32":
        return x
    if dtype == "fp16":
        with np.errstate(over="ignore"):
            return x.astype(np.float16).astype(np.float32)
    if dtype == FP8:
        return FORMATS[dtype].round_to(x).astype(np.float32)
    bits = x.view(np.uint32)
    with np.errstate(over="ignore"):
        rounded = (bits + (((bits >> 16) & 1) + np.uint32(0x7FFF))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), x, rounded.view(np.float32))
