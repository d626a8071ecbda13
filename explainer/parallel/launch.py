"""Which programs a launch has, how many visits each, and how many fit a multiprocessor at once."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explainer.algorithms.registry import ALGORITHMS
from explainer.base.fields import refused
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from kernels.spec.launches import section
from kernels.spec.masks import FULL, PARTIAL

t = Texts("parallel")
MAX_PROGRAMS = 32_768  # of a simulated schedule: a third of a second
# Unequal rows: the longest of a section of heads first (as the kernel has it under a causal mask),
# the longest first within each head, in the order of the rows (as it has it under any other, and as
# the backward pass has its key blocks), or the shortest first.
HEAVY, HEAD, PLAIN, LIGHT = "heavy", "head", "plain", "light"


@dataclass(frozen=True, eq=False)
class Programs:
    """One launch, a program an entry, in the order of their ids; arrays of shape (programs,).

    ``head``; ``row`` block i, in the backward pass key block j (−1: all of them, FA-1); ``full``
    and ``masked``: visits of tiles that need no mask, and of those that need one.
    """

    head: np.ndarray
    row: np.ndarray
    full: np.ndarray
    masked: np.ndarray

    @property
    def visits(self) -> np.ndarray:
        """(programs,) all visits."""
        return self.full + self.masked


@lru_cache(maxsize=64)
def block_visits(w: Workload, pass_: str = "forward") -> tuple[np.ndarray, np.ndarray]:
    """Count the visits of each row block, in the backward pass of each key block, (blocks,) each:
    those that need no mask, and those that do, as FA-2's kernels split them."""
    found = w.mask.tiles(w.n, w.n, w.block_q, w.block_k)
    if w.n % w.block_k:  # lanes without a key
        found[:, -1][found[:, -1] == FULL] = PARTIAL
    along = 1 if pass_ == "forward" else 0
    return (found == FULL).sum(axis=along), (found == PARTIAL).sum(axis=along)


def kernels_order(w: Workload, pass_: str = "forward") -> str:
    """In which order FA-2's kernel takes the workload's rows, or the backward pass its keys."""
    return HEAVY if w.is_causal and pass_ == "forward" else PLAIN


def programs(w: Workload, order: str, row_order: str = "", pass_: str = "forward") -> Programs:
    """List the programs of a launch of ``order``: one a head, or one a head and row block (in the
    backward pass key block), its blocks in the kernel's own order or in this one.

    Raises ProblemError above 32,768 programs.
    """
    heads = w.batch * w.heads
    full, masked = block_visits(w, pass_)
    row_order = row_order or kernels_order(w, pass_)
    serial = ALGORITHMS[order].program == "head"
    count = heads * (1 if serial else len(full))
    if count > MAX_PROGRAMS:
        blocks, cut, side = ("Tr", "br", w.block_q)
        if pass_ != "forward":
            blocks, cut, side = ("Tc", "bc", w.block_k)
        why = t("programs.most", programs=count, blocks=blocks, most=MAX_PROGRAMS)
        where = t("programs.at", n=w.n, cut=cut, side=side)
        raise refused({"b": w.batch, "h": w.heads}, why, where)
    if serial:
        each = np.ones(heads, np.int64)
        total = int((full + masked).sum())
        return Programs(np.arange(heads), -each, 0 * each, total * each)  # every tile is masked
    rows = np.arange(len(full))
    if row_order != PLAIN:  # of equal ones the last first, as under a causal mask
        rows = rows[::-1][np.argsort(-(full + masked)[::-1], kind="stable")]
    if row_order == LIGHT:
        rows = rows[::-1]
    side = section(w.n, w.d, w.itemsize) if row_order == HEAVY else 1
    sections = [np.arange(first, min(first + side, heads)) for first in range(0, heads, side)]
    row = np.concatenate([np.repeat(rows, len(section)) for section in sections])
    head = np.concatenate([np.tile(section, len(rows)) for section in sections])
    return Programs(head, row, full[row], masked[row])
