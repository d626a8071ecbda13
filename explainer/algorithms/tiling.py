"""The grid of tiles over the score matrix: which rows, which keys, and what the mask leaves."""

from __future__ import annotations

import numpy as np

from explainer.problem import Problem

KINDS = ("full", "partial", "skipped")


def rows(problem: Problem, i: int) -> slice:
    """Query rows of row block ``i``: Br of them, fewer in a ragged last block."""
    return slice(i * problem.block_q, min(problem.n, (i + 1) * problem.block_q))


def cols(problem: Problem, j: int) -> slice:
    """Keys of key block ``j``: Bc of them, fewer in a ragged last block."""
    return slice(j * problem.block_k, min(problem.n, (j + 1) * problem.block_k))


def kinds(problem: Problem) -> np.ndarray:
    """(Tr, Tc) uint8 of indices into ``KINDS``.

    skipped: causal and the first key comes after the last query. partial: crossed by the
    diagonal (the last key comes after the first query), or ragged in rows or keys. full: the rest.
    """
    first_row = np.arange(problem.Tr)[:, None] * problem.block_q
    first_key = np.arange(problem.Tc)[None, :] * problem.block_k
    last_row = np.minimum(first_row + problem.block_q, problem.n) - 1
    last_key = np.minimum(first_key + problem.block_k, problem.n) - 1
    ragged = (last_row - first_row + 1 < problem.block_q) | (
        last_key - first_key + 1 < problem.block_k
    )
    if not problem.causal:
        return ragged.astype(np.uint8)
    crossed = last_key > first_row
    return np.where(first_key > last_row, 2, crossed | ragged).astype(np.uint8)


def counts(problem: Problem) -> dict[str, int]:
    """How many tiles of each kind."""
    found = np.bincount(kinds(problem).ravel(), minlength=len(KINDS))
    return {name: int(c) for name, c in zip(KINDS, found, strict=True)}
