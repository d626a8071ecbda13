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
        total = 0.0
        for sm in np.unique(self.sm):
            mine = self.sm == sm
            order = np.argsort(self.start[mine])
            starts, ends = self.start[mine][order], self.end[mine][order]
            reach = np.maximum.accumulate(ends)
            gaps = np.maximum(0.0, starts[1:] - reach[:-1]).sum()
            total += reach[-1] - starts[0] - gaps
        return total / (self.sms * self.makespan)

    @property
    def tail(self) -> float:
        """Share of the makespan for which a multiprocessor, on average, has run out of work."""
        last = np.zeros(self.sms)
        np.maximum.at(last, self.sm, self.end - self.start.min())
        return 1 - float(last.mean()) / self.makespan


class _Multiprocessor:
    """What runs on one of them, and how much of it is left."""

    def __init__(self, slots: int) -> None:
        self.left: dict[int, float] = {}
        self.program: dict[int, int] = {}
        self.free = list(range(slots))
        self.now = 0.0

    def advance(self, now: float, slowdown) -> None:
        if self.left:
            done = (now - self.now) / slowdown(len(self.left))
            for slot in self.left:
                self.left[slot] -= done
        self.now = now

    def next_end(self, slowdown) -> tuple[float, int]:
        slot = min(self.left, key=self.left.__getitem__)
        return self.now + max(0.0, self.left[slot]) * slowdown(len(self.left)), slot


def simulate(cost: np.ndarray, sms: int, slots: int, sharing: float = 1.0) -> Schedule:
    """Programs of these costs (time alone on a multiprocessor), in this order, on sms × slots.

    k programs on one multiprocessor each take ``1 + (k − 1)(sharing − 1)`` times as long: 1, as if
    alone; 2, two do no more together than one after the other.
    """

    def slowdown(k: int) -> float:
        return 1 + (k - 1) * (sharing - 1)

    count = len(cost)
    sm, slot = np.zeros(count, int), np.zeros(count, int)
    start, end = np.zeros(count), np.zeros(count)
    units = [_Multiprocessor(slots) for _ in range(sms)]
    version, events = [0] * sms, []
    waiting = iter(range(count))

    def begin(k: int, program: int, now: float) -> None:
        place = units[k].free.pop(0)
        units[k].left[place], units[k].program[place] = float(cost[program]), program
        sm[program], slot[program], start[program] = k, place, now

    def plan(k: int) -> None:
        version[k] += 1
        if units[k].left:
            when, place = units[k].next_end(slowdown)
            heapq.heappush(events, (when, k, version[k], place))

    for turn in range(sms * slots):  # one on each first, then a second one
        program = next(waiting, None)
        if program is None:
            break
        begin(turn % sms, program, 0.0)
    for k in range(sms):
        plan(k)
    while events:
        now, k, planned, place = heapq.heappop(events)
        if planned != version[k]:
            continue
        unit = units[k]
        unit.advance(now, slowdown)
        end[unit.program.pop(place)] = now
        del unit.left[place]
        unit.free.append(place)
        program = next(waiting, None)
        if program is not None:
            begin(k, program, now)
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
