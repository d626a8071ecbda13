"""Which Problems the kernel's machine takes: decided before anything is allocated."""

from __future__ import annotations

from collections.abc import Mapping

from explainer import tiling
from explainer.formats import ITEMSIZE
from explainer.problem import Problem
from explainer.schedule import check_size

INTERPRETER_TILES = 2_000  # about 3 ms each, run twice: a quarter of a minute
INTERPRETER_N = 4_096  # naive attention's N × N matrices on a CPU
GPU_SHARE = 0.9  # of the free memory


def naive_bytes(problem: Problem) -> int:
    """What naive attention holds at its peak: S and P, N × N each, in the Problem's dtype."""
    return 2 * problem.n**2 * ITEMSIZE[problem.dtype]


def refuse_naive(problem: Problem, machine: Mapping) -> str | None:
    """One sentence when the N × N matrices do not fit the GPU's free memory; None when they do."""
    free, needed = machine.get("free_bytes"), naive_bytes(problem)
    if free is None or needed <= GPU_SHARE * free:
        return None
    gib = 2**30
    return f"Naive attention would need {needed / gib:.1f} GiB, {free / gib:.1f} GiB are free here."


def tiles_to_run(problem: Problem) -> int:
    """Tiles that the kernel computes: causal FA-1 and FA-2 leave out those above the diagonal."""
    skipped = 0 if problem.order == "standard" else tiling.counts(problem)["skipped"]
    return problem.Tr * problem.Tc - skipped


def refuse(problem: Problem, machine: Mapping) -> str | None:
    """One sentence why this Problem is not run on this machine, or None.

    ``machine`` is what the worker said of itself. Raises :class:`ProblemError` above 65,536 tiles.
    """
    if not machine["available"]:
        return machine["reason"]
    check_size(problem)
    if not machine["interpreted"]:
        return None
    if problem.n > INTERPRETER_N:
        return (
            f"n = {problem.n:,} is too long for Triton's interpreter on this CPU: it takes the "
            f"sequence length N up to {INTERPRETER_N:,} here, a GPU up to 16,384."
        )
    tiles = tiles_to_run(problem)
    if tiles > INTERPRETER_TILES:
        return (
            f"br = {problem.block_q} and bc = {problem.block_k} make {tiles:,} tiles of "
            f"n = {problem.n:,}, and Triton's interpreter takes about 3 ms for each: at most "
            f"{INTERPRETER_TILES:,} are run on this CPU, so choose larger blocks."
        )
    return None
