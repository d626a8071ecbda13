"""Compute a Problem tile by tile, in NumPy, forward or backward: the algorithm's own loop with its
numbers (explainer/algorithms/)."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.backward_numbers import BackwardRun, BackwardVisit
from explainer.algorithms.inputs import make_inputs
from explainer.algorithms.numbers import Run, Visit
from explainer.algorithms.quantized import QuantizedRun
from explainer.algorithms.registry import ALGORITHMS, BACKWARD, MAIN
from explainer.algorithms.schedule import check_size, schedule
from explainer.algorithms.sizes import trace_bytes
from explainer.algorithms.transfers import Step
from explainer.base.amounts import amount
from explainer.base.cache import cached
from explainer.base.fields import parse_whole, refused
from explainer.base.texts import Texts
from explainer.problem import Problem
from kernels.spec.fields import FP8

t = Texts("trace")
MAX_BYTES = 512 * 2**20
MAX_VISITED = 16_384  # tiles of a trace with numbers: each takes NumPy some 60 µs
MAX_STRIP = 1 << 26  # work of one row block, in numbers: see one_visit
MAX_COLUMN = 1 << 33  # the same of all row blocks that meet a key block: see one_visit_backward
MAX_FP8_PRODUCTS = 1 << 24  # whose sums are rounded as the tensor cores do: some 7 ns each
MAX_PRODUCTS = 1 << 34  # of making data that rise, which looks at all N² scores
CACHE_BYTES = 16 << 20


@dataclass(frozen=True, eq=False)
class Trace:
    """Hold a whole run: inputs and outputs (n, d) float32 holding values of the dtype, S (n, n)
    scaled with −inf where masked, lse (n,) fp32 natural log, and the visits in loop order."""

    problem: Problem
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    S: np.ndarray
    O: np.ndarray
    lse: np.ndarray
    visits: tuple[Visit, ...]


@dataclass(frozen=True, eq=False)
class BackwardTrace:
    """Hold a whole backward pass: inputs, O, dO and the gradients (n, d) float32 holding values of
    the dtype, lse and D (n,) fp32, dsink, the gradient of the sink's logit (fp32; None without
    one), and the visits in loop order."""

    problem: Problem
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    O: np.ndarray
    lse: np.ndarray
    dO: np.ndarray
    D: np.ndarray
    dQ: np.ndarray
    dK: np.ndarray
    dV: np.ndarray
    dsink: np.float32 | None
    visits: tuple[BackwardVisit, ...]


def array_bytes(run: Trace | BackwardTrace) -> int:
    """Count the bytes of its arrays; those that two visits share count twice."""
    arrays = (x for v in (run, *run.visits) for x in vars(v).values() if isinstance(x, np.ndarray))
    return sum(x.nbytes for x in arrays) + 1_000 * len(run.visits)


def has_too_many_products(problem: Problem) -> bool:
    """Return True if a whole trace in e4m3 would take seconds."""
    return problem.dtype == FP8 and problem.n**2 * problem.d > MAX_FP8_PRODUCTS


def _check_numbers(problem: Problem, pass_: str = "forward") -> None:
    """Raise ProblemError where a trace with numbers would have too many tiles or bytes."""
    check_size(problem)
    tiling.check_tiles(problem, MAX_VISITED, "numbers.at")
    if has_too_many_products(problem):
        why = t("products.fp8", most=MAX_FP8_PRODUCTS, found=problem.n**2 * problem.d)
        raise refused({"dtype": FP8}, why, t("products.fp8.at"))
    if (needed := trace_bytes(problem, pass_)) > MAX_BYTES:
        why = t("bytes", needed=amount(needed), most=amount(MAX_BYTES))
        where = t("bytes.at", d=problem.d, bc=problem.block_k)
        raise refused({"n": f"{problem.n:,}"}, why, where)


@cached(CACHE_BYTES, array_bytes)
def trace(problem: Problem) -> Trace:
    """Run the Problem tile by tile. Raises ProblemError when its arrays would exceed 512 MiB, and
    for more than 16,384 tiles."""
    _check_numbers(problem)
    run = _run(problem)
    # Overflow and 0/0 are what fp16 really does with such scores: the page says so, not NumPy.
    with np.errstate(all="ignore"):
        visits = tuple(ALGORITHMS[problem.order].compute(run, schedule(problem)))
    assert isinstance(run.S, np.ndarray)  # a run of all rows has a whole S, not a strip of it
    for x in (run.S, run.O, run.lse):
        x.setflags(write=False)
    return Trace(problem, *make_inputs(problem), run.S, run.O, run.lse, visits)


@cached(CACHE_BYTES, array_bytes)
def trace_backward(problem: Problem) -> BackwardTrace:
    """Run the Problem's forward pass, and then the backward pass of the same algorithm for a
    random dO. The gradients are those of Q, K and V as this head multiplies them (after RoPE; of
    dK and dV this query head's share). Raises ProblemError as ``trace`` does, and for dropout."""
    steps = schedule(problem, "backward")
    _check_numbers(problem, "backward")
    forward = trace(problem)
    run = BackwardRun(problem, forward.O, forward.lse, forward.visits)
    with np.errstate(all="ignore"):
        visits = tuple(BACKWARD[problem.order].compute(run, steps))
    gradients = run.dQ, run.dK, run.dV
    for x in (run.D, *gradients):
        x.setflags(write=False)
    inputs = run.Q, run.K, run.V, run.O, run.lse, run.dO
    dsink = None
    if problem.sink is not None:  # a key whose dP is 0, since it has no value
        D = np.where(run.O.any(axis=1), run.D, 0)  # FA-1 has none of rows that no tile sees
        dsink = -(np.exp(np.float32(problem.sink) - run.lse) * D).sum()
    return BackwardTrace(problem, *inputs, run.D, *gradients, dsink, visits)


def _run(problem: Problem, rows: slice | None = None) -> Run:
    """Make the run of a Problem, or of one row block of it."""
    return (QuantizedRun if problem.dtype == FP8 else Run)(problem, rows)


TRACES = {"forward": trace, "backward": trace_backward}


def _check_visit(problem: Problem) -> None:
    """Raise ProblemError where a row block is too much to be computed for one of its visits."""
    check_size(problem)
    if problem.inputs == "rising" and (products := problem.n**2 * problem.d) > MAX_PRODUCTS:
        why = t("products", most=MAX_PRODUCTS, found=products)
        raise refused({"data": "rising"}, why, t("products.at"))
    most = MAX_STRIP // touched_by_row(problem)
    if problem.block_q > most:
        where = t("strip.at", n=problem.n, d=problem.d, bc=problem.block_k)
        raise refused({"br": problem.block_q}, t("strip", most=most), where)


def touched_by_row(problem: Problem) -> int:
    """Count the numbers touched per row: about 16 a score, and its accumulator once a visit; in
    e4m3 each product."""
    products = problem.n * problem.d if problem.dtype == FP8 else 0
    return 16 * problem.n + problem.d * problem.Tc + products


def _row_block(problem: Problem, steps: Iterable[Step]) -> tuple[Run, deque[Visit]]:
    """Run the steps of one row block, without the skipped ones before the last; return the run and
    its last two visits."""
    *others, last = steps
    with np.errstate(all="ignore"):
        run = _run(problem, tiling.rows(problem, last.i))
        own = *(s for s in others if s.kind != "skipped"), last
        return run, deque(ALGORITHMS[problem.order].compute(run, own), maxlen=2)


def one_visit(problem: Problem, step: int) -> tuple[Visit, Visit | None]:
    """Compute visit ``step``, and the one before it in the same row block, whose O it starts from;
    for Problems too large for a whole trace. Raises ProblemError for no such visit.

    Only the visits of its row block are computed: rows do not depend on each other. Their work, in
    numbers touched, is bounded.
    """
    _check_visit(problem)
    steps = schedule(problem)
    step = parse_whole("step", step, (0, len(steps) - 1, None))
    _, visits = _row_block(problem, [s for s in steps[: step + 1] if s.i == steps[step].i])
    begins = len(visits) == 1 or steps[step].first
    return visits[-1], None if begins else visits[0]


# The stages that a visit of a backward pass stands on, before its own; those whose sums go over the
# row blocks of a key block.
EARLIER = {None: ("D",), "scale": ("D", None), "dS": ("dP",), "dQ": ("dP", "dS")}
EARLIER["dK"] = EARLIER["dQ"]
BY_KEYS = (None, "dV", "dK")


def one_visit_backward(
    problem: Problem, step: int
) -> tuple[BackwardVisit, dict[str, np.ndarray], BackwardRun]:
    """Compute visit ``step`` of the backward pass. Return it; the sums of ``dQ``, ``dK`` and ``dV``
    that it continues, without those that begin at 0; and the run, whose matrices are right in the
    blocks of the visit's rows and keys.

    Computed are the row blocks that its sums go over, each with its forward pass: its own, and of a
    key block those up to it. Raises ProblemError as ``one_visit``, and where they are too many.
    """
    steps = schedule(problem, "backward")
    _check_visit(problem)
    at = steps[step := parse_whole("step", step, (0, len(steps) - 1, None))]
    rows = _computed_rows([at])
    if rows and at.stage in BY_KEYS:
        rows |= _computed_rows(s for s in steps[: step + 1] if (s.stage, s.j) == (at.stage, at.j))
    _check_rows(problem, min(problem.n, len(rows) * problem.block_q))

    def needed(s: Step) -> bool:
        if s.i not in rows or (s.kind == "skipped" and not s.stage):
            return False
        if s.stage != at.stage:
            return s.stage in EARLIER.get(at.stage, ())
        return (
            s.i == at.i if at.stage not in BY_KEYS else s.j == at.j or (s.i == at.i and not s.stage)
        )

    # Of other key blocks' tiles only what they add to dQ is wanted: there dK and dV may begin anew.
    wanted = (
        replace(s, first=s.first or (s.stage is None and s.j != at.j))
        for s in steps[:step]
        if needed(s)
    )
    O, lse = np.zeros((problem.n, problem.d), np.float32), np.zeros(problem.n, np.float32)
    of_rows: list[Visit] = []
    for i, group in _by_rows(problem, rows).items():
        run, visits = _row_block(problem, group)
        r = tiling.rows(problem, i)
        O[r], lse[r] = run.O[r], run.lse[r]
        of_rows += visits
    back = BackwardRun(problem, O, lse, tuple(of_rows))
    before: dict[str, np.ndarray] = {}
    after = before
    with np.errstate(all="ignore"):
        for visit in BACKWARD[problem.order].compute(back, (*wanted, at)):
            sums = {"dQ": visit.dQ if visit.i == at.i else None}
            sums |= {"dK": visit.dK, "dV": visit.dV} if visit.j == at.j else {}
            before, after = after, after | {k: x for k, x in sums.items() if x is not None}
    return visit, before, back


def _computed_rows(steps: Iterable[Step]) -> set[int]:
    """Return the row blocks of these steps in which something is computed."""
    return {s.i for s in steps if s.i is not None and (s.kind != "skipped" or s.stage)}


def _by_rows(problem: Problem, rows: set[int]) -> dict[int, list[Step]]:
    """Group the forward pass's steps of these row blocks by row block."""
    found: dict[int, list[Step]] = {i: [] for i in sorted(rows)}
    for s in schedule(problem):
        if s.i in found:
            found[s.i].append(s)
    return found


def _check_rows(problem: Problem, rows: int) -> None:
    """Raise ProblemError where so many rows are too much for one visit of a backward pass."""
    where = t("column.at", n=problem.n)
    if rows * touched_by_row(problem) > MAX_COLUMN:
        given = {"br": problem.block_q, "bc": problem.block_k}
        raise refused(given, t("column"), where)
    stores_scores = ALGORITHMS[problem.order].stores_scores
    if stores_scores and (needed := 12 * rows * problem.n) > MAX_BYTES:
        others = " or ".join(key for key in MAIN if not ALGORITHMS[key].stores_scores)
        sizes = {"needed": amount(needed), "most": amount(MAX_BYTES)}
        why = t("squares", orders=others, rows=rows, **sizes)
        raise refused({"order": problem.order}, why, where)
