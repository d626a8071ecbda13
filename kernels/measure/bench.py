"""Measure every kernel and SDPA backend on this GPU: `python -m kernels.measure.bench`.

Writes assets/recorded/<gpu>.json after every problem. `--twelve` is the table of the README: bf16,
16 k tokens, hidden 2048, d 64 and 128, N 1 k, 4 k, 16 k, both masks. One row is one contender on
one problem: median, p20 and p80 of interleaved runs with L2 overwritten before each, TFLOP/s of the
median (4·B·H·N²·d, half when causal), what a caller waits for (`calls.py`), peak memory beyond q,
k, v from a run of its own, largest error against float64 on two heads, and naive attention's on the
same; or why it is not there. What a compiler makes in seconds for every problem, and CUDA graphs,
are measured at the twelve points only, unless `--only` names them.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import shlex
import subprocess
import sys
import time
import warnings
from pathlib import Path

import torch

import kernels

from ..spec import masks
from ..spec.cases import BenchmarkCase
from . import readme_table
from .calls import call_times
from .ceilings import ceilings
from .contenders import (
    COMPILED,
    NAMES,
    OF_OPERATORS,
    NotAvailable,
    contender,
    head_of,
    random_tensors,
    tiles,
)
from .memory import moved_bytes, peak_bytes
from .timing import FLUSH_BYTES, interleave

TOKENS, HIDDEN = 16384, 2048
LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
SLOW_MS = 3000.0  # a contender that would take longer for one run is left out, and said to be
METHOD = (
    "standard normal inputs; contenders interleaved; CUDA events; "
    f"{FLUSH_BYTES >> 20} MiB written between runs to empty L2"
)
FOLDER = Path(__file__).resolve().parents[2] / "assets" / "recorded"


def measure(
    problem: BenchmarkCase, names: tuple[str, ...], runs: int, slow: dict, graphs: bool = False
) -> list[dict]:
    """Rows of one problem; `slow` keeps (contender, d, mask, dtype) → (N, ms) between calls.

    With `graphs` they have the time of a call in a CUDA graph as well.
    """
    q, k, v = random_tensors(problem)
    functions, rows = {}, {}
    for name in names:
        rows[name] = {**vars(problem), "method": name}
        try:
            _refuse_slow(name, problem, slow)
            functions[name] = contender(name, problem, q, k, v)
        except NotAvailable as reason:
            rows[name]["refused"] = str(reason)
        torch.cuda.empty_cache()
    errors, naive_error = _errors(functions, problem, q, k, v)
    for name, function in functions.items():
        rows[name]["peak_bytes"] = peak_bytes(function, "cuda")
        rows[name]["error"], rows[name]["naive_error"] = errors[name], naive_error
        sizes = tiles(name, problem, q)
        if sizes:
            rows[name]["block_m"], rows[name]["block_n"] = sizes
        elif name in OF_OPERATORS:
            rows[name]["bytes"] = moved_bytes(function)
    gpu_ms = {}
    for name, times in interleave(functions, runs).items():
        rows[name].update(vars(times), tflops=round(problem.flops / times.median_ms / 1e9, 1))
        slow[name, problem.d, problem.mask, problem.dtype] = (problem.n, times.median_ms)
        gpu_ms[name] = times.median_ms
    for name, keys in call_times(functions, gpu_ms, graphs).items():
        rows[name].update(keys)
    return [rows[name] for name in names]


def _refuse_slow(name, problem, slow) -> None:
    n, ms = slow.get((name, problem.d, problem.mask, problem.dtype), (problem.n, 0.0))
    # work grows as B·H·N²; FA-1 has one program per head, and B·H falls with N
    grows = 2 if name == "fa1" or problem.batch == 1 else 1
    expected = ms * (problem.n / n) ** grows
    if expected > SLOW_MS:
        raise NotAvailable(f"left out: one run would take about {expected / 1000:.0f} s.")


def _errors(functions, problem, q, k, v) -> tuple[dict[str, float], float]:
    """Largest |O − float64| on the first and the last head; naive's from those heads alone."""
    picks = [(0, 0), (problem.batch - 1, problem.heads - 1)]
    truth, naive = [], []
    for b, h in picks:
        part = head_of(q, k, v, b, h)
        how = {**problem.rules, "of_heads": (h, problem.heads, b)}
        truth.append(kernels.reference_attention(*part, **how)[0][0, 0])
        naive.append(kernels.naive_attention(*part, **how)[0, 0].double())
    errors = {}
    for name, function in functions.items():
        o = function()
        errors[name] = max(
            (o[b, h].double() - o_ref).abs().max().item()
            for (b, h), o_ref in zip(picks, truth, strict=True)
        )
        del o
    naive_error = max((o - o_ref).abs().max().item() for o, o_ref in zip(naive, truth, strict=True))
    return errors, naive_error


def _nvidia_smi(fields: str) -> str:
    return _said("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader")


def clocks() -> str:
    """Clocks of SM and memory, power and temperature as they are now; best right after timing."""
    return _nvidia_smi("clocks.sm,clocks.mem,power.draw,temperature.gpu")


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        return done.stdout.strip() or "unknown"
    except (OSError, subprocess.TimeoutExpired):
        return f"{command[0]} is not there"


