"""HBM bytes, by adding up the transfers of the schedule: there is no second formula here."""

from __future__ import annotations

from collections.abc import Iterable

from explainer.problem import Problem
from explainer.schedule import Step, schedule

Moved = dict[str, tuple[int, int]]


def moved(steps: Iterable[Step]) -> Moved:
    """{tensor: (bytes read, bytes written)} of the given visits."""
    out: dict[str, list[int]] = {}
    for step in steps:
        for t in step.transfers:
            out.setdefault(t.tensor, [0, 0])[t.op == "write"] += t.nbytes
    return {tensor: (read, written) for tensor, (read, written) in out.items()}


def traffic(problem: Problem) -> Moved:
    """{tensor: (bytes read, bytes written)} of the whole Problem in its loop order."""
    return moved(schedule(problem))


def total(problem: Problem) -> int:
    """All HBM bytes of the Problem, reads and writes together."""
    return sum(read + written for read, written in traffic(problem).values())
