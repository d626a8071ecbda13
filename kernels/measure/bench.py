"""Measure every kernel and SDPA backend on this GPU: `python -m kernels.measure.bench`.

Writes assets/recorded/<gpu>.json after every problem. `--twelve`: those of the README, bf16,
16 k tokens, hidden 2048, d 64 and 128, N 1 k, 4 k, 16 k, both masks. One row is one contender on
one problem: median, p20 and p80 of interleaved runs with L2 overwritten before each, TFLOP/s of the
median (4·B·H·N²·d, half when causal), the times of a call (`calls.py`), peak memory beyond q, k, v
from a run of its own, largest error against float64 on two heads, and naive attention's on the
same; or the reason why it does not run. What a compiler makes in seconds for every problem, and
CUDA graphs, are measured at the twelve points only, unless `--only` names them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable

import torch

import kernels

from ..spec.algorithms import SERIAL
from ..spec.cases import BenchmarkCase
from ..spec.methods import COMPILED, NAMES
from . import twelve_points
from .calls import call_times
from .ceilings import ceilings
from .contenders import (
    OF_OPERATORS,
    NotAvailable,
    contender,
    head_of,
    random_tensors,
    tiles,
)
from .memory import moved_bytes, peak_bytes
from .recording import RecordFile, add_cases, add_options, describe, listed_cases
from .timing import interleave

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
MAX_MS = 3000.0  # of one run: a slower contender is left out, which its row says
SlowRuns = dict[tuple[str, int, str, str], tuple[int, float]]


def make_functions(
    fields: dict, names: Iterable[str], make: Callable[[str], Callable]
) -> tuple[dict[str, Callable], dict[str, dict]]:
    """Return by contender its function, if there is one, and its row, which has these fields and
    the reason if there is no function."""
    functions, rows = {}, {}
    for name in names:
        rows[name] = {**fields, "method": name}
        try:
            functions[name] = make(name)
        except NotAvailable as reason:
            rows[name]["refused"] = str(reason)
        torch.cuda.empty_cache()
    return functions, rows


def measure(
    case: BenchmarkCase, names: tuple[str, ...], runs: int, slow: SlowRuns, graphs: bool = False,
    is_judged: bool = True,
) -> list[dict]:  # fmt: skip
    """Return the rows of one case; `slow`, (contender, d, mask, dtype) → (N, ms), lives from call
    to call.

    With `graphs` a row has the time of a call in a CUDA graph as well; without `is_judged`, for
    lengths whose N × N matrices do not fit, no error.
    """
    q, k, v = random_tensors(case)

    def make(name: str) -> Callable[[], torch.Tensor]:
        _refuse_slow(name, case, slow)
        return contender(name, case, q, k, v)

    functions, rows = make_functions(vars(case), names, make)
    errors, naive_error = _errors(functions, case, q, k, v) if is_judged else ({}, None)
    for name, function in functions.items():
        row = rows[name]
        row["peak_bytes"] = peak_bytes(function, "cuda")
        if is_judged:
            row["error"], row["naive_error"] = errors[name], naive_error
        sizes = tiles(name, case, q)
        if sizes:
            row["block_m"], row["block_n"] = sizes
        elif name in OF_OPERATORS:
            row["bytes"] = moved_bytes(function)
    gpu_ms = {}
    for name, times in interleave(functions, runs).items():
        rows[name].update(vars(times), tflops=round(case.flops / times.median_ms / 1e9, 1))
        slow[name, case.d, case.mask, case.dtype] = (case.n, times.median_ms)
        gpu_ms[name] = times.median_ms
    for name, keys in call_times(functions, gpu_ms, graphs).items():
        rows[name].update(keys)
    return list(rows.values())


def _refuse_slow(name: str, case: BenchmarkCase, slow: SlowRuns) -> None:
    n, ms = slow.get((name, case.d, case.mask, case.dtype), (case.n, 0.0))
    # work grows as B·H·N²; FA-1 has one program per head, and B·H falls with N
    grows = 2 if name == SERIAL or case.batch == 1 else 1
    expected = ms * (case.n / n) ** grows
    if expected > MAX_MS:
        raise NotAvailable(f"left out: one run would take about {expected / 1000:.0f} s.")


def _errors(
    functions: dict[str, Callable], case: BenchmarkCase, q, k, v
) -> tuple[dict[str, float], float]:
    """Largest |O − float64| on the first and the last head; naive's from those heads alone."""
    heads = [(0, 0), (case.batch - 1, case.heads - 1)]
    truth, naive_error = {}, 0.0
    for b, h in heads:
        part, rules = head_of(q, k, v, b, h), {**case.rules, "of_heads": (h, case.heads, b)}
        truth[b, h] = kernels.reference_attention(*part, **rules)[0][0, 0]
        naive = kernels.naive_attention(*part, **rules)[0, 0]
        naive_error = max(naive_error, (naive.double() - truth[b, h]).abs().max().item())
    errors = {}
    for name, function in functions.items():
        o = function()
        errors[name] = max((o[at].double() - truth[at]).abs().max().item() for at in truth)
        del o
    return errors, naive_error


def cases(args: argparse.Namespace) -> list[BenchmarkCase]:
    """Return the twelve points first, then the others, short ones before long ones."""
    return sorted(
        listed_cases(args), key=lambda case: (not _is_of_twelve(case), case.n, case.dtype != "bf16")
    )


def _is_of_twelve(case: BenchmarkCase) -> bool:
    return (
        case.dtype == twelve_points.DTYPE
        and case.n in twelve_points.LENGTHS
        and case.d in twelve_points.DIMENSIONS
    )


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Return the options; every one has a default, so that the bare command measures everything."""
    parser = argparse.ArgumentParser(description=describe(__doc__))
    add_cases(parser, LENGTHS, ("bf16", "fp16"))
    parser.add_argument("--twelve", action="store_true", help="bf16 at N = 1 k, 4 k, 16 k")
    add_options(parser, NAMES, 15)
    args = parser.parse_args(argv)
    if args.twelve:
        args.n, args.d = list(twelve_points.LENGTHS), list(twelve_points.DIMENSIONS)
        args.mask, args.dtype = list(twelve_points.MASKS), [twelve_points.DTYPE]
    return args


def main() -> None:
    """Run the command line."""
    args = parse()
    file = RecordFile(
        "bench", args, "",
        "clocks left alone; loop_ms: a call's share of a loop that begins on an idle queue; "
        "host_us: until a call on an idle queue returns; graph_ms: a call's share of a replayed "
        "CUDA graph; these with L2 as it is",
    )  # fmt: skip
    record, slow = file.record, {}
    record |= {"ceilings": {dtype: ceilings(dtype) for dtype in args.dtype}, "twelve_points": None}

    def measure_case(case: BenchmarkCase) -> list[dict]:
        is_whole = _is_of_twelve(case)
        names = args.only or [name for name in NAMES if is_whole or name not in COMPILED]
        rows = measure(case, tuple(names), args.runs, slow, is_whole or bool(args.only))
        record["twelve_points"] = twelve_points.twelve_points(record["rows"] + rows)
        return rows

    file.measure(cases(args), measure_case)
    points = record["twelve_points"] or {}
    print(json.dumps({name: value for name, value in points.items() if name != "points"}))
    file.close()


if __name__ == "__main__":
    main()
