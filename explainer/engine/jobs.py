"""What the worker does with one request: run every method on it, judge it, measure it.

Imported only in the child process that owns the GPU (worker.py): it loads torch and the kernels.
"""

import contextlib
import platform
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, cast

import numpy as np
import torch

import kernels
from explainer.algorithms.inputs import make_inputs
from explainer.algorithms.registry import RUN_BACKWARD
from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.engine import admission
from explainer.engine.gradient_judging import OURS, Gradients
from explainer.engine.judging import Truth, agreement
from explainer.engine.requests import (
    ORDERS,
    YOURS,
    PlacementRequest,
    Request,
    RunRequest,
    SweepPoint,
)
from explainer.engine.results import (
    Choice,
    Figures,
    Machine,
    PointRow,
    Result,
    Row,
    ran,
    refused_methods,
    unknown_machine,
)
from explainer.engine.work_done import work
from kernels.checks import DTYPES
from kernels.measure.contenders import (
    NotAvailable,
    admit,
    contender,
    random_tensors,
    refusal,
)
from kernels.measure.memory import peak_bytes
from kernels.rotary import rope
from kernels.spec.cases import BenchmarkCase

t = Texts("engine")
RUNS, LIMIT_MS = 30, 1500.0
FIXED = ", deterministic"  # after a method's name, of what is timed
SWEEP_RUNS = 9

Report = Callable[..., None]  # (stage, done, total, method="fa2", blocks=(Br, Bc))


class Refused(Exception):
    """One sentence: why this request is not run here. The worker lives on."""


REFUSALS = (Refused, ValueError, TypeError)  # of this module, of fields, and of the kernels


class Learner(Protocol):
    """A learner's function, which runs elsewhere (explainer/check/method.py)."""

    def run(
        self, request: RunRequest, q: np.ndarray, k: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None, Figures]:
        """Return O (B, H, N, d), lse (B, H, N) where it gives it, and its figures. Raises
        ProblemError with the sentence why not."""
        ...


learner: Learner | None = None  # of a worker that was started with one


def device() -> str:
    """Where the kernels run: "cuda", or "cpu" under Triton's interpreter."""
    return "cuda" if torch.cuda.is_available() and not kernels.INTERPRETED else "cpu"


def machine() -> Machine:
    """What the page says of this machine; plain values only."""
    available, reason = kernels.available()
    about = unknown_machine(t("machine.interpreter"))
    about.update(available=available, reason=reason, interpreted=kernels.INTERPRETED)
    versions = about["versions"]
    versions.update(python=platform.python_version(), torch=torch.__version__)
    if kernels.HAS_TRITON:
        import triton

        versions["triton"] = triton.__version__
    if available and device() == "cuda":
        major, minor = torch.cuda.get_device_capability()
        about.update(device=torch.cuda.get_device_name(), arch=f"sm_{major}{minor}")
        versions["cuda"] = str(torch.version.cuda)
        versions["cudnn"] = str(torch.backends.cudnn.version())
    return about


def run(request: RunRequest, report: Report) -> Result:
    """Every method on this request: right?, the picture?, small?, fast?, why?; JSON values only.

    Calls ``report(stage, done, total, …)`` as it goes, see Job. Raises Refused with one sentence.
    """
    about = machine()
    job = _Job(request, about, report)
    rows = [job.row(name) for name in request.methods]
    if not ran(rows):
        raise Refused(" ".join(refused_methods(rows)))
    if device() == "cuda":
        job.time(rows)
    ceilings, choice = job.limits()
    return {
        "after_timing": job.clocks,
        "query": job.request.to_query(),
        "asked": request.to_query(),
        "machine": about,
        "when": _now(),
        "heads_judged": job.heads_judged,
        "naive_error": job.truth.naive_error if job.truth else None,
        "naive_refused": job.naive_refused,
        "io_bytes": 2 * (job.q.nbytes + job.k.nbytes),
        "tiles": {
            n: admission.tiles_to_run(job.problem, n) for n in request.methods if n in ORDERS
        },
        "rows": rows,
        "ceilings": ceilings,
        "chooser": choice,
    }


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())


def _with_backward(both: Gradients, name: str, forward: Callable) -> Callable:
    """Both passes, run once on a GPU. Raises NotAvailable where there is no backward pass."""
    function = both.function(name, forward)
    if device() == "cpu":
        return function
    try:
        function()
        torch.cuda.synchronize()
    except torch.OutOfMemoryError as error:
        torch.cuda.empty_cache()
        raise NotAvailable(t("gradients.memory")) from error
    except (RuntimeError, ValueError) as error:
        raise refusal(error) from error
    return function


def _add(row: Figures, more: Figures) -> None:
    """Add figures to a row, which has its method's name as well."""
    row.update(more)


