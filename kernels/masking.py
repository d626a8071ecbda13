"""The half of a mask that runs inside a kernel: what masks.py says, of scores being computed.

MASK is a mask's text, known when the kernel is compiled: a mask that is not asked for leaves no
instruction. Rows and keys are in the keys' own counting, as in masks.py (query i is row
i + Nk − Nq). A range is half-open, its ends in 0 … Nk, and it is that of a block: first and last
row, or key, are the block's own.
"""

import triton
import triton.language as tl


@triton.constexpr_function
def hides(MASK):
    """Does it hide anything at all?"""
    return MASK != "full"


@triton.constexpr_function
def grows(MASK):
    """Do later rows see more keys? Then the programs of the last row blocks had better be first."""
    return MASK == "causal"


@triton.jit
def visible(keys, rows, MASK: tl.constexpr):
    """Which scores are kept; keys and rows broadcast."""
    tl.static_assert(MASK == "full" or MASK == "causal", "masking does not have this mask")
    if MASK == "causal":
        return keys <= rows
    else:
        return True


@triton.jit
def key_start(first_row, last_row, Nk, MASK: tl.constexpr):
    """No row of the block sees a key before it."""
    return 0


@triton.jit
def full_stop(first_row, last_row, Nk, MASK: tl.constexpr):
    """Every row of the block sees all keys from key_start to it: up to there no mask is needed."""
    if MASK == "causal":
        return tl.maximum(tl.minimum(first_row + 1, Nk), 0)
    else:
        return Nk


@triton.jit
def key_stop(first_row, last_row, Nk, MASK: tl.constexpr):
    """No row of the block sees it or a later key."""
    if MASK == "causal":
        return tl.maximum(last_row + 1, 0)
    else:
        return Nk


@triton.jit
def query_start(first_key, last_key, Nq, Nk, MASK: tl.constexpr):
    """No query before it (0 … Nq) sees a key of the block."""
    if MASK == "causal":
        return tl.maximum(first_key + Nq - Nk, 0)
    else:
        return 0


@triton.jit
def query_stop(first_key, last_key, Nq, Nk, MASK: tl.constexpr):
    """Neither it nor a later query (0 … Nq) sees a key of the block."""
    return Nq
