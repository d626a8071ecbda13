"""Real schedules, recorded or just run, in the form of simulated ones; how far the two disagree."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explainer.memory.workload import Workload
from explainer.parallel import durations
from explainer.parallel.simulator import Schedule, read_schedule


@dataclass(frozen=True, eq=False)
class Comparison:
    """A real schedule and the simulation of the same launch, both in µs from the first start.

    ``scaled``: whether the simulation's unit had to be taken from the real run itself, because
    nothing was learnt for this card, d or tile.
    """

    real: Schedule
    simulated: Schedule
    scaled: bool

    @property
    def off(self) -> float:
        """Makespan simulated ÷ real − 1."""
        return self.simulated.makespan / self.real.makespan - 1


def compare(w: Workload, order: str, row: dict) -> Comparison:
    """Put the record of a run of ``order`` on ``w`` beside its simulation."""
    found = read_schedule(row)
    model = durations.schedule(w, order)
    scaled = durations.cost_model(w, order).unit != "µs"
    if scaled:
        unit = (found.end - found.start).sum() / (model.end - model.start).sum()
        model = replace(model, start=model.start * unit, end=model.end * unit)
    return Comparison(found, model, scaled)
