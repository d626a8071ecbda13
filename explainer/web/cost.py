"""What an answer costs, from its address alone: the one place that estimates it.

Counts are upper bounds without the mask, in closed form, so that asking for the cost costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from explainer.algorithms.registry import ALGORITHMS
from explainer.base.fields import ORDERS, pass_of
from explainer.parallel import warps
from explainer.problem import Problem
from explainer.web import mask_map
from explainer.web.files import exported
from explainer.web.wire import has_numbers, payload_bytes

CHEAP_S = 0.05  # what an answer may take on a thread of the web process
COMPILING_S = 10.0


@dataclass(frozen=True)
class Work:
    """``moves`` of blocks listed, ``visits`` computed, ``products`` (multiply-adds) in them,
    numbers ``touched`` on the way and ``told`` in the answer."""

    moves: int = 0
    visits: int = 0
    products: int = 0
    touched: int = 0
    told: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(**{name: x + getattr(other, name) for name, x in vars(self).items()})

    @property
    def seconds(self) -> float:
        """On one core of 2024, roughly: it only has to tell what is dear."""
        listed = 3e-6 * self.moves + 60e-6 * self.visits
        return listed + 2e-11 * self.products + 2e-9 * self.touched + 60e-9 * self.told


def moves(p: Problem) -> int:
    """Blocks moved by its loop when nothing is skipped."""
    tiles = p.Tr * p.Tc
    return {
        "fa2": 2 * tiles + 3 * p.Tr,
        "fa1": 7 * tiles + 2 * p.Tc,
        "standard": 7 * tiles + p.Tr,
    }[p.order]


def visits(p: Problem) -> int:
    return p.Tr * p.Tc + (0 if ALGORITHMS[p.order].running else 2 * p.Tr)


def _inputs(p: Problem) -> Work:
    rising = p.n * p.n * p.d if p.inputs == "rising" else 0
    return Work(products=rising, touched=15 * p.n * p.d)


def whole(p: Problem) -> Work:
    """Every visit with its numbers."""
    products, touched = 2 * p.n * p.n * p.d, 10 * exported(p)
    return _inputs(p) + Work(moves(p), visits(p), products, touched, exported(p))


def _trace(p: Problem) -> Work:
    return whole(p) if has_numbers(p) else Work(moves(p))


def _backward(p: Problem) -> Work:
    """A trace of the backward pass, which computes the forward pass first."""
    tiles = p.Tr * p.Tc
    listed = {"fa2": 5 * tiles + 6 * p.Tr + 4 * p.Tc, "fa1": 7 * tiles + 4 * p.Tc}
    moved = Work(listed.get(p.order, 13 * tiles + p.Tr + 2 * p.Tc))
    if not has_numbers(p, "backward"):
        return moved
    told = payload_bytes(p, "backward") // 4
    computed = 4 * tiles + p.Tr if p.order == "standard" else 2 * tiles + 2 * p.Tr
    return whole(p) + moved + Work(0, computed, 5 * p.n * p.n * p.d, 10 * told, told)


def one_visit(p: Problem) -> Work:
    """The visits of one row block, of which one is told."""
    strip, wide = p.block_q * p.n, p.block_k if ALGORITHMS[p.order].running else p.n
    touched = 16 * strip + p.block_q * p.d * p.Tc
    told = 2 * p.block_q * (wide + 4) + 2 * p.d * (2 * p.block_q + wide)
    return _inputs(p) + Work(moves(p), p.Tc + 2, 2 * strip * p.d, touched, told)


def _warps(query: Mapping[str, str]) -> Work:
    p = warps.from_query(query)[0]
    return one_visit(replace(p, order="fa1")) + one_visit(replace(p, order="fa2"))


def _mask(query: Mapping[str, str]) -> Work:
    """Each predicate of each tile, in both sizes and causal, and of each score that is told."""
    p = mask_map.problem_of(query)
    half = mask_map.halved(p)
    tiles = 2 * p.Tr * p.Tc + (half.Tr * half.Tc if half else 0)
    cells = p.n * p.n if p.n <= mask_map.MOST_CELLS else 0
    predicates = sum(map(len, p.mask.terms))
    return Work(touched=(50 * tiles + 10 * cells) * (1 + predicates) + 10 * p.n * predicates)


def _html(p: Problem) -> Work:
    return sum((_trace(replace(p, order=order)) for order in ORDERS), Work())


_OF_PROBLEM = {
    "trace": _trace,
    "visit": one_visit,
    "export.html": _html,
    "export.json": whole,
    "export.npz": whole,
}


def seconds(kind: str, query: Mapping[str, str]) -> float:
    """Of the answer of this kind to this query. Raises ProblemError for a query that names no
    Problem."""
    if kind == "code":
        return COMPILING_S
    if kind == "warps":
        return _warps(query).seconds
    if kind == "mask":
        return _mask(query).seconds
    if kind == "trace" and pass_of(query) == "backward":
        return _backward(Problem.from_query(query)).seconds
    if kind in _OF_PROBLEM:
        return _OF_PROBLEM[kind](Problem.from_query(query)).seconds
    return 0.0  # what Learn computes is bounded by its controls
