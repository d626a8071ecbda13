"""Masks and scores of the Hopper kernel beside FlexAttention: `python -m kernels.measure.masks`.

Writes JSON. bf16, N = 8,192, d = 128, B = 2, H = 16 unless asked otherwise: causal, a window, a
prefix, packed documents, a soft cap and ALiBi, each by the Hopper kernel and by FlexAttention
compiled for it, then a window of 1,024 at growing N. One row is one contender on one problem, with
the keys of `bench`; the error, against float64, is that of the first and the last head.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path

import torch

from .. import hopper
from ..spec import masks, scores
from ..spec.cases import BenchmarkCase
from . import flex
from .bench import FOLDER, clocks, opening
from .calls import call_times
from .contenders import random_tensors
from .timing import interleave

WINDOW, PREFIX, DOCUMENT = 1024, 1024, 1024
LENGTHS = (8192, 16384, 32768, 65536)
CAP = 30.0


def cases(n: int) -> dict[str, tuple[str, str]]:
    """Mask and score of each row, by name."""
    starts = ",".join(map(str, range(0, n, DOCUMENT)))
    return {
        "causal": ("causal", "none"),
        "window": (f"causal&window:{WINDOW},0", "none"),
        "prefix": (f"causal|prefix:{PREFIX}", "none"),
        "documents": (f"causal&document:{starts}", "none"),
        "softcap": ("causal", f"softcap:{CAP:g}"),
        "alibi": ("causal", "alibi"),
    }


def flexible(q, k, v, mask: masks.Mask, score: scores.Score) -> Callable[[], torch.Tensor]:
    """FlexAttention, compiled for this case."""
    torch.compiler.reset()  # what other problems left
    compiled = torch.compile(flex.flex_attention, dynamic=False, fullgraph=True)
    return flex.attention(q, k, v, mask, score, compiled=compiled)


def expected(q, k, v, mask: masks.Mask, score: scores.Score, head: int, dtype) -> torch.Tensor:
    """O (N, d) of one head of the first batch by dense attention in this dtype."""
    n, heads = q.shape[2], q.shape[1]
    q, k, v = (x[0, head].to(dtype) for x in (q, k, v))
    keys, found = torch.arange(n, device=q.device)[None, :], []
    for start in range(0, n, 2048):
        rows = torch.arange(start, min(start + 2048, n), device=q.device)[:, None]
        s = (q[rows[:, 0]] * q.shape[-1] ** -0.5) @ k.T
        s = score.apply(s, rows, keys, head, heads).to(dtype)
        kept = torch.from_numpy(mask.keep(n, n, slice(start, start + 2048)).copy())
        s.masked_fill_(~kept.to(q.device), float("-inf"))
        found.append(torch.softmax(s, dim=-1) @ v)
    return torch.cat(found).double()


def errors(functions, q, k, v, mask: masks.Mask, score: scores.Score) -> dict[str, float]:
    """Largest |O − float64| by name, and of naive attention in the inputs' dtype."""
    found: dict[str, float] = dict.fromkeys((*functions, "naive"), 0.0)
    outputs = {name: function() for name, function in functions.items()}
    for head in (0, q.shape[1] - 1):
        truth = expected(q, k, v, mask, score, head, torch.float64)
        ours = {name: o[0, head].double() for name, o in outputs.items()}
        ours["naive"] = expected(q, k, v, mask, score, head, q.dtype)
        for name, o in ours.items():
            found[name] = max(found[name], (o - truth).abs().max().item())
    return found


def measure(name: str, args, n: int, others: bool = True) -> list[dict]:
    """Rows of one case: correct first, then timed."""
    mask, score = cases(n)[name]
    problem = BenchmarkCase(n, args.d, mask, args.dtype, args.batch, args.heads)
    q, k, v = random_tensors(problem)
    functions = {"hopper": lambda: hopper.flash_attention(q, k, v, mask=mask, score=score)}
    if others:
        functions["flex"] = flexible(q, k, v, problem.parsed_mask, scores.parse(score))
    with torch.no_grad():
        far = (
            errors(functions, q, k, v, problem.parsed_mask, scores.parse(score))
            if n <= 8192
            else {}
        )
        times = interleave(functions, args.runs)
        calls = call_times(functions, {key: found.median_ms for key, found in times.items()})
    rows = []
    for key, found in times.items():
        row = {**vars(problem), "score": score, "case": name, "method": key, **vars(found)}
        row["tflops"] = round(problem.flops / found.median_ms / 1e9, 1)
        if far:
            row |= {"error": far[key], "naive_error": far["naive"]}
        rows.append(row | calls[key])
    return rows


def show(rows: list[dict]) -> None:
    """One line a case."""
    cells = [
        f"{r['method']} {r['median_ms']:.4f} ms ({r['p20_ms']:.4f} to {r['p80_ms']:.4f}), "
        f"loop {r.get('loop_ms', float('nan')):.4f}, {r['tflops']} TFLOP/s, "
        f"error {r.get('error', 0):.1e} (naive {r.get('naive_error', 0):.1e})"
        for r in rows
    ]
    faster = f" · {rows[1]['median_ms'] / rows[0]['median_ms']:.2f} ×" if len(rows) > 1 else ""
    print(f"{rows[0]['case']} N {rows[0]['n']}: {' · '.join(cells)}{faster}", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--d", type=int, default=128)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--dtype", choices=("bf16", "fp16"), default="bf16")
    parser.add_argument("--only", nargs="*", choices=tuple(cases(8192)), default=list(cases(8192)))
    parser.add_argument("--lengths", type=int, nargs="*", default=list(LENGTHS))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--alone", action="store_true", help="without FlexAttention")
    parser.add_argument("--out", type=Path, help="default assets/recorded/masks_<gpu>.json")
    args = parser.parse_args()
    warnings.filterwarnings("ignore", module="torch")
    device = "_".join(torch.cuda.get_device_name().lower().split())
    out = args.out or FOLDER / f"masks_{device}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    record = opening(
        "masks",
        "loop_ms: a call's share of a loop that begins on an idle queue",
        "TFLOP/s of the scores that the mask keeps, causal by the papers' convention",
    )
    record.update(clocks=[], rows=[], lengths=[])
    for name in args.only:
        rows = measure(name, args, args.n, not args.alone)
        show(rows)
        record["rows"] += rows
        record["clocks"].append({"case": name, "after_timing": clocks()})
        out.write_text(json.dumps(record, indent=1) + "\n")
    for n in args.lengths:
        rows = measure("window", args, n, others=False)
        show(rows)
        record["lengths"] += rows
        out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
