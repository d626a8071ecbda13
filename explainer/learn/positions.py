"""6.2: positions in the scores: RoPE turns Q and K before the product, ALiBi adds to the score."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from explainer.algorithms.schedule import schedule
from explainer.base.amounts import format_significant
from explainer.learn.blocks import Block, t
from explainer.learn.linear_algebra import address
from explainer.learn.scene import Shape, captions, chart, dot, draw_text, panel, path, scene
from explainer.learn.variants import EXAMPLE, FEW, example, products, rope
from kernels.spec.scores import slope

PAIR, D = 1, 8  # the pair of dimensions that is drawn, of d = 8
Q2, K2 = (1.0, 0.35), (0.8, -0.3)  # q and k at position 0, in that pair


def turned(vector: tuple[float, float], position: int) -> tuple[float, float]:
    """The pair of a vector (d,) that is 0 elsewhere, rotated by :func:`variants.rope`."""
    x = np.zeros((1, D))
    x[0, PAIR], x[0, PAIR + D // 2] = vector
    y = rope(x, np.array([position]))[0]
    return float(y[PAIR]), float(y[PAIR + D // 2])


def score(i: int, j: int) -> float:
    """q at position i times k at position j, of the pair that is drawn."""
    q, k = turned(Q2, i), turned(K2, j)
    return q[0] * k[0] + q[1] * k[1]


def added(head: int, distance: int) -> float:
    """What ALiBi adds to a score at this distance, of FEW heads."""
    return -slope(head, FEW) * distance


def _circle(i: int, j: int) -> list[Shape]:
    x, y, r = 190.0, 190.0, 104.0

    def arrow(vector: tuple[float, float], name: str, hue: str, key: str) -> list[Shape]:
        end = x + vector[0] * r, y - vector[1] * r
        out = 1 + 36 / max(1.0, math.hypot(*vector) * r)
        return [
            path([(x, y), end], hue, key=key, tip=14),
            draw_text(
                x + vector[0] * r * out,
                y + 5 - vector[1] * r * out,
                name,
                "is-middle",
                hue=hue,
                key=f"{key} name",
            ),
        ]

    ring = [(x + r * math.cos(t / 10), y + r * math.sin(t / 10)) for t in range(64)]
    return [
        *captions("positions.circle", score=score(i, j), apart=i - j),
        path(ring, look="is-thin"),
        dot(x, y, 3),
        *arrow(turned(Q2, i), t("positions.q", i=i), "q", "q"),
        *arrow(turned(K2, j), t("positions.k", j=j), "k", "k"),
    ]


def _distance(i: int, j: int, head: int) -> list[Shape]:
    x, at = example(), np.arange(EXAMPLE.n)
    along = [products(x.Q[0], x.K[0], np.array([k]), at[:1]).item() for k in at]
    low, high = min(along), max(along)
    line = [added(head, k) for k in range(EXAMPLE.n)]
    far = max(0, i - j)
    shapes = [
        *captions("positions.distance", d=EXAMPLE.d, head=head, n=FEW),
        *chart(
            60,
            34,
            300,
            120,
            [("rope", along, "q", "")],
            low=low,
            high=high,
            ticks=[(high, format_significant(high, 2)), (low, format_significant(low, 2))],
        ),
        *chart(
            60,
            222,
            300,
            120,
            [("alibi", line, "o", "")],
            low=-8,
            high=0,
            ticks=[(0.0, "0"), (-8.0, "−8")],
            last=t("positions.distance"),
        ),
        draw_text(
            0,
            386,
            t("positions.at", far=far, added=added(head, far)) if i >= j else t("positions.hidden"),
            "is-big",
        ),
    ]
    return shapes


def _rope(i: int, j: int, head: int) -> list[Block]:
    words = t(
        "positions.spoken",
        i=i,
        j=j,
        score=score(i, j),
        apart=i - j,
        head=head,
        added=added(head, max(0, i - j)),
    )
    return [
        scene(
            t("positions.title"),
            words,
            panel(380, 395, _circle(i, j)),
            panel(400, 395, _distance(i, j, head)),
        )
    ]


WIDGETS = {
    "rope": _rope,
}


def _question(i: int, j: int, to: int) -> dict:
    return {"answer": to - (i - j), "wrong": (j, to + (i - j), round(j * to / i))}


def _place() -> str:
    """A tile with ALiBi's line on it, on the Step page."""
    p = replace(EXAMPLE, score="alibi")
    cut = next(k for k, x in enumerate(schedule(p)) if x.kind == "partial" and x.j)
    return address(p, cut, "scores")


FIGURES = {"rope": lambda: {"alibi": _place()}}
QUESTIONS = {"rope": _question}
