"""Context parallelism: one head's attention over P devices, tile by tile, as
`kernels.ring_attention` computes it. Each device keeps its rows of Q; K and V travel round a ring.

The clock is simulated: a tile takes one tick, a step ends when its slowest device does, and a hop
is hidden behind the tiles of its step.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from explainer.algorithms import fa2, tiling
from explainer.algorithms.numbers import Run, Visit
from explainer.algorithms.transfers import Mover
from explainer.base.fields import refused
from explainer.base.records import load, rows_where
from explainer.base.texts import Texts
from explainer.problem import Problem
from kernels.spec import layouts
from kernels.spec.formats import ITEMSIZE

t = Texts("parallel")
RECORD = "devices_nvidia_h200"


@dataclass(frozen=True, eq=False)
class DeviceVisit:
    """One tile: which device computes it, in which step, with whose keys, from which tick on, and
    its numbers."""

    device: int
    step: int
    owner: int
    tick: int
    visit: Visit


@dataclass(frozen=True, eq=False)
class DeviceTrace:
    """A whole run. ``of_rows`` (Tr,), ``of_keys`` (Tc,): the device of each block. ``tiles``
    (P, steps): tiles of each device in each step. ``starts`` (steps + 1,): the tick in which each
    step starts, and the makespan. ``visits`` by tick, then device. ``hop_bytes``: K and V that pass
    each link in a hop. ``O`` (N, d) and ``lse`` (N,)."""

    problem: Problem
    layout: str
    of_rows: np.ndarray
    of_keys: np.ndarray
    tiles: np.ndarray
    starts: np.ndarray
    visits: tuple[DeviceVisit, ...]
    hop_bytes: int
    O: np.ndarray
    lse: np.ndarray

    @property
    def devices(self) -> int:
        """P."""
        return len(self.tiles)

    @property
    def hops(self) -> int:
        """Count the times that K and V move on."""
        return self.tiles.shape[1] - 1

    @property
    def makespan(self) -> int:
        """Return the ticks until the last device has ended."""
        return int(self.starts[-1])

    @property
    def busy(self) -> float:
        """Return the share of the devices' time in which they compute."""
        return float(self.tiles.sum() / (self.devices * self.makespan))


