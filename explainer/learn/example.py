"""The running example of the lessons: a sentence of eight words, its Q, K and V set by hand so that
their weights can be read."""

from __future__ import annotations

from typing import Any

import numpy as np

from explainer.problem import Problem

WORDS = ("The", "cat", "sat", "down", "because", "it", "was", "tired")
IT = WORDS.index("it")
# What a dimension stands for: of Q and K, and of V.
KINDS = ("thing", "action", "link", "stand-in")
MEANINGS = ("animal", "action", "place", "feeling")
Q = np.array(
    [
        [2, 0, 0, 0],
        [4, 2, 0, 0],
        [3, 0, 0, 0],
        [0, 3, 0, 0],
        [0, 4, 0, 0],
        [3, -1, 0, 0],
        [1, 0, 0, 3],
        [2, 0, 0, 3],
    ],
    float,
)
K = np.array(
    [
        [0.8, 0.5, 1, 0],
        [3, 0.5, 0, 0],
        [0.7, 2, 0, 0],
        [0.5, 1, 1, 0],
        [0, 0, 2, 0],
        [1, 0, 0, 2],
        [0, 1, 0.5, 0],
        [0.5, 1, 0, 0],
    ]
)
V = np.array(
    [
        [0, 0, 0, 0],
        [4, 0, 0, 0],
        [0, 4, 2, 0],
        [0, 1, 4, 0],
        [0, 0, 0, 1],
        [2, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 0, 4],
    ],
    float,
)
N, D = Q.shape


def make_example(mask: str = "full", side: int = 2, **more: Any) -> Problem:
    """Return the Problem of the example: what Step shows is what a lesson shows."""
    text = "\n\n".join(
        "\n".join(",".join(f"{x:g}" for x in line) for line in matrix) for matrix in (Q, K, V)
    )
    sizes = {"n": N, "d": D, "block_q": side, "block_k": side}
    return Problem(**sizes, mask=mask, inputs="own", text=text, **more)
