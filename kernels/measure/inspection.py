"""What a named card would make of the kernel: resources and code, compiled on any machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from ..checks import DTYPES, MAX_D, check_whole
from ..configs import MAX_TILE, SHARED_KIB, Config, choose
from ..spec import masks
from ..spec.algorithms import SERIAL
from ..spec.occupancy import occupancy

TIMEOUT_S = 120
ORDERS = (SERIAL, "fa2")
MATRIX_INSTRUCTIONS = re.compile(r"^\s*(?:@\S+\s+)?((?:mma|wgmma)\.[\w.:]*)", re.MULTILINE)


def compile_report(
    arch: str,
    d: int,
    dtype: str,
    causal: bool = False,
    block_m: int | None = None,
    block_n: int | None = None,
    num_warps: int | None = None,
    num_stages: int | None = None,
    order: str = "fa2",
    mask: str | None = None,
) -> dict:
    """Compile a kernel for a card that need not be here, in a child process; cached.

    arch "sm_80", "sm_89", "sm_90" or "sm_120"; d 1 to 256; dtype "fp16", "bf16" or "fp32"; order
    one of ORDERS; mask "full", "causal" or None: as `causal` says. A None of the others takes the
    table's value. Returns a dict:
      block_m, block_n, num_warps, num_stages: the configuration;
      shared_bytes per block, registers per thread, spill_bytes per thread (local memory);
      blocks_per_sm and limited_by ("registers", "shared memory", "threads" or "blocks");
      fits (bool) and verdict, one sentence;
      matrix_instructions: the mma and wgmma instructions of the PTX, without repeats;
      ttir, ttgir, ptx, sass: the texts.
    Raises ValueError for an argument out of its range, RuntimeError (one sentence) if the compiler
    refuses or takes longer than two minutes.
    """
    if arch not in SHARED_KIB:
        raise ValueError(f"arch = {str(arch)[:40]!r} is not allowed: {', '.join(SHARED_KIB)}.")
    if dtype not in DTYPES:
        raise ValueError(f"dtype = {str(dtype)[:40]!r} is not allowed: {', '.join(DTYPES)}.")
    if order not in ORDERS:
        raise ValueError(f"order = {str(order)[:40]!r} is not allowed: {', '.join(ORDERS)}.")
    check_whole("d", d, MAX_D)
    for name, value in (("block_m", block_m), ("block_n", block_n), ("num_stages", num_stages)):
        if value is not None:
            check_whole(name, value, 8 if name == "num_stages" else MAX_TILE)
    if num_warps not in (None, 1, 2, 4, 8, 16):
        raise ValueError(f"num_warps = {str(num_warps)[:40]} is not allowed: 1, 2, 4, 8 or 16.")
    parsed = masks.from_keywords(causal, mask)
    config = choose(arch, d, DTYPES[dtype].itemsize, block_m, block_n)
    config = Config(
        config.block_m,
        config.block_n,
        num_warps or config.num_warps,
        1 if order == SERIAL else num_stages or config.num_stages,
    )
    return dict(_report(arch, d, dtype, parsed.text, config, order))


@lru_cache(maxsize=64)
def _report(arch: str, d: int, dtype: str, mask: str, config: Config, order: str) -> dict:
    request = {
        "capability": int(arch.removeprefix("sm_")),
        "d": d,
        "dtype": dtype,
        "mask": mask,
        "config": vars(config),
        "order": order,
    }
    report = {**vars(config), **_compile(request, arch)}
    report["matrix_instructions"] = sorted(set(MATRIX_INSTRUCTIONS.findall(report["ptx"])))
    report["blocks_per_sm"], report["limited_by"] = occupancy(
        arch, config.num_warps, report["registers"], report["shared_bytes"]
    )
    report["fits"] = report["blocks_per_sm"] > 0
    report["verdict"] = _verdict(arch, report)
    return report


def _verdict(arch: str, report: dict) -> str:
    tile = f"Br = {report['block_m']}, Bc = {report['block_n']}"
    if not report["fits"]:
        return (
            f"{tile} does not fit {arch}: it needs {report['shared_bytes']:,} bytes of shared "
            f"memory and a block may use {SHARED_KIB[arch] * 1024:,}."
        )
    spill = f", {report['spill_bytes']} bytes spilled" if report["spill_bytes"] else ""
    return (
        f"{tile} fits {arch}: {report['blocks_per_sm']} per multiprocessor, limited by "
        f"{report['limited_by']}{spill}."
    )


def _compile(request: dict, arch: str) -> dict:
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    environment["CUDA_VISIBLE_DEVICES"] = ""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "kernels.measure.compile_child"],
            input=json.dumps(request),
            cwd=Path(__file__).resolve().parents[2],
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(
            f"Compiling for {arch} took longer than {TIMEOUT_S} s; try a smaller tile."
        ) from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"The compiler refused this configuration for {arch}: {last[:160]}.")
    return json.loads(done.stdout)
