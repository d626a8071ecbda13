"""Tiles in HBM as a kernel sees them: which lanes of a block exist, their addresses, loads."""

import triton

from .triton_internals import tl


@triton.jit
def block_lanes(block, n, BLOCK: tl.constexpr, PAD: tl.constexpr):
    """Return the row or key of each of the PAD lanes of a block, and which of these are there: a
    logical block may be smaller than the physical one, and the last may end early."""
    lanes = tl.arange(0, PAD)
    rows = block * BLOCK + lanes
    return rows, (lanes < BLOCK) & (rows < n)


@triton.jit
def addresses(X, strides, b, h, rows, dims):
    """Return the addresses of X[b, h, rows, dims], which broadcast; offsets may exceed 2³¹."""
    start = X + b * strides[0] + h * strides[1]
    return start + (rows.to(tl.int64) * strides[2] + dims.to(tl.int64) * strides[3])


@triton.jit
def load_tile(pointers, mask, MASKED: tl.constexpr):
    """Load a tile from HBM; masked lanes read 0 and move no byte. Without MASKED none is masked."""
    if MASKED:
        return tl.load(pointers, mask=mask, other=0.0)
    else:
        return tl.load(pointers)
