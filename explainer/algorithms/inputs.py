"""Q, K, V of a Problem: named generators, the same numbers for picture, trace and kernel.

Each head draws numbers of its own: query head h its Q, key head g its K and V.
"""

from dataclasses import dataclass, replace

import numpy as np

from explainer.base import own_data
from explainer.base.cache import cached
from explainer.problem import Problem
from kernels.spec.fields import FP8
from kernels.spec.formats import FORMATS, round_to

# name in the URL → what the page calls it; the order is the order of the menu
INPUTS = {
    "rising": "Rising maximum",
    "random": "Random normal",
    "spike": "One huge logit",
    "outlier": "Outlier channel in V",
    "sentence": "Six-word sentence",
    "own": "Own Q, K, V",
}
# The fields that change no input, at their plainest: Problems that differ in these share inputs.
NEUTRAL = {
    "order": "fa2",
    "mask": "full",
    "score": "none",
    "sink": None,
    "dropout": 0.0,
    "cache": "contiguous",
}
STRIP = 2_048  # rows
TINY = np.float32(1e-30)  # the least number that a scale is made of
WORDS = ("the", "cat", "sat", "on", "the", "mat")

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def _rng(problem: Problem, head: int, more: int = 0) -> np.random.Generator:
    """Make the head's own generator; the first head's depends on the seed alone."""
    seed = problem.seed + more
    return np.random.default_rng([seed, head] if head else seed)


def _normal(problem: Problem, head: int) -> Arrays:
    rng = _rng(problem, head)
    q, k, v = rng.standard_normal((3, problem.n, problem.d), dtype=np.float32)
    return q, k, v


def _rising(problem: Problem, head: int) -> Arrays:
    """Make scores that climb from key block to key block, so that every visit rescales.

    The first coordinate carries the climb: q = √d there, and k rises by ``step`` a block. Only the
    first key of a block must stand that high (a row on the diagonal may see no other); the rest
    fall below it at random, or exceed it by at most 0.2 step. The other coordinates add noise of
    at most 0.3 step to a score, so the next block's first key, 0.7 step up, always wins.
    """
    q, k, v = _normal(problem, head)
    rng = _rng(problem, head, 1)
    first = np.arange(problem.n) % problem.block_k == 0
    step = _climb(problem)
    climb = np.arange(problem.n) // problem.block_k - (problem.Tc - 1) / 2
    climb = step * (climb + np.where(first, 0.0, rng.uniform(-1.8, 0.2, problem.n)))
    if problem.d > 1:
        noise = _largest(q[:, 1:], k[:, 1:]) * problem.scale
        k[:, 1:] *= 0.3 * step / max(float(noise), 1e-6)
    # The same score either way; the two sides share the size, so that both are seen.
    root = problem.d**0.25
    q[:, 0], k[:, 0] = root, root * climb
    return q, k, v


def _climb(problem: Problem) -> float:
    """Return by how much scores rise from one key block to the next."""
    return min(1.4, 24.0 / problem.Tc)


def _largest(q: np.ndarray, k: np.ndarray) -> np.float32:
    """Return the largest |q·k| of any two rows, computing a strip of the products at a time."""
    strips = (q[r : r + STRIP] @ k.T for r in range(0, len(q), STRIP))
    return np.max([max(x.max(), -x.min()) for x in strips])


def _spike(problem: Problem, head: int) -> Arrays:
    """Draw random normal numbers, but one key two thirds along has a score of about 30 with one
    query."""
    q, k, v = _normal(problem, head)
    row = problem.n - 1
    key = (2 * row) // 3
    length = max(float(np.linalg.norm(q[row])), 1e-3)
    k[key] = q[row] * (30.0 * np.sqrt(problem.d) / length**2)
    return q, k, v


def _outlier(problem: Problem, head: int) -> Arrays:
    """Draw random normal numbers, but V has a mean of 4, and its last channel is 200 times as
    large: what a number format with few bits loses in sums, and beyond its range."""
    q, k, v = _normal(problem, head)
    v += 4
    v[:, -1] *= 200
    return q, k, v


def _sentence(problem: Problem, head: int) -> Arrays:
    """Make toy embeddings: a vector a word, a little position, and a head's three fixed
    projections."""
    rng = np.random.default_rng(problem.seed)
    vocabulary = {w: rng.standard_normal(problem.d) for w in dict.fromkeys(_words(problem))}
    rng = _rng(problem, head) if head else rng
    projections = rng.standard_normal((3, problem.d, problem.d)) / np.sqrt(problem.d)
    position = np.arange(problem.n)[:, None] / (1.0 + np.arange(problem.d))
    words = np.stack([vocabulary[w] for w in row_names(problem) or ()])
    x = words + 0.5 * np.sin(position)
    q, k, v = (x @ projections).astype(np.float32)
    return 1.5 * q, k, v


def _own(problem: Problem, _: int) -> Arrays:
    """Read the numbers that the user pasted."""
    q, k, v = (np.array(x, np.float32) for x in own_data.matrices(problem.text))
    return q, k, v


