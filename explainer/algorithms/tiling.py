"""The grid of tiles over the score matrix: which rows, which keys, and what the mask leaves."""

from __future__ import annotations

import numpy as np

from explainer.problem import Problem
from kernels.masks import SKIPPED as SKIPPED  # what ``kinds`` holds there
from kernels.masks import TILE_KINDS as KINDS


def rows(problem: Problem, i: int) -> slice:
    """Query rows of row block ``i``: Br of them, fewer in a ragged last block."""
    return slice(i * problem.block_q, min(problem.n, (i + 1) * problem.block_q))


def cols(problem: Problem, j: int) -> slice:
    """Keys of key block ``j``: Bc of them, fewer in a ragged last block."""
    return slice(j * problem.block_k, min(problem.n, (j + 1) * problem.block_k))


def kinds(problem: Problem) -> np.ndarray:
    """(Tr, Tc) uint8 of indices into ``KINDS``.

    skipped: the mask keeps no score of it. partial: the mask keeps some, or the tile is ragged in
    rows or keys. full: the rest.
    """
    p = problem
    found = p.mask.tiles(p.n, p.n, p.block_q, p.block_k)
    for edge, block in ((found[-1:], p.block_q), (found[:, -1:], p.block_k)):
        if p.n % block:
            np.copyto(edge, KINDS.index("partial"), where=edge != SKIPPED)
    return found


def counts(problem: Problem) -> dict[str, int]:
    """How many tiles of each kind."""
    found = np.bincount(kinds(problem).ravel(), minlength=len(KINDS))
    return {name: int(c) for name, c in zip(KINDS, found, strict=True)}
