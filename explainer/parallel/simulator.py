"""The schedule of a launch, simulated: which multiprocessor takes which program, and when.

The model: programs start in the order of their ids, each on the multiprocessor that first has room.
Those that share a multiprocessor slow each other down; while the data that all running programs
come back to do not fit L2, all go slower.
"""

import heapq
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np


@dataclass(frozen=True, eq=False)
class Schedule:
    """Arrays of shape (programs,): ``sm``, ``slot`` on it, ``start`` and ``end`` in the unit of the
    costs, from the first start on; ``sms`` × ``slots`` places in all."""

    sm: np.ndarray
    slot: np.ndarray
    start: np.ndarray
    end: np.ndarray
    sms: int
    slots: int

    @property
    def durations(self) -> np.ndarray:
        """Return (programs,) how long each program runs."""
        return self.end - self.start

    @property
    def makespan(self) -> float:
        """From the first start to the last end."""
        return float(self.end.max())

    @property
    def is_first(self) -> np.ndarray:
        """Return (programs,) which programs are the first ones of their places."""
        by_start = np.argsort(self.start, kind="stable")
        found = np.zeros(len(self.sm), bool)
        places = (self.sm * self.slots + self.slot)[by_start]
        found[by_start[np.unique(places, return_index=True)[1]]] = True
        return found

    @property
    def last_ends(self) -> np.ndarray:
        """Return (sms,) when each multiprocessor ends its last program, 0 where it has none."""
        found = np.zeros(self.sms)
        np.maximum.at(found, self.sm, self.end)
        return found

    def runs(self, time: float) -> np.ndarray:
        """Return (programs,) which programs run at this moment."""
        return (self.start <= time) & (time < self.end)

    def ended(self, time: float) -> int:
        """Count the programs that have ended by this moment."""
        return int((self.end <= time).sum())

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
        return 1 - float(self.last_ends.mean()) / self.makespan


def paces(running: int, sharing: float, favor: float) -> list[float]:
    """How fast each of the programs on one multiprocessor runs, the oldest first, alone = 1.

    k together do ``k / (1 + (k − 1)(sharing − 1))`` times the work of one alone: ``sharing`` 1, as
    if each were alone; 2, two do no more together than one after the other. Each runs ``favor``
    times as fast as the next younger one.
    """
    together = running / (1 + (running - 1) * (sharing - 1))
    weights = [favor**-age for age in range(running)]
    return [together * weight / sum(weights) for weight in weights]


def simulate(
    cost: np.ndarray, sms: int, slots: int, sharing: float = 1.0, favor: float = 1.0
) -> Schedule:
    """Programs of these costs (time alone on a multiprocessor), in this order, on sms × slots;
    those that share a multiprocessor run at ``paces``.
    """
    count = len(cost)
    sm, slot = np.zeros(count, int), np.zeros(count, int)
    start, end = np.zeros(count), np.zeros(count)
    speeds = [paces(k, sharing, favor) for k in range(1, slots + 1)]
    # Of each multiprocessor: its time, and [the work left, program] of those that it runs, the
    # oldest first.
    now = [0.0] * sms
    running: list[list[list]] = [[] for _ in range(sms)]
    ends: list[tuple[float, int, int]] = []  # the time of the next end on each multiprocessor

    def begin(program: int, k: int, place: int) -> None:
        sm[program], slot[program], start[program] = k, place, now[k]
        running[k].append([float(cost[program]), program])

    def plan(k: int) -> None:
        if running[k]:
            speed = speeds[len(running[k]) - 1]
            waits = [left / pace for (left, _), pace in zip(running[k], speed, strict=True)]
            age = min(range(len(waits)), key=waits.__getitem__)
            heapq.heappush(ends, (now[k] + waits[age], k, age))

    for program in range(min(count, sms * slots)):  # one on each first, then a second one
        begin(program, program % sms, program // sms)
    for k in range(sms):
        plan(k)
    waiting = iter(range(sms * slots, count))
    while ends:
        time, k, age = heapq.heappop(ends)
        speed = speeds[len(running[k]) - 1]
        for one, pace in zip(running[k], speed, strict=True):
            one[0] = max(0.0, one[0] - (time - now[k]) * pace)
        _, ended = running[k].pop(age)
        now[k] = end[ended] = time
        if (program := next(waiting, None)) is not None:
            begin(program, k, int(slot[ended]))
        plan(k)
    return Schedule(sm, slot, start, end, sms, slots)


def read_schedule(row: dict) -> Schedule:
    """A record of `kernels.measure.placement` as a Schedule, slots by who runs beside whom."""
    sm, start, end = np.array(row["programs"], np.int64).T
    slot = np.zeros(len(sm), int)
    ends: dict[int, list[int]] = {}
    for p in np.lexsort((np.arange(len(sm)), start)):
        places = ends.setdefault(int(sm[p]), [])
        free = next((k for k, until in enumerate(places) if until <= start[p]), len(places))
        places[free : free + 1] = [int(end[p])]
        slot[p] = free
    return Schedule(sm, slot, start / 1e3, end / 1e3, row["sms"], int(slot.max()) + 1)


def shared_times(s: Schedule) -> np.ndarray:
    """(programs, 3): how long each program ran alone on its multiprocessor, as the older one of
    those that shared it, and as a younger one; in the schedule's unit."""
    found = np.zeros((len(s.sm), 3))
    for sm in np.unique(s.sm):
        here = np.flatnonzero(s.sm == sm)
        here = here[np.argsort(s.start[here], kind="stable")]  # the oldest first
        cuts = np.unique([s.start[here], s.end[here]])
        for begin, end in pairwise(cuts):
            running = here[(s.start[here] <= begin) & (end <= s.end[here])]
            if len(running) == 1:
                found[running, 0] += end - begin
            else:
                found[running[:1], 1] += end - begin
                found[running[1:], 2] += end - begin
    return found


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
