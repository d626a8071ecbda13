"""Is the picture the kernel? Compares the m and l that a kernel reports with those of the trace."""

import math
from collections.abc import Callable

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.inputs import make_inputs
from explainer.base.fields import ProblemError
from explainer.engine.results import MOST_CELLS, MOST_SEEN, Same, Seen, TileErrors
from explainer.problem import Problem
from explainer.trace import trace

States = Callable[[], tuple[np.ndarray, np.ndarray]]


def traced_states(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """m and l of every row after every tile, (Tr, Tc, Br) fp32, as the picture shows them.

    NaN where the tile is skipped and in the rows beyond N. Raises ProblemError when the trace of
    this Problem is too large to hold.
    """
    states = np.full((2, problem.Tr, problem.Tc, problem.block_q), np.nan, np.float32)
    for visit in trace(problem).visits:
        if visit.m_new is not None and visit.j is not None:
            states[:, visit.i, visit.j, : len(visit.m_new)] = visit.m_new, visit.l_new
    return states[0], states[1]


def tolerance(problem: Problem) -> float:
    """δ of a Problem, see ``score_tolerance``. A score that scales S passes the error on as often;
    what it adds, and a sink, are rounded as S is."""
    Q, K, _ = make_inputs(problem)
    scale, added = problem.scale, abs(problem.sink or 0.0)
    for modification, numbers in problem.score.modifications:
        scale *= modification.factor(*numbers)
        added += modification.adds(problem.n, *numbers)
    return score_tolerance(Q, K, scale, added)


def score_tolerance(Q: np.ndarray, K: np.ndarray, scale: float, added: float = 0.0) -> float:
    """δ: how far two correct fp32 computations of a score of Q and K (…, n, d) may lie apart.

    A sum of d products rounds like a random walk, to about u ‖q‖‖k‖/√d with u = 2⁻²⁴; scaling,
    subtracting m and exp cost as much again each, and two runs differ by twice that.
    """
    norms = [np.linalg.norm(x.astype(np.float64), axis=-1).max() for x in (Q, K)]
    return float(8 * 2.0**-24 * (norms[0] * norms[1] * scale + added) + 1e-6)


def output_tolerance(delta: float, unit: float, V: np.ndarray) -> float:
    """How far two correct computations of O may lie apart whose scores are ``delta`` apart, stored
    in a dtype of this unit roundoff: P and O are rounded in both."""
    return (4 * unit + delta) * float(abs(V).max())


def _differences(m, l, m_expected, l_expected) -> tuple[np.ndarray, np.ndarray]:
    """Return |Δm| and |Δl|/l of every row after every tile, (Tr, Tc, Br) float64: NaN where the
    tile is skipped in both, ∞ where it is in one. A row that has met no key yet has m = −∞ and
    l = 0 in both, or they differ by all there is."""
    there = ~np.isnan(m_expected)
    empty = np.isneginf(m_expected)
    apart = (
        (np.isnan(m) == there)
        | (np.isnan(l) == there)
        | (there & ((empty != np.isneginf(m)) | (empty != (l == 0))))
    )
    with np.errstate(invalid="ignore"):
        m_error = np.abs(np.where(empty, 0, m) - np.where(empty, 0, m_expected), dtype=np.float64)
        l_error = np.abs(l - l_expected) / np.where(empty, 1, l_expected)
    return np.where(apart, np.inf, m_error), np.where(apart, np.inf, l_error)


def map_of(m_error: np.ndarray, l_error: np.ndarray, wrong: np.ndarray) -> TileErrors:
    """Make the map of tiles, all three (Tr, Tc): the largest |Δm| and |Δl|/l of each, −1 where it
    is skipped and ∞ where nothing can be compared, and whether it differs."""
    down, across = (-(-size // MOST_CELLS) for size in wrong.shape)
    m, l, bad = (tiling.shrink(x, down, across) for x in (m_error, l_error, wrong))
    first = np.argwhere(wrong)

    def numbers(x: np.ndarray) -> list[float | None]:
        return [float(f"{v:.3g}") if 0 <= v < math.inf else None for v in x.ravel()]

    return {
        "rows": m.shape[0],
        "columns": m.shape[1],
        "down": down,
        "across": across,
        "cells": "".join(
            "x" if b else "." if v < 0 else "=" for v, b in zip(m.flat, bad.flat, strict=True)
        ),
        "m": numbers(m),
        "l": numbers(l),
        "first": (int(first[0][0]), int(first[0][1])) if len(first) else None,
    }


def _seen(m, l, m_expected, l_expected, differences: np.ndarray) -> list[Seen]:
    """Return m and l of the row that differs most of each tile, of the tiles that differ most, in
    the order of the tiles; ``differences``: of every row, (Tr, Tc, Br), −1 where it has none."""
    largest = differences.max(axis=2)
    tiles = np.argsort(-largest, axis=None, kind="stable")[:MOST_SEEN]
    places = [np.unravel_index(k, largest.shape) for k in sorted(tiles) if largest.flat[k] >= 0]
    found = []
    for i, j in places:
        row = int(differences[i, j].argmax())
        at = i, j, row
        found.append(
            Seen(
                i=int(i),
                j=int(j),
                row=int(i) * m.shape[2] + row,
                m=float(m[at]),
                l=float(l[at]),
                m_expected=float(m_expected[at]),
                l_expected=float(l_expected[at]),
            )
        )
    return found


def compare(problem: Problem, m: np.ndarray, l: np.ndarray, direct: States) -> Same:
    """Judges a kernel's tile states, each (Tr, Tc, Br) in natural units, NaN where nothing ran.

    ``direct`` makes the same by definition, in float64: for Problems too large for a trace.
    """
    try:
        against, expected = "trace", traced_states(problem)
    except ProblemError:
        against, expected = "float64", direct()
    there = ~np.isnan(expected[0])
    allowed = tolerance(problem)
    differences = _differences(m, l, *expected)
    m_error, l_error = (float(np.nanmax(x, initial=0)) for x in differences)
    both = np.isfinite(m) & np.isfinite(l) & np.isfinite(expected[0])
    m_tiles, l_tiles = (np.where(np.isnan(x), -1.0, x).max(axis=2) for x in differences)
    return {
        "map": map_of(m_tiles, l_tiles, (m_tiles > allowed) | (l_tiles > 2 * allowed)),
        "seen": _seen(m, l, *expected, np.where(both, sum(differences), -1.0)),
        "against": against,
        "tiles": int(there.any(axis=2).sum()),
        "values": 2 * int(there.sum()),
        "m_error": m_error if math.isfinite(m_error) else None,
        "l_error": l_error if math.isfinite(l_error) else None,
        "tolerance": allowed,
        "agrees": m_error <= allowed and l_error <= 2 * allowed,
    }
