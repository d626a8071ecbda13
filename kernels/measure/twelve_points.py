"""Compare the Hopper kernel with its contenders at the twelve points that the README sums up.

Loads neither torch nor Triton.
"""

from __future__ import annotations

import itertools
from statistics import geometric_mean

DTYPE, LENGTHS, DIMENSIONS, MASKS = "bf16", (1024, 4096, 16384), (64, 128), ("full", "causal")
OURS = "hopper"
OTHERS = {"flash": "sdpa_flash", "cudnn": "sdpa_cudnn", "fa4": "fa4"}
NAMES = (OURS, "fa2", *OTHERS.values())
TIMES = {"": "median_ms", "loop_": "loop_ms"}  # how a ratio's name begins → the key it is of


def twelve_points(rows: list[dict]) -> dict | None:
    """Return the Hopper kernel at the twelve points; None where it, SDPA flash or cuDNN lacks one.

    {"points": of each d, n, mask, and by contender tflops, median_ms and loop_ms; and the ratios:
    to_flash, to_cudnn, to_fa4 are their GPU time by ours, loop_to_… the same of a call in a loop}.
    For each ratio that is known at all points: least_… and geomean_….
    """
    by_key = {(r["d"], r["n"], r["mask"], r["dtype"], r["method"]): r for r in rows}
    points = []
    for d, mask, n in itertools.product(DIMENSIONS, MASKS, LENGTHS):
        found = {name: by_key.get((d, n, mask, DTYPE, name), {}) for name in NAMES}
        point = {"d": d, "n": n, "mask": mask}
        for key in ("tflops", *TIMES.values()):
            point[key] = {name: row[key] for name, row in found.items() if key in row}
        for (start, key), (short, other) in itertools.product(TIMES.items(), OTHERS.items()):
            ms = point[key]
            if OURS in ms and other in ms:
                point[f"{start}to_{short}"] = round(ms[other] / ms[OURS], 3)
        points.append(point)
    if not all("to_flash" in p and "to_cudnn" in p for p in points):
        return None
    found = {"points": points}
    for start, short in itertools.product(TIMES, OTHERS):
        ratio = f"{start}to_{short}"
        values = [p[ratio] for p in points if ratio in p]
        if len(values) == len(points):
            mean = round(geometric_mean(values), 3)
            found |= {f"least_{ratio}": min(values), f"geomean_{ratio}": mean}
    return found
