"""Is the backward picture the kernel? Compares what a kernel reports of each tile of its backward
pass with the trace."""

import math
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Bounds:
    """How far two correct computations of the gradients of some rows and keys may lie apart.

    ``unit``: the unit roundoff of the dtype; ``delta``: how far a score may lie apart; ``terms``:
    of how many terms the longest sum is; ``bend``: of how much a bent score's slope may.

    A score is δ apart (``agreement.tolerance``), so that P is by δ of itself, and by a unit of the
    dtype twice more where both are rounded for Pᵀ dO. dP and D are sums of d products, which round
    like a random walk; D is of an O that may have been rounded the other way. dS is apart by P
    times both, by δ of its two terms and by its own rounding; by a bent score's slope, 2δ/c. The
    sums of tiles carry all that by the sizes of what they multiply, and round as sums do.
    """

    unit: float
    delta: float
    terms: int
    bend: float = 0.0

    @property
    def walk(self) -> float:
        return 2 * ROUNDOFF * (math.sqrt(self.terms) + 4)

    def tile(self, P, dP, dS, D, slope, Q, K, V, O, dO) -> States:
        """Return the bounds of dQ, dK and dV, unscaled, of a tile: P, dP and dS (rows, keys), D
        (rows,); the other arrays are (rows or keys, d) in float64, without their signs."""
        apart_D = (2 * self.unit + self.walk) * (dO * O).sum(axis=1)
        sizes = np.abs(dS)
        terms = P * (np.abs(dP) + np.abs(D)[:, None])
        apart = P * slope * (self.walk * (dO @ V.T) + apart_D[:, None])
        apart += terms * (slope * (self.delta + self.walk) + self.bend) + 2 * self.unit * sizes
        apart += self.walk * sizes
        weights = P * (self.delta + 2 * self.unit + 2 * self.walk)
        return apart @ K, apart.T @ Q, weights.T @ dO


def allowed(problem: Problem) -> States:
    """How far two correct computations of each of these numbers may lie apart."""
    p, t = problem, trace_backward(problem)
    delta = tolerance(p)
    bend = delta * sum(m.bend(*numbers) for m, numbers in p.score.modifications)
    bounds = Bounds(FORMATS[p.dtype].unit_roundoff, delta, max(p.d, p.n), bend)
    Q, K, V, O, dO = (np.abs(x.astype(np.float64)) for x in (t.Q, t.K, t.V, t.O, t.dO))
    states = _empty(p)
    sums: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for v in t.visits:
        if v.part_dQ is None:
            continue
        assert v.i is not None and v.j is not None and v.D is not None  # a tile of fa2 has them
        assert v.P is not None and v.dP is not None and v.dS is not None
        r, c = tiling.rows(p, v.i), tiling.cols(p, v.j)
        P, dP, dS, D = (x.astype(np.float64) for x in (v.P, v.dP, v.dS, v.D))
        slope = 1.0 if v.slope is None else np.abs(v.slope.astype(np.float64))
        dQ, dK, dV = bounds.tile(P, dP, dS, D, slope, Q[r], K[c], V[c], O[r], dO[r])
        before = sums.get(v.j, (0.0, 0.0))
        sums[v.j] = before[0] + dK, before[1] + dV
        for state, found in zip(states, (dQ, *sums[v.j]), strict=True):
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
