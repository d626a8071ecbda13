"""The half of a mask that runs inside a kernel: what masks.py says, of scores being computed.

MASK is a mask's text, known when the kernel is compiled: a mask that is not asked for leaves no
instruction. Keys and rows are in the keys' own counting: query i is row i + Nk − Nq.
"""

import triton
import triton.language as tl


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
def key_range(first_row, last_row, Nk, MASK: tl.constexpr):
    """start, full, stop, in 0 … Nk: a block of these rows sees no key outside of start … stop−1,
    and every one of its rows sees all keys of start … full−1, which need no mask."""
    if MASK == "causal":
        return 0, tl.maximum(tl.minimum(first_row + 1, Nk), 0), tl.maximum(last_row + 1, 0)
    else:
        return 0, Nk, Nk


@triton.jit
def query_range(first_key, last_key, Nq, Nk, MASK: tl.constexpr):
    """start, stop, in 0 … Nq: no query outside of start … stop−1 sees a key of the block."""
    if MASK == "causal":
        return tl.maximum(first_key + Nq - Nk, 0), Nq
    else:
        return 0, Nq
