"""Measure the backward pass alone on this GPU: `python -m kernels.measure.backward`.

Writes assets/recorded/backward_<gpu>.json after every problem. The twelve points of `bench` (bf16,
16 k tokens, hidden 2048, d 64 and 128, N 1 k, 4 k, 16 k, full and causal): the readable kernel, the
Hopper kernel, both also deterministic, SDPA's flash and cuDNN backends and FlashAttention-4, each
from what its own forward kept. Correct first: largest error of dQ, dK and dV against float64 on two
heads, beside naive attention's under autograd. One row is one contender on one problem: median, p20
and p80 of interleaved runs with L2 overwritten before each, TFLOP/s of 2.5 times the forward's.
Then what a call costs the host, without a gradient and with one. `--tune` times the Hopper kernel's
schedules beside each other instead.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import shlex
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

import kernels

from .. import gradients
from ..hopper import backward as hopper_backward
from ..hopper import backward_plans
from ..reference import materialized
from ..spec import scores
from ..spec.cases import BenchmarkCase
from . import readme_table
from .bench import FOLDER, HIDDEN, TOKENS, clocks, provenance
from .calls import call_times
from .contenders import NotAvailable, contender, random_tensors
from .timing import FLUSH_BYTES, interleave

NAMES = (
    "readable", "readable_deterministic", "hopper", "hopper_deterministic", "sdpa_flash",
    "sdpa_cudnn", "fa4",
)  # fmt: skip
BASES = ("sdpa_cudnn", "sdpa_flash", "fa4", "hopper")  # what ratios are of
FLOPS = 2.5  # of the forward's: five products for two
MIB = 1 << 20
# Schedules of the Hopper kernel: order, and the bytes of heads that stay in L2 together.
SCHEDULES = tuple(itertools.product(("queue", "rows"), (4 * MIB, 16 * MIB, 64 * MIB)))
Gradients = Callable[[], tuple[torch.Tensor, ...]]


def gradient_of(name: str, problem: BenchmarkCase, q, k, v, grad_o) -> Gradients:
    """A function of no arguments to dQ, dK, dV by this contender and no other; its forward, and a
    first call, are done here. Raises NotAvailable with a sentence where it does not run."""
    if name.startswith(("sdpa", "fa4")):
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        o = contender(name, problem, *leaves)()
        found = partial(torch.autograd.grad, o, leaves, grad_o, retain_graph=True)
    else:
        o, lse = kernels.flash_attention(q, k, v, mask=problem.mask, return_lse=True)
        if "/" in name:
            found = _scheduled(name, problem, q, k, v, o, lse, grad_o)
        else:
            method, _, form = name.partition("_")
            how = {"mask": problem.mask, "method": method, "deterministic": bool(form)}
            tensors = grad_o, None, q, k, v, o, lse
            found = lambda: gradients.backward(*tensors, **how)[:3]  # noqa: E731
    try:
        found()
        if q.device.type == "cuda":
            torch.cuda.synchronize()
    except Exception as error:  # others' compilers raise what they like
        text = " ".join(str(error).split())
        if "CUDA error" in text or "CUDA driver" in text:
            raise  # that is no refusal: the process is broken
        raise NotAvailable(text[:300] or type(error).__name__) from error
    return found


def _scheduled(name, problem, q, k, v, o, lse, grad_o) -> Gradients:
    """The Hopper kernel under the schedule of this name, order/MiB."""
    order, size = name.split("/")
    plan = backward_plans.Plan(backward_plans.ROWS[problem.d], False, False, order)
    call = hopper_backward.prepare(
        q, k, v, o, grad_o, problem.parsed_mask, scores.parse("none"), problem.d**-0.5, False,
        plan, int(size) * MIB,
    )  # fmt: skip
    return lambda: call(q, k, v, o, grad_o, lse, None)[:3]


def errors(
    functions: dict[str, Gradients], problem: BenchmarkCase, q, k, v, grad_o
) -> dict[str, dict]:
    """By name the largest |error| of dQ, dK and dV on the first and the last head; and of "naive",
    attention made of operators in the inputs' dtype under autograd, on those heads alone."""
    found = {name: dict.fromkeys(("dQ", "dK", "dV"), 0.0) for name in (*functions, "naive")}
    grads = {name: function() for name, function in functions.items()}
    for b, h in {(0, 0), (problem.batch - 1, problem.heads - 1)}:
        part = [x[b : b + 1, h : h + 1] for x in (q, k, v, grad_o)]
        truth = kernels.reference_gradients(*part, mask=problem.mask)[:3]
        leaves = [x.detach().requires_grad_() for x in part[:3]]
        o = materialized(*leaves, problem.parsed_mask, problem.d**-0.5)
        of_heads = {name: [x[b, h] for x in grad] for name, grad in grads.items()}
        of_heads["naive"] = [x[0, 0] for x in torch.autograd.grad(o, leaves, part[3])]
        del o
        for name, mine in of_heads.items():
            for key, x, true in zip(found[name], mine, truth, strict=True):
                far = (x.double() - true[0, 0]).abs().max().item()
                found[name][key] = far if math.isnan(far) else max(found[name][key], far)
    return found


def measure(problem: BenchmarkCase, names: tuple[str, ...], runs: int) -> list[dict]:
    """Rows of one problem: correct first, then timed."""
    q, k, v = random_tensors(problem)
    grad_o = random_tensors(problem, seed=1)[0]
    functions, rows = {}, {}
    for name in names:
        rows[name] = {**vars(problem), "method": name}
        try:
            functions[name] = gradient_of(name, problem, q, k, v, grad_o)
        except NotAvailable as reason:
            rows[name]["refused"] = str(reason)
        torch.cuda.empty_cache()
    far = errors(functions, problem, q, k, v, grad_o)
    for name, times in interleave(functions, runs).items():
        rows[name] |= {**vars(times), "error": far[name], "naive_error": far["naive"]}
        rows[name]["tflops"] = round(FLOPS * problem.flops / times.median_ms / 1e9, 1)
    return list(rows.values())


