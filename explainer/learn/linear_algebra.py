"""What lessons share: text, addresses, a little mathematics."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np

from explainer.problem import Problem


def make_problem(n: int, d: int, side: int, **more: Any) -> Problem:
    """Make a Problem of random numbers in square tiles, without a mask; ``more`` says otherwise."""
    plain = {"block_q": side, "block_k": side, "mask": "full", "inputs": "random"}
    return Problem(n=n, d=d, **plain | more)


def address(problem: Problem, step: int, phase: str) -> str:
    """The query of a Problem and a place in it, as it stands in the address after "?"."""
    return urlencode(problem.to_query() | {"step": str(step), "phase": phase})


def weighed(parts: Iterable[tuple[float, np.ndarray | float]]) -> np.ndarray | float:
    """O of all keys from (sum of exponentials, normalized O) of parts; sums on any common scale."""
    found = [*parts]
    total = sum(weight for weight, _ in found)
    return sum(weight / total * O for weight, O in found)


@dataclass(frozen=True, eq=False)
class Running:
    """A row block after a visit: ``m`` and ``l`` (rows, 1), the unnormalized ``O`` (rows, d), and
    the weights ``P`` (rows, keys) of the block that was visited."""

    m: np.ndarray
    l: np.ndarray
    O: np.ndarray
    P: np.ndarray


def online_softmax(
    S: np.ndarray,
    V: np.ndarray,
    block: int,
    *,
    order: Iterable[int] | None = None,
    store: Callable[[np.ndarray, str], np.ndarray] = lambda x, name: x,
) -> Iterator[Running]:
    """Run the loop of online softmax over key blocks and yield the state after each.

    ``S`` (rows, keys) scores, ``V`` (keys, d), both of one dtype. Lessons vary the ``order`` of
    the blocks, and how m, l and P are rounded when they are stored (``store``, by name).
    """
    m, l = np.full((len(S), 1), -np.inf, S.dtype), np.zeros((len(S), 1), S.dtype)
    O = np.zeros((len(S), V.shape[1]), S.dtype)
    for j in range(-(-len(V) // block)) if order is None else order:
        s, v = S[:, j * block : (j + 1) * block], V[j * block : (j + 1) * block]
        m_new = store(np.maximum(m, s.max(axis=1, keepdims=True)), "m")
        base = np.where(np.isneginf(m_new), S.dtype.type(0), m_new)  # a row that sees no key yet
        P, alpha = np.exp(s - base), np.exp(m - base)
        l = store(alpha * l + P.sum(axis=1, keepdims=True), "l")
        O, m = alpha * O + store(P, "P") @ v, m_new
        yield Running(m, l, O, P)


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Of ``x``, any shape and dtype, along ``axis``; rows of −inf alone become NaN, as 0/0 is."""
    with np.errstate(invalid="ignore"):
        weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def attend(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, keep: np.ndarray | bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute (S, P, O) of attention over whole rows in float64; S is −∞ where ``keep`` (nq, nk) is
    False, and a row that sees no key has P and O of 0."""
    Q, K, V = (x.astype(np.float64) for x in (Q, K, V))
    S = np.where(keep, Q @ K.T / np.sqrt(Q.shape[1]), -np.inf)
    P = np.nan_to_num(softmax(S))
    return S, P, P @ V