_GENERATORS = {
    "rising": _rising,
    "random": _normal,
    "spike": _spike,
    "outlier": _outlier,
    "sentence": _sentence,
    "own": _own,
}


def make_inputs(problem: Problem) -> Arrays:
    """Return Q, K, V as read-only float32 (n, d), already rounded to the Problem's dtype; for e4m3
    as the rounded numbers and their scales stand for."""
    if problem.dtype == FP8:
        return quantize(problem).values()
    return made(replace(problem, block_q=1, **NEUTRAL))


@dataclass(frozen=True)
class Quantized:
    """Q, K, V (n, d) rounded to e4m3, and the scales that they are multiplied by: of Q and K
    (n, 1), the same in a block, of V (1, d). All float32."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    scales: Arrays

    def values(self) -> Arrays:
        """Return what the rounded numbers stand for, read-only."""
        found = self.Q * self.scales[0], self.K * self.scales[1], self.V * self.scales[2]
        for x in found:
            x.setflags(write=False)
        return found


@cached(8 << 20, lambda x: 3 * x.Q.nbytes)
def quantize(problem: Problem, *, scaled: bool = True) -> Quantized:
    """Round the inputs to e4m3 as `kernels.quantize_fp8` does: a scale for each row block of Q,
    each key block of K and each channel of V brings the largest number that it covers to 448. Not
    ``scaled``: as they are, and beyond 448 it is 448."""
    inputs = make_inputs(replace(problem, dtype="fp32"))
    largest = [
        largest_in_blocks(inputs[0], problem.block_q),
        largest_in_blocks(inputs[1], problem.block_k),
        np.abs(inputs[2]).max(axis=0, keepdims=True),
    ]
    units = [scales(x) if scaled else np.ones_like(x) for x in largest]
    q, k, v = (round_to(x / unit, FP8) for x, unit in zip(inputs, units, strict=True))
    return Quantized(q, k, v, (units[0], units[1], units[2]))


def scales(largest: np.ndarray) -> np.ndarray:
    """Return the scales that bring these numbers to the largest one of e4m3."""
    return np.maximum(largest, TINY) / np.float32(FORMATS[FP8].largest)


def largest_in_blocks(x: np.ndarray, size: int) -> np.ndarray:
    """Return for each row (n, 1) the largest size of a number in its block of rows."""
    sizes = np.abs(x).max(axis=1)
    blocks = np.maximum.reduceat(sizes, np.arange(0, len(x), size))
    return np.repeat(blocks, size)[: len(x), None]


def make_gradient(problem: Problem) -> np.ndarray:
    """Draw dO, the gradient of a loss by O: random normal for any data, by the seed and the head,
    read-only float32 (n, d) rounded to the dtype."""
    rng = np.random.default_rng([problem.seed, problem.head, 1])
    drawn = rng.standard_normal((problem.n, problem.d), dtype=np.float32)
    dO = round_to(drawn, problem.dtype)
    dO.setflags(write=False)
    return dO


def _sharing(problem: Problem, q: np.ndarray, q_own: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Adapt the queries q of a head to the keys of another, which were made with ``q_own``: the
    scores still rise, or one query still has its spike, as the data's name says."""
    if problem.inputs == "rising" and problem.d > 1:
        noise = float(_largest(q[:, 1:], k[:, 1:])) * problem.scale
        q[:, 1:] *= min(1.0, 0.3 * _climb(problem) / max(noise, 1e-6))
    if problem.inputs == "spike":
        q[-1] = q_own[-1]
    return q


def _rotated(x: np.ndarray, problem: Problem) -> np.ndarray:
    """Apply RoPE (arXiv 2104.09864) as kernels/rotary.py does: in row i the pair (x_c, x_{c+d/2})
    is rotated by the angle i · base^(−2c/d)."""
    speed = problem.rope ** (np.arange(0, problem.d, 2) / -problem.d)
    angle = np.arange(problem.n)[:, None] * speed
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    first, second = np.split(x, 2, axis=1)
    return np.concatenate((first * cos - second * sin, second * cos + first * sin), axis=1)


@cached(8 << 20, lambda arrays: sum(x.nbytes for x in arrays))
def made(problem: Problem) -> Arrays:
    make = _GENERATORS[problem.inputs]
    q, k, v = make(problem, problem.kv_head)
    if problem.head != problem.kv_head:
        q = _sharing(problem, make(problem, problem.head)[0], q, k)
    if problem.rope:
        q, k = _rotated(q, problem), _rotated(k, problem)
    Q, K, V = (round_to(x, problem.dtype) for x in (q * np.float32(problem.gain), k, v))
    for x in (Q, K, V):
        x.setflags(write=False)
    return Q, K, V


def _words(problem: Problem) -> tuple[str, ...]:
    return tuple(problem.text.split()) or WORDS


def row_names(problem: Problem) -> tuple[str, ...] | None:
    """Return the word of each row for ``sentence`` (repeated beyond its end), None otherwise."""
    if problem.inputs != "sentence":
        return None
    words = _words(problem)
    return tuple(words[r % len(words)] for r in range(problem.n))
