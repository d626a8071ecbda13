"""What the times of a run or a sweep are, in sentences: what is timed, how often, at which clock.
Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from explainer.base.texts import Texts
from explainer.engine.results import Row

say = Texts("run")
CLOCKS = re.compile(r"([\d.]+) MHz, ([\d.]+) MHz, ([\d.]+) W, ")  # of SM and memory; power


def what_times_are(rows: list[Row], clocks: list[str]) -> list[str]:
    """A sentence for GPU time, one for the time of a call where it was measured, and the clocks;
    ``clocks``: as nvidia-smi said them after timing, a line for a point."""
    out = [say("times.gpu", runs=_span(row["runs"] for row in rows))]
    looped = [row for row in rows if "loop_ms" in row]
    if looped:
        loops, calls = (_span(row[key] for row in looped) for key in ("loop_runs", "loop_calls"))
        out.append(say("times.loop", loops=loops, calls=calls))
        if len(looped) < len(rows):
            out[-1] += " " + say("times.dash")
    return [*out, *_clocks(clocks)]


def _clocks(said: list[str]) -> list[str]:
    """“1815 MHz, 3201 MHz, 667.69 W, 50”, a line for a point, as a sentence."""
    points = [found.groups() for line in said if (found := CLOCKS.match(line))]
    if not points:
        return [say("clocks.unknown")]

    sm, memory, watts = (_span(map(float, values)) for values in zip(*points, strict=True))
    return [say("clocks", sm=sm, memory=memory, watts=watts)]


def _span(numbers: Iterable[float]) -> str:
    """3, or 3 to 30, in whole numbers."""
    found = [*numbers]
    low, high = (f"{end(found):,.0f}" for end in (min, max))
    return low if low == high else say("span", low=low, high=high)
