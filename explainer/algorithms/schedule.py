"""What is visited and what is moved, in order, by any of the algorithms."""

from collections.abc import Iterator

from explainer.algorithms.registry import OF_PASS
from explainer.algorithms.tiling import check_tiles
from explainer.algorithms.transfers import Step
from explainer.base.cache import cached
from explainer.base.fields import refuse
from explainer.base.texts import Texts
from explainer.problem import Problem
from kernels.spec.fields import FP8

t = Texts("trace")

MAX_TILES = 65_536
MAX_N_LISTED = 16_384


def check_size(problem: Problem) -> None:
    """Raise ProblemError when the tiles are too many to be listed one by one."""
    if problem.n > MAX_N_LISTED:
        raise refuse("n", problem.n, t("listed", most=MAX_N_LISTED))
    check_tiles(problem, MAX_TILES, "tiles.at")


def steps(problem: Problem, pass_: str = "forward") -> Iterator[Step]:
    """List every visit of the Problem's loop order, one after the other, however many there are."""
    return OF_PASS[pass_][problem.order].steps(problem)


def without_backward(problem: Problem) -> str | None:
    """Name the field for which the Problem has no backward pass; None where it has one."""
    forward_alone = {
        "dropout": problem.dropout,
        "dtype": problem.dtype == FP8,
        "cache": problem.block_table,
    }
    return next((name for name, is_set in forward_alone.items() if is_set), None)


@cached(8 << 20, lambda steps: sum(200 + 100 * len(s.transfers) for s in steps))
def schedule(problem: Problem, pass_: str = "forward") -> tuple[Step, ...]:
    """Return every visit of the Problem's loop order. Raises ProblemError above 65,536 tiles, and
    in the backward pass for dropout, e4m3 and a paged cache."""
    check_size(problem)
    if pass_ == "backward" and (name := without_backward(problem)):
        raise refuse(name, getattr(problem, name), t(name))
    return tuple(steps(problem, pass_))
