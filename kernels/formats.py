"""Convert between storage dtype and matrix operand inside a kernel, also of interpreted bf16.

Triton's interpreter stores bf16 as 16-bit integers, and its dot and its conversions then compute on
those integers: silently wrong. With BF16_BITS, which launch wrappers set only there, both functions
compute by integers what the hardware does: widen exactly, round to nearest even.
"""

import triton

from .triton_internals import tl


@triton.jit
def as_operand(x, BF16_BITS: tl.constexpr):
    """Return x in its storage dtype as `tl.dot` takes it: itself, or bf16 widened to fp32."""
    if BF16_BITS:
        return (x.to(tl.uint16, bitcast=True).to(tl.uint32) << 16).to(tl.float32, bitcast=True)
    else:
        return x


@triton.jit
def as_stored(x, dtype: tl.constexpr, BF16_BITS: tl.constexpr):
    """Round fp32 x to the storage dtype, to nearest even; NaN stays NaN."""
    if BF16_BITS:
        bits = x.to(tl.uint32, bitcast=True)
        upper = (bits + ((bits >> 16) & 1) + 0x7FFF) >> 16
        upper = tl.where(x != x, 0x7FC0, upper)
        return upper.to(tl.uint16).to(tl.bfloat16, bitcast=True)
    else:
        return x.to(dtype)
