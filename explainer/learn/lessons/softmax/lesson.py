"""1.3: softmax of one row, as exp and a division; and which axis shares a 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from explainer.base.amounts import format_fixed, format_significant
from explainer.learn.folder import read_data
from explainer.learn.kit import (
    Block,
    Mark,
    bar,
    bars,
    column,
    grid,
    note,
    picture,
    row,
    sign,
    words_of,
)
from explainer.learn.linear_algebra import softmax

t = words_of(__name__)
LOGITS = np.array(read_data("softmax")["logits"], float)


def out_of_range(ndim: int, dim: int) -> str:
    """Return what PyTorch says to an axis that an input of ``ndim`` axes does not have, or ""."""
    low, high = -ndim, ndim - 1
    return "" if low <= dim <= high else t("out_of_range", low=low, high=high, dim=dim)


def _steps(x: np.ndarray, names: list[str]) -> Mark:
    """The numbers that share a 1, as bars: exp of each, then divided by their sum."""
    e = np.exp(x)
    exps = [
        bar(name, v, format_significant(float(v), 3), "m", key=f"e {name}")
        for name, v in zip(names, e, strict=True)
    ]
    shares = [
        bar(name, v, format_fixed(float(v), 2), "q", key=f"p {name}")
        for name, v in zip(names, softmax(x), strict=True)
    ]
    total = sign(t("divide", sum=format_significant(float(e.sum()), 3)))
    parts = (bars(t("exp"), exps, upright=True), total)
    return row(*parts, bars(t("weights"), shares, high=1, upright=True), grow=(1, 0, 1))


def compute(input: str, dim: int, gain: float, line: int) -> Block:
    """One row or column of a matrix, or a vector, and the weights of all."""
    is_matrix = input == "matrix"
    x = (LOGITS if is_matrix else LOGITS[2:]) * gain
    rows = [t("row", n=r) for r in range(len(x))] if is_matrix else []
    cols = [t("column", n=c) for c in range(x.shape[1])]
    code = t("code", dim=dim).replace("-", "−")
    heat = (float(x.min()), float(x.max()))
    if error := out_of_range(2 if is_matrix else 1, dim):
        spoken = t("refused", n=x.shape[1], code=code, error=error)
        tensor = grid(t("logits"), x, heat=heat, cols=cols)
        return picture(code, spoken, tensor, note(error, "bad"), note(t("vector_has")))
    axis = dim % 2 if is_matrix else 1
    P = softmax(x, axis)
    at = min(line, (x.shape[1] if axis == 0 else x.shape[0]) - 1)
    one, names = (x[:, at], rows) if axis == 0 else (x[at], cols)
    way = "columns" if axis == 0 else "rows"
    framed: dict[str, Any] = {"at": at} if axis else {"column_at": at}
    picks: dict[str, Any] = {"pick" if axis else "pick_column": "line"}
    sums: dict[str, Any] = {
        "row_sums": [t("sum", x=s) for s in P.sum(1)] if axis else [],
        "column_sums": [t("sum", x=s) for s in P.sum(0)] if not axis else [],
    }
    after = grid(t("shares"), P, heat=(0, 1), cols=cols, **framed, **sums)
    before = grid(t("logits"), x, heat=heat, rows=rows, cols=cols, **framed, **picks)
    most = t.named("most")[way]
    spoken = t("spoken", code=code, along=t.named("along")[way], most=format_fixed(P.max(), 2))
    return picture(
        code,
        spoken,
        column(
            row(before, sign(f"{code} →"), after),
            note(f"{t.named('along')[way]} {most}", aside=True),
        ),
        _steps(one, names),
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
