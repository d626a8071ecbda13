"""The loops' arithmetic in e4m3: scales, few bits in tensor cores' sums, and what each costs."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from explainer.algorithms.inputs import make_inputs, quantize
from explainer.algorithms.numbers import Run, Visit
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.problem import Problem
from kernels.spec import accumulation
from kernels.spec.fields import FP8
from kernels.spec.formats import round_to

P_SCALE = np.float32(256)  # what the largest P becomes: it uses e4m3's range


class QuantizedRun(Run):
    """Multiply rounded numbers as Hopper's tensor cores do, and their scales into the products.

    ``levels`` of accumulation: with 2 the product P V of each tile starts from 0 and is added to O
    in fp32; with 1 it is added to O in the tensor cores' accumulator; with 0 all sums are fp32.
    Not ``scaled``: all scales are 1.
    """

    def __init__(
        self, problem: Problem, rows: slice | None = None, *, scaled: bool = True, levels: int = 2
    ) -> None:
        super().__init__(problem, rows)
        x = quantize(problem, scaled=scaled)
        self.Q, self.K, self.V = x.Q, x.K, x.V
        self.q_scales, self.k_scales, self.v_scales = x.scales
        largest = np.float32(1 / (1 - problem.dropout))  # of P, which dropout divides
        self.p_scale = P_SCALE / largest if scaled else np.float32(1)
        self.levels = levels

    def matmul(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return a b."""
        return accumulation.matmul(a, b) if self.levels else a @ b

    def scale(self, r: slice, c: slice) -> np.ndarray:
        """Return 1/√d times the scales of these rows and keys."""
        return super().scale(r, c) * self.q_scales[r] * self.k_scales[c].T

    def add_product(self, O: np.ndarray | np.float32, P: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return O + P V, with P scaled and rounded."""
        unit = self.v_scales / self.p_scale
        P = round_to(P * self.p_scale, FP8)
        if self.levels == 1:
            return accumulation.matmul(P, V, O / unit) * unit
        return O + self.matmul(P, V) * unit


class ExactRun(Run):
    """Compute in float64, with the inputs as they were before they were rounded."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(replace(problem, dtype="fp32"))
        self.Q, self.K, self.V = (x.astype(np.float64) for x in make_inputs(self.p))

    def add_product(self, O: np.ndarray | np.float32, P: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return O + P V."""
        return O + P @ V


ERRORS = ("plain", "scaled", "one_level", "two_levels")


def row_errors(problem: Problem, visits: tuple[Visit, ...]) -> dict[str, list[np.ndarray | None]]:
    """Return what rounding and sums cost each row of O so far, by ERRORS a list of (rows,) of each
    visit: ‖O − Ô‖ / ‖Ô‖.

    "plain" and "scaled", by rounding: numbers of e4m3 without and with scales, all sums in fp32; Ô
    in float64 of the inputs before rounding. "one_level" and "two_levels" (the trace), by the sums
    alone: Ô is "scaled". Empty for a loop in which O is made at once or in parts.
    """
    algorithm, steps = ALGORITHMS[problem.order], schedule(problem)
    if not algorithm.running or algorithm.lanes > 1:
        return {}

    def rows_of(of: Iterable[Visit]) -> list[np.ndarray | None]:
        if algorithm.output == "normalized":
            return [visit.O for visit in of]
        return [visit.O / np.where(visit.l_new > 0, visit.l_new, 1)[:, None] for visit in of]

    def run(how: Run) -> list[np.ndarray | None]:
        return rows_of(algorithm.compute(how, steps))

    with np.errstate(all="ignore"):
        exact, scaled = run(ExactRun(problem)), run(QuantizedRun(problem, levels=0))
        return {
            "plain": _errors(run(QuantizedRun(problem, scaled=False, levels=0)), exact),
            "scaled": _errors(scaled, exact),
            "one_level": _errors(run(QuantizedRun(problem, levels=1)), scaled),
            "two_levels": _errors(rows_of(visits), scaled),
        }


def _errors(
    found: list[np.ndarray | None], exact: list[np.ndarray | None]
) -> list[np.ndarray | None]:
    """Return ‖found − exact‖ / ‖exact‖ of each row, 0 of a row that has seen no key."""
    return [
        None if O is None or right is None else _error(O, right)
        for O, right in zip(found, exact, strict=True)
    ]


def _error(O: np.ndarray, right: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(right, axis=1)
    return np.linalg.norm(O - right, axis=1) / np.where(size > 0, size, 1)
