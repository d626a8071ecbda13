"""5.3: mixed precision on a small training run: fp16 products, a scaled loss, fp32 weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explainer.base.amounts import power
from explainer.learn.blocks import Block, t
from explainer.learn.precision import gradients, lost
from explainer.learn.scene import Shape, captions, chart, lines, panel, scene
from kernels.spec.formats import FORMATS

HALF = FORMATS["fp16"].round_to
STEPS, RATE, SAMPLES = 240, 0.03, 64
INPUTS, WIDTH = 8, 16
SIZE = 2.0**-9  # of the targets: small losses have small gradients
START, EVERY = 2.0**30, 40  # of the scale: its first value, good steps until it doubles
PUSHES = 40  # updates of the one weight
WAYS = t.named("amp.ways")


@dataclass(frozen=True, eq=False)
class Run:
    """A training run: the loss before each step, relative to the targets' size; the scale at each;
    the steps that were skipped."""

    losses: tuple[float, ...]
    scales: tuple[float, ...]
    skipped: tuple[int, ...]


def _data() -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Inputs (samples, inputs), targets (samples, 1), the two weight matrices at the start."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((SAMPLES, INPUTS))
    y = SIZE * np.sin(x[:, :1] + x[:, 1:2])
    return x, y, [rng.standard_normal((INPUTS, WIDTH)) * 0.35, np.zeros((WIDTH, 1))]


@lru_cache(maxsize=len(WAYS))
def run(way: str) -> Run:
    """Two layers and a tanh, fitted to a sine by Adam's rule without momentum of its own: each
    weight moves by RATE · SIZE · g / √mean(g²). In fp16 every product's result is rounded, in the
    forward and in the backward pass; sums inside of a product are not, as on a tensor core."""
    x, y, weights = _data()
    short = (lambda a: a) if way == "fp32" else HALF
    dynamic, master = way == "amp", way != "plain"
    scale, good = (START if dynamic else 1.0), 0
    if not master:
        weights = [HALF(w) for w in weights]
    seconds = [np.zeros_like(w) for w in weights]
    losses, scales, skipped = [], [], []
    for step in range(STEPS):
        used = [short(w) for w in weights]
        hidden = short(np.tanh(short(short(x) @ used[0])))
        error = short(hidden @ used[1]) - y  # the loss is kept in fp32
        losses.append(float((error**2).mean()) / SIZE**2)
        scales.append(scale)
        with np.errstate(over="ignore", invalid="ignore"):
            d_out = short(scale * 2 * error / error.size)
            d_hidden = short(short(d_out @ used[1].T) * (1 - hidden**2))
            found = [short(short(x).T @ d_hidden), short(hidden.T @ d_out)]
        if dynamic:
            if not all(np.isfinite(g).all() for g in found):
                skipped.append(step)
                scale, good = scale / 2, 0
                continue
            good += 1
            if good == EVERY:
                scale, good = scale * 2, 0
        for k, g in enumerate(found):
            g = g / scales[-1]
            seconds[k] = 0.9 * seconds[k] + 0.1 * g * g
            rate = RATE * (1 - step / STEPS) ** 3 * (SIZE if k else 1.0)
            moved = weights[k] - rate * g / (np.sqrt(seconds[k] / (1 - 0.9 ** (step + 1))) + 1e-30)
            weights[k] = moved if master else HALF(moved)
    return Run(tuple(losses), tuple(scales), tuple(skipped))


def pushed(start: float, by: float, count: int) -> tuple[list[float], list[float]]:
    """A weight after each of ``count`` updates, kept in fp16 and in fp32: (fp16, fp32)."""
    short, long = [float(HALF(start))], [float(np.float32(start))]
    for _ in range(count):
        short.append(float(HALF(short[-1] + by)))
        long.append(float(np.float32(long[-1] + by)))
    return short, long


def _losses(way: str) -> list[Shape]:
    mine, true = run(way), run("fp32")
    ticks = [(1.0, "1"), (0.1, "0.1"), (0.01, "0.01"), (0.001, "0.001")]
    curves = [("fp32", true.losses, "plain", "is-dashed")]
    if way != "fp32":
        curves.append(("mine", mine.losses, "o", ""))
    shapes = [
        *captions("amp.losses", fp32=WAYS["fp32"], mine=WAYS[way] if way != "fp32" else ""),
        *chart(
            60,
            34,
            330,
            190,
            curves,
            low=0.001,
            high=1,
            log=True,
            ticks=ticks,
            last=t("amp.last_step", n=STEPS),
        ),
    ]
    marks = [(2.0**k, power(2, k) if k else "1") for k in (30, 15, 0)]
    shapes += chart(
        60,
        292,
        330,
        80,
        [("scale", mine.scales, "l", "")],
        low=1,
        high=2.0**31,
        log=True,
        ticks=marks,
    )
    return shapes


def _weight(by: float) -> list[Shape]:
    short, long = pushed(1.0, by, PUSHES)
    top = max(long[-1], short[-1], 1.001)
    ticks = [(1.0, "1"), (top, f"{top:.4g}")]
    shapes = [
        *captions("amp.weight", n=PUSHES, by=by, short=short[-1], long=long[-1]),
        *chart(
            60,
            34,
            270,
            190,
            [("long", long, "plain", "is-dashed"), ("short", short, "q", "")],
            low=1,
            high=top,
            ticks=ticks,
            last=t("amp.last_update", n=PUSHES),
        ),
        *lines(340, t("amp.gap", power=power(2, -10), gap=2.0**-10), "is-small is-quiet"),
    ]
    return shapes


def _amp(way: str, by: float) -> list[Block]:
    mine, true, (short, long) = run(way), run("fp32"), pushed(1.0, by, PUSHES)
    words = t(
        "amp.words",
        steps=STEPS,
        loss=mine.losses[-1],
        skipped=len(mine.skipped),
        true=true.losses[-1],
        updates=PUSHES,
        by=by,
        short=short[-1],
        long=long[-1],
    )
    return [
        scene(t("amp.label"), words, panel(410, 395, _losses(way)), panel(340, 395, _weight(by)))
    ]


WIDGETS = {
    "amp": _amp,
}


def _question(start: float, by: float, count: int) -> dict:
    short, long = pushed(start, by, count)
    gap = float(np.nextafter(np.float16(start), np.float16(np.inf))) - start
    return {
        "answer": short[-1],
        "wrong": (long[-1], float(HALF(start + by * count)), start + count * gap),
    }


def _figures() -> dict[str, object]:
    ks = np.arange(41)
    zero, over = lost(FORMATS["fp16"], -27, ks)
    good = ks[(zero == 0) & (over == 0)]
    return {
        "every": EVERY,
        "start": power(2, 30),
        "gradients": len(gradients(-27)),
        "lost": f"{zero[0]:.0%}",
        "low": good[0],
        "high": good[-1],
    }


FIGURES = {"amp": _figures}
QUESTIONS = {"amp": _question}
