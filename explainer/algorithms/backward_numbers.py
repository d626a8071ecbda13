"""What the loops of the backward pass compute with, and the numbers of one of their visits.

Arithmetic is the kernel's: operands in the chosen dtype, P and dS rounded to it before their
products, everything else in fp32; dQ and dK times the scale when they are stored.
"""

from dataclasses import dataclass

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.inputs import make_gradient
from explainer.algorithms.numbers import NEG_INF, Operands, Visit, fields_of, read_only
from explainer.algorithms.transfers import Step
from explainer.problem import Problem


@dataclass(frozen=True, eq=False)
class BackwardVisit(Step):
    """Hold one visit with its numbers, all float32; None where the algorithm has no such thing
    there.

    ``D`` (rows,) = rowsum(dO ∘ O); of the tile (rows, cols): ``scores`` scaled and changed by the
    score, before the mask, ``slope`` what that does to a small change of them (None: nothing),
    ``P``, ``dP``, and ``dS`` by the scaled products, as they are before they are rounded for the
    next product (in standard attention as it stores them). ``part_dQ`` (rows, d) is what the tile
    adds to dQ_i and ``dQ`` the sum so far, in HBM; ``dK`` and ``dV`` (cols, d) the sums so far, on
    chip. dK, and dQ unless its visits scale it themselves (FA-1), are without the scale.
    """

    D: np.ndarray | None = None
    scores: np.ndarray | None = None
    slope: np.ndarray | None = None
    P: np.ndarray | None = None
    dP: np.ndarray | None = None
    dS: np.ndarray | None = None
    part_dQ: np.ndarray | None = None
    dQ: np.ndarray | None = None
    dK: np.ndarray | None = None
    dV: np.ndarray | None = None


class BackwardRun(Operands):
    """Hold the operands, what a forward pass saved, and the gradients (n, d). Until it is written,
    a gradient is NaN; in an algorithm that only ever adds to it, 0."""

    def __init__(
        self, problem: Problem, O: np.ndarray, lse: np.ndarray, visits: tuple[Visit, ...]
    ) -> None:
        super().__init__(problem)
        n, d = problem.n, problem.d
        self.O, self.lse, self.dO = O, lse, make_gradient(problem)
        self.D = np.full(n, np.nan, np.float32)
        self.dQ, self.dK, self.dV = (np.full((n, d), np.nan, np.float32) for _ in range(3))
        self._visits = visits

    @property
    def statistics(self) -> tuple[np.ndarray, np.ndarray]:
        """Return m and l (n,) after the last tile of each row, as FA-1's forward leaves them."""
        m, l = np.full(self.p.n, NEG_INF), np.zeros(self.p.n, np.float32)
        for visit in self._visits:
            if visit.m_new is not None:
                r = tiling.rows(self.p, visit.i)
                m[r], l[r] = visit.m_new, visit.l_new
        return m, l

    @property
    def P(self) -> np.ndarray:
        """Return P (n, n) as standard attention's forward stores it."""
        P = np.zeros((self.p.n, self.p.n), np.float32)
        for visit in self._visits:
            if visit.stage == "softmax":
                P[tiling.rows(self.p, visit.i)] = visit.P
        return P


def backward_visit(step: Step, **numbers: np.ndarray | None) -> BackwardVisit:
    """Make the visit of this step with its numbers."""
    return BackwardVisit(*fields_of(step), **read_only(numbers))
