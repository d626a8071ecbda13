"""What the worker does with one Problem: run the real kernel, judge it, measure it.

Imported only in the child process that owns the GPU (worker.py): it loads torch and the kernels.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

import torch

import kernels
from explainer import admission
from explainer.agreement import compare, tolerance
from explainer.inputs import make_inputs
from explainer.problem import Problem
from explainer.trace import trace
from kernels.memory import peak_bytes

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
UNIT_ROUNDOFF = {"fp32": 2.0**-24, "fp16": 2.0**-11, "bf16": 2.0**-8}
RUNS = 30

Report = Callable[[str, int, int], None]


class Refused(Exception):
    """One sentence: why this Problem is not run here. The worker lives on."""


def device() -> str:
    """Where the kernels run: "cuda", or "cpu" under Triton's interpreter."""
    return "cuda" if torch.cuda.is_available() and not kernels.INTERPRETED else "cpu"


def machine() -> dict:
    """What the page says of this machine; plain values only."""
    available, reason = kernels.available()
    about = {
        "available": available,
        "reason": reason,
        "interpreted": kernels.INTERPRETED,
        "device": "CPU, Triton interpreter",
        "arch": None,
        "free_bytes": None,
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
    }
    if kernels.availability.HAS_TRITON:
        import triton

        about["versions"]["triton"] = triton.__version__
    if available and device() == "cuda":
        major, minor = torch.cuda.get_device_capability()
        about.update(device=torch.cuda.get_device_name(), arch=f"sm_{major}{minor}")
        about["free_bytes"] = torch.cuda.mem_get_info()[0]
        about["versions"]["cuda"] = torch.version.cuda
    return about


def run(problem: Problem, report: Report) -> dict:
    """The kernel on this Problem: right?, same as the picture?, small?, fast?; JSON values only.

    Calls ``report(stage, done, total)`` as it goes. Raises Refused with one sentence.
    """
    about = machine()
    refusal = admission.refuse(problem, about)
    if refusal:
        raise Refused(refusal)
    no_naive = admission.refuse_naive(problem, about)
    tensors = [
        torch.tensor(x.copy(), dtype=DTYPES[problem.dtype], device=device())[None, None]
        for x in make_inputs(problem)
    ]
    report("float64 reference", 0, 1)
    truth, truth_lse = kernels.reference_attention(*tensors, causal=problem.causal)

    def naive():
        return kernels.naive_attention(*tensors, causal=problem.causal)

    options = {
        "causal": problem.causal,
        "order": problem.order,
        "block_m": problem.block_q,
        "block_n": problem.block_k,
    }

    def kernel():
        return kernels.flash_attention(*tensors, return_lse=True, **options)

    report("naive attention", 0, 1)
    naive_o = None if no_naive else naive()
    began = time.perf_counter()
    o, lse = _watched(kernel, "kernel", report)
    elapsed = time.perf_counter() - began
    _wait()
    result = {
        "query": problem.to_query(),
        "machine": about,
        "when": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        "right": _right(problem, o, lse, naive_o, truth, truth_lse),
        "tiles": admission.tiles_to_run(problem),
    }
    del naive_o
    result["same"] = _same(problem, tensors, options, o, report)
    report("peak memory", 0, 1)
    result["small"] = {
        "kernel_bytes": peak_bytes(kernel, device()),
        "naive_bytes": None if no_naive else peak_bytes(naive, device()),
        "naive_refused": no_naive,
        "io_bytes": 4 * problem.n * problem.d * admission.ITEMSIZE[problem.dtype],
    }
    result["fast"] = _fast(kernel, None if no_naive else naive, elapsed, report)
    return result


def _wait() -> None:
    if device() == "cuda":
        torch.cuda.synchronize()


def _watched(function, stage: str, report: Report):
    """Runs a kernel function, reporting its programs as the interpreter finishes them."""
    report(stage, 0, 1)
    with kernels.progress(lambda done, total: report(stage, done, total)):
        return function()


def _right(problem, o, lse, naive_o, truth, truth_lse) -> dict:
    """Largest errors against float64, and the rule of flash-attention's own tests: at most twice
    naive attention's error in the same dtype, plus what rounding O itself may cost."""
    largest = truth.abs().max().item()
    error = _difference(o, truth)
    naive_error = None if naive_o is None else _difference(naive_o, truth)
    unit = UNIT_ROUNDOFF[problem.dtype]
    visits = problem.Tc**0.5 if problem.order == "fa1" else 1.0  # FA-1 rounds O at every visit
    slack = 2 * (unit * visits + tolerance(problem)) * largest
    allowed = slack + 2 * (naive_error if naive_error is not None else unit * largest)
    return {
        "error": error,
        "relative": error / largest if largest else 0.0,
        "naive_error": naive_error,
        "naive_relative": naive_error / largest if naive_error is not None and largest else None,
        "lse_error": _difference(lse, truth_lse),
        "allowed": allowed,
        "right": bool(error <= allowed),
    }


def _difference(x: torch.Tensor, truth: torch.Tensor) -> float:
    return (x.double() - truth).abs().max().item()


def _same(problem, tensors, options, o, report) -> dict:
    """The kernel's tile states against the picture's; standard attention has only its O."""
    if problem.order != "standard":
        m, l = _watched(lambda: kernels.tile_states(*tensors, **options), "tile states", report)
        report("comparing with the trace", 0, 1)
        states = [x[0, 0].cpu().numpy() for x in (m, l)]
        return compare(problem, *states).to_dict()
    report("comparing with the trace", 0, 1)
    traced = trace(problem)
    error = float(abs(o[0, 0].float().cpu().numpy() - traced.O).max())
    unit = UNIT_ROUNDOFF[problem.dtype]
    allowed = (4 * unit + tolerance(problem)) * float(abs(traced.V).max())
    return {"against": "O", "o_error": error, "tolerance": allowed, "agrees": error <= allowed}


def _fast(kernel, naive, elapsed: float, report: Report) -> dict:
    """Median, p20 and p80 in ms on a GPU; under the interpreter only how long one had to wait."""
    if device() == "cpu":
        return {"interpreter_s": elapsed}
    from kernels.timing import interleave

    report("timing", 0, 1)
    functions = {"kernel": kernel} | ({"naive": naive} if naive else {})
    times = interleave(functions, runs=RUNS, limit_ms=3000.0)
    return {name: vars(t) for name, t in times.items()}
