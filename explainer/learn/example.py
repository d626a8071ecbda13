"""The running example of the lessons: a sentence of eight words, its Q, K and V set by hand so that
their weights can be read."""

from typing import Any

import numpy as np

from explainer.learn.content import stored
from explainer.learn.linear_algebra import make_problem
from explainer.problem import Problem

_STORED = stored("example")
WORDS: tuple[str, ...] = _STORED["words"]
IT = WORDS.index("it")
# What a dimension stands for: of Q and K, and of V.
KINDS: tuple[str, ...] = _STORED["kinds"]
MEANINGS: tuple[str, ...] = _STORED["meanings"]
Q, K, V = (np.array(_STORED[name], float) for name in "QKV")
N, D = Q.shape


def make_example(mask: str = "full", side: int = 2, **more: Any) -> Problem:
    """Return the Problem of the example: what Step shows is what a lesson shows."""
    text = "\n\n".join(
        "\n".join(",".join(f"{x:g}" for x in line) for line in matrix) for matrix in (Q, K, V)
    )
    return make_problem(N, D, side, mask=mask, inputs="own", text=text, **more)
