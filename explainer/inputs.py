"""Q, K, V of a Problem: named generators, the same numbers for picture, trace and kernel."""

from __future__ import annotations

import numpy as np

from explainer.formats import round_to
from explainer.problem import Problem

# name in the URL → what the page calls it; the order is the order of the menu
INPUTS = {
    "rising": "Rising maximum",
    "random": "Random normal",
    "spike": "One huge logit",
    "sentence": "Six-word sentence",
}
WORDS = ("the", "cat", "sat", "on", "the", "mat")

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def _normal(problem: Problem) -> Arrays:
    rng = np.random.default_rng(problem.seed)
    q, k, v = rng.standard_normal((3, problem.n, problem.d), dtype=np.float32)
    return q, k, v


def _rising(problem: Problem) -> Arrays:
    """Scores that climb from key block to key block, so that every visit rescales.

    The first coordinate carries the climb (q = √d, k = step × block), the others noise whose
    score stays under half a step by Cauchy–Schwarz; the keys of one block share their climb, so a
    row that sees only some keys of a block still meets a new maximum there.
    """
    q, k, v = _normal(problem)
    block = np.arange(problem.n) // problem.block_k
    step = min(0.9, 12.0 / problem.Tc)
    for noise in (q, k):
        length = np.linalg.norm(noise[:, 1:], axis=1, keepdims=True)
        noise[:, 1:] /= np.maximum(length, 1e-6)
    size = np.sqrt(0.42 * step * np.sqrt(problem.d))
    q[:, 1:] *= size
    k[:, 1:] *= size
    q[:, 0] = np.sqrt(problem.d)
    k[:, 0] = step * (block - (problem.Tc - 1) / 2)
    return q, k, v


def _spike(problem: Problem) -> Arrays:
    """Random normal, but one key two thirds along answers one query with a score of about 30."""
    q, k, v = _normal(problem)
    row = problem.n - 1
    key = (2 * row) // 3
    length = max(float(np.linalg.norm(q[row])), 1e-3)
    k[key] = q[row] * (30.0 * np.sqrt(problem.d) / length**2)
    return q, k, v


def _sentence(problem: Problem) -> Arrays:
    """Toy embeddings: a vector a word, a little position, and three fixed projections."""
    rng = np.random.default_rng(problem.seed)
    vocabulary = {w: rng.standard_normal(problem.d) for w in dict.fromkeys(WORDS)}
    projections = rng.standard_normal((3, problem.d, problem.d)) / np.sqrt(problem.d)
    position = np.arange(problem.n)[:, None] / (1.0 + np.arange(problem.d))
    words = np.stack([vocabulary[w] for w in row_names(problem) or ()])
    x = words + 0.5 * np.sin(position)
    q, k, v = (x @ projections).astype(np.float32)
    return 1.5 * q, k, v


_GENERATORS = {"rising": _rising, "random": _normal, "spike": _spike, "sentence": _sentence}


def make_inputs(problem: Problem) -> Arrays:
    """Q, K, V as read-only float32 (n, d), already rounded to the Problem's dtype."""
    arrays = tuple(round_to(x, problem.dtype) for x in _GENERATORS[problem.inputs](problem))
    for x in arrays:
        x.setflags(write=False)
    return arrays  # type: ignore[return-value]


def row_names(problem: Problem) -> tuple[str, ...] | None:
    """The word of each row for ``sentence`` (repeated beyond six rows), None otherwise."""
    if problem.inputs != "sentence":
        return None
    return tuple(WORDS[r % len(WORDS)] for r in range(problem.n))
