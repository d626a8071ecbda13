"""The schedule of a launch, simulated: which multiprocessor takes which program, and when.

The model: programs start in the order of their ids, each on the multiprocessor that first has room.
Those that share a multiprocessor slow each other down; while the data that all running programs
come back to do not fit L2, all go slower.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class Schedule:
    """Arrays of shape (programs,): ``sm``, ``slot`` on it, ``start`` and ``end`` in the unit of the
    costs; ``sms`` × ``slots`` places in all."""

    sm: np.ndarray
    slot: np.ndarray
    start: np.ndarray
    end: np.ndarray
    sms: int
    slots: int

    @property
    def makespan(self) -> float:
        """From the first start to the last end."""
        return float(self.end.max() - self.start.min())

    @property
    def waves(self) -> float:
        """Programs for each place: 1.2 means that a second round is a fifth full."""
        return len(self.sm) / (self.sms * self.slots)

    @property
    def used_sms(self) -> int:
        """How many multiprocessors run a program."""
        return len(np.unique(self.sm))

    @property
    def busy(self) -> float:
        """Share of the multiprocessors' time in which they hold a program, 0 to 1."""
        order = np.lexsort((self.start, self.sm))
        apart = self.sm * (self.makespan + 1)  # so that no multiprocessor's times meet another's
        start, end = ((times + apart)[order] for times in (self.start, self.end))
        reach = np.concatenate([[-np.inf], np.maximum.accumulate(end)[:-1]])
        covered = np.maximum(0.0, end - np.maximum(start, reach)).sum()
        return float(covered) / (self.sms * self.makespan)

    @property
    def tail(self) -> float:
        """Share of the makespan for which a multiprocessor, on average, has run out of work."""
        last = np.zeros(self.sms)
        np.maximum.at(last, self.sm, self.end - self.start.min())
        return 1 - float(last.mean()) / self.makespan


def simulate(cost: np.ndarray, sms: int, slots: int, sharing: float = 1.0) -> Schedule:
    """Programs of these costs (time alone on a multiprocessor), in this order, on sms × slots.

    k programs on one multiprocessor each take ``1 + (k − 1)(sharing − 1)`` times as long: 1, as if
    alone; 2, two do no more together than one after the other.
    """
    count = len(cost)
    sm, slot = np.zeros(count, int), np.zeros(count, int)
    start, end = np.zeros(count), np.zeros(count)
    # Of each multiprocessor: the time; the work done by a program that would run since time 0; and
    # of the programs that it runs that work at which each ends.
    now, work = [0.0] * sms, [0.0] * sms
    running: list[list[tuple[float, int]]] = [[] for _ in range(sms)]
    ends: list[tuple[float, int]] = []  # the time of the next end on each multiprocessor

    def begin(program: int, k: int, place: int) -> None:
        sm[program], slot[program], start[program] = k, place, now[k]
        heapq.heappush(running[k], (work[k] + float(cost[program]), program))

    def plan(k: int) -> None:
        if running[k]:
            slowdown = 1 + (len(running[k]) - 1) * (sharing - 1)
            heapq.heappush(ends, (now[k] + (running[k][0][0] - work[k]) * slowdown, k))

    for program in range(min(count, sms * slots)):  # one on each first, then a second one
        begin(program, program % sms, program // sms)
    for k in range(sms):
        plan(k)
    waiting = iter(range(sms * slots, count))
    while ends:
        time, k = heapq.heappop(ends)
        work[k], ended = heapq.heappop(running[k])
        now[k] = end[ended] = time
        if (program := next(waiting, None)) is not None:
            begin(program, k, slot[ended])
        plan(k)
    return Schedule(sm, slot, start, end, sms, slots)


def slowed(schedule: Schedule, crowd: float, factor: float) -> Schedule:
    """The same with all running ``factor`` times slower while more than ``crowd`` programs run."""
    if factor == 1 or len(schedule.sm) <= crowd:
        return schedule
    times = np.unique(np.concatenate([schedule.start, schedule.end]))
    running = np.searchsorted(np.sort(schedule.start), times[:-1], "right") - np.searchsorted(
        np.sort(schedule.end), times[:-1], "right"
    )
    spans = np.diff(times) * np.where(running > crowd, factor, 1.0)
    real = np.concatenate([[0.0], np.cumsum(spans)])

    def at(t: np.ndarray) -> np.ndarray:
        return real[np.searchsorted(times, t)]

    return replace(schedule, start=at(schedule.start), end=at(schedule.end))
