"""What short formats lose: a count that stops, gradients that vanish, and a long
row of softmax with one thing kept short at a time."""

from functools import cache

import numpy as np

from explainer.learn.linear_algebra import online_softmax
from kernels.spec.formats import Format
from kernels.spec.formats import round_to as stored


def counted(f: Format, n: int) -> float:
    """Where a count to ``n`` by ones ends, the sum kept in ``f``: where 1 is rounded away."""
    total = 0.0
    while total < n and (rounded := float(f.round_to(total + 1))) != total:
        total = rounded
    return total


def gradients(size: float) -> np.ndarray:
    """500 gradients (500,) whose powers of two lie around ``size``, with a spread of 3."""
    rng = np.random.default_rng(11)
    return np.exp2(size + 3 * rng.standard_normal(500))


def lost(f: Format, size: float, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each k the shares of the gradients × 2ᵏ that become 0, and that pass the largest
    number."""
    scaled = gradients(size) * np.exp2(k)[:, None]
    rounded = f.round_to(scaled)
    over = np.isinf(rounded) if f.has_infinity else scaled > f.largest
    return (rounded == 0).mean(axis=1), over.mean(axis=1)


ROUNDED = ("", "P", "m", "S", "l")  # what is kept short; P for the product P V only, as kernels do


@cache
def long_row() -> dict[str, float]:
    """{what of ROUNDED is rounded to bf16, all else in fp32: relative error of O against float64}:
    one row of 2,048 scores with a standard deviation of 1, 16 keys a visit."""
    rng = np.random.default_rng(3)
    S_all = rng.standard_normal(2048).astype(np.float32)
    V_all = stored(1 + 0.5 * rng.standard_normal((2048, 8)), "bf16")

    def keep(x: np.ndarray, what: str) -> np.ndarray:
        return np.where(np.array(ROUNDED)[:, None] == what, stored(x, "bf16"), x)

    *_, last = online_softmax(keep(S_all[None, :], "S"), V_all, 16, store=keep)
    weights = np.exp(S_all.astype(np.float64) - S_all.max())
    exact = weights @ V_all / weights.sum()
    error = np.abs(last.O / last.l - exact).max(axis=1) / np.abs(exact).max()
    return dict(zip(ROUNDED, map(float, error), strict=True))
