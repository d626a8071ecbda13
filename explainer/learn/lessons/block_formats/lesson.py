"""Block-scaled formats: one row of numbers with an outlier, rounded with scales of three kinds."""

import numpy as np

from explainer.base.amounts import format_significant
from explainer.base.facts import number
from explainer.learn.kit import Block, Words
from kernels.spec.formats import FORMATS

t = Words(__name__)

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])  # all that fp4 holds, but for the sign
COUNT = 64  # numbers
OUTLIER = 20  # where the large one is
SHOWN = 16  # numbers of a row on screen


def to_fp4(x: np.ndarray) -> np.ndarray:
    """Round to the nearest number of e2m1; what is larger than 6 becomes 6."""
    nearest = np.abs(np.abs(x)[..., None] - E2M1).argmin(axis=-1)
    return np.copysign(E2M1[nearest], x)


def quantized(x: np.ndarray, kind: str) -> np.ndarray:
    """Return what a format keeps of x (COUNT,): "tensor" fp4 with one scale, "nvfp4", "mxfp8", or
    "fp8" with one scale."""
    if kind == "tensor":
        scale = np.abs(x).max() / 6
        return to_fp4(x / scale) * scale
    if kind == "fp8":
        scale = np.abs(x).max() / number("e4m3.largest")
        return FORMATS["e4m3"].round_to(x / scale) * scale
    size = int(number("nvfp4.block" if kind == "nvfp4" else "mxfp8.block"))
    blocks = x.reshape(-1, size)
    largest = np.abs(blocks).max(axis=1, keepdims=True)
    if kind == "mxfp8":  # a power of two with which nothing overflows
        scale = 2.0 ** np.ceil(np.log2(largest / number("e4m3.largest")))
        return (FORMATS["e4m3"].round_to(blocks / scale) * scale).reshape(-1)
    whole = np.abs(x).max() / 6 / number("e4m3.largest")  # the tensor's scale, in fp32
    scale = FORMATS["e4m3"].round_to(largest / 6 / whole) * whole
    return (to_fp4(blocks / scale) * scale).reshape(-1)


def bits(kind: str) -> float:
    """Return the bits of a number with its share of the block's scale."""
    fp4, fp8 = 4 + 8 / number("nvfp4.block"), 8 + 8 / number("mxfp8.block")
    return {"tensor": 4, "nvfp4": fp4, "fp8": 8, "mxfp8": fp8}[kind]


def numbers(size: float) -> np.ndarray:
    """Return COUNT random numbers, one of which is ``size`` times a usual one."""
    x = np.random.default_rng(5).standard_normal(COUNT)
    x[OUTLIER] = size
    return x


def error(x: np.ndarray, kind: str) -> float:
    """Return the root mean square of the relative errors of all but the outlier."""
    off = np.delete(
        (quantized(x, kind) - x) / np.sqrt(np.mean(np.delete(x, OUTLIER) ** 2)), OUTLIER
    )
    return float(np.sqrt(np.mean(off**2)))


def compute(kind: str, size: int) -> Block:
    """Show the numbers, what the format makes of them, and the errors of all four ways."""
    x, names = numbers(size), t.named("kinds")
    y = quantized(x, kind).reshape(-1, SHOWN)
    gone = [(int(i), int(j)) for i, j in np.argwhere(y == 0)]
    return t.picture(
        kind=kind,
        title=names[kind],
        exact=x.reshape(-1, SHOWN),
        outlier=divmod(OUTLIER, SHOWN),
        rounded=y,
        gone=gone,
        zeros=len(gone),
        off=100 * error(x, kind),
        keys=[*names],
        names=names,
        bits=[bits(name) for name in names],
        errors=[100 * error(x, name) for name in names],
    )


def question(block: int, largest: float) -> dict:
    """The smallest number of a block that fp4 does not round to 0, when the scale brings the
    largest to 6: half of 0.5, scaled back. And: 0.5 itself, a quarter, without the scale."""
    scale = largest / 6
    return {"answer": 0.25 * scale, "wrong": (0.5 * scale, largest / 448, 0.25)}


def figures() -> dict[str, str]:
    """Return nothing but the sizes that its texts name."""
    return {name: format_significant(bits(name), 3) for name in ("nvfp4", "mxfp8")}
