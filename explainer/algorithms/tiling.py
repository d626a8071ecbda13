"""The grid of tiles over the score matrix: which rows, which keys, and what the mask leaves."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from explainer.base.fields import refused
from explainer.base.texts import Texts
from explainer.problem import Problem
from kernels.spec.masks import SKIPPED as SKIPPED  # what ``kinds`` holds there
from kernels.spec.masks import TILE_KINDS as KINDS
from kernels.spec.masks import Mask

t = Texts("trace")
MAX_COUNTED = 1 << 24  # tiles whose visits are counted one by one


def rows(problem: Problem, i: int | None) -> slice:
    """Return the query rows of row block ``i``: Br of them, fewer in a ragged last block; all N for
    None."""
    return _block(problem.n, problem.block_q, i)


def cols(problem: Problem, j: int | None) -> slice:
    """Return the keys of key block ``j``: Bc of them, fewer in a ragged last block; all N for
    None."""
    return _block(problem.n, problem.block_k, j)


def _block(n: int, size: int, k: int | None) -> slice:
    return slice(0, n) if k is None else slice(k * size, min(n, (k + 1) * size))


def kinds(problem: Problem) -> np.ndarray:
    """Return the kind of each tile: (Tr, Tc) uint8 of indices into ``KINDS``.

    skipped: the mask keeps no score of it. partial: the mask keeps some, or the tile is ragged in
    rows or keys. full: the rest.
    """
    n, block_q, block_k = problem.n, problem.block_q, problem.block_k
    found = problem.mask.tiles(n, n, block_q, block_k)
    for edge, block in ((found[-1:], block_q), (found[:, -1:], block_k)):
        if n % block:
            np.copyto(edge, KINDS.index("partial"), where=edge != SKIPPED)
    return found


def shrink(tiles: np.ndarray, down: int, across: int) -> np.ndarray:
    """Return the largest value in each cell of ``down`` × ``across`` tiles, fewer at the edges."""
    rows = np.maximum.reduceat(tiles, np.arange(0, tiles.shape[0], down), axis=0)
    return np.maximum.reduceat(rows, np.arange(0, tiles.shape[1], across), axis=1)


def check_tiles(problem: Problem, most: int, where: str) -> None:
    """Raise ProblemError for more tiles than ``most``, which are too many for what the text of the
    key ``where`` names."""
    if (tiles := problem.Tr * problem.Tc) > most:
        given = {"br": problem.block_q, "bc": problem.block_k}
        raise refused(given, t("tiles", tiles=tiles, most=most), t(where, n=problem.n))


class Counted(NamedTuple):
    """Count in the tiles that are not skipped: ``keys`` in those of each row block, ``rows`` in
    those of each key block, all added up; ``loaded``: keys that are in any at all."""

    keys: int
    rows: int
    loaded: int


def counted(problem: Problem, once: bool) -> Counted:
    """Count the rows and keys of the tiles that the mask leaves; with ``once`` the queries that see
    a key and the keys that are seen. Raises ProblemError for more than 2²⁴ tiles, unless the mask
    is a plain one."""
    if once:
        rows, keys = seeing(problem.mask, problem.n)
        return Counted(keys, rows, keys)
    if not problem.mask.plain:
        check_tiles(problem, MAX_COUNTED, "tiles.masked")
    return _visited(problem.mask, problem.n, problem.block_q, problem.block_k)


@lru_cache(maxsize=256)
def seeing(mask: Mask, n: int) -> tuple[int, int]:
    """Count the queries that see a key, and the keys that a query sees."""
    ranges = mask.key_range(n, n, 1), mask.row_range(n, n, 1)
    rows, keys = (int((start < stop).sum()) for start, stop in ranges)
    return rows, keys


@lru_cache(maxsize=256)
def _visited(mask: Mask, n: int, block_q: int, block_k: int) -> Counted:
    if mask.plain:  # an interval of tiles each, and no row without a key, no key without a row
        ranges = mask.key_range(n, n, block_q), mask.row_range(n, n, block_k)
        keys, rows = (
            int((np.minimum(-(-stop // block) * block, n) - start // block * block).sum())
            for (start, stop), block in zip(ranges, (block_k, block_q), strict=True)
        )
        return Counted(keys, rows, n)
    rows, keys = (_sizes(n, block) for block in (block_q, block_k))
    left = mask.tiles(n, n, block_q, block_k) != SKIPPED
    return Counted(
        int((left @ keys).sum()), int((rows @ left).sum()), int(keys[left.any(axis=0)].sum())
    )


def _sizes(n: int, block: int) -> np.ndarray:
    """Count the rows or keys of each block."""
    first = np.arange(0, n, block)
    return np.minimum(first + block, n) - first


def counts(problem: Problem) -> dict[str, int]:
    """Count the tiles of each kind."""
    found = np.bincount(kinds(problem).ravel(), minlength=len(KINDS))
    return {name: int(c) for name, c in zip(KINDS, found, strict=True)}
