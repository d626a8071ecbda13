"""Bytes by two conventions, of every algorithm alike: requested and compulsory (CONVENTIONS).

Requested bytes are the sum of the schedule's transfers; here also without listing the tiles.
"""

from collections.abc import Iterable
from functools import lru_cache

from explainer.algorithms.algorithm import COMPULSORY, REQUESTED
from explainer.algorithms.registry import ALGORITHMS, OF_PASS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.transfers import Moved, Step
from explainer.problem import Problem
from kernels.spec.masks import Mask


def moved(steps: Iterable[Step]) -> Moved:
    """Return {tensor: (bytes read, bytes written)} of the given visits; what is added counts as
    written, once."""
    out: dict[str, list[int]] = {}
    for step in steps:
        for t in step.transfers:
            out.setdefault(t.tensor, [0, 0])[t.op != "read"] += t.nbytes
    return {tensor: (read, written) for tensor, (read, written) in out.items()}


def traffic(problem: Problem, pass_: str = "forward") -> Moved:
    """Return {tensor: (bytes read, bytes written)} of the whole Problem in its loop order."""
    return moved(schedule(problem, pass_))


def both(moved: Moved) -> int:
    """Add up reads and writes of all tensors, in bytes."""
    return sum(read + written for read, written in moved.values())


def summed(problem: Problem, convention: str = REQUESTED, pass_: str = "forward") -> Moved:
    """Return {tensor: (bytes read, bytes written)} by either convention, for any N: the closed
    forms.

    Requested bytes equal ``traffic`` wherever both can be computed
    (tests/algorithms/test_traffic.py).
    """
    return OF_PASS[pass_][problem.order].moved(problem, convention == COMPULSORY)


def launches(problem: Problem, convention: str = REQUESTED) -> tuple[tuple[str, Moved], ...]:
    """Return (name, what it moves) of each kernel: standard attention's three, or the only one.

    Every tensor of the three stages is moved by the stage that names it; their sum is ``summed``.
    """
    moved, kernels = summed(problem, convention), ALGORITHMS[problem.order].launches
    if kernels is None:
        return ((problem.order, moved),)
    return tuple(
        (name, {t: (moved[t][0], 0) for t in read} | {t: (0, moved[t][1]) for t in written})
        for name, (read, written) in kernels.items()
    )


@lru_cache(maxsize=4096)
def requested_bytes(
    n: int,
    d: int,
    mask: Mask | str,
    dtype: str,
    order: str,
    block_q: int,
    block_k: int,
    pass_: str = "forward",
) -> int:
    """Count the requested bytes of one head in this loop order, reads and writes together."""
    problem = Problem(
        n=n,
        d=d,
        mask=mask,
        dtype=dtype,
        order=order,
        inputs="random",
        block_q=min(block_q, n),
        block_k=min(block_k, n),
    )
    return both(summed(problem, REQUESTED, pass_))


@lru_cache(maxsize=4096)
def compulsory_bytes(
    n: int, d: int, dtype: str, order: str, mask: Mask | str = "full", pass_: str = "forward"
) -> int:
    """Count the compulsory bytes of one head, reads and writes together, whatever
    the tiles: of K and V the keys that some query sees."""
    problem = Problem(
        n=n, d=d, block_q=n, block_k=n, mask=mask, dtype=dtype, order=order, inputs="random"
    )
    return both(summed(problem, COMPULSORY, pass_))
