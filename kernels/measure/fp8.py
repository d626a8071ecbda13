"""Time attention in fp8 beside bf16 on the Hopper GPU at hand, and measure its errors:
`python -m kernels.measure.fp8` writes a record.

`rmse` is the root mean square error of O against float64, divided by that of O itself: of two heads
and at most 4,096 tokens, for standard normal inputs, for the same with one value in a thousand ten
times as large, and for V shifted by 4, where O is a long sum of one sign.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from typing import Any

import torch

import kernels

from .. import fp8
from ..spec.cases import BenchmarkCase
from . import recording
from .contenders import random_tensors, sdpa_call
from .timing import interleave

NAMES = ("bf16", "sdpa_cudnn", "fp8", "fp8_two_level", "fp8_exact_exp", "fp8_with_quantization")
JUDGED = 4096  # tokens
LENGTHS = (4096, 8192, 16384)


def measure(case: BenchmarkCase, runs: int) -> list[dict]:
    """Return one row a method: times in milliseconds, and rmse by inputs of those in fp8."""
    q, k, v = random_tensors(case)
    causal = case.parsed_mask.hides
    given = kernels.quantize_fp8(q, k, v)
    plans = plans_of(case.d, causal)
    functions = {
        "bf16": partial(kernels.attention, q, k, v, causal=causal),
        "sdpa_cudnn": sdpa_call("sdpa_cudnn", q, k, v, is_causal=causal),
        **{
            name: partial(kernels.attention_fp8, given, causal=causal, plan=plan)
            for name, plan in plans.items()
        },
        "fp8_with_quantization": partial(kernels.attention_fp8, q, k, v, causal=causal),
    }
    errors = errors_of(case, plans)
    times = interleave(functions, runs)
    return [
        vars(case)
        | {"method": name, **vars(times[name])}
        | {"tflops": case.flops / times[name].median_ms / 1e9, "rmse": errors.get(name)}
        for name in NAMES
    ]


def plans_of(d: int, causal: bool) -> dict[str, fp8.plans.Plan]:
    """Return the plan of each method that takes rounded inputs."""
    one_level = fp8.plans.FP8_ONE_LEVEL[d, causal]
    return {
        "fp8": one_level,
        "fp8_two_level": fp8.plans.FP8[d, causal],
        "fp8_exact_exp": replace(one_level, linear=0),
    }


def errors_of(case: BenchmarkCase, plans: dict) -> dict[str, dict[str, Any]]:
    """Return {method: {inputs: rmse}}, with "bf16" and "plain": e4m3 without any scale."""
    causal = case.parsed_mask.hides
    small = replace(case, n=min(case.n, JUDGED), batch=1, heads=2)
    q, k, v = random_tensors(small, seed=1)
    rare = [torch.where(torch.rand_like(x) < 1e-3, 10 * x, x) for x in (q, k, v)]
    found: dict[str, dict[str, Any]] = {}
    for inputs, tensors in {
        "normal": (q, k, v),
        "outliers": rare,
        "shifted": (q, k, v + 4),
    }.items():
        truth, _ = kernels.reference_attention(*tensors, causal=causal)
        plain = [x.to(torch.float8_e4m3fn).float() for x in tensors]
        results: dict[str, Any] = {
            name: kernels.attention_fp8(*tensors, causal=causal, plan=plan)
            for name, plan in plans.items()
        }
        results["bf16"] = kernels.attention(*tensors, causal=causal)
        results["plain"], _ = kernels.reference_attention(*plain, causal=causal)
        for name, o in results.items():
            error = (o.double() - truth).norm() / truth.norm()
            found.setdefault(name, {})[inputs] = error.item()
    found["bf16"]["plain"] = found.pop("plain")  # has no row of its own
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=recording.describe(__doc__))
    recording.add_cases(parser, lengths=LENGTHS)
    recording.add_options(parser, NAMES, runs=15)
    args = parser.parse_args()
    file = recording.RecordFile("fp8", args, "fp8_", recording.describe(__doc__))
    file.measure(recording.listed_cases(args), lambda case: measure(case, args.runs))
    file.close()
