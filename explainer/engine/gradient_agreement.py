"""Is the backward picture the kernel? Compares what a kernel reports of each tile of its backward
pass with the trace."""

from __future__ import annotations

import math

import numpy as np

from explainer.algorithms import tiling
from explainer.engine.agreement import tolerance
from explainer.engine.results import Same
from explainer.problem import Problem
from explainer.trace import trace_backward
from kernels.spec.formats import FORMATS

States = tuple[
    np.ndarray, np.ndarray, np.ndarray
]  # part_dQ (Tr, Tc, Br, d); dK, dV (Tr, Tc, Bc, d)
NAMES = ("dQ", "dK", "dV")
ROUNDOFF = 2.0**-24


def _empty(problem: Problem) -> States:
    p = problem
    sides = p.block_q, p.block_k, p.block_k
    part_dQ, dK, dV = (np.full((p.Tr, p.Tc, side, p.d), np.nan, np.float32) for side in sides)
    return part_dQ, dK, dV


def traced_gradients(problem: Problem) -> States:
    """What each tile adds to dQ_i, and dK_j and dV_j after it, unscaled, as the picture shows them;
    NaN where the tile is skipped and beyond N. Of order fa2. Raises ProblemError as the trace."""
    states = _empty(problem)
    for v in trace_backward(problem).visits:
        if v.part_dQ is not None:
            assert v.dK is not None and v.dV is not None  # a tile of fa2 adds to all three
            for state, found in zip(states, (v.part_dQ, v.dK, v.dV), strict=True):
                state[v.i, v.j, : len(found)] = found
    return states


def allowed(problem: Problem) -> States:
    """How far two correct computations of each of these numbers may lie apart.

    A score is δ apart (``agreement.tolerance``), so that P is by δ of itself, and by a unit of the
    dtype twice more where both are rounded for Pᵀ dO. dP and D are sums of d products, which round
    like a random walk; D is of an O that may have been rounded the other way. dS is apart by P
    times both, by δ of its two terms and by its own rounding; by a bent score's slope, 2δ/c. The
    sums of tiles carry all that by the sizes of what they multiply, and round as sums do.
    """
    p, t = problem, trace_backward(problem)
    unit, delta = FORMATS[p.dtype].unit_roundoff, tolerance(p)
    walk = 2 * ROUNDOFF * (math.sqrt(max(p.d, p.n)) + 4)
    Q, K, V, O, dO = (np.abs(x.astype(np.float64)) for x in (t.Q, t.K, t.V, t.O, t.dO))
    apart_D = (2 * unit + walk) * (dO * O).sum(axis=1)
    bend = delta * sum(m.bend(*numbers) for m, numbers in p.score.modifications)
    states = _empty(p)
    sums: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for v in t.visits:
        if v.part_dQ is None:
            continue
        assert v.i is not None and v.j is not None and v.D is not None  # a tile of fa2 has them
        assert v.P is not None and v.dP is not None and v.dS is not None
        r, c = tiling.rows(p, v.i), tiling.cols(p, v.j)
        P, D = v.P.astype(np.float64), np.abs(v.D.astype(np.float64))
        slope = 1.0 if v.slope is None else np.abs(v.slope.astype(np.float64))
        terms = P * (np.abs(v.dP) + D[:, None])
        apart = P * slope * (walk * (dO[r] @ V[c].T) + apart_D[r][:, None])
        apart += terms * (slope * (delta + walk) + bend) + 2 * unit * np.abs(v.dS)
        weights = P * (delta + 2 * unit + walk)
        size = np.abs(v.dS)
        dK, dV = (apart + walk * size).T @ Q[r], (weights + walk * P).T @ dO[r]
        before = sums.get(v.j, (0.0, 0.0))
        sums[v.j] = before[0] + dK, before[1] + dV
        for state, found in zip(states, ((apart + walk * size) @ K[c], *sums[v.j]), strict=True):
            state[v.i, v.j, : len(found)] = found
    return states


def compare_gradients(problem: Problem, found: States) -> Same:
    """Judge what `kernels.gradient_states` reports of one head, NaN where nothing ran; ``largest``
    is the share of what is allowed at its place. Raises ProblemError where there is no trace."""
    expected, most = traced_gradients(problem), allowed(problem)
    errors: dict[str, float | None] = {}
    shares = []
    for name, mine, true, limit in zip(NAMES, found, expected, most, strict=True):
        there = ~np.isnan(true)
        if mine.shape != true.shape or not np.array_equal(there, np.isfinite(mine)):
            errors[name] = None
            shares.append(math.inf)
            continue
        error = np.abs(mine[there].astype(np.float64) - true[there])
        errors[name] = float(error.max(initial=0))
        # Where nothing may differ nothing is: 0 of 0 is 0.
        tiny = np.finfo(np.float32).tiny
        shares.append(float((error / (limit[there] + tiny)).max(initial=0)))
    largest = max(shares)
    return {
        "against": "trace",
        "tolerance": 1.0,
        "tiles": int((~np.isnan(expected[0])).any(axis=(2, 3)).sum()),
        "values": sum(int((~np.isnan(x)).sum()) for x in expected),
        "errors": errors,
        "largest": largest if math.isfinite(largest) else None,
        "agrees": largest <= 1,
    }