class _Job:
    """One request with its tensors and its float64 truth."""

    def __init__(self, request: RunRequest, about: Machine, report: Report) -> None:
        self.about, self.report, self.method = about, report, ""
        request = request.with_blocks(*self._blocks(request))  # some data depend on Bc
        p = request.problem
        self.request, self.problem = request, p
        self.shape = BenchmarkCase(
            n=p.n,
            d=p.d,
            dtype=p.dtype,
            batch=request.batch,
            heads=p.q_heads,
            kv_heads=p.kv_heads,
            **p.rules,
            **p.dropped,
        )
        self.q, self.k, self.v = self._tensors(request)
        self.functions: dict[str, Callable] = {}
        self.clocks: list[str] = []
        report("truth", 0, 1, blocks=(p.block_q, p.block_k))
        self.naive_refused = None
        try:
            both = request.pass_ == "backward"  # four N × N matrices, of all that share a key head
            one = 2 * p.q_heads // p.kv_heads if both else 1
            admit("naive", replace(self.shape, batch=1, heads=one, kv_heads=one), self.q.device)
        except NotAvailable as reason:
            self.naive_refused = str(reason)
        heads = list(dict.fromkeys([(0, p.head), (request.batch - 1, p.q_heads - 1)]))
        with_naive = self.naive_refused is None
        self.heads_judged = len(heads)
        self.gradients: Gradients | None = None
        self.truth: Truth | None = None
        if request.pass_ == "backward":
            g = Gradients(self.q, self.k, self.v, request, heads, with_naive)
            self.gradients, (self.q, self.k, self.v) = g, (g.q, g.k, g.v)
        else:
            self.truth = Truth(self.q, self.k, self.v, p, heads, with_naive)

    def _tensors(self, request: RunRequest) -> list[torch.Tensor]:
        """q, k, v. In the first sequence of the batch the Problem's head, and its key head, are the
        picture's. Random data: the others are drawn on the device with the Problem's seed; other
        data: every head has the same."""
        p = request.problem
        first = [torch.tensor(x.copy(), dtype=DTYPES[p.dtype]) for x in make_inputs(p)]
        first = [x.to(device())[None, None] for x in first]
        many = p.q_heads, p.kv_heads, p.kv_heads
        if request.batch * p.q_heads == 1:
            return first
        if p.inputs != "random":
            pairs = zip(first, many, strict=True)
            return [x.repeat(request.batch, heads, 1, 1) for x, heads in pairs]
        q, k, v = random_tensors(self.shape, p.seed, device())
        if p.rope:
            q, k = rope(q, p.rope), rope(k, p.rope)
        q *= p.gain
        tensors = [q, k, v]
        for x, one, at in zip(tensors, first, (p.head, p.kv_head, p.kv_head), strict=True):
            x[0, at] = one[0, 0]
        return tensors

    def _blocks(self, request: RunRequest) -> tuple[int, int]:
        from kernels.orders import config_for

        blocks = (
            None if request.auto_q else request.problem.block_q,
            None if request.auto_k else request.problem.block_k,
        )
        p = request.problem
        like = torch.empty(1, 1, 1, p.d, dtype=DTYPES[p.dtype], device=device())
        try:
            config = config_for(like, *blocks)
        except ValueError:  # the kernel that is to use them will say so
            return p.block_q, p.block_k
        return config.block_m, config.block_n

    def row(self, name: str) -> Row:
        """All about one method but its time; ``refused`` in place of it, with one sentence."""
        row: Row = {"method": name}
        self.method = name
        self._say("running")
        if name == YOURS:
            return self._learner_row(row)
        began = time.perf_counter()
        try:
            if sentence := admission.refuse_method(self.request, name, self.about):
                raise NotAvailable(sentence)
            function = contender(name, self.shape, self.q, self.k, self.v, **self.problem.blocks)
            if self.gradients:
                function = _with_backward(self.gradients, name, function)
        except NotAvailable as reason:
            row["refused"] = str(reason)
            self._say("refused")
            return row
        if device() == "cuda":
            row["first_ms"] = 1e3 * (time.perf_counter() - began)
        began = time.perf_counter()
        if self.gradients:
            _add(row, self._judge_gradients(self.gradients, name, function))
        else:
            o, lse = self._output(name, function)
            if device() == "cpu" and name in ORDERS:
                row["interpreter_s"] = time.perf_counter() - began
            assert self.truth is not None  # of a forward pass
            _add(row, self.truth.judge(self.problem, name, o, lse))
            if name in ORDERS:
                tensors = (self.q, self.k, self.v)
                row["same"] = agreement(self.problem, name, *tensors, o, self._watched)
            del o, lse
        self._say("memory")
        with contextlib.suppress(NotImplementedError):  # FlexAttention hides its buffers on a CPU
            row["peak_bytes"] = peak_bytes(function, device())
        _add(row, work(self.request, self.shape, self.q, name, function))
        self.functions[name] = function
        return row

    def _learner_row(self, row: Row) -> Row:
        """The same about a learner's function, whose memory and time its own process measures."""
        try:
            if learner is None:
                raise ProblemError(t("yours.none"))
            tensors = (x.float().cpu().numpy() for x in (self.q, self.k, self.v))
            o, lse, figures = learner.run(self.request, *tensors)
        except ProblemError as reason:
            row["refused"] = str(reason)
            self._say("refused")
            return row
        assert self.truth is not None  # it is run forward alone
        here = self.q.device
        sums = None if lse is None else torch.from_numpy(lse).to(here)
        _add(row, self.truth.judge(self.problem, YOURS, torch.from_numpy(o).to(here), sums))
        _add(row, figures)
        _add(row, work(self.request, self.shape, self.q, YOURS, lambda: None))
        if "median_ms" in row:
            row["tflops"] = row["flops"] / row["median_ms"] / 1e9
        return row

    def _judge_gradients(self, both: Gradients, name: str, function: Callable) -> Figures:
        """The gradients judged, repeated and, of FA-2, compared with the picture's."""
        began = time.perf_counter()
        grads = self._watched(function, "running")
        row = both.judge(name, grads)
        if device() == "cpu" and name in ORDERS:
            row["interpreter_s"] = time.perf_counter() - began
        self._say("again")
        fixed = both.function(name, function, deterministic=True) if name in OURS else None
        row["repeat"] = both.repeat(grads, function, fixed)
        if fixed:
            self.functions[name + FIXED] = fixed
        if name in RUN_BACKWARD:
            row["same"] = both.same(self._watched)
        return row

    def _output(self, name: str, function):
        """O, and lse of the kernels that give it."""
        if name not in ORDERS:
            return function(), None
        tensors = (self.q, self.k, self.v)
        p, options = self.problem, {"order": name, "return_lse": True}

        def kernel():
            return kernels.flash_attention(*tensors, **p.rules, **p.dropped, **p.blocks, **options)

        return self._watched(kernel, "running")

    def _say(self, stage: str, done: int = 0, total: int = 1) -> None:
        self.report(stage, done, total, method=self.method)

    def _watched(self, function, stage: str):
        """Runs a kernel function, reporting its programs as the interpreter finishes them."""
        self._say(stage)
        with kernels.progress(lambda done, total: self._say(stage, done, total)):
            return function()

    def time(self, rows: list[Row]) -> None:
        """Adds GPU time (median, p20, p80 in ms), TFLOP/s and the times of a call to what ran."""
        from kernels.measure.calls import call_times
        from kernels.measure.recording import clocks
        from kernels.measure.timing import interleave

        self.method = ""
        self._say("timing")
        times = interleave(self.functions, runs=RUNS, limit_ms=LIMIT_MS)
        self.clocks = [clocks()]
        waited = {}
        if not self.gradients:
            waited = call_times(self.functions, {name: t.median_ms for name, t in times.items()})
        for row in rows:
            if row["method"] in times:  # a learner's function has been timed in its own process
                figures = vars(times[row["method"]]) | waited.get(row["method"], {})
                _add(row, cast(Figures, figures))
                if fixed := times.get(row["method"] + FIXED):
                    row["deterministic_ms"] = fixed.median_ms
                row["tflops"] = row["flops"] / row["median_ms"] / 1e9

    def limits(self) -> tuple[dict[str, float] | None, Choice | None]:
        """Measure a GPU's ceilings and return them with the backend that SDPA picks for this."""
        if device() == "cpu":
            return None, None
        from kernels.measure.ceilings import ceilings
        from kernels.measure.chooser import sdpa_choice

        self._say("ceilings")
        p = self.problem
        choice: Choice | None = None
        ours = p.dropped or self.shape.is_grouped  # the call below has no arguments for them
        if (
            p.rules.keys() == {"mask"} and p.mask.plain and not ours
        ):  # of any other it would take a dense mask
            choice = cast(Choice, sdpa_choice(self.q, self.k, self.v, causal=p.is_causal))
        try:
            return ceilings(p.dtype), choice
        except torch.OutOfMemoryError:  # measured when there is room again
            torch.cuda.empty_cache()
            return None, choice


_slow: dict = {}  # what kernels.measure.bench.measure remembers of methods that take seconds


def point(request: SweepPoint, report: Report) -> list[PointRow]:
    """Measure one length of a sweep on a GPU: the rows of `kernels.measure.bench`, and ``when``."""
    from kernels.measure.bench import measure
    from kernels.measure.recording import clocks

    report("timing", 0, 1)
    rows = measure(request.case, request.methods, SWEEP_RUNS, _slow)
    more = {"when": _now(), "after_timing": clocks()}
    return [cast(PointRow, row | more) for row in rows]


def place(request: PlacementRequest, report: Report) -> dict:
    """Record where and when the programs of one launch run on a GPU."""
    from kernels.measure.placement import placement

    report("placed", 0, 1)
    w = request.workload
    case = BenchmarkCase(w.n, w.d, str(w.mask), w.dtype, w.batch, w.heads)
    return placement(case, request.order, block_m=w.block_q, block_n=w.block_k)


def answer(request: Request, report: Report) -> Result | list[PointRow] | dict:
    """Compute the result of one request that was admitted. Raises Refused or ProblemError."""
    if isinstance(request, SweepPoint):
        return point(request, report)
    if isinstance(request, PlacementRequest):
        return place(request, report)
    return run(request, report)
