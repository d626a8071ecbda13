"""Sums of fp8 products as Hopper's tensor cores round them, bit for bit, in float32 NumPy."""

from __future__ import annotations

import numpy as np

from .formats import FORMATS

GROUP = 32  # products that one step of wgmma adds to the accumulator
BITS = 13  # kept below the leading bit of the largest addend
STRIP = 1 << 16  # products that are held at once
NOTHING = -200  # the exponent of 0, which is cut off by no other number
SUBNORMAL = FORMATS["e4m3"].lowest  # that of a subnormal factor: it is not normalized


def matmul(a: np.ndarray, b: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """Return ``start`` + a b: a (rows, k) and b (k, cols) hold values of e4m3, start (rows, cols).

    32 products and the accumulator are shifted to the largest of their exponents, cut off 13 bits
    below it, towards 0, and added; the sum is cut off 13 bits below its own leading bit. A product
    counts with the sum of its factors' exponents, −6 of a subnormal one, and 0 not at all. An H200
    gives the same bits (tests/kernels/test_accumulation.py), for accumulators from 2⁻¹²⁶ on.
    """
    shape = len(a), b.shape[1]
    total = np.zeros(shape, np.float32) if start is None else np.asarray(start, np.float32).copy()
    rows = max(1, STRIP // (GROUP * shape[1]))
    for row in range(0, shape[0], rows):
        strip = slice(row, row + rows)
        for first in range(0, a.shape[1], GROUP):
            group = slice(first, first + GROUP)
            total[strip] = _step(a[strip, group], b[group].T, total[strip])
    return total


def _step(a: np.ndarray, b: np.ndarray, accumulator: np.ndarray) -> np.ndarray:
    """Add a (rows, GROUP) times b (cols, GROUP) to the accumulator."""
    of_a, of_b = (np.where(x != 0, np.maximum(_exponent(x), SUBNORMAL), NOTHING) for x in (a, b))
    exponents = (of_a.astype(np.int16)[:, None] + of_b.astype(np.int16)).max(axis=2)
    place = np.maximum(exponents, _exponent(accumulator)) - BITS
    up = np.ldexp(np.float32(1), -np.maximum(place, 2 * SUBNORMAL - BITS))  # less: all are 0
    products = a[:, None] * b  # exact: each factor has 4 bits
    total = np.trunc(products * up[:, :, None]).sum(axis=2)
    total = np.ldexp(total + np.trunc(np.ldexp(accumulator, -place)), place)
    place = _exponent(total) - BITS
    return np.ldexp(np.trunc(np.ldexp(total, -place)), place)


def _exponent(x: np.ndarray) -> np.ndarray:
    return np.where(x != 0, np.frexp(x)[1] - 1, NOTHING)
