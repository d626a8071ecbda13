"""Records of measurements: where and how their numbers arose, and the files that they grow in."""

from __future__ import annotations

import argparse
import itertools
import json
import math
import platform
import shlex
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import torch

import kernels

from ..spec.cases import BenchmarkCase
from . import twelve_points
from .timing import FLUSH_BYTES

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "recorded"
TOKENS, HIDDEN = 16384, 2048  # of a batch; heads · d
METHOD = (
    "standard normal inputs; contenders interleaved; CUDA events; "
    f"{FLUSH_BYTES >> 20} MiB written between runs to empty L2"
)


def filled_case(n: int, d: int, mask: str, dtype: str) -> BenchmarkCase:
    """Return the case of N tokens a sequence with 16 k tokens in a batch and hidden size 2,048."""
    return BenchmarkCase(n, d, mask, dtype, max(1, TOKENS // n), HIDDEN // d)


def describe(module) -> str:
    """Return the first paragraph of a module's docstring, which its `--help` prints."""
    return (module or "").split("\n\n")[0]


def require_gpu(module: str) -> None:
    """Exit with one sentence unless the kernels run on a CUDA GPU."""
    works, reason = kernels.available()
    if not torch.cuda.is_available() or kernels.INTERPRETED or not works:
        needs = f"kernels.measure.{module} needs a CUDA GPU and no interpreter."
        raise SystemExit(f"{needs} {reason}".strip())


def provenance(command: str) -> dict:
    """Return the head of a record: device, date, command, commit and versions."""
    import triton

    return {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU",
        "date": time.strftime("%Y-%m-%d"),
        "command": command,
        "commit": _output("git", "-C", str(FOLDER), "rev-parse", "--short", "HEAD"),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "triton": triton.__version__,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
            "driver": _nvidia_smi("driver_version"),
        },
    }


def clocks() -> str:
    """Return clocks of SM and memory, power and temperature as they are now, right after timing."""
    return _nvidia_smi("clocks.sm,clocks.mem,power.draw,temperature.gpu")


def _nvidia_smi(fields: str) -> str:
    return _output("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader")


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        return done.stdout.strip() or "unknown"
    except (OSError, subprocess.TimeoutExpired):
        return f"{command[0]} is not there"


def write_rows(file: Path, command: str, rows: list[dict], **fields) -> None:
    """Write a record of these rows, with fields after its provenance."""
    record = provenance(command) | fields | {"rows": rows}
    file.write_text(json.dumps(record), encoding="utf-8")


def add_cases(
    parser: argparse.ArgumentParser,
    lengths: Iterable[int] = twelve_points.LENGTHS,
    dtypes: Iterable[str] = (twelve_points.DTYPE,),
) -> None:
    """Add the options that say which cases are measured: all pairs of what is listed; if nothing
    is, the README's points."""
    for name, default in (("--n", lengths), ("--d", twelve_points.DIMENSIONS)):
        parser.add_argument(name, type=int, nargs="*", default=list(default))
    parser.add_argument("--mask", nargs="*", default=list(twelve_points.MASKS))
    parser.add_argument("--dtype", nargs="*", choices=("bf16", "fp16"), default=list(dtypes))


def listed_cases(args: argparse.Namespace) -> list[BenchmarkCase]:
    """Return the cases of these options."""
    points = itertools.product(args.n, args.d, args.mask, args.dtype)
    return list(itertools.starmap(filled_case, points))


def add_options(parser: argparse.ArgumentParser, names: Iterable[str], runs: int) -> None:
    """Add the options that all benchmarks have."""
    parser.add_argument("--only", nargs="*", choices=tuple(names), help="these alone")
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--seconds", type=float, default=math.inf, help="start nothing after this")
    parser.add_argument("--out", type=Path, help="in place of a file in assets/recorded")


def line(rows: list[dict]) -> str:
    """Return one line for the rows of a case: by contender TFLOP/s, the median, and where they were
    measured the µs of a call in a loop and of the host."""
    first, cells = rows[0], []
    for r in rows:
        if "median_ms" not in r:
            cells.append(f"{r['method']} –")
            continue
        call = f"; {1e3 * r['loop_ms']:.0f} µs, host {r['host_us']:.0f}" if "loop_ms" in r else ""
        cells.append(f"{r['method']} {r['tflops']:.1f} ({r['median_ms']:.3f} ms{call})")
    head = " ".join(f"{key} {first[key]}" for key in ("dtype", "d", "n", "mask", "score"))
    return f"{head}: {' · '.join(cells)}"


class RecordFile:
    """A record that is written to its file after every case, by a benchmark's command line."""

    def __init__(self, module: str, args: argparse.Namespace, prefix: str, method: str) -> None:
        require_gpu(module)
        warnings.filterwarnings("ignore", module="torch")  # SDPA explains what it does not pick
        device = "_".join(torch.cuda.get_device_name().lower().split())
        self.path = args.out or FOLDER / f"{prefix}{device}.json"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.args, self.began = args, time.monotonic()
        command = shlex.join(["python", "-m", f"kernels.measure.{module}", *sys.argv[1:]])
        self.record = provenance(command) | {"method": f"{METHOD}; {method}", "clocks": []}
        self.record |= {"unfinished": [], "rows": []}

    def measure(
        self,
        cases: Iterable[BenchmarkCase],
        measure: Callable[[BenchmarkCase], list[dict]],
        key: str = "rows",
    ) -> None:
        """Add the rows of each case, print their line, and write the record; not begin a case after
        the time that the command line allows."""
        for case in cases:
            if time.monotonic() - self.began > self.args.seconds:
                why = f"after {self.args.seconds:.0f} s"
                self.record["unfinished"].append({**vars(case), "why": why})
                continue
            rows = measure(case)
            print(line(rows), flush=True)
            self.record[key] += rows
            self.record["clocks"].append(
                {**vars(case), "runs": self.args.runs, "after_timing": clocks()}
            )
            self.write()

    def write(self) -> None:
        """Write the record as it is."""
        self.path.write_text(json.dumps(self.record, indent=1) + "\n")

    def close(self) -> None:
        """Write the record and print how large it is."""
        self.write()
        rows, unfinished = len(self.record["rows"]), len(self.record["unfinished"])
        print(f"{rows} rows, {unfinished} cases not begun: {self.path}")
