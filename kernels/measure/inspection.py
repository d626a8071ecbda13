"""What a named card would make of the kernel: resources and code, compiled on any machine."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from functools import lru_cache

from ..checks import DTYPES, MAX_D, check_whole
from ..configs import INSPECTED, MAX_TILE, SHARED_KIB, Config, choose
from ..spec import masks
from ..spec.algorithms import SERIAL
from ..spec.occupancy import occupancy
from .compiling import compile_in_child, last_line

ORDERS = (SERIAL, "fa2")
MATRIX_INSTRUCTIONS = re.compile(r"^\s*(?:@\S+\s+)?((?:mma|wgmma)\.[\w.:]*)", re.MULTILINE)


def compile_report(
    arch: str,
    d: int,
    dtype: str,
    causal: bool = False,
    block_m: int | None = None,
    block_n: int | None = None,
    order: str = "fa2",
    mask: str | None = None,
) -> dict:
    """Compile a kernel for a card that need not be here, in a child process; cached.

    arch "sm_80", "sm_89", "sm_90" or "sm_120"; d 1 to 256; dtype "fp16", "bf16" or "fp32"; order
    one of ORDERS; mask "full", "causal" or None: as `causal` says. A tile given as None is the
    table's. Returns a dict:
      block_m, block_n, num_warps, num_stages: the configuration;
      shared_bytes per block, registers per thread, spill_bytes per thread (local memory);
      blocks_per_sm and limited_by ("registers", "shared memory", "threads" or "blocks");
      fits (bool) and verdict, one sentence;
      matrix_instructions: the mma and wgmma instructions of the PTX, without repeats;
      ttir, ttgir, ptx, sass: the texts.
    Raises ValueError for an argument out of its range, RuntimeError (one sentence) if the compiler
    refuses or takes longer than two minutes.
    """
    for name, value, known in (
        ("arch", arch, INSPECTED), ("dtype", dtype, DTYPES), ("order", order, ORDERS),
    ):  # fmt: skip
        if value not in known:
            raise ValueError(f"{name} = {str(value)[:40]!r} is not allowed: {', '.join(known)}.")
    check_whole("d", d, MAX_D)
    for name, value in (("block_m", block_m), ("block_n", block_n)):
        if value is not None:
            check_whole(name, value, MAX_TILE)
    parsed = masks.from_keywords(causal, mask)
    config = choose(arch, d, DTYPES[dtype].itemsize, block_m, block_n)
    if order == SERIAL:
        config = replace(config, num_stages=1)
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
    try:
        compiled = compile_in_child(request)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(
            f"Compiling for {arch} took longer than {error.timeout} s; try a smaller tile."
        ) from error
    except subprocess.CalledProcessError as error:
        why = last_line(error, "no message")
        raise RuntimeError(f"The compiler refused this configuration for {arch}: {why}.") from error
    report = {**vars(config), **compiled}
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
