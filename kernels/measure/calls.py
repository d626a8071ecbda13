"""What a program waits for: a call in a loop, a call on the host, and the loop as a CUDA graph.

`timing.py` gives every run a head start and empties L2, so that it sees the GPU's work alone. Here
nothing is hidden: a loop of calls begins on an idle queue and ends when the last result is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from time import perf_counter

import torch

from .timing import rotated, summary

CALLS, FEWEST = 100, 10  # of a loop; a slow function has fewer
ROUNDS, FEWEST_ROUNDS = 5, 3
ROUND_MS, LOOP_MS = 20.0, 60.0  # for one loop of a function, and for all its loops
HOST_CALLS, FEWEST_HOST_CALLS, HOST_MS = 100, 5, 20.0
GRAPH_CALLS, REPLAYS = 10, 2
WARM_UPS = 3
MOST_MS = 12.0  # a GPU that is busy for longer hides the host: the call takes its GPU time
GRAPH_MOST_MS = 2.0


@dataclass(frozen=True)
class Call:
    """A function of no arguments whose surroundings are not charged to it.

    `bare` is what is timed, inside `within()`; `seen` makes O (B, H, N, d) of what it returns.
    """

    bare: Callable[[], torch.Tensor]
    within: Callable[[], AbstractContextManager] = nullcontext
    seen: Callable[[torch.Tensor], torch.Tensor] = lambda o: o

    def __call__(self) -> torch.Tensor:
        with self.within():
            return self.seen(self.bare())


def call_times(
    functions: Mapping[str, Callable[[], torch.Tensor]],
    gpu_ms: Mapping[str, float],
    graphs: bool = False,
) -> dict[str, dict]:
    """By name the keys of a row; a function that keeps the GPU busy for more than MOST_MS has none.

    `gpu_ms`: GPU time of one call. loop_ms, loop_p20_ms, loop_p80_ms: a call's share of a loop of
    `loop_calls`, over `loop_runs` loops, taken in turns by all functions. host_us, host_p20_us,
    host_p80_us: until a call on an idle queue returns, over `host_runs` calls. With `graphs`, up to
    GRAPH_MOST_MS: graph_ms and so on of a call in a replayed graph of GRAPH_CALLS, or
    graph_refused, one sentence. All are warm, and nothing empties L2 between calls.
    """
    ms = {name: max(gpu_ms[name], 0.01) for name in functions if gpu_ms[name] <= MOST_MS}
    found: dict[str, dict] = {name: {} for name in functions}
    calls = {name: _between(FEWEST, ROUND_MS / ms[name], CALLS) for name in ms}
    rounds = {
        name: _between(FEWEST_ROUNDS, LOOP_MS / (calls[name] * ms[name]), ROUNDS) for name in ms
    }
    for name, values in _loops({name: functions[name] for name in ms}, calls, rounds).items():
        found[name] |= _keys("loop", "ms", values) | {"loop_calls": calls[name]}
    for name in ms:
        runs = _between(FEWEST_HOST_CALLS, HOST_MS / ms[name], HOST_CALLS)
        found[name] |= _keys("host", "us", _host(functions[name], runs))
    if graphs:
        short = {name: functions[name] for name in ms if ms[name] <= GRAPH_MOST_MS}
        for name, keys in _graphs(short).items():
            found[name] |= keys
    return found


def _between(least: int, wanted: float, most: int) -> int:
    return int(min(most, max(least, wanted)))


def _keys(kind: str, unit: str, values: list[float]) -> dict:
    times = summary(values)
    middle, low, high = f"{kind}_{unit}", f"{kind}_p20_{unit}", f"{kind}_p80_{unit}"
    found = {middle: times.median_ms, low: times.p20_ms, high: times.p80_ms}
    return found | {f"{kind}_runs": times.runs}


@contextmanager
def _ready(function):
    """What of a function is timed, while its surroundings hold; warm."""
    with getattr(function, "within", nullcontext)():
        bare = getattr(function, "bare", function)
        for _ in range(WARM_UPS):
            bare()
        yield bare


def _loops(functions, calls, rounds) -> dict[str, list[float]]:
    """Milliseconds per call of each, a value per round; a round begins one function further on."""
    found: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(max(rounds.values(), default=0)):
        for name in rotated(turn, list(functions)):
            if turn >= rounds[name]:
                continue
            with _ready(functions[name]) as call:
                torch.cuda.synchronize()
                began = perf_counter()
                for _ in range(calls[name]):
                    call()
                torch.cuda.synchronize()
                found[name].append(1e3 * (perf_counter() - began) / calls[name])
    return found


def _host(function, runs: int) -> list[float]:
    """Microseconds until a call returns that finds the queue empty."""
    found = []
    with _ready(function) as call:
        for _ in range(runs):
            torch.cuda.synchronize()
            began = perf_counter()
            o = call()
            found.append(1e6 * (perf_counter() - began))
            del o  # freed outside the time of the next one
    torch.cuda.synchronize()
    return found


def _graphs(functions) -> dict[str, dict]:
    """Keys of each: the time of a call in a graph, or why there is none."""
    found, replays = {}, {}
    for name, function in functions.items():
        try:
            graph, o = _captured(function)
        except RuntimeError as error:
            torch.cuda.synchronize()  # raises if the process is broken: then it is no refusal
            text = " ".join(str(error).split())[:200]
            found[name] = {"graph_refused": f"It cannot be captured in a CUDA graph: {text}"}
            continue
        reason = _differs(function, graph, o)
        if reason:
            found[name] = {"graph_refused": reason}
        else:
            replays[name] = graph.replay
    rounds = dict.fromkeys(replays, ROUNDS)
    for name, values in _loops(replays, dict.fromkeys(replays, REPLAYS), rounds).items():
        found[name] = _keys("graph", "ms", [value / GRAPH_CALLS for value in values])
    return found


def _captured(function) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
    """A graph of GRAPH_CALLS calls, and the output of the last. RuntimeError where that fails."""
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream), _ready(function):
        torch.cuda.synchronize()
    back = torch.cuda.stream(torch.cuda.current_stream())  # a capture that fails leaves its own
    with back, _ready(function) as call, torch.cuda.graph(graph, stream=stream):
        for _ in range(GRAPH_CALLS):
            o = call()
    return graph, o


def _differs(function, graph, o: torch.Tensor) -> str:
    """One sentence if what the graph writes is not the eager O, to a rounding of its largest."""
    with _ready(function) as call:
        eager = call()
    o.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    difference = (o.double() - eager.double()).abs().max().item()
    if difference <= torch.finfo(o.dtype).eps * eager.abs().max().item():  # NaN fails
        return ""
    return f"Its O from a CUDA graph differs from the eager one by {difference:.1e}."
