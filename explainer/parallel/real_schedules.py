"""Real schedules, recorded or just run, in the form of simulated ones; how far the two disagree."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explainer.algorithms.registry import PLACED
from explainer.base import kinds
from explainer.base.records import load
from explainer.memory.workload import Workload
from explainer.parallel import durations, launch
from explainer.parallel.simulator import Schedule, read_schedule

CASES = {  # key in the address → (order, causal)
    f"{order}-{mask}": (order, mask == "causal")
    for order in reversed(PLACED)
    for mask in ("full", "causal")
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """A real schedule and the simulation of the same launch, both in µs from the first start.

    ``makespan`` and ``busy``: simulated ÷ real − 1; ``scaled``: whether the simulation's unit had
    to be taken from the real run itself, because nothing was learnt for this card, d or tile.
    """

    workload: Workload
    order: str
    real: Schedule
    simulated: Schedule
    launch: launch.Programs
    makespan: float
    busy: float
    scaled: bool
    kind: kinds.Kind  # of the real one
    spread_us: tuple[float, float]


def recorded_row(case: str) -> dict:
    """The record of one of the four cases."""
    order, causal = CASES[case]
    rows = load("placement_nvidia_h200")["rows"]
    return next(
        r for r in rows if durations.is_held_out(r) and (r["order"], r["causal"]) == (order, causal)
    )


def compare(w: Workload, order: str, row: dict, kind: kinds.Kind) -> Comparison:
    """A real run of ``order`` on ``w`` beside its simulation."""
    found = read_schedule(row)
    model = durations.schedule(w, order)
    scaled = durations.cost_model(w, order).unit != "µs"
    if scaled:
        unit = (found.end - found.start).sum() / (model.end - model.start).sum()
        model = replace(model, start=model.start * unit, end=model.end * unit)
    spans = row["makespans_us"]
    return Comparison(
        w,
        order,
        found,
        model,
        launch.programs(w, order),
        model.makespan / found.makespan - 1,
        model.busy / found.busy - 1,
        scaled,
        kind,
        (spans[0], spans[-1]),
    )


def of_case(case: str) -> Comparison:
    """One of the four recorded cases beside its simulation, which never saw it."""
    row, kind = recorded_row(case), kinds.recorded("placement_nvidia_h200")
    return compare(durations.workload_of(row), row["order"], row, kind)