def host_times() -> list[dict]:
    """What a call of a small problem costs the host, in µs, and in a loop: without a gradient, with
    one to come, and with the backward; of `kernels.attention` and of SDPA flash."""
    problem = BenchmarkCase(128, 64, "causal", "bf16", 1, 1)
    q, k, v = random_tensors(problem)
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    ours = partial(kernels.attention, causal=True)
    theirs = partial(torch.nn.functional.scaled_dot_product_attention, is_causal=True)
    functions = {}
    for name, call in (("attention", ours), ("sdpa", theirs)):
        o = call(*leaves)
        functions[f"{name}, no gradient"] = partial(call, q, k, v)
        functions[f"{name}, forward"] = partial(call, *leaves)
        functions[f"{name}, backward"] = partial(
            torch.autograd.grad, o, leaves, torch.ones_like(o), retain_graph=True
        )
    times = call_times(functions, dict.fromkeys(functions, 0.02))
    return [{**vars(problem), "method": name, **keys} for name, keys in times.items()]


def ratios(rows: list[dict], of: str) -> dict[str, dict[str, float]]:
    """By contender: its speed by that of `of`, least and in geometric mean of the problems that
    both ran, and how many these are."""
    by = {(r["method"], r["n"], r["d"], r["mask"], r["dtype"]): r.get("median_ms") for r in rows}
    found: dict[str, list[float]] = {}
    for (name, *key), ms in by.items():
        if ms and by.get((of, *key)) and name != of:
            found.setdefault(name, []).append(by[(of, *key)] / ms)
    return {
        name: {
            "least": round(min(x), 3),
            "geomean": round(math.exp(sum(map(math.log, x)) / len(x)), 3),
            "points": len(x),
        }
        for name, x in found.items()
    }


def show(rows: list[dict]) -> None:
    """One line a problem: TFLOP/s, ms with p20 and p80, the worst error by naive attention's."""
    cells = []
    for r in rows:
        if "refused" in r:
            cells.append(f"{r['method']} – ({r['refused'][:60]})")
            continue
        worst = max(x / max(r["naive_error"][key], 1e-9) for key, x in r["error"].items())
        spread = f"{r['median_ms']:.3f} ms, {r['p20_ms']:.3f} to {r['p80_ms']:.3f}"
        cells.append(f"{r['method']} {r['tflops']} ({spread}; error {worst:.2f} × naive)")
    first = rows[0]
    print(f"d {first['d']} N {first['n']} {first['mask']}: {' · '.join(cells)}", flush=True)


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Options; the bare command measures the twelve points."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--n", type=int, nargs="*", default=list(readme_table.LENGTHS))
    parser.add_argument("--d", type=int, nargs="*", default=list(readme_table.DIMENSIONS))
    parser.add_argument("--mask", nargs="*", default=list(readme_table.MASKS))
    parser.add_argument("--dtype", choices=("bf16", "fp16"), default=readme_table.DTYPE)
    parser.add_argument("--only", nargs="*", choices=NAMES, default=list(NAMES))
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=math.inf, help="start nothing after this")
    parser.add_argument("--tune", action="store_true", help="the Hopper kernel's schedules")
    parser.add_argument("--out", type=Path, help="default assets/recorded/backward_<gpu>.json")
    return parser.parse_args(argv)


def main() -> None:
    """Command line."""
    args = parse()
    if not torch.cuda.is_available() or kernels.INTERPRETED:
        raise SystemExit("kernels.measure.backward needs a CUDA GPU and no interpreter.")
    warnings.filterwarnings("ignore", module="torch")
    device = "_".join(torch.cuda.get_device_name().lower().split())
    out = args.out or FOLDER / f"backward_{'tune_' if args.tune else ''}{device}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    record = provenance(shlex.join(["python", "-m", "kernels.measure.backward", *sys.argv[1:]]))
    record["method"] = (
        "the backward pass alone; standard normal inputs and dO; contenders interleaved; CUDA "
        f"events; {FLUSH_BYTES >> 20} MiB written between runs to empty L2; clocks left alone; "
        "TFLOP/s of 10·B·H·N²·d, half when causal"
    )
    record.update(clocks=[], ratios={}, host=[], unfinished=[], rows=[])
    names = tuple(args.only)
    if args.tune:
        names = tuple(f"{order}/{size // MIB}" for order, size in SCHEDULES)
    began = time.monotonic()
    for n, d, mask in itertools.product(args.n, args.d, args.mask):
        problem = BenchmarkCase(n, d, mask, args.dtype, max(1, TOKENS // n), HIDDEN // d)
        if time.monotonic() - began > args.seconds:
            record["unfinished"].append({**vars(problem), "why": f"after {args.seconds:.0f} s"})
            continue
        rows = measure(problem, names, args.runs)
        show(rows)
        record["rows"] += rows
        record["clocks"].append({**vars(problem), "after_timing": clocks()})
        bases = names[:1] if args.tune else BASES
        record["ratios"] = {base: ratios(record["rows"], base) for base in bases}
        out.write_text(json.dumps(record, indent=1) + "\n")
    if not args.tune:
        record["host"] = host_times()
        for row in record["host"]:
            print(f"{row['method']}: host {row['host_us']:.1f} µs, loop {1e3 * row['loop_ms']:.1f}")
    for base, found in record["ratios"].items():
        print(f"by {base}: {json.dumps(found)}")
    out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{len(record['rows'])} rows, {len(record['unfinished'])} problems not begun: {out}")


if __name__ == "__main__":
    main()
