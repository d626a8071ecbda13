"""FA-4's two savings on Blackwell, played on a trace of ours: rescaling only when the maximum has
risen by more than a threshold, and exp2 as a polynomial."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate

import numpy as np

from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, t, text
from explainer.learn.linear_algebra import address, make_problem, online_softmax
from explainer.learn.matrix_units import exps_per_s
from explainer.learn.scene import box, captions, chart, draw_text, lines, panel, path, scene
from explainer.problem import Problem
from explainer.trace import trace
from kernels.spec.formats import FORMATS

PLAYED = make_problem(1024, 32, 64, seed=7, gain=3.0)
LOG2E = math.log2(math.e)
DEGREES = (1, 2, 3, 4, 5)
D = 128  # of the comparison of cards
POINTS = 2001  # of the interval on which a polynomial is judged
WIDTH, HEIGHT = 266.0, 372.0


@dataclass(frozen=True)
class Played:
    """What a threshold does to the whole trace: visits of a row in which its maximum rises, those
    after which O is rescaled, the same for tiles (any of their rows), the largest weight, and the
    largest error of O against float64."""

    rises: int
    rescaled: int
    tiles: int
    tiles_rescaled: int
    largest: float
    error: float


@cache
def scores() -> tuple[np.ndarray, np.ndarray]:
    """S in units of log2, (n, n), and V (n, d) of the trace, float32."""
    run = trace(PLAYED)
    return run.S * np.float32(LOG2E), np.array(run.V)


@cache
def exact() -> np.ndarray:
    """O (n, d) in float64."""
    S, V = (x.astype(np.float64) for x in scores())
    P = np.exp2(S - S.max(axis=1, keepdims=True))
    return P @ V / P.sum(axis=1, keepdims=True)


@lru_cache(maxsize=16)
def played(threshold: float) -> Played:
    """Online softmax over the trace in fp32, where a row keeps the maximum that it measures from
    until the true one is ahead by more than ``threshold`` in log2."""
    S, V = scores()

    def measured_from(used: np.ndarray, top: np.ndarray) -> np.ndarray:
        return np.where((top > used + np.float32(threshold)) | np.isneginf(used), top, used)

    states = [*online_softmax(S, V, PLAYED.block_k, maximum=measured_from, exp=np.exp2)]
    # The first block has nothing to rescale.
    rises = np.diff(maxima(S), axis=1) > 0
    moved = np.diff(np.hstack([x.m for x in states]), axis=1) > 0
    tile_rises, tile_moved = (
        x.reshape(-1, PLAYED.block_q, x.shape[1]).any(axis=1) for x in (rises, moved)
    )
    counts = (int(x.sum()) for x in (rises, moved, tile_rises, tile_moved))
    largest = max(float(x.P.max()) for x in states)
    error = float(np.abs(states[-1].O / states[-1].l - exact()).max())
    rises, rescaled, tiles, tiles_rescaled = counts
    return Played(rises, rescaled, tiles, tiles_rescaled, largest, error)


def maxima(S: np.ndarray) -> np.ndarray:
    """Return the maximum of each row after each block, (n, blocks)."""
    tiles = S.reshape(len(S), -1, PLAYED.block_k).max(axis=2)
    return np.maximum.accumulate(tiles, axis=1)


@cache
def example_row() -> int:
    """The row whose maximum rises most often."""
    S, _ = scores()
    return int((np.diff(maxima(S), axis=1) > 0).sum(axis=1).argmax())


def row_maxima(threshold: float) -> tuple[list[float], list[float]]:
    """After each block: the true maximum of the shown row, and the one it measures from (log2)."""
    tops: list[float] = maxima(scores()[0])[example_row()].tolist()

    def measured_from(used: float, top: float) -> float:
        return top if top > used + threshold else used

    return tops, [*accumulate(tops, measured_from)]


@lru_cache(maxsize=len(DEGREES))
def polynomial(degree: int) -> np.ndarray:
    """Coefficients, highest power first, of the polynomial that meets 2^x at Chebyshev's points of
    [0, 1]; the best fit is a little closer."""
    k = np.arange(degree + 1)
    x = 0.5 + 0.5 * np.cos((2 * k + 1) * math.pi / (2 * (degree + 1)))
    return np.polyfit(x, np.exp2(x), degree)


def error_of(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """x on [0, 1] (POINTS,) and the relative error of the polynomial there."""
    x = np.linspace(0, 1, POINTS)
    return x, np.abs(np.polyval(polynomial(degree), x) / np.exp2(x) - 1)


def _rescaling(threshold: int, found: Played) -> dict[str, object]:
    tops, used = row_maxima(threshold)
    low, high = min(used) - 1, max(tops) + 1
    share = found.rescaled / found.rises if found.rises else 0.0
    return panel(
        WIDTH,
        HEIGHT,
        *captions(
            "blackwell.rescaling",
            threshold=threshold,
            rises=found.rises,
            rescales=found.rescaled,
            share=share,
            tiles=found.tiles,
            rescaled=found.tiles_rescaled,
            error=found.error,
            error_0=played(0).error,
        ),
        chart(
            30,
            58,
            WIDTH - 40,
            150,
            [("true", tops, "m", ""), ("used", used, "o", "is-dashed")],
            low=low,
            high=high,
            ticks=[(round(low + 1), f"{low + 1:.0f}"), (round(high - 1), f"{high - 1:.0f}")],
            last="",
        ),
    )


def _exp(degree: int) -> dict[str, object]:
    error = error_of(degree)[1]
    step = POINTS // 100
    half = FORMATS["bf16"].unit_roundoff
    values = [max(float(e), 1e-9) for e in error[::step]]
    line = 58 + 150 * (1 - (math.log(half) - math.log(1e-9)) / (math.log(1) - math.log(1e-9)))
    return panel(
        WIDTH,
        HEIGHT,
        *captions("blackwell.exp", degree=degree, most=half, largest=float(error.max())),
        chart(
            54,
            58,
            WIDTH - 64,
            150,
            [("error", values, "o", "")],
            low=1e-9,
            high=1.0,
            log=True,
            ticks=[(1e-2, "10⁻²"), (1e-4, "10⁻⁴"), (1e-6, "10⁻⁶")],
            last="x",
        ),
        path([(54, line), (WIDTH - 10, line)], "m", "is-dashed"),
        draw_text(60, line - 6, t("blackwell.exp.bf16"), "is-small", hue="m"),
        lines(340, t("blackwell.exp.why"), "is-small"),
    )


def _rates() -> dict[str, object]:
    """What grew from H100 to B200, and what did not."""
    old, new = CARDS["h100"], CARDS["b200"]
    exps = [exps_per_s(card) / 1e12 for card in (old, new)]
    rows = (
        (t("blackwell.rates.products"), old.tensor_tflops, new.tensor_tflops, "v"),
        (t("blackwell.rates.exps"), *exps, "l"),
    )
    shapes = []
    for k, (name, a, b, hue) in enumerate(rows):
        y = 62 + 126 * k
        shapes.append(draw_text(0, y - 10, name, "is-small"))
        for row, (card, value) in enumerate((("H100", a), ("B200", b))):
            wide = 140 * value / max(a, b)
            shapes += [
                box(50, y + 34 * row, wide, 26, hue=hue, look="is-full" if row else ""),
                draw_text(0, y + 34 * row + 18, card, "is-small"),
                draw_text(
                    56 + wide,
                    y + 34 * row + 18,
                    f"{value:,.3g}" if value < 100 else f"{value:,.0f}",
                    "is-bold",
                ),
            ]
        shapes.append(draw_text(50, y + 84, t("blackwell.rates.times", ratio=b / a), "is-bold"))
    was, now = (4 * D / (c.tensor_tflops * 1e12) * exps_per_s(c) for c in (old, new))
    return panel(WIDTH, HEIGHT, shapes, captions("blackwell.rates", d=D, old=was, new=now))


def _blackwell(threshold: int, degree: int) -> list[Block]:
    found = played(threshold)
    off = error_of(degree)[1].max()
    spoken = t(
        "blackwell.words",
        threshold=threshold,
        rises=found.rises,
        rescaled=found.rescaled,
        error=found.error,
        degree=degree,
        off=off,
    )
    note = t("blackwell.note", n=PLAYED.n, d=PLAYED.d, side=PLAYED.block_q, gain=PLAYED.gain)
    panels = _rescaling(threshold, found), _exp(degree), _rates()
    return [scene(t("blackwell.label"), spoken, *panels), text(note, "fine")]


WIDGETS = {
    "blackwell": _blackwell,
}


def _question(threshold: int) -> dict:
    return {"answer": 2.0**threshold, "wrong": (threshold, math.exp(threshold), 1)}


def _figures() -> dict[str, str]:
    found = played(8)
    return {
        "place": address(Problem(), 1, "exp"),
        "skipped": f"{1 - found.rescaled / found.rises:.0%}",
    }


FIGURES = {"blackwell": _figures}
QUESTIONS = {"blackwell": _question}
