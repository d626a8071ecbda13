"""What goes wrong, or is lost, where attention is spread over devices: each shown by running it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from explainer.algorithms.inputs import make_inputs
from explainer.problem import Problem
from kernels.spec import layouts, masks
from kernels.spec.formats import round_to

SMALL = Problem(n=32, d=8, block_q=4, block_k=4, mask="causal", inputs="random")


def lesson_numbers() -> dict[str, object]:
    """Return all of them, for the lesson on more than one GPU."""
    return {
        "busy": [(p, contiguous_busy(p, 64), limit(p)) for p in (2, 4, 8)],
        "merges": merge_errors(),
        "overflow": naive_merge(80.0, 95.0),
        "stale": stale_gradients(SMALL, 4),
    }


def limit(devices: int) -> float:
    """Return the share of time that P devices with contiguous rows compute under a causal mask, as
    tiles get ever smaller: N² / 2 scores in the time of the last device, its own triangle and
    P − 1 squares."""
    return devices / (2 * devices - 1)


def contiguous_busy(count: int, tiles: int) -> float:
    """Return the same share for tiles × tiles tiles on each pair of devices, counted."""
    own, other = tiles * (tiles + 1) // 2, tiles * tiles
    steps = np.array([[own if s == 0 else other * (s <= r) for s in range(count)]
                      for r in range(count)])  # fmt: skip
    return float(steps.sum() / (count * steps.max(0).sum()))


def merge_errors(counts: tuple[int, ...] = (2, 4, 8, 16, 32, 64)) -> list[tuple[int, float, float]]:
    """Return (P, error, error) of a row's O whose parts, each rounded to bf16, are merged in fp32,
    and with O rounded to bf16 after each merge: root mean square over the rows, relative to O."""
    problem = replace(SMALL, n=256, mask=masks.parse("full").text, block_q=4, block_k=4)
    q, k, v = (np.asarray(x, np.float64) for x in make_inputs(problem))
    s = q @ k.T * problem.scale
    p = np.exp(s - s.max(1, keepdims=True))
    truth = p @ v / p.sum(1, keepdims=True)
    found = []
    for count in counts:
        errors = []
        for dtype in ("fp32", "bf16"):
            o, weight = np.zeros(truth.shape, np.float32), np.zeros((len(q), 1))
            for part in np.array_split(np.arange(problem.n), count):
                l = p[:, part].sum(1, keepdims=True)
                own = round_to((p[:, part] @ v[part] / l).astype(np.float32), "bf16")
                total = weight + l
                o = round_to(((weight * o + l * own) / total).astype(np.float32), dtype)
                weight = total
            errors.append(float(np.sqrt(((o - truth) ** 2).mean() / (truth**2).mean())))
        found.append((count, *errors))
    return found


def naive_merge(a: float, b: float) -> tuple[float, float]:
    """Return the lse of two parts with the lse a and b in fp32: log(exp a + exp b) as written, and
    with the larger one taken out first."""
    with np.errstate(over="ignore"):
        naive = np.log(np.exp(np.float32(a)) + np.exp(np.float32(b)))
    m = max(a, b)
    return float(naive), m + math.log(math.exp(a - m) + math.exp(b - m))


def stale_gradients(problem: Problem, count: int) -> dict[str, float]:
    """Return the largest error of dQ, dK and dV, relative to the largest of each, of a backward
    pass over devices: "right", and "stale" where each step multiplies by the K and V of the step
    before, which have not arrived yet; dO is Q."""
    q, k, v = (np.asarray(x, np.float64) for x in make_inputs(problem))
    n, counts = problem.n, layouts.counts(problem.n, count, "contiguous")
    runs = [slice(*each[0]) for each in layouts.runs(counts, "contiguous")]
    s = np.where(problem.mask.keep(n, n), q @ k.T * problem.scale, -np.inf)
    lse = np.log(np.exp(s).sum(1))
    p = np.exp(s - lse[:, None])
    d_o = q
    delta = (d_o * (p @ v)).sum(1)
    d_s = p * (d_o @ v.T - delta[:, None]) * problem.scale
    truth = d_s @ k, d_s.T @ q, p.T @ d_o
    errors = {}
    for name, late in (("right", 0), ("stale", 1)):
        grads = [np.zeros_like(x) for x in (q, k, v)]
        for r, step in np.ndindex(count, count):
            rows, keys = runs[r], runs[layouts.source(r, step, count)]
            here = runs[layouts.source(r, max(0, step - late), count)]
            visible = problem.mask.keep(n, n, rows, keys)
            part = np.where(visible, q[rows] @ k[here].T * problem.scale, -np.inf)
            part = np.exp(part - lse[rows, None])
            d_part = part * (d_o[rows] @ v[here].T - delta[rows, None]) * problem.scale
            grads[0][rows] += d_part @ k[here]
            grads[1][keys] += d_part.T @ q[rows]
            grads[2][keys] += part.T @ d_o[rows]
        errors[name] = max(
            float(np.abs(x - y).max() / np.abs(y).max()) for x, y in zip(grads, truth, strict=True)
        )
    return errors
