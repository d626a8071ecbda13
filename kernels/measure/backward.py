"""Measure the backward pass alone on this GPU: `python -m kernels.measure.backward`.

Writes assets/recorded/backward_<gpu>.json after every case. The twelve points of `bench` (bf16,
16 k tokens, hidden 2048, d 64 and 128, N 1 k, 4 k, 16 k, full and causal): the readable kernel, the
Hopper kernel, both also deterministic, SDPA's flash and cuDNN backends and FlashAttention-4, each
with what its own forward saved for the backward. Errors come first: the largest of dQ, dK and dV
against float64 on two heads, beside naive attention's under autograd. One row is one contender on
one case: median, p20 and p80 of interleaved runs with L2 overwritten before each, TFLOP/s of 2.5
times the forward's. Then the host time of a call, without a gradient and with one.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from functools import partial
from statistics import geometric_mean

import torch

import kernels

from .. import gradients
from ..spec.cases import BenchmarkCase
from .bench import make_functions
from .calls import call_times
from .contenders import contender, random_tensors, tried
from .recording import RecordFile, add_cases, add_options, describe, listed_cases
from .timing import interleave

NAMES = (
    "readable", "readable_deterministic", "hopper", "hopper_deterministic", "sdpa_flash",
    "sdpa_cudnn", "fa4",
)  # fmt: skip
BASES = ("sdpa_cudnn", "sdpa_flash", "fa4", "hopper")  # denominators of the recorded ratios
FLOPS = 2.5  # of the forward's: five products for two
Gradients = Callable[[], tuple[torch.Tensor, ...]]


def gradient_of(name: str, case: BenchmarkCase, q, k, v, grad_o) -> Gradients:
    """Return a function of no arguments to dQ, dK, dV by this contender and no other.

    Its forward and a first call are done here. Raises NotAvailable with a sentence where it does
    not run.
    """
    function: Gradients
    if name.startswith(("sdpa", "fa4")):
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        o = contender(name, case, *leaves)()
        function = partial(torch.autograd.grad, o, leaves, grad_o, retain_graph=True)
    else:
        o, lse = kernels.flash_attention(q, k, v, mask=case.mask, return_lse=True)
        method, _, form = name.partition("_")
        options = {"mask": case.mask, "method": method, "deterministic": bool(form)}
        backward: Callable = partial(gradients.backward, **options)
        function = lambda: backward(grad_o, None, q, k, v, o, lse)[:3]  # noqa: E731
    return tried(function)


def errors(
    functions: dict[str, Gradients], case: BenchmarkCase, q, k, v, grad_o
) -> dict[str, dict[str, float]]:
    """Return by name the largest |error| of dQ, dK and dV on the first and the last head.

    "naive" is attention made of operators in the inputs' dtype under autograd, on those heads.
    """
    found: dict[str, dict[str, float]] = {
        name: {"dQ": 0.0, "dK": 0.0, "dV": 0.0} for name in (*functions, "naive")
    }
    grads = {name: function() for name, function in functions.items()}
    for b, h in {(0, 0), (case.batch - 1, case.heads - 1)}:
        part = [x[b : b + 1, h : h + 1] for x in (q, k, v, grad_o)]
        truth = kernels.reference_gradients(part[0], part[1], part[2], part[3], mask=case.mask)[:3]
        leaves = [x.detach().requires_grad_() for x in part[:3]]
        o = kernels.naive_attention(leaves[0], leaves[1], leaves[2], mask=case.mask)
        of_head = {name: [x[b, h] for x in grad] for name, grad in grads.items()}
        of_head["naive"] = [x[0, 0] for x in torch.autograd.grad(o, leaves, part[3])]
        del o
        for name, mine in of_head.items():
            for key, x, true in zip(found[name], mine, truth, strict=True):
                error = (x.double() - true[0, 0]).abs().max().item()
                found[name][key] = error if math.isnan(error) else max(found[name][key], error)
    return found


def measure(case: BenchmarkCase, names: tuple[str, ...], runs: int) -> list[dict]:
    """Return the rows of one case: errors first, then times."""
    q, k, v = random_tensors(case)
    grad_o = random_tensors(case, seed=1)[0]
    functions, rows = make_functions(
        vars(case), names, lambda name: gradient_of(name, case, q, k, v, grad_o)
    )
    found = errors(functions, case, q, k, v, grad_o)
    for name, times in interleave(functions, runs).items():
        rows[name] |= {**vars(times), "error": found[name], "naive_error": found["naive"]}
        rows[name]["tflops"] = round(FLOPS * case.flops / times.median_ms / 1e9, 1)
    return list(rows.values())


def host_times() -> list[dict]:
    """Return the host time of a call of a small problem, in µs, and its time in a loop: without a
    gradient, with one to come, and of the backward; by `kernels.attention` and by SDPA flash."""
    case = BenchmarkCase(128, 64, "causal", "bf16", 1, 1)
    q, k, v = random_tensors(case)
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    ours: Callable = partial(kernels.attention, causal=True)
    theirs: Callable = partial(torch.nn.functional.scaled_dot_product_attention, is_causal=True)
    functions = {}
    calls: dict[str, Callable] = {"attention": ours, "sdpa": theirs}
    for name, call in calls.items():
        o = call(*leaves)
        functions[f"{name}, no gradient"] = partial(call, q, k, v)
        functions[f"{name}, forward"] = partial(call, *leaves)
        functions[f"{name}, backward"] = partial(
            torch.autograd.grad, o, leaves, torch.ones_like(o), retain_graph=True
        )
    times = call_times(functions, dict.fromkeys(functions, 0.02))
    return [{**vars(case), "method": name, **keys} for name, keys in times.items()]


def ratios(rows: list[dict], base: str) -> dict[str, dict[str, float]]:
    """Return by contender its speed relative to `base`, least and in geometric mean of the cases
    that both ran, and their number."""
    ms = {(r["method"], r["n"], r["d"], r["mask"], r["dtype"]): r.get("median_ms") for r in rows}
    found: dict[str, list[float]] = {}
    for (name, *key), own in ms.items():
        of_base = ms.get((base, *key))
        if own and of_base and name != base:
            found.setdefault(name, []).append(of_base / own)
    return {
        name: {
            "least": round(min(x), 3),
            "geomean": round(geometric_mean(x), 3),
            "points": len(x),
        }
        for name, x in found.items()
    }


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Return the options; the bare command measures the twelve points."""
    parser = argparse.ArgumentParser(description=describe(__doc__))
    add_cases(parser)
    add_options(parser, NAMES, 11)
    return parser.parse_args(argv)


def main() -> None:
    """Run the command line."""
    args = parse()
    file = RecordFile(
        "backward", args, "backward_",
        "the backward pass alone; clocks left alone; TFLOP/s of 10·B·H·N²·d, half when causal",
    )  # fmt: skip
    names = tuple(args.only or NAMES)
    record = file.record
    record |= {"ratios": {}, "host": []}

    def measure_case(case: BenchmarkCase) -> list[dict]:
        rows = measure(case, names, args.runs)
        record["ratios"] = {base: ratios(record["rows"] + rows, base) for base in BASES}
        return rows

    file.measure(listed_cases(args), measure_case)
    record["host"] = host_times()
    for row in record["host"]:
        print(f"{row['method']}: host {row['host_us']:.1f} µs, loop {1e3 * row['loop_ms']:.1f}")
    for base, found in record["ratios"].items():
        print(f"by {base}: {json.dumps(found)}")
    file.close()


if __name__ == "__main__":
    main()
