"""Estimate what an answer costs, from its request alone.

Counts are upper bounds without the mask, in closed form, so that asking for the cost costs nothing.
"""

from collections.abc import Callable

from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.sizes import size_of, trace_numbers
from explainer.problem import Problem
from explainer.trace import touched_by_row
from explainer.web import mask_map
from explainer.web.files import in_every_order
from explainer.web.requests import AnswerRequest
from explainer.web.wire import has_numbers

CHEAP_S = 0.05  # what an answer may take on a thread of the web process
COMPILING_S = 10.0


# Seconds on one core of 2024, roughly: they only tell cheap from expensive.
MOVE_S = 3e-6  # of a block that is listed
VISIT_S = 60e-6
PRODUCT_S = 2e-11  # of a multiply-add
TOUCHED_S = 2e-9  # of a number on the way
NUMBER_S = 60e-9  # of one in the answer


def _inputs(p: Problem) -> float:
    rising = p.n * p.n * p.d if p.inputs == "rising" else 0
    return PRODUCT_S * rising + TOUCHED_S * 15 * p.n * p.d


def whole(p: Problem, pass_: str = "forward") -> float:
    """Estimate every visit with its numbers; a backward pass computes the forward pass first."""
    backward, size = pass_ == "backward", size_of(p, pass_)
    before = whole(p) if backward else _inputs(p)
    products = (5 if backward else 2) * p.n * p.n * p.d
    numbers = (NUMBER_S + 10 * TOUCHED_S) * trace_numbers(p, pass_)
    return before + MOVE_S * size.moves + VISIT_S * size.visits + PRODUCT_S * products + numbers


def _trace(p: Problem, pass_: str = "forward") -> float:
    return whole(p, pass_) if has_numbers(p, pass_) else MOVE_S * size_of(p, pass_).moves


def one_visit(p: Problem, pass_: str = "forward") -> float:
    """Estimate the visits of one row block, of which the answer has one; in the backward pass of
    all row blocks, since a key block's sums may go over them."""
    wide = p.n if ALGORITHMS[p.order].stores_scores else p.block_k  # keys of the widest visit
    rows, visits, moves = p.block_q, p.Tc + 2, size_of(p).moves
    numbers = 2 * p.block_q * (wide + 4) + 2 * p.d * (2 * p.block_q + wide)
    if pass_ == "backward":
        rows, visits, moves = p.n, visits + p.Tr * p.Tc, moves + size_of(p, pass_).moves
        numbers = p.block_q * (5 * wide + 8 * p.d) + 8 * wide * p.d
    computed = PRODUCT_S * 2 * rows * p.n * p.d + TOUCHED_S * rows * touched_by_row(p)
    return _inputs(p) + MOVE_S * moves + VISIT_S * visits + computed + NUMBER_S * numbers


def _mask(p: Problem) -> float:
    """Estimate each predicate of each tile, in both sizes and causal, and of each score that is
    sent."""
    half = mask_map.halved(p)
    tiles = 2 * p.Tr * p.Tc + (half.Tr * half.Tc if half else 0)
    cells = p.n * p.n if p.n <= mask_map.MOST_CELLS else 0
    predicates = sum(map(len, p.mask.terms))
    return TOUCHED_S * ((50 * tiles + 10 * cells) * (1 + predicates) + 10 * p.n * predicates)


_SECONDS: dict[str, Callable[[Problem, str], float]] = {
    "trace": _trace,
    "visit": one_visit,
    "mask": lambda p, _: _mask(p),
    "export.html": lambda p, _: sum(map(_trace, in_every_order(p))) + _trace(p, "backward"),
    "export.json": whole,
    "export.npz": whole,
}


def seconds(request: AnswerRequest) -> float:
    """Estimate the seconds that an answer takes to compute."""
    if request.kind == "code":
        return COMPILING_S
    if request.kind not in _SECONDS:
        return 0.0  # the controls of Learn bound its work
    return _SECONDS[request.kind](request.problem, request.pass_)
