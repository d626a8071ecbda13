"""Key blocks in any order, and parts of the keys done apart and merged by their lse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from explainer.base.fields import refused
from explainer.learn.blocks import Block, picture, t, text
from explainer.learn.linear_algebra import address, make_problem, online_softmax, weighed
from explainer.learn.scene import box, draw_text, panel, path, scene
from explainer.trace import trace

BLOCKS, BC, D = 8, 8, 64
ONE_QUERY = make_problem(BLOCKS * BC, D, BLOCKS * BC, block_k=BC, seed=8, gain=2.0)
QUERY = 16  # whose row is shown


@cache
def row() -> tuple[np.ndarray, np.ndarray]:
    """Scores (n,) and V (n, d) of the query, float32."""
    run = trace(ONE_QUERY)
    return run.S[QUERY], run.V


def part(keys: slice | Sequence[int]) -> tuple[float, float, np.ndarray]:
    """m, ℓ and the unnormalized O (d,) float32 of these keys alone."""
    S, V = row()
    m = S[keys].max()
    P = np.exp(S[keys] - m)
    return float(m), float(P.sum()), P @ V[keys]


def block(j: int) -> tuple[float, float, np.ndarray]:
    return part(slice(j * BC, (j + 1) * BC))


def visited(order: Sequence[int]) -> np.ndarray:
    """O (d,) float32 of the row whose key blocks come in this order."""
    S, V = row()
    *_, last = online_softmax(S[None], V, BC, order=order)
    return (last.O / last.l)[0]


def merged(parts: Sequence[tuple[float, np.ndarray]]) -> tuple[float, np.ndarray]:
    """lse and O of the whole row, from (lse, normalized O) of its parts."""
    lse = np.array([x for x, _ in parts])
    weights = np.exp(lse - lse.max())
    O = weighed(zip(weights, (O for _, O in parts), strict=True))
    return float(lse.max() + np.log(weights.sum())), np.asarray(O)


def _order(given: object) -> list[int]:
    parts = str(given).split(",")
    if sorted(parts) != sorted(map(str, range(BLOCKS))):
        raise refused({"order": given}, t("any_order.refused", last=BLOCKS - 1))
    return list(map(int, parts))


def _shuffled(order: Sequence[int]) -> list[int]:
    """Another order, always the same one after this one."""
    seed = int("".join(map(str, order)))
    return np.random.default_rng(seed).permutation(BLOCKS).tolist()


def _visits(order: list[int]) -> list[Block]:
    found = [block(j) for j in range(BLOCKS)]
    usual, yours = visited(range(BLOCKS)), visited(order)
    off = float(np.abs(usual - yours).max())
    m, l = max(x for x, _, _ in found), part(slice(None))[1]
    wording = ", ".join(map(str, order))
    spoken = t("any_order.visits.words", order=wording, m=m, l=l)
    note = t("any_order.visits.note", off=off, n=BLOCKS * BC, blocks=BLOCKS, d=D)
    data = {
        "m": [x for x, _, _ in found],
        "l": [x for _, x, _ in found],
        "order": order,
        "next": [str(j) for j in _shuffled(order)],
    }
    return [picture("order", t("any_order.visits.label"), spoken, data), text(note)]


def _merge(count: int) -> list[Block]:
    """Parts side by side, each with its own lse, and what weight each gets in the end."""
    size, found = BLOCKS * BC // count, []
    for k in range(count):
        m, l, O = part(slice(k * size, (k + 1) * size))
        found.append((m + math.log(l), O / np.float32(l)))
    whole, O = merged(found)
    off = float(np.abs(O - visited(range(BLOCKS))).max())
    width, step = 680.0, 680.0 / count
    shapes = []
    for k, (lse, O_part) in enumerate(found):
        x, w = k * step, step - 8
        first, last = k * size, (k + 1) * size - 1
        share = math.exp(lse - whole)
        shapes += [
            box(
                x,
                0,
                w,
                40,
                t("any_order.merge.keys", first=first, last=last)
                if count < 8
                else f"{first}–{last}",
                hue="k",
                look="is-pale",
            ),
            path([(x + w / 2, 44), (x + w / 2, 66)], look="is-quiet", tip=7),
            box(x, 70, w, 62, hue="l", look="is-pale"),
            draw_text(x + w / 2, 94, f"lse {lse:.2f}", "is-middle", hue="l"),
            draw_text(
                x + w / 2, 120, f"O₀ {O_part[0]:.2f}".replace("-", "−"), "is-middle", hue="o"
            ),
            path(
                [(x + w / 2, 170), (width / 2 + (x + w / 2 - width / 2) * 0.35, 218)],
                look="is-quiet",
                tip=7,
            ),
            draw_text(x + w / 2, 160, f"× {share:.3f}", "is-middle is-bold"),
        ]
    shapes += [
        box(width / 2 - 130, 222, 260, 66, hue="o", look="is-pale is-edge"),
        draw_text(width / 2, 248, f"lse {whole:.2f}", "is-middle", hue="l"),
        draw_text(width / 2, 274, f"O₀ {O[0]:.2f}".replace("-", "−"), "is-middle", hue="o"),
        draw_text(width / 2, 316, t("any_order.merge.weight"), "is-middle is-quiet"),
    ]
    wording = "; ".join(
        t("any_order.merge.part", lse=lse, weight=math.exp(lse - whole)) for lse, _ in found
    )
    spoken = t("any_order.merge.words", n=count, parts=wording, lse=whole)
    return [
        scene(t("any_order.merge.label", n=count), spoken, panel(width, 322, shapes)),
        text(t("any_order.merge.note", off=off, d=D)),
    ]


def _any_order(how: int | str, order: str) -> list[Block]:
    if how == "order":
        return _visits(_order(order))
    return _merge(int(how))


WIDGETS = {
    "order": _any_order,
}


def _question(lse: float, O: float, times: int, other: float) -> dict:
    """Two parts of a row, the second's lse log(times) more: the answer, and: the mean, the weights
    exchanged, lse as a weight."""
    more = lse + math.log(times)
    return {
        "answer": weighed(((1, O), (times, other))),
        "wrong": (
            (O + other) / 2,
            weighed(((times, O), (1, other))),
            weighed(((lse, O), (more, other))),
        ),
    }


FIGURES = {"order": lambda: {"place": address(ONE_QUERY, 1, "exp")}}
QUESTIONS = {"order": _question}
