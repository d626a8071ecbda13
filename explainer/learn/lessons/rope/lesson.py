"""Positions in the scores: RoPE rotates q and k before the product, ALiBi adds to the score."""

import math
from dataclasses import replace

import numpy as np

from explainer.algorithms.schedule import schedule
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address
from explainer.learn.variants import EXAMPLE, FEW, products, rope
from explainer.trace import trace
from kernels.spec.scores import slope

t = Words(__name__)

PAIR, D = 1, 8  # the pair of dimensions that is drawn, of d = 8
Q2, K2 = (1.0, 0.35), (0.8, -0.3)  # q and k at position 0, in that pair
TURNS = np.linspace(0, 2 * math.pi, 73)


def rotated(vector: tuple[float, float], position: int) -> tuple[float, float]:
    """Return the pair of a vector (d,) that is 0 elsewhere, rotated by :func:`variants.rope`."""
    x = np.zeros((1, D))
    x[0, PAIR], x[0, PAIR + D // 2] = vector
    y = rope(x, np.array([position]))[0]
    return float(y[PAIR]), float(y[PAIR + D // 2])


def score(i: int, j: int) -> float:
    """Return q at position i times k at position j, of the pair that is drawn."""
    q, k = rotated(Q2, i), rotated(K2, j)
    return q[0] * k[0] + q[1] * k[1]


def added(head: int, distance: int) -> float:
    """Return what ALiBi adds to a score at this distance, of FEW heads."""
    return -slope(head, FEW) * distance


def compute(i: int, j: int, head: int) -> Block:
    """Show the rotated pair, RoPE's score and ALiBi's addition by distance."""
    at, x, apart = np.arange(EXAMPLE.n), trace(EXAMPLE), i - j
    return t.picture(
        i=i,
        j=j,
        q=rotated(Q2, i),
        k=rotated(K2, j),
        score=score(i, j),
        apart=apart,
        head=head,
        added=added(head, max(0, apart)),
        at=at,
        along=[products(x.Q[0], x.K[0], np.array([p]), at[:1]).item() for p in at],
        adds=[added(head, int(p)) for p in at],
        is_seen=0 <= apart < EXAMPLE.n,
        cos=np.cos(TURNS),
        sin=np.sin(TURNS),
    )


def question(i: int, j: int, to: int) -> dict:
    """The answer, and: k stays, k as far after q, in proportion."""
    return {"answer": to - (i - j), "wrong": (j, to + (i - j), round(j * to / i))}


def figures() -> dict[str, str]:
    """Return the address of a tile with ALiBi's line on it, on the Step page."""
    p = replace(EXAMPLE, score="alibi")
    cut = next(k for k, x in enumerate(schedule(p)) if x.kind == "partial" and x.j)
    return {"alibi": address(p, cut, "scores")}
