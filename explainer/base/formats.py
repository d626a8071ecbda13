"""Number formats: rounding float32 values to the precision that a tensor is stored in."""

from __future__ import annotations

import numpy as np

ITEMSIZE = {"fp32": 4, "fp16": 2, "bf16": 2}  # bytes
DTYPES = tuple(ITEMSIZE)


def round_to(x: np.ndarray, dtype: str) -> np.ndarray:
    """``x`` (float32, any shape) rounded to ``dtype`` to nearest even, returned as float32.

    NumPy has no bfloat16, so its rounding is done on the bits: add half of the last kept place,
    minus one when that place is even, and clear the lower 16 bits. Infinities stay, NaN stays NaN,
    and fp16 overflows to infinity above 65,504 as the hardware's conversion does.
    """
    x = np.asarray(x, dtype=np.float32)
    if dtype == "fp32":
        return x
    if dtype == "fp16":
        with np.errstate(over="ignore"):
            return x.astype(np.float16).astype(np.float32)
    bits = x.view(np.uint32)
    with np.errstate(over="ignore"):
        rounded = (bits + (((bits >> 16) & 1) + np.uint32(0x7FFF))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), x, rounded.view(np.float32))
