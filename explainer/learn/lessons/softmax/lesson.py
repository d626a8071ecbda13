"""Softmax of one row, as exp and a division; and which axis shares a 1."""

import numpy as np

from explainer.base.amounts import format_fixed
from explainer.learn.folder import read_data
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import softmax

t = Words(__name__)
LOGITS = np.array(read_data("softmax")["logits"], float)


def out_of_range(ndim: int, dim: int) -> str:
    """Return what PyTorch says to an axis that an input of ``ndim`` axes does not have, or ""."""
    low, high = -ndim, ndim - 1
    return "" if low <= dim <= high else t("out_of_range", low=low, high=high, dim=dim)


def compute(input: str, dim: int, gain: float, line: int) -> Block:
    """One row or column of a matrix, or a vector, and the weights of all."""
    is_matrix = input == "matrix"
    x = (LOGITS if is_matrix else LOGITS[2:]) * gain
    rows = [t("row", n=r) for r in range(len(x))] if is_matrix else []
    cols = [t("column", n=c) for c in range(x.shape[1])]
    code = t("code", dim=dim).replace("-", "−")
    heat = (float(x.min()), float(x.max()))
    if error := out_of_range(2 if is_matrix else 1, dim):
        shown = {"code": code, "n": x.shape[1], "x": x, "heat": heat, "cols": cols, "error": error}
        return t.picture("label", "refused", "refused", **shown)
    axis = dim % 2 if is_matrix else 1
    P = softmax(x, axis)
    at = min(line, x.shape[1 - axis] - 1)
    one, names = (x[:, at], rows) if axis == 0 else (x[at], cols)
    way = "rows" if axis else "columns"
    return t.picture(
        code=code,
        along=t.named("along")[way],
        most=format_fixed(P.max(), 2),
        choose=t.named("most")[way],
        x=x,
        P=P,
        heat=heat,
        rows=rows,
        cols=cols,
        at=at,
        by_rows=axis == 1,
        sums=[t("sum", x=s) for s in P.sum(axis)],
        names=names,
        exps=np.exp(one),
        weights=softmax(one),
        sum=np.exp(one).sum(),
    )


def figures() -> dict[str, object]:
    """What the softmax of two rows, the second 3 above the first, gives along either axis; and what
    a query's weights add up to along a wrong one, all logits alike."""
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    (lower, *_), (upper, *_) = softmax(x, 0)
    alike = np.zeros((2, 8, 4, 6))  # batch, heads, queries, keys
    axes = {
        "sum0": (alike, 0, 3),
        "sum1": (alike, 1, 3),
        "sum2": (alike, 2, 3),
        "moved0": (np.zeros((4, 6, 8)), 0, 1),
        "moved2": (np.zeros((4, 6, 8)), 2, 1),
        "turned": (np.zeros((6, 4)), 1, 0),
    }
    sums = {key: f"{softmax(x, dim).sum(keys).flat[0]:g}" for key, (x, dim, keys) in axes.items()}
    return {
        "rows": softmax(x, 1)[0],
        "lower": lower,
        "upper": upper,
        **sums,
    }
