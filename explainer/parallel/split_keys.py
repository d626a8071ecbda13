"""Decoding: one query against N keys. Splitting the queries leaves a card idle; splitting the keys
fills it, and lse puts the parts together exactly."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from explainer.algorithms.inputs import make_inputs
from explainer.base.records import load
from explainer.memory.workload import Workload
from explainer.problem import Problem

RECORD = "decode_nvidia_h200"
SDPA = {"sdpa_flash": "SDPA flash", "sdpa_cudnn": "SDPA cuDNN"}  # recorded beside it


@dataclass(frozen=True, eq=False)
class Part:
    """One part of the keys, ``first`` up to ``last`` (exclusive): its own softmax.

    ``m``, ``l``, ``lse`` scalars, natural log; ``O`` (d,), normalised by ``l``; ``weight`` =
    exp(lse − lse of all).
    """

    first: int
    last: int
    m: float
    l: float
    lse: float
    O: np.ndarray
    weight: float


def parts(problem: Problem, splits: int) -> tuple[tuple[Part, ...], np.ndarray, float]:
    """The last row's attention to all keys, in ``splits`` parts: (parts, O (d,), lse), float64.

    lse = log Σ exp(lse_p), O = Σ exp(lse_p − lse) O_p, as `kernels.decode.combine_kernel` does.
    """
    q, k, v = (np.asarray(x, np.float64) for x in make_inputs(problem))
    scores = k @ q[-1] * problem.scale
    bounds = [round(problem.n * p / splits) for p in range(splits + 1)]
    found = []
    for first, last in pairwise(bounds):
        if first == last:
            continue
        m = float(scores[first:last].max())
        p = np.exp(scores[first:last] - m)
        l = float(p.sum())
        found.append((first, last, m, l, m + math.log(l), p @ v[first:last] / l))
    highest = max(part[4] for part in found)
    lse = highest + math.log(sum(math.exp(part[4] - highest) for part in found))
    made = tuple(Part(*part, weight=math.exp(part[4] - lse)) for part in found)
    return made, np.sum([part.weight * part.O for part in made], axis=0), lse


def share_at_work(programs: int, sms: int) -> float:
    """Return the share of the SMs' time in which equal programs, one on an SM at once, run."""
    return programs / (sms * math.ceil(programs / sms))


def nearest_rows(w: Workload) -> list[dict]:
    """What was recorded on the H200 nearest to this N and B·H (in octaves)."""
    rows = load(RECORD)["rows"]

    def distance(row: dict) -> float:
        n, heads = math.log2(row["n_k"] / w.n), math.log2(row["heads"] / (w.batch * w.heads))
        return abs(n) + abs(heads)

    best = min(rows, key=distance)
    return [r for r in rows if (r["n_k"], r["heads"]) == (best["n_k"], best["heads"])]


def recorded_rows(w: Workload) -> list[dict]:
    """Of the nearest recorded rows ours, one for each number of parts; that which the rule chooses
    there has ``rule``."""
    return [r for r in nearest_rows(w) if "splits" in r]
