"""Estimate what an answer costs, from its request alone.

Counts are upper bounds without the mask, in closed form, so that asking for the cost costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Work:
    """Count ``moves`` of blocks listed, ``visits`` computed, ``products`` (multiply-adds) in them,
    numbers ``touched`` on the way and ``numbers`` in the answer."""

    moves: int = 0
    visits: int = 0
    products: int = 0
    touched: int = 0
    numbers: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(**{name: x + getattr(other, name) for name, x in vars(self).items()})

    @property
    def seconds(self) -> float:
        """Estimate the time on one core of 2024, roughly: it only tells cheap from expensive."""
        listed = 3e-6 * self.moves + 60e-6 * self.visits
        return listed + 2e-11 * self.products + 2e-9 * self.touched + 60e-9 * self.numbers


def _inputs(p: Problem) -> Work:
    rising = p.n * p.n * p.d if p.inputs == "rising" else 0
    return Work(products=rising, touched=15 * p.n * p.d)


def whole(p: Problem, pass_: str = "forward") -> Work:
    """Count every visit with its numbers; a backward pass computes the forward pass first."""
    backward = pass_ == "backward"
    products, numbers = (5 if backward else 2) * p.n * p.n * p.d, trace_numbers(p, pass_)
    before, size = whole(p) if backward else _inputs(p), size_of(p, pass_)
    return before + Work(size.moves, size.visits, products, 10 * numbers, numbers)


def _trace(p: Problem, pass_: str = "forward") -> Work:
    return whole(p, pass_) if has_numbers(p, pass_) else Work(size_of(p, pass_).moves)


def one_visit(p: Problem, pass_: str = "forward") -> Work:
    """Count the visits of one row block, of which the answer has one; in the backward pass of all
    row blocks, since a key block's sums may go over them."""
    wide = p.n if ALGORITHMS[p.order].stores_scores else p.block_k  # keys of the widest visit
    rows, visits, moves = p.block_q, p.Tc + 2, size_of(p).moves
    numbers = 2 * p.block_q * (wide + 4) + 2 * p.d * (2 * p.block_q + wide)
    if pass_ == "backward":
        rows, visits, moves = p.n, visits + p.Tr * p.Tc, moves + size_of(p, pass_).moves
        numbers = p.block_q * (5 * wide + 8 * p.d) + 8 * wide * p.d
    touched = rows * touched_by_row(p)
    return _inputs(p) + Work(moves, visits, 2 * rows * p.n * p.d, touched, numbers)


def _mask(p: Problem) -> Work:
    """Count each predicate of each tile, in both sizes and causal, and of each score that is
    sent."""
    half = mask_map.halved(p)
    tiles = 2 * p.Tr * p.Tc + (half.Tr * half.Tc if half else 0)
    cells = p.n * p.n if p.n <= mask_map.MOST_CELLS else 0
    predicates = sum(map(len, p.mask.terms))
    return Work(touched=(50 * tiles + 10 * cells) * (1 + predicates) + 10 * p.n * predicates)


def _html(p: Problem) -> Work:
    return sum(map(_trace, in_every_order(p)), _trace(p, "backward"))


_WORK: dict[str, Callable[[Problem, str], Work]] = {
    "trace": _trace,
    "visit": one_visit,
    "mask": lambda p, _: _mask(p),
    "export.html": lambda p, _: _html(p),
    "export.json": whole,
    "export.npz": whole,
}


def seconds(request: AnswerRequest) -> float:
    """Estimate the seconds that an answer takes to compute."""
    if request.kind == "code":
        return COMPILING_S
    if request.kind not in _WORK:
        return 0.0  # the controls of Learn bound its work
    return _WORK[request.kind](request.problem, request.pass_).seconds
