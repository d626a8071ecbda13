"""Turn the CSV that Nsight Compute prints for ncu_target.py into the record of the Memory page.

python -m kernels.measure.ncu_record ncu.csv assets/recorded/traffic_nvidia_h200.json
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from ..spec.algorithms import SERIAL
from . import ncu_target
from .recording import write_rows

METRICS = {
    "dram__bytes_read.sum": "dram_read",
    "dram__bytes_write.sum": "dram_write",
    "lts__t_bytes.sum": "l2_total",
    "l1tex__m_xbar2l1tex_read_bytes.sum": "l2_to_sm",
    "l1tex__m_l1tex2xbar_write_bytes.sum": "sm_to_l2",
}
DURATION = "gpu__time_duration.sum"
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "ns": 1, "us": 1e3, "ms": 1e6}
LAUNCHES = {"fa2": 1, SERIAL: 1, "standard": 3}
NOTES = (
    "measured_ns: gpu__time_duration, from a kernel's start to its end, after caches were flushed.",
    "Caches are flushed before every kernel (ncu's default), so dram_read holds each input once.",
    "dram_write is what left the 60 MB L2 while the kernel ran; the rest was still in L2 when it "
    "ended.",
    "standard: the measured kernels work in tiles and read Q, K and V once per tile row or column.",
)


def rows(text: str) -> list[dict]:
    """Return one row a problem and algorithm, in the sequence in which ncu_target.py launches them.

    Raises ValueError if the launches are not those of ncu_target.py.
    """
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith('"ID"'))
    launches: dict[int, dict] = {}  # by number: its kernel's name, and each metric's amount
    for line in csv.DictReader(lines[start:]):
        launch = launches.setdefault(int(line["ID"]), {"name": line["Kernel Name"].split("(")[0]})
        amount = float(line["Metric Value"].replace(",", "")) * UNITS[line["Metric Unit"]]
        launch[line["Metric Name"]] = round(amount)
    found, left = [], [launches[number] for number in sorted(launches)]
    for (n, d, side), order in ((s, o) for s in ncu_target.SHAPES for o in ncu_target.ORDERS):
        mine, left = left[: LAUNCHES[order]], left[LAUNCHES[order] :]
        row = {"n": n, "d": d, "side": side, "order": order}
        row["measured_bytes"] = {
            launch["name"]: {key: launch[metric] for metric, key in METRICS.items()}
            for launch in mine
        }
        row["measured_ns"] = {launch["name"]: launch[DURATION] for launch in mine}
        found.append(row)
        if len(mine) != LAUNCHES[order]:
            raise ValueError(f"{n}, {d}, {side}, {order}: {len(mine)} launches")
    if left:
        raise ValueError(f"{len(left)} launches too many")
    return found


def main(source: str, target: str) -> None:
    """Run the command line."""
    write_rows(
        Path(target), " ".join(ncu_target.COMMAND.split()), rows(Path(source).read_text()),
        problem={"batch": 1, "heads": 1, "dtype": "fp16", "causal": False}, notes=NOTES,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
