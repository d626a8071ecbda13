"""GPU time of several functions, so that nothing but themselves differs.

Every run has a head start: what the host does for a call is hidden. `calls.py` measures that.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

FLUSH_BYTES = 256 << 20  # more than any L2; writing it takes longer than a launch from Python
SLEEP_CYCLES = 800_000  # about 0.4 ms, so that the queue never runs dry while Python launches
WARM_UPS = 2
WARM_UP_S = 0.2  # an idle GPU has a low clock: a new process began 6 % slow on an H200


@dataclass(frozen=True)
class Times:
    """Of one function, in milliseconds."""

    median_ms: float
    p20_ms: float
    p80_ms: float
    runs: int


def interleave(
    functions: dict[str, Callable[[], object]],
    runs: int = 15,
    limit_ms: float = 1500.0,
) -> dict[str, Times]:
    """Median, 20th and 80th percentile of each function, by CUDA events.

    Round after round runs every function once, so that drift of clocks and heat hits all alike, and
    each round begins one function further on, so that each has every neighbour; before each run L2
    is overwritten. A round opens with a run that is thrown away: what comes first after the wait
    for the round before would seem slower by up to half. A function that a first, untimed run shows
    to need more than `limit_ms` for all its `runs` gets fewer, at least three.
    """
    flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
    first_ms = {}
    for name, function in functions.items():
        function()  # compiles
        first_ms[name] = max(_time(function, flush), 1e-3)
    wanted = {name: int(min(runs, max(3, limit_ms / ms))) for name, ms in first_ms.items()}
    shortest = functions[min(first_ms, key=first_ms.__getitem__)] if functions else None
    warm_up(flush)
    times = {name: [] for name in functions}
    for turn in range(-WARM_UPS, runs):
        in_turn = [
            name
            for name in rotated(turn, list(functions))
            if turn < wanted[name] and (turn >= 0 or wanted[name] == runs)
        ]
        if not in_turn:
            continue
        _record(shortest, flush)
        pairs = {name: _record(functions[name], flush) for name in in_turn}
        torch.cuda.synchronize()
        for name, (start, end) in pairs.items():
            if turn >= 0:
                times[name].append(start.elapsed_time(end))
    return {name: summary(values) for name, values in times.items()}


def warm_up(flush) -> None:
    """Keeps the GPU busy until its clocks are up."""
    began = time.perf_counter()
    while time.perf_counter() - began < WARM_UP_S:
        for _ in range(16):
            flush.zero_()
        torch.cuda.synchronize()


def rotated(turn: int, names: list[str]) -> list[str]:
    """The names in a circle, from the turn-th on."""
    start = turn % len(names) if names else 0
    return names[start:] + names[:start]


def _record(function, flush):
    torch.cuda._sleep(SLEEP_CYCLES)
    flush.zero_()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    function()
    end.record()
    return start, end


def _time(function, flush) -> float:
    start, end = _record(function, flush)
    torch.cuda.synchronize()
    return start.elapsed_time(end)


def summary(values: list[float]) -> Times:
    """Median, 20th and 80th percentile of these milliseconds."""
    if len(values) < 2:
        return Times(values[0], values[0], values[0], len(values))
    cuts = statistics.quantiles(values, n=5, method="inclusive")
    return Times(statistics.median(values), cuts[0], cuts[3], len(values))