def provenance(command: str) -> dict:
    """Where and how the numbers of a record arose."""
    import triton

    return {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU",
        "date": time.strftime("%Y-%m-%d"),
        "command": command,
        "commit": _said("git", "-C", str(FOLDER), "rev-parse", "--short", "HEAD"),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "triton": triton.__version__,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
            "driver": _nvidia_smi("driver_version"),
        },
    }


def opening(module: str, *how: str) -> dict:
    """The head of a record that this command line of ``module`` makes, whose times are
    `interleave`'s; ``how`` says the rest of the method."""
    command = shlex.join(["python", "-m", f"kernels.measure.{module}", *sys.argv[1:]])
    return provenance(command) | {"method": "; ".join((METHOD, *how))}


def show(rows: list[dict]) -> None:
    """One line a problem: TFLOP/s, µs of a call in a loop, µs of the host."""
    first = rows[0]
    head = f"{first['dtype']} d {first['d']} N {first['n']} {first['mask']}:"
    cells = [f"{r['method']} {r.get('tflops', '–')}{_of_calls(r)}" for r in rows]
    print(head, " · ".join(cells), flush=True)


def _of_calls(row: dict) -> str:
    if "loop_ms" not in row:
        return ""
    return f" ({1e3 * row['loop_ms']:.0f} µs, host {row['host_us']:.0f})"


def problems(args) -> list[BenchmarkCase]:
    """The README's twelve first, then the rest, short ones before long ones."""
    found = [
        BenchmarkCase(n, d, mask, dtype, max(1, TOKENS // n), HIDDEN // d)
        for n in args.n
        for dtype in args.dtype
        for d in args.d
        for mask in args.mask
    ]
    return sorted(found, key=lambda p: (not _in_readme(p), p.n))


def _in_readme(p: BenchmarkCase) -> bool:
    return (
        p.dtype == readme_table.DTYPE
        and p.n in readme_table.LENGTHS
        and p.d in readme_table.DIMENSIONS
    )


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Options; every one has a default, so that the bare command measures everything."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--n", type=int, nargs="*", default=list(LENGTHS))
    parser.add_argument("--d", type=int, nargs="*", default=[64, 128])
    every = list(masks.PLAIN)
    parser.add_argument("--mask", nargs="*", choices=every, default=every)
    parser.add_argument("--dtype", nargs="*", choices=("bf16", "fp16"), default=["bf16", "fp16"])
    parser.add_argument("--only", nargs="*", choices=NAMES, help="these, at every problem")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--twelve", action="store_true", help="bf16 at N = 1 k, 4 k, 16 k")
    parser.add_argument("--seconds", type=float, default=math.inf, help="start nothing after this")
    parser.add_argument("--out", type=Path, help="default assets/recorded/<gpu>.json")
    args = parser.parse_args(argv)
    if args.twelve:
        args.n, args.d, args.dtype = (
            list(readme_table.LENGTHS),
            list(readme_table.DIMENSIONS),
            [readme_table.DTYPE],
        )
        args.mask = list(readme_table.MASKS)
    return args


def main() -> None:
    """Command line."""
    args = parse()
    works, reason = kernels.available()
    if not torch.cuda.is_available() or kernels.INTERPRETED or not works:
        raise SystemExit(
            f"kernels.measure.bench needs a CUDA GPU and no interpreter. {reason}".strip()
        )
    warnings.filterwarnings("ignore", module="torch")  # SDPA explains every backend it passes over
    name = torch.cuda.get_device_name().lower().replace("nvidia", "").split()
    out = args.out or FOLDER / f"{'_'.join(name)}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    record = opening(
        "bench",
        "clocks left alone",
        "loop_ms: a call's share of a loop that begins on an idle queue",
        "host_us: until a call on an idle queue returns",
        "graph_ms: a call's share of a replayed CUDA graph",
        "these with L2 as it is",
    )
    record["ceilings"] = {dtype: ceilings(dtype) for dtype in args.dtype}
    record.update(clocks=[], twelve_points=None, unfinished=[], rows=[])
    began, slow = time.monotonic(), {}
    for problem in problems(args):
        if time.monotonic() - began > args.seconds:
            record["unfinished"].append({**vars(problem), "why": f"after {args.seconds:.0f} s"})
            continue
        ours = _in_readme(problem)
        names = args.only or [name for name in NAMES if ours or name not in COMPILED]
        rows = measure(problem, tuple(names), args.runs, slow, ours or bool(args.only))
        show(rows)
        record["rows"] += rows
        asked = {key: getattr(problem, key) for key in ("n", "d", "mask", "dtype")}
        record["clocks"].append({**asked, "runs": args.runs, "after_timing": clocks()})
        record["twelve_points"] = readme_table.twelve_points(record["rows"])
        out.write_text(json.dumps(record, indent=1) + "\n")
    if record["twelve_points"]:
        print(json.dumps({k: v for k, v in record["twelve_points"].items() if k != "points"}))
    out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{len(record['rows'])} rows, {len(record['unfinished'])} problems not begun: {out}")


if __name__ == "__main__":
    main()
