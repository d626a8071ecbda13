"""A training step in mixed precision, three small runs, a weight that loses its updates."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explainer.base.amounts import listed, power
from explainer.learn.kit import Block, Words
from explainer.learn.precision import gradients, lost
from kernels.spec.formats import FORMATS

t = Words(__name__)
HALF = FORMATS["fp16"].round_to
STEPS, RATE, SAMPLES = 240, 0.03, 64
INPUTS, WIDTH = 8, 16
SIZE = 2.0**-9  # of the targets: small losses have small gradients
START, EVERY = 2.0**30, 40  # of the scale: its first value, good steps until it doubles
PUSHES = 40  # updates of the one weight
WAYS = ("fp32", "plain", "amp")
SEEDS = (2, 1, 0)  # of the runs; the first one is drawn


@dataclass(frozen=True, eq=False)
class Run:
    """A training run: the loss before each step, relative to the targets' size; the scale at each;
    the steps that were skipped."""

    losses: tuple[float, ...]
    scales: tuple[float, ...]
    skipped: tuple[int, ...]


def make_data(seed: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Inputs (samples, inputs), targets (samples, 1), the two weight matrices at the start."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((SAMPLES, INPUTS))
    y = SIZE * np.sin(x[:, :1] + x[:, 1:2])
    return x, y, [rng.standard_normal((INPUTS, WIDTH)) * 0.35, np.zeros((WIDTH, 1))]


@lru_cache(maxsize=len(WAYS) * len(SEEDS))
def run(way: str, seed: int = SEEDS[0]) -> Run:
    """Two layers and a tanh, fitted to a sine by Adam's rule without momentum of its own: each
    weight moves by RATE · SIZE · g / √mean(g²). In fp16 every product's result is rounded, in the
    forward and in the backward pass; sums inside of a product are not, as on a tensor core."""
    x, y, weights = make_data(seed)
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


def compute(by: float) -> Block:
    """The step as a flow; the losses of three runs and the scale; one weight, pushed."""
    short, long = pushed(1.0, by, PUSHES)
    runs = {way: run(way) for way in WAYS}
    return t.picture(
        steps=range(STEPS),
        losses=[one.losses for one in runs.values()],
        ends={way: one.losses[-1] for way, one in runs.items()},
        scales=runs["amp"].scales,
        skipped=len(runs["amp"].skipped),
        by=by,
        updates=range(PUSHES + 1),
        in_fp16=short,
        in_fp32=long,
        high=max(long[-1], 1.001),
        short=short[-1],
        long=long[-1],
    )


def question(start: float, by: float, count: int) -> dict:
    """The weight in fp16; in fp32, rounded once at the end, and moved by a whole gap each time."""
    short, long = pushed(start, by, count)
    gap = float(np.nextafter(np.float16(start), np.float16(np.inf))) - start
    moves = (short[-1] - start) / count / gap
    return {
        "answer": short[-1],
        "wrong": (long[-1], float(HALF(start + by * count)), start + count * gap),
        "figures": {"moves": f"{moves:.2g}" if moves else "0"},
    }


def figures() -> dict[str, object]:
    """How far runs part by chance, and which scales save small gradients."""
    ks = np.arange(41)
    zero, over = lost(FORMATS["fp16"], -27, ks)
    good = ks[(zero == 0) & (over == 0)]
    ratios = [run("amp", seed).losses[-1] / run("fp32", seed).losses[-1] for seed in SEEDS]
    return {
        "runs": len(SEEDS),
        "ratios": listed([f"{ratio:.2f}" for ratio in ratios]),
        "every": EVERY,
        "start": power(2, 30),
        "gradients": len(gradients(-27)),
        "lost": f"{zero[0]:.0%}",
        "low": good[0],
        "high": good[-1],
    }
