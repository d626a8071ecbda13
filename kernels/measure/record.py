"""Records of a GPU for Memory and Parallel: `python -m kernels.measure.record WHAT FILE`.

placement: real schedules. compiled: the resources of every tile, for every card. tiles: the speed
of every tile on the GPU at hand. decode: one query against many keys, by the number of parts, and
by SDPA. counted: bytes that the kernels move, counted in the interpreter (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import argparse
import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..configs import INSPECTED
from ..orders import config_for
from ..reference import reference_attention
from ..spec import masks
from ..spec.algorithms import SERIAL
from ..spec.cases import BenchmarkCase
from . import decoding
from .contenders import random_tensors
from .inspection import compile_report
from .placement import placement
from .recording import write_rows
from .timing import interleave

SIDES = (16, 32, 64, 128, 256)
DIMENSIONS = (64, 128, 256)
# The first four are the cases that test the simulation; it is fitted to the others.
LAUNCHES = tuple(  # order, N, causal, heads
    launch
    for order, lengths, heads in (
        ("fa2", (4096,), (16,)),
        (SERIAL, (4096,), (160,)),
        ("fa2", (1024, 2048, 8192), (1, 4, 24)),
        ("fa2", (4096,), (1, 4, 48)),
        (SERIAL, (1024, 2048), (1, 16, 160)),
        (SERIAL, (4096,), (1, 16, 300)),
    )
    for launch in itertools.product((order,), lengths, (False, True), heads)
)
COUNTED = tuple(  # N, side of the square tiles, d
    (n, side, d)
    for n, side, d in itertools.product((128, 256, 512, 1024), (16, 32, 64, 128), (64, 128))
    if n > side
)


def placements() -> list[dict]:
    """Return one row for each of LAUNCHES: the problem and its schedule, bf16."""
    rows = []
    for order, n, causal, heads in LAUNCHES:
        shape = BenchmarkCase(n, 64, masks.of(causal).text, "bf16", 1, heads)
        row = {"order": order, "n": n, "d": 64, "causal": causal, "heads": heads, "dtype": "bf16"}
        rows.append(row | placement(shape, order))
        print(row, f"{rows[-1]['makespan_us']:.1f} us", flush=True)
    return rows


def compiled(processes: int) -> list[dict]:
    """Return the resources of every pair of SIDES, for every card's architecture; fp16."""
    cells = [
        (arch, d, causal, m, n, order)
        for arch, d, causal in itertools.product(INSPECTED, DIMENSIONS, (False, True))
        for m, n, order in itertools.product(SIDES, SIDES, ("fa2",))
    ] + [  # FA-1 in the tile that it runs in, for its blocks per multiprocessor
        (arch, d, causal, None, None, SERIAL)
        for arch, d, causal in itertools.product(INSPECTED, DIMENSIONS, (False, True))
    ]

    def one(cell) -> dict:
        arch, d, causal, m, n, order = cell
        row = {"arch": arch, "d": d, "causal": causal, "block_m": m, "block_n": n, "order": order}
        try:
            report = compile_report(arch, d, "fp16", causal, m, n, order=order)
        except (RuntimeError, ValueError) as error:
            return row | {"refused": str(error)}
        texts = ("ttir", "ttgir", "ptx", "sass")
        return row | {key: value for key, value in report.items() if key not in texts}

    with ThreadPoolExecutor(processes) as pool:
        return list(pool.map(one, cells))


def tile_speeds(file: Path) -> list[dict]:
    """Return the median time of every pair of SIDES that compiles here; fp16, N = 4,096, 16 k
    tokens."""
    rows = []
    for d, causal in itertools.product(DIMENSIONS, (False, True)):
        problem = BenchmarkCase(4096, d, masks.of(causal).text, "fp16", 4, 2048 // d)
        q, k, v = random_tensors(problem)
        for m, n in itertools.product(SIDES, SIDES):
            row = {"d": d, "causal": causal, "block_m": m, "block_n": n, "n": 4096}
            row |= {"batch": problem.batch, "heads": problem.heads}
            rows.append(row | _speed(problem, q, k, v, m, n))
        file.write_text(
            json.dumps(rows)
        )  # compiling takes minutes: an interrupted run leaves its rows
        print(d, causal, [r.get("tflops") and round(r["tflops"]) for r in rows[-25:]], flush=True)
    return rows


def _speed(problem: BenchmarkCase, q, k, v, m: int, n: int) -> dict:
    from .. import flash_attention

    try:
        config = config_for(q, m, n)

        def function():
            return flash_attention(q, k, v, mask=problem.mask, block_m=m, block_n=n)

        truth, _ = reference_attention(q[:1, :1], k[:1, :1], v[:1, :1], mask=problem.mask)
        o = function()
        assert not isinstance(o, tuple)  # without lse
        error = (o[:1, :1].double() - truth).abs().max().item()
    except (RuntimeError, ValueError) as why:
        return {"refused": " ".join(str(why).split())[:200]}
    times = interleave({"it": function}, runs=9, limit_ms=300.0)["it"]
    tflops = problem.flops / times.median_ms / 1e9
    return {**vars(config), "error": error, **vars(times), "tflops": tflops}


def counted() -> list[dict]:
    """Return the bytes that the real kernels move, run by the interpreter; fp16, one head."""
    from .counting import count_traffic

    rows = []
    for (n, side, d), causal, order in itertools.product(
        COUNTED, (False, True), ("standard", SERIAL, "fa2")
    ):
        moved = count_traffic(
            n, d, block_m=side, block_n=side, causal=causal, order=order, dtype="fp16"
        )
        row = {"order": order, "n": n, "d": d, "side": side, "causal": causal, "dtype": "fp16"}
        rows.append(row | {"bytes": sum(read + written for read, written in moved.values())})
    return rows


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("placement", "compiled", "tiles", "decode", "counted"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--processes", type=int, default=4)
    args = parser.parse_args()
    makers = {
        "placement": placements,
        "compiled": lambda: compiled(args.processes),
        "tiles": lambda: tile_speeds(args.file),
        "decode": decoding.measure,
        "counted": counted,
    }
    write_rows(args.file, f"python -m kernels.measure.record {args.what} FILE", makers[args.what]())


if __name__ == "__main__":
    main()
