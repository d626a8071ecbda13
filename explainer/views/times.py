"""Say what the times of a run or a sweep are: what is timed, how often, at which clock."""

import re
from collections.abc import Iterable

from explainer.base.texts import Texts
from explainer.engine.results import Row

t = Texts("run")
CLOCKS = re.compile(r"([\d.]+) MHz, ([\d.]+) MHz, ([\d.]+) W, ")  # of SM and memory; power


def describe_times(rows: list[Row], clocks: list[str]) -> list[str]:
    """Return a sentence for GPU time, one for the time of a call where it was measured, and the
    clocks; ``clocks``: as nvidia-smi reported them after timing, a line for a point."""
    out = [t("times.gpu", runs=_span(row["runs"] for row in rows))]
    looped = [row for row in rows if "loop_ms" in row]
    if looped:
        loops, calls = (_span(row[key] for row in looped) for key in ("loop_runs", "loop_calls"))
        out.append(t("times.loop", loops=loops, calls=calls))
        if len(looped) < len(rows):
            out[-1] += " " + t("times.dash")
    return [*out, *_describe_clocks(clocks)]


def _describe_clocks(lines: list[str]) -> list[str]:
    """Say “1815 MHz, 3201 MHz, 667.69 W, 50”, a line for a point, in a sentence."""
    points = [found.groups() for line in lines if (found := CLOCKS.match(line))]
    if not points:
        return [t("clocks.unknown")]

    sm, memory, watts = (_span(map(float, values)) for values in zip(*points, strict=True))
    return [t("clocks", sm=sm, memory=memory, watts=watts)]


def _span(numbers: Iterable[float]) -> str:
    """Format 3, or 3 to 30, in whole numbers."""
    found = [*numbers]
    low, high = (f"{end(found):,.0f}" for end in (min, max))
    return low if low == high else t("span", low=low, high=high)