def _owners(problem: Problem, runs: tuple[layouts.Runs, ...], block: int, name: str) -> np.ndarray:
    """Return the device of each block. Raises ProblemError where a block lies on two devices."""
    if any(at % block for each in runs for run in each for at in run):
        raise refused({name: block}, t("devices.block"), t("devices.block.at", n=problem.n))
    owners = np.zeros(problem.n // block, int)
    for device, each in enumerate(runs):
        for start, stop in each:
            owners[start // block : stop // block] = device
    return owners


def trace(problem: Problem, devices: int, layout: str) -> DeviceTrace:
    """Compute the Problem on so many devices with FlashAttention-2's own loop, each row block's
    keys in the order in which they arrive. Raises ProblemError where a tile would lie on two
    devices."""
    counts = layouts.counts(problem.n, devices, layout)
    runs = layouts.runs(counts, layout)
    of_rows = _owners(problem, runs, problem.block_q, "br")
    of_keys = _owners(problem, runs, problem.block_k, "bc")
    move = Mover(problem)
    run, found = Run(problem), []
    steps = len(layouts.plan(counts, counts, layout, problem.mask)[0])
    for i, device in enumerate(of_rows):
        step_of = (device - of_keys) % devices
        keys = np.flatnonzero(move.kinds[i] != tiling.SKIPPED).tolist()
        order = sorted(keys, key=lambda j: step_of[j])
        program = fa2.program(move, i, order, [()] * problem.Tc, ())
        with np.errstate(all="ignore"):
            visits = list(fa2.compute(run, program))
        for visit in visits:
            if visit.j is not None:
                found.append((int(step_of[visit.j]), int(device), visit))
        last = visits[-1]
        if last.j is not None:
            rows = tiling.rows(problem, i)
            run.O[rows] = last.O / np.where(last.l_new > 0, last.l_new, 1)[:, None]
            run.lse[rows] = last.m_new + np.log(last.l_new)
    tiles = np.zeros((devices, steps), int)
    np.add.at(tiles, tuple(zip(*[(device, step) for step, device, _ in found], strict=True)), 1)
    starts = np.array([0, *accumulate(tiles.max(0))])
    done: Counter[tuple[int, int]] = Counter()
    timed = []
    for step, device, visit in sorted(found, key=lambda one: one[0]):  # stable: rows outside
        tick = int(starts[step]) + done[step, device]
        done[step, device] += 1
        owner = layouts.source(device, step, devices)
        timed.append(DeviceVisit(device, step, owner, tick, visit))
    timed.sort(key=lambda one: (one.tick, one.device))
    hop_bytes = 2 * max(counts) * problem.d * ITEMSIZE[problem.dtype]
    return DeviceTrace(
        problem, layout, of_rows, of_keys, tiles, starts, tuple(timed), hop_bytes, run.O, run.lse
    )


@dataclass(frozen=True)
class Race:
    """One method on the common clock, in ticks: ``exposed`` of it transfers alone, ``waiting`` the
    mean of the devices' idle time; and the bytes that each device receives."""

    method: str
    makespan: float
    exposed: float
    waiting: float
    received: int


def race(problem: Problem, devices: int, hop_ticks: float) -> list[Race]:
    """Return what each method needs if a hop takes ``hop_ticks``: both rings, all-gather, Ulysses.

    A ring hides a hop behind the tiles of its step, as far as they last. All-gather moves the same
    K and V before any tile of others, head–tail. Ulysses exchanges heads for rows, Q, K, V and then
    O, by its formula: 4 (P − 1) / P² of a whole tensor into each device, and every device has all
    rows of H / P heads, so as many tiles.
    """
    traces = {layout: trace(problem, devices, layout) for layout in layouts.LAYOUTS}
    balanced = traces["head-tail"]
    tiles = float(balanced.tiles.sum() / devices)  # of a device, on average
    moved = balanced.hops * balanced.hop_bytes
    found = []

    def add(method: str, makespan: float, exposed: float, received: int) -> None:
        found.append(Race(method, makespan, exposed, makespan - tiles, received))

    for layout, one in traces.items():
        exposed = float(np.maximum(hop_ticks - one.tiles.max(0)[:-1], 0).sum())
        add(layout, one.makespan + exposed, exposed, moved)
    own, most = (float(x.max()) for x in (balanced.tiles[:, 0], balanced.tiles[:, 1:].sum(1)))
    exposed = max(0.0, (devices - 1) * hop_ticks - own)
    add("all-gather", own + exposed + most, exposed, moved)
    exchanged = 2 * (devices - 1) * balanced.hop_bytes // devices
    exchange = hop_ticks * exchanged / balanced.hop_bytes
    add("ulysses", tiles + exchange, exchange, exchanged)
    return found


@dataclass(frozen=True)
class Recorded:
    """A method of the record, in ms: of all GPUs, the slowest one's. ``speedup`` by pass: how many
    times as fast as one GPU with the same kernels, over the number of GPUs; ``exposed``: what the
    ring lasts longer than without its transfers, forward."""

    n: int
    mask: str
    method: str
    ms: dict[str, float]
    speedup: dict[str, float]
    exposed: float | None
    error: float | None


def recorded_rows() -> list[Recorded]:
    """Return every recorded method that uses all GPUs."""
    gpus, found = load(RECORD)["gpus"], []
    for row in load(RECORD)["rows"]:
        kind, _, rest = row["method"].partition(" ")
        if kind == "one" or rest.endswith("transfers") or "forward" not in row:
            continue
        same = {"n": row["n"], "mask": row["mask"]}
        base = rest.split()[0] if kind == "context_parallel" else "ours"
        (one,) = rows_where(RECORD, **same, method=f"one GPU {base}")
        bare = rows_where(RECORD, **same, method=f"{row['method']} without transfers")
        ms = {key: row[key]["median_ms"] for key in ("forward", "backward") if key in row}
        speedup = {key: one[key]["median_ms"] / gpus / x for key, x in ms.items()}
        exposed = ms["forward"] - bare[0]["forward"]["median_ms"] if bare else None
        error = row.get("error")
        found.append(Recorded(row["n"], row["mask"], row["method"], ms, speedup, exposed, error))
    return found
