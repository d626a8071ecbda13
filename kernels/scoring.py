"""Modify scores and drop weights inside a kernel, as spec/scores.py and spec/dropout.py do outside.

SCORE is a text known when the kernel is compiled, made as MASK of masking.py is.
"""

import triton

from .masking import count, name, number, part
from .triton_internals import tl


@triton.jit
def modified(s, keys, rows, h, H, SCORE: tl.constexpr, TABLES):
    """Return scaled scores, fp32, after the modifications of SCORE in their order; h of H heads."""
    for step in tl.static_range(count(SCORE, "&")):
        s = modified_once(s, keys, rows, h, H, part(SCORE, "&", step), TABLES)
    return s


@triton.jit
def modified_with_slope(s, keys, rows, h, H, SCORE: tl.constexpr, TABLES):
    """Return what `modified` does, and its derivative by s: 1 of what is added, and 1 − tanh² of
    c·tanh(s/c)."""
    slope = 1.0
    for step in tl.static_range(count(SCORE, "&")):
        s = modified_once(s, keys, rows, h, H, part(SCORE, "&", step), TABLES)
        slope = slope * slope_at(s, part(SCORE, "&", step))
    return s, slope


@triton.jit
def slope_at(s, STEP: tl.constexpr):
    """Return the derivative of one modification where it gave s."""
    if name(STEP) == "scale":
        return number(STEP, 0)
    elif name(STEP) == "softcap":
        pressed = s / number(STEP, 0)
        return 1.0 - pressed * pressed
    else:
        return 1.0


@triton.jit
def modified_once(s, keys, rows, h, H, STEP: tl.constexpr, TABLES):
    """Return scores after one modification."""
    NAME: tl.constexpr = name(STEP)
    if NAME == "scale":
        return s * number(STEP, 0)
    elif NAME == "softcap":
        return tanh(s / number(STEP, 0)) * number(STEP, 0)
    elif NAME == "alibi":
        slope = tl.exp2(-8.0 * ((h + 1).to(tl.float32) / H))
        return s + slope * (keys - rows).to(tl.float32)
    else:  # a table of what is added at each distance; the last for all that are farther
        tl.static_assert(NAME == "bias", "scoring does not have this score")
        distance = tl.minimum(tl.maximum(rows - keys, 0), number(STEP, 0) - 1)
        return s + tl.load(TABLES[number(STEP, 1)] + distance)


@triton.jit
def dropped(p, rows, keys, Nk, DROPOUT: tl.constexpr, TABLES):
    """Return the weights that enter P V, times dropout's factors; rows are (b·H + h)·Nq + i."""
    seed = tl.load(TABLES[number(DROPOUT, 1)])
    is_used = tl.rand(seed, rows * Nk + keys) >= number(DROPOUT, 0)
    return tl.where(is_used, p * (1.0 / (1.0 - number(DROPOUT, 0))), 0.0)


@triton.jit
def tanh(x):
    """Return tanh in fp32 from exp; near 0, where that cancels, from the start of its series."""
    e = tl.exp(-2.0 * tl.abs(x))
    far = (1.0 - e) / (1.0 + e)
    near = x * (1.0 + x * x * (-1.0 / 3 + x * x * (2.0 / 15 - x * x * (17.0 / 315))))
    return tl.where(tl.abs(x) < 0.2, near, tl.where(x < 0, -far, far))
