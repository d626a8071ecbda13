"""The real schedule: on which multiprocessor, from when to when, each program of a launch ran."""

from __future__ import annotations

import math

import torch

from ..availability import INTERPRETED
from ..forward import ForwardInputs
from ..orders import ORDERS, config_for
from ..spec.algorithms import SERIAL
from ..spec.cases import BenchmarkCase
from .contenders import random_tensors
from .timing import FLUSH_BYTES, WARM_UPS, warm_up

RUNS = 9


def placement(
    problem: BenchmarkCase, order: str, *, block_m: int | None = None, block_n: int | None = None,
    runs: int = RUNS,
) -> dict:  # fmt: skip
    """Run the kernel of this order `runs` times; return the median run's schedule.

    Returns {"block_m", "block_n", "num_warps", "num_stages", "programs", "makespan_us",
    "makespans_us", "sms"}: `programs` has, in the order of their program ids, [multiprocessor,
    start, end] in nanoseconds since the first start; `makespan_us` the time from the first start to
    the last end, of the median run; `makespans_us` of all runs, sorted. L2 is overwritten
    before every run. Raises RuntimeError without a CUDA GPU: the interpreter has no clock.
    """
    if INTERPRETED or not torch.cuda.is_available():
        raise RuntimeError(
            "A schedule needs a CUDA GPU: the interpreter runs one program at a time."
        )
    q, k, v = random_tensors(problem)
    config = config_for(q, block_m, block_n)
    rows = -(-problem.n // config.block_m) if order == "fa2" else 1
    stamps = torch.zeros(problem.batch * problem.heads * rows, 3, dtype=torch.int64, device="cuda")
    scale = 1 / math.sqrt(problem.d)
    inputs = ForwardInputs(q, k, v, problem.parsed_mask, scale, config, stamps=stamps)
    launch = ORDERS[order](inputs)
    flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
    found = []
    warm_up(flush)
    for turn in range(-WARM_UPS, runs):
        flush.zero_()
        launch(q, k, v)
        torch.cuda.synchronize()
        if turn >= 0:
            found.append(stamps.cpu())
    found.sort(key=_makespan_ns)
    median = found[len(found) // 2]
    began = int(median[:, 1].min())
    return {
        **vars(config),
        "num_stages": 1 if order == SERIAL else config.num_stages,
        "programs": [[sm, start - began, end - began] for sm, start, end in median.tolist()],
        "makespan_us": _makespan_ns(median) / 1e3,
        "makespans_us": [_makespan_ns(stamps) / 1e3 for stamps in found],
        "sms": torch.cuda.get_device_properties(0).multi_processor_count,
    }


def _makespan_ns(stamps: torch.Tensor) -> int:
    return int(stamps[:, 2].max() - stamps[:, 1].min())
