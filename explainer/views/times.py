"""What the times of a run or a sweep are, in sentences: what is timed, how often, at which clock.
Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from explainer.engine.results import Row

CLOCKS = re.compile(r"([\d.]+) MHz, ([\d.]+) MHz, ([\d.]+) W, ")  # of SM and memory; power


def what_times_are(rows: list[Row], clocks: list[str]) -> list[str]:
    """A sentence for GPU time, one for the time of a call where it was measured, and the clocks;
    ``clocks``: as nvidia-smi said them after timing, a line for a point."""
    out = [
        "GPU time: what the GPU works for one call, the host hidden; median, p20 to p80 of "
        f"{_span(row['runs'] for row in rows)} interleaved runs, CUDA events, L2 emptied before "
        "each."
    ]
    looped = [row for row in rows if "loop_ms" in row]
    if looped:
        dash = " –: so long on the GPU that nothing of the host shows." * (len(looped) < len(rows))
        out.append(
            "▏Call in a loop: what a program waits per call, Python and launch included; median of "
            f"{_span(row['loop_runs'] for row in looped)} loops of "
            f"{_span(row['loop_calls'] for row in looped)} calls, from an idle queue to the last "
            f"result, L2 as it is.{dash}"
        )
    return [*out, *_clocks(clocks)]


def _clocks(said: list[str]) -> list[str]:
    """“1815 MHz, 3201 MHz, 667.69 W, 50”, a line for a point, as a sentence."""
    points = [found.groups() for line in said if (found := CLOCKS.match(line))]
    if not points:
        return ["Clocks: left to the driver, which did not say them."]

    def span(values: tuple[str, ...]) -> str:
        ends = (f"{end(map(float, values)):,.0f}" for end in (min, max))
        return " to ".join(dict.fromkeys(ends))

    sm, memory, watts = (span(values) for values in zip(*points, strict=True))
    return [
        f"Clocks: left to the driver; right after timing {sm} MHz (memory {memory} MHz), at "
        f"{watts} W."
    ]


def _span(numbers: Iterable[int]) -> str:
    """3, or 3 to 30."""
    found = sorted(set(numbers))
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"
