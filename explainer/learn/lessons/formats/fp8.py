"""Attention in fp8 (e4m3): one scale for all, a scale per block, a rotation against outliers, and
the sums of Hopper's tensor cores.

A small problem, computed live and judged by float64. As a kernel would: Q, K, V and P rounded to
e4m3, softmax in fp32, the sum l taken of the unrounded P; products are summed in fp32, but where
`sum_errors` sums them in other ways.
"""

from functools import cache

import numpy as np

from explainer.algorithms.inputs import largest_in_blocks, make_inputs, scales
from explainer.algorithms.quantized import P_SCALE
from explainer.learn.linear_algebra import attend, make_problem
from kernels.spec.accumulation import matmul
from kernels.spec.fields import FP8
from kernels.spec.formats import round_to

N, D, DRAWS = 64, 16, 8  # rows, head dimension, how often new numbers are drawn
WAYS = ("none", "tensor", "block", "rotated")
ROWS, KEYS = 16, 128  # query rows, and keys of a block, where sums are compared


@cache
def hadamard() -> np.ndarray:
    """(D, D) float32, orthogonal: random signs, then Hadamard's ±1 matrix over √D.

    (Q M)(K M)ᵀ = Q Kᵀ, and every number of Q M is a mixture of a whole row.
    """
    h = np.ones((1, 1))
    while len(h) < D:
        h = np.block([[h, h], [h, -h]])
    signs = np.random.default_rng(8).choice([-1.0, 1.0], D)
    m = (signs[:, None] * h / np.sqrt(D)).astype(np.float32)
    m.setflags(write=False)
    return m


def inputs(size: float, seed: int) -> tuple[np.ndarray, ...]:
    """Q, K, V (N, D) float32, normal, with one column, the same in Q and K, ``size`` times as
    large."""
    q, k, v = (x.copy() for x in make_inputs(make_problem(N, D, 16, seed=seed)))
    column = np.random.default_rng(seed + 1).integers(D)
    q[:, column] *= size
    k[:, column] *= size
    return q, k, v


def quantised(x: np.ndarray, way: str, block: int) -> tuple[np.ndarray, np.ndarray]:
    """(values in e4m3, the scale of each row): what the kernel gets. The largest number of the
    tensor, or of its block of rows, becomes 448; beyond ±448 without a scale it is 448."""
    if way == "none":
        return round_to(x, FP8), np.ones((len(x), 1), np.float32)
    s = scales(largest_in_blocks(x, len(x) if way == "tensor" else block))
    return round_to(x / s, FP8), s


def weights(q: tuple[np.ndarray, np.ndarray], k: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """(rows, keys) float32, exp(S - m), of Q and K as `quantised` returns them."""
    (q8, qs), (k8, ks) = q, k
    S = (q8 @ k8.T) * (qs * ks.T) / np.float32(np.sqrt(D))
    return np.exp(S - S.max(axis=1, keepdims=True))


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, way: str, block: int) -> np.ndarray:
    """O (N, D) float32 with operands in e4m3, scaled as ``way`` of WAYS says."""
    if way == "rotated":
        q, k = q @ hadamard(), k @ hadamard()
    P = weights(quantised(q, way, block), quantised(k, way, block))
    v8, vs = quantised(v, way, block)
    return round_to(P * P_SCALE, FP8) @ (v8 * vs) / (P_SCALE * P.sum(axis=1, keepdims=True))


def errors(size: float, block: int) -> dict[str, float]:
    """way → root mean square difference of O to float64, over DRAWS draws."""
    off: dict[str, list[np.ndarray]] = {way: [] for way in WAYS}
    for seed in range(DRAWS):
        q, k, v = inputs(size, seed)
        *_, right = attend(q, k, v)
        for way, found in off.items():
            found.append(np.abs(attention(q, k, v, way, block) - right))
    return {way: float(np.sqrt(np.mean(np.square(x)))) for way, x in off.items()}


@cache
def sum_errors(n: int, mean: float) -> dict[str, float]:
    """How P V is summed → root mean square difference of O to float64, with n keys and V around
    ``mean``: "exact", in one accumulator ("one" level), or each block of keys from 0 and then
    added to O in fp32 ("two" levels)."""
    q, k, v = make_inputs(make_problem(n, D, KEYS))
    q, v = q[:ROWS], v + np.float32(mean)
    *_, right = attend(q, k, v)
    P = weights(quantised(q, "tensor", KEYS), quantised(k, "tensor", KEYS))
    P8, (v8, vs) = round_to(P * P_SCALE, FP8), quantised(v, "tensor", KEYS)
    blocks = [slice(first, first + KEYS) for first in range(0, n, KEYS)]
    sums = {
        "exact": P8.astype(np.float64) @ v8,
        "one": matmul(P8, v8),
        "two": np.sum([matmul(P8[:, keys], v8[keys]) for keys in blocks], axis=0),
    }
    scale = P_SCALE / vs[0] * P.sum(axis=1, keepdims=True)
    return {
        way: float(np.sqrt(np.mean(np.square(found / scale - right))))
        for way, found in sums.items()
    }
