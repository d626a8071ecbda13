"""How many numbers and bytes a trace takes, estimated from its algorithm's Size.

These are upper bounds, exact where the mask skips nothing, and cost nothing to compute.
"""

from explainer.algorithms.algorithm import Size
from explainer.algorithms.registry import OF_PASS
from explainer.problem import Problem

FP32 = 4
# pass → (matrices of n × d and vectors of n of a whole trace; its matrices of n × n)
WHOLES = {"forward": (4, 1, 1), "backward": (8, 2, 0)}


def size_of(problem: Problem, pass_: str = "forward") -> Size:
    """Return the size of the Problem's algorithm in this pass."""
    return OF_PASS[pass_][problem.order].size(problem)


def trace_numbers(problem: Problem, pass_: str = "forward") -> int:
    """Count the numbers of a whole trace as files hold it: its matrices and all of its visits."""
    n, size = problem.n, size_of(problem, pass_)
    matrices, vectors, squares = WHOLES[pass_]
    wholes = matrices * n * problem.d + vectors * n + squares * n**2
    return wholes + size.squares * n**2 + size.rest


def trace_bytes(problem: Problem, pass_: str = "forward") -> int:
    """Estimate the memory of a trace while it is computed: the scores before and after the mask
    beside what files hold."""
    extra = 1 if pass_ == "forward" else 2
    return FP32 * (trace_numbers(problem, pass_) + extra * problem.n**2)


def wire_bytes(problem: Problem, pass_: str = "forward") -> int:
    """Count the bytes of the numbers that travel to the browser, all as float32: of the tiles S and
    P, in the backward pass dP, dS and a slope too, once."""
    n, squares = problem.n, 2 if pass_ == "forward" else 4 + problem.score.changes
    wholes = WHOLES[pass_][0] * n * problem.d
    return FP32 * (wholes + squares * n**2 + size_of(problem, pass_).rest)
