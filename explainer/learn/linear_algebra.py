"""What lessons share: text, addresses, a little mathematics."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

import numpy as np

from explainer.base.amounts import shown
from explainer.problem import Problem


def products(a: np.ndarray, b: np.ndarray, digits: int) -> str:
    """The sum that a dot product is, written out."""
    pairs = zip(a, b, strict=True)
    return " + ".join(f"({shown(x, digits)})·({shown(y, digits)})" for x, y in pairs)


def address(problem: Problem, step: int, phase: str) -> str:
    """The query of a Problem and a place in it, as it stands in the address after "?"."""
    return urlencode(problem.to_query() | {"step": str(step), "phase": phase})


def whole(value: float | str) -> int:
    """A control's value as a whole number: a slider's steps are not enforced elsewhere."""
    return int(float(value) + 0.5)


def weighed(parts: Iterable[tuple[float, np.ndarray | float]]) -> np.ndarray | float:
    """O of all keys from (sum of exponentials, normalized O) of parts; sums on any common scale."""
    kept = [*parts]
    total = sum(weight for weight, _ in kept)
    return sum(weight / total * O for weight, O in kept)


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Of ``x``, any shape and dtype, along ``axis``; rows of −inf alone become NaN, as 0/0 is."""
    with np.errstate(invalid="ignore"):
        weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def measures(a: np.ndarray, b: np.ndarray) -> dict[str, float | None]:
    """Norms, dot product and cosine of two vectors; the cosine is None beside a zero vector."""
    norms = float(np.sqrt((a * a).sum())), float(np.sqrt((b * b).sum()))
    dot = float((a * b).sum())
    cosine = dot / (norms[0] * norms[1]) if norms[0] * norms[1] else None
    return {"norm_a": norms[0], "norm_b": norms[1], "dot": dot, "cosine": cosine}
