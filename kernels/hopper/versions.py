"""Decide whether the installed Triton may run the Hopper kernel: Gluon is experimental.

A version that was run on a card is trusted; any other is checked once per process and device, and
refused only for what the check finds.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache

import torch

from ..reference import naive_attention, reference_attention

Run = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, bool], torch.Tensor]

# Release → (card, date) of a run of tests/kernels/hopper and of the grid (LOG.md).
RUN_ON_A_CARD = {
    "3.6": ("NVIDIA H200", "2026-11-22"),
    "3.7": ("NVIDIA H200", "2026-11-22"),
    "3.9": ("NVIDIA H200", "2026-11-28"),
}
# Of every launch. Triton 3.10 fuses multiply and add only on request.
OPTIONS = {"num_warps": 4, "enable_fp_fusion": True}

# The check runs both d, both masks, both dtypes, each pair of them. The lengths, and the diagonal
# that ends between two blocks of 128 keys, enter every loop of the kernel; there are more tiles
# than multiprocessors, so programs take a second one.
CASES = (
    (64, False, torch.bfloat16),
    (64, True, torch.float16),
    (128, False, torch.float16),
    (128, True, torch.bfloat16),
)
HEADS, N_Q, N_K = 160, 200, 300

_answers: dict[torch.device, str] = {}
_one_at_a_time = threading.Lock()


def trusted(device: torch.device, run: Run) -> str:
    """Return in one sentence why the installed Triton may not run the Hopper kernel, "" if it may.

    run(q, k, v, causal) -> O is the kernel's launch: q (1, H, Nq, d), k and v (1, H, Nk, d), fp16
    or bf16 on `device`, scale 1/√d, causal aligned bottom-right. It is called only for a version
    that is not in the table. The first check compiles four kernels. While a CUDA graph is captured
    nothing is checked, and the answer is not cached. Raises
    torch.cuda.OutOfMemoryError if the check has too little memory, which says nothing of Triton.
    """
    if (answer := _answers.get(device)) is not None:
        return answer
    if release(installed()) in RUN_ON_A_CARD:
        return _answers.setdefault(device, "")
    if _capturing(device):
        return (
            f"Triton {installed()} is not yet checked with the Hopper kernel: call it once before "
            "capturing a CUDA graph."
        )
    with _one_at_a_time:
        if device not in _answers:
            _answers[device] = check(device, run)
    return _answers[device]


def check(device: torch.device, run: Run) -> str:
    """Return one sentence on the first case whose error under `run` is too large, else ""."""
    for case in CASES:
        d, causal, dtype = case
        name = f"d = {d}, {'causal' if causal else 'full'}, {str(dtype).removeprefix('torch.')}"
        try:
            error, allowed = _errors(device, run, *case)
        except torch.cuda.OutOfMemoryError:
            raise  # says nothing about Triton
        except Exception as error:
            return f"Triton {installed()} does not run the Hopper kernel ({name}): {_cause(error)}."
        if not error <= allowed:  # NaN is no pass
            return (
                f"Triton {installed()} makes the Hopper kernel compute wrong values ({name}): an "
                f"error of {error:.2g} where {allowed:.2g} is allowed."
            )
    return ""


def _errors(device, run, d, causal, dtype) -> tuple[float, float]:
    """Return the largest absolute error of `run` against float64, and the allowed one.

    Twice naive attention's in the same dtype, and 2 u max |V| for the rounding of O (u is half of
    eps): the rule of `tests/kernels/attention_checks.py`.
    """
    random = torch.Generator("cpu").manual_seed(0)  # the caller's random state stays as it is
    q, k, v = (
        torch.randn(1, HEADS, n, d, generator=random, device="cpu").to(dtype).to(device)
        for n in (N_Q, N_K, N_K)
    )
    with torch.no_grad():
        expected, _ = reference_attention(q, k, v, causal=causal)
        error, naive = (
            (o.double() - expected).abs().max().item()
            for o in (run(q, k, v, causal), naive_attention(q, k, v, causal=causal))
        )
    return error, 2 * naive + torch.finfo(dtype).eps * v.abs().max().item()


def _capturing(device: torch.device) -> bool:
    if device.type != "cuda":
        return False
    with torch.cuda.device(device):
        return torch.cuda.is_current_stream_capturing()


def _cause(error: BaseException) -> str:
    """Return the last line of an exception's root cause: before it is the kernel's text."""
    while error.__cause__:
        error = error.__cause__
    lines = str(error).strip().splitlines() or ["no message"]
    return f"{type(error).__name__}: {lines[-1].strip().rstrip('.')[:160]}"


def release(version: str) -> str:
    """Return 3.7 of 3.7.1, and a build that is no release, like 3.7.1+git0a1b2c3, as it is."""
    found = re.fullmatch(r"(\d+\.\d+)(\.\d+)?(\.post\d+)?", version)
    return found[1] if found else version


@lru_cache(maxsize=1)
def installed() -> str:
    """Return the version of the imported Triton."""
    import triton

    return triton.__version__
