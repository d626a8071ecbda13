"""Make the README's table of a record: `python -m kernels.measure.readme_table` prints it.

With `--readme` it replaces the one in README.md. Loads neither torch nor Triton.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "assets" / "recorded" / "nvidia_h200.json"
DTYPE, LENGTHS, DIMENSIONS, MASKS = "bf16", (1024, 4096, 16384), (64, 128), ("full", "causal")
OURS = "hopper"
TITLES = {
    OURS: "this project", "fa2": "readable kernel", "sdpa_flash": "SDPA flash",
    "sdpa_cudnn": "SDPA cuDNN", "fa4": "FA-4",
}  # fmt: skip
OTHERS = {"flash": "sdpa_flash", "cudnn": "sdpa_cudnn", "fa4": "fa4"}
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
        found = {name: by_key.get((d, n, mask, DTYPE, name), {}) for name in TITLES}
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


def geometric_mean(values: list[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return math.exp(sum(map(math.log, values)) / len(values))


def table(rows: list[dict]) -> str:
    """Return the twelve points in Markdown: µs of GPU time / of a call in a loop, and both ratios.

    A contender or a time that the rows lack is left out. Raises ValueError without
    twelve points.
    """
    summary = twelve_points(rows)
    if summary is None:
        raise ValueError("The record lacks one of the twelve points.")
    points = summary["points"]
    kinds = [start for start in TIMES if f"least_{start}to_cudnn" in summary]
    names = [name for name in TITLES if all(name in p["median_ms"] for p in points)]
    shorts = [short for short, name in OTHERS.items() if name in names]

    def times(point: dict, name: str) -> str:
        ms = (point[TIMES[start]].get(name) for start in kinds)
        return " / ".join("–" if x is None else f"{1e3 * x:,.0f}" for x in ms)

    def ratios(of: dict, short: str, first: str = "") -> str:
        found = (of.get(f"{first}{start}to_{short}") for start in kinds)
        return " / ".join("–" if x is None else f"{x:.2f}" for x in found)

    heads = ["d", "N", "mask", *(TITLES[name] for name in names), "TFLOP/s"]
    heads += [f"× {TITLES[OTHERS[short]].removeprefix('SDPA ')}" for short in shorts]
    lines = [heads]
    for p in points:
        line = [str(p["d"]), f"{p['n']:,}", p["mask"], *(times(p, name) for name in names)]
        line.append(f"{p['tflops'][OURS]:.0f}")
        lines.append(line + [ratios(p, short) for short in shorts])
    for first, title in (("geomean_", "geometric mean"), ("least_", "least")):
        blank = [""] * (len(names) + 1)
        lines.append(["", "", title, *blank, *(ratios(summary, short, first) for short in shorts)])
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|---" * len(heads) + "|", *rest])


def replace_table(readme: str, new: str) -> str:
    """Return the README with this table in place of its own. Raises ValueError if it has none."""
    lines = readme.split("\n")
    start = next((k for k, line in enumerate(lines) if line.startswith("| d | N | mask")), None)
    if start is None:
        raise ValueError("README.md has no table that begins with d, N and mask.")
    stop = next(k for k in range(start, len(lines)) if not lines[k].startswith("|"))
    return "\n".join([*lines[:start], *new.split("\n"), *lines[stop:]])


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("record", type=Path, nargs="?", default=RECORD)
    parser.add_argument("--readme", action="store_true", help="write it into README.md")
    args = parser.parse_args()
    new = table(json.loads(args.record.read_text(encoding="utf-8"))["rows"])
    if args.readme:
        readme = ROOT / "README.md"
        readme.write_text(replace_table(readme.read_text(encoding="utf-8"), new), encoding="utf-8")
    else:
        print(new)


if __name__ == "__main__":
    main()
