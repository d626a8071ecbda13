"""FA-3's overlap, by a small event-driven model: who works when, and how busy the matrix units are.

The model, of one SM of an H100: two consumer warpgroups of 64 rows each share key tiles of 128 keys
that the TMA brings. The matrix units and the TMA do one thing at a time; each consumer does its own
softmax. One number is not known: what a softmax takes, with all the waits and barriers around it.
It is fitted to the three figures of the paper's ablation, and what is left over is shown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from explainer.base.cards import CARDS
from explainer.base.facts import number
from explainer.memory.levels import levels_of
from explainer.memory.workload import Workload

MATRIX, TMA, SOFTMAX = "tensor cores", "TMA", ("softmax of A", "softmax of B")
CONSUMERS, ROWS, KEYS, STAGES = 2, 64, 128, 2  # warpgroups, their rows, keys of a tile, buffers
D, LONG = 128, 66  # of the paper's ablation: N = 8,448 is 66 key tiles
AHEAD = (STAGES + 2) * (2 + 3 * CONSUMERS)  # tasks of these tiles
FITTED = number("fa3.softmax")  # products of 64 × 128 × 128
# What the paper measured, by the way of working that it ablates
ABLATION = {"overlap": "fa3.full", "pingpong": "fa3.no_overlap", "alike": "fa3.no_producers"}
IN_STEP = ("producer", "alike")  # both consumers begin a tile together
OVERLAPPED = ("overlap", "alike")  # S of the next tile does not wait for P V of this one


@dataclass(frozen=True)
class Task:
    """One piece of work on ``unit``. ``what`` K V S softmax PV; ``who`` the consumer, −1 the
    producer; ``time`` in µs; ``needs`` keys of tasks that must have ended."""

    key: tuple[str, int, int]
    unit: str
    time: float
    needs: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Slot:
    """A Task and when it runs, µs."""

    task: Task
    start: float
    end: float


def durations(softmax: float) -> dict[str, float]:
    """µs on one SM: S and PV of a consumer (matrix rate), its softmax (``softmax`` products), K and
    V of a tile (L2 rate)."""
    card, sms = CARDS["h100"], CARDS["h100"].sms
    product = 2 * ROWS * KEYS * D / (card.tensor_tflops * 1e12 / sms) * 1e6
    load = KEYS * D * 2 / (l2_bytes_per_s() / sms) * 1e6
    return {"S": product, "PV": product, "softmax": softmax * product, "K": load, "V": load}


def exponentials() -> float:
    """What a tile's exponentials alone would take, in products, if a consumer had all exp units."""
    seconds = ROWS * KEYS / (number("fa3.exps") / CARDS["h100"].sms)
    return seconds * 1e6 / durations(1)["S"]


@cache
def l2_bytes_per_s() -> float:
    """Measured on the H200, which has the H100's chip: NVIDIA publishes no figure."""
    found = next(x for x in levels_of(Workload(card="h200")) if x.key == "l2").bytes_per_s
    assert found
    return found


def tasks(variant: str, tiles: int, softmax: float) -> tuple[Task, ...]:
    """All work of ``tiles`` key tiles, in the order in which a unit prefers what is ready."""
    time, out = durations(softmax), []
    both = range(CONSUMERS)

    def add(what: str, who: int, j: int, unit: str, needs: list) -> None:
        needed = tuple(dict.fromkeys(n for n in needs if n[2] >= 0))
        out.append(Task((what, who, j), unit, time[what], needed))

    for j in range(tiles):
        for what, user in (("K", "S"), ("V", "PV")):  # a buffer is free when both have used it
            add(what, -1, j, TMA, [(user, w, j - STAGES) for w in both])
        for w in both:
            # What must be done of the tile before, to begin: all, or with overlap only its softmax
            # (FlashAttention-3, Algorithm 2); of both consumers where they go in step.
            last = "softmax" if variant in OVERLAPPED else "PV"
            before = [(last, u, j - 1) for u in (both if variant in IN_STEP else (w,))]
            add("S", w, j, MATRIX, [("K", -1, j), *before])
            same = both if variant == "producer" else (w,)  # in step at each phase, not each tile
            add("softmax", w, j, SOFTMAX[w], [*(("S", u, j) for u in same), ("softmax", w, j - 1)])
            add("PV", w, j, MATRIX, [("V", -1, j), *(("softmax", u, j) for u in same)])
    if variant == "serial":
        return in_a_row(out)
    return tuple(sorted(out, key=partial(_rank, variant)))


def _rank(variant: str, task: Task) -> tuple[int, int, int]:
    """S of a tile stays with P V of the tile before it: of one consumer after the other in
    ping-pong, S of both and then P V of both in step."""
    what, who, j = task.key
    later = int(what != "S")
    if variant in IN_STEP:
        return j - 1 + later, later, who
    return j - 1 + later, who, later


def in_a_row(made: list[Task]) -> tuple[Task, ...]:
    """The same tasks, each after the one before it."""
    return tuple(
        Task(t.key, t.unit, t.time, (*t.needs, *((made[k - 1].key,) if k else ())))
        for k, t in enumerate(made)
    )


def simulate(work: Sequence[Task]) -> tuple[Slot, ...]:
    """When each task runs: a free unit takes, of what is ready, the first of the list. No task is
    ready more than STAGES tiles ahead of the oldest one that waits, so few need a look."""
    waiting, now = [*work], 0.0
    ends: dict[tuple, float] = {}
    free: dict[str, float] = {}
    done = []
    while waiting:
        for task in waiting[:AHEAD]:
            is_ready = all(ends.get(need, math.inf) <= now for need in task.needs)
            if free.get(task.unit, 0.0) <= now and is_ready:
                ends[task.key] = free[task.unit] = now + task.time
                done.append(Slot(task, now, now + task.time))
                waiting.remove(task)
        now = min((end for end in free.values() if end > now), default=math.inf)
    return tuple(done)


@lru_cache(maxsize=64)
def run(variant: str, tiles: int, softmax: float) -> tuple[Slot, ...]:
    """The schedule of a variant, by start; ``softmax`` in products."""
    return simulate(tasks(variant, tiles, softmax))


def makespan(slots: tuple[Slot, ...]) -> float:
    """µs from the first start to the last end."""
    return max(s.end for s in slots)


def busy(slots: tuple[Slot, ...]) -> float:
    """Share of the time in which the matrix unit works, 0 to 1."""
    return sum(s.task.time for s in slots if s.task.unit == MATRIX) / makespan(slots)


def tflops(slots: tuple[Slot, ...]) -> float:
    """Of all SMs, if each does the same: the matrix rate times its busy share."""
    return CARDS["h100"].tensor_tflops * busy(slots)
