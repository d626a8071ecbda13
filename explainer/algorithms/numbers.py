"""What the loops compute with: operands, outputs, and the numbers of one visit.

Arithmetic is the kernel's: operands in the chosen dtype, products accumulated in fp32, running
maximum m, running sum l and the accumulator in fp32, P rounded to the dtype before P V.
"""

from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from explainer.algorithms.inputs import make_inputs
from explainer.algorithms.transfers import Step
from explainer.problem import Problem
from kernels.spec.dropout import factors
from kernels.spec.formats import round_to

NEG_INF = np.float32(-np.inf)


@dataclass(frozen=True, eq=False)
class Visit(Step):
    """Hold one visit with its numbers, all float32; None where the algorithm has no such thing
    there, which the types leave out: who reads a number knows the algorithm.

    Per real row of the block (shape (rows,)): ``m_old m_new l_old l_new alpha row_max row_sum``.
    ``scores`` (rows, cols) scaled and changed by the Problem's score, before the mask (in standard
    attention rounded, as it stores them); ``S`` (rows, cols) the same masked, ``P`` (rows, cols)
    as it meets V, after dropout;
    ``O`` (rows, d), the accumulator after the visit, as the algorithm's ``output`` declares it.
    In a stage whose columns are lanes, ``S`` and ``P`` (rows, lanes) are the lse of its parts of
    the keys and their weights.
    """

    m_old: np.ndarray = None  # type: ignore[assignment]
    m_new: np.ndarray = None  # type: ignore[assignment]
    l_old: np.ndarray = None  # type: ignore[assignment]
    l_new: np.ndarray = None  # type: ignore[assignment]
    alpha: np.ndarray = None  # type: ignore[assignment]
    row_max: np.ndarray = None  # type: ignore[assignment]
    row_sum: np.ndarray = None  # type: ignore[assignment]
    scores: np.ndarray = None  # type: ignore[assignment]
    S: np.ndarray = None  # type: ignore[assignment]
    P: np.ndarray = None  # type: ignore[assignment]
    O: np.ndarray = None  # type: ignore[assignment]


class _Strip:
    """Hold one row block of an N × N matrix, under the rows' own indices; other rows do not
    exist."""

    def __init__(self, rows: slice, n: int, value: float | np.float32) -> None:
        self.rows = rows
        self.data = np.full((rows.stop - rows.start, n), value, np.float32)

    def __getitem__(self, rows: slice) -> np.ndarray:
        assert rows == self.rows
        return self.data

    def __setitem__(self, key: slice | tuple[slice, slice], value: np.ndarray) -> None:
        rows, cols = key if isinstance(key, tuple) else (key, slice(None))
        assert rows == self.rows
        self.data[:, cols] = value


class Operands:
    """Hold Q, K, V, and change scores as the loops of both passes do."""

    def __init__(self, problem: Problem) -> None:
        self.p = problem
        self.Q, self.K, self.V = make_inputs(problem)

    def scored(self, S: np.ndarray, r: slice, c: slice) -> tuple[np.ndarray, np.ndarray | None]:
        """Return what the Problem's score makes of the scaled products of these rows and keys, and
        its slope; None where it leaves them as they are."""
        if not self.p.score.changes:
            return S, None
        rows, keys = np.ogrid[r, c]
        S, slope = self.p.score.apply_with_slope(S, rows, keys, self.p.head, self.p.q_heads)
        return S, np.full(S.shape, slope, np.float32)

    def mask(self, S: np.ndarray, r: slice, c: slice) -> np.ndarray:
        """Return S with −inf where the mask hides a key from a query."""
        if not self.p.mask.hides:
            return S
        return np.where(self.p.mask.sees(*np.ogrid[r, c]), S, NEG_INF)


class Run(Operands):
    """Hold the operands and outputs, and take the steps that all loops share unchanged.

    ``start``: a row's m and l before its first tile: −inf and 0, or with a sink its logit x and 1,
    as if a key with this score and V = 0 had been met. With ``rows`` only that row block's part of
    S and P exists: rows do not depend on each other.
    """

    def __init__(self, problem: Problem, rows: slice | None = None) -> None:
        super().__init__(problem)
        self.rows = rows
        sink = problem.sink
        self.start = (NEG_INF, np.float32(0)) if sink is None else (np.float32(sink), np.float32(1))
        self.S = self.matrix(NEG_INF)
        self.make_outputs(problem.stored_dtype)

    def make_outputs(self, dtype: str) -> None:
        """Begin with O = 0, to be stored in this dtype, and the lse of rows without a key."""
        self.stored_dtype = dtype
        self.O = np.zeros((self.p.n, self.p.d), np.float32)
        self.lse = np.full(self.p.n, self.start[0], np.float32)

    def matrix(self, value: float | np.float32) -> np.ndarray | _Strip:
        """Make an N × N matrix of this value, or the strip of it that the run needs."""
        if self.rows is not None:
            return _Strip(self.rows, self.p.n, value)
        return np.full((self.p.n, self.p.n), value, np.float32)

    def statistics(self, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Return m and l (rows,) of rows before their first key."""
        m, l = (np.full(rows, x, np.float32) for x in self.start)
        return m, l

    def matmul(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return a b."""
        return a @ b

    def scale(self, r: slice, c: slice) -> np.ndarray | np.float32:
        """Return what a product of these rows of Q and keys of K is multiplied by, 1/√d."""
        return np.float32(self.p.scale)

    def add_product(self, O: np.ndarray | np.float32, P: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return O + P V, with P rounded to V's dtype."""
        return O + round_to(P, self.p.dtype) @ V

    def score(self, S: np.ndarray, r: slice, c: slice) -> np.ndarray:
        """Return what the Problem's score makes of the scaled products of these rows and keys."""
        return self.scored(S, r, c)[0]

    def drop(self, P: np.ndarray, r: slice, c: slice) -> np.ndarray:
        """Return the weights that enter P V: some are 0, the others 1/(1 − p) times as large."""
        p = self.p
        if not p.dropout:
            return P
        rows, keys = np.ogrid[r, c]
        return P * factors(p.dropout, p.seed, p.head * p.n + rows, keys, p.n)


def exp_difference(a: np.ndarray | np.float32, b: np.ndarray) -> np.ndarray:
    """Return exp(a − b), with −inf − (−inf) read as "nothing yet": 1 for a statistic, 0 for a
    score."""
    return np.exp(a - np.where(b == NEG_INF, np.float32(0), b))


def rescale(m: np.ndarray, m_new: np.ndarray) -> np.ndarray:
    """Return alpha = exp(m − m_new); 1 for a row that has seen no key yet."""
    return np.exp(np.where(m_new == NEG_INF, np.float32(0), m - m_new))


def visit_of(step: Step, **numbers: np.ndarray) -> Visit:
    """Make the visit of this step with its numbers."""
    return Visit(*fields_of(step), **read_only(numbers))


# The fields of a step, which its visit has too.
fields_of = attrgetter(*Step.__slots__)


def read_only(numbers: dict) -> dict:
    """Make the arrays of a visit read-only, and return them."""
    for x in numbers.values():
        if x is not None:
            x.setflags(write=False)
    return numbers
