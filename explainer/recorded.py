"""Measurements made earlier on a GPU, kept with where and when: assets/recorded/*.json."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path

from explainer.problem import Problem

FILE = Path(__file__).resolve().parent.parent / "assets" / "recorded" / "nvidia_h200.json"
NAMES = {
    "naive": "naive attention",
    "standard": "Standard, Triton",
    "fa1": "FA-1, Triton",
    "fa2": "FA-2, Triton",
    "hopper": "FA-2, Hopper",
}


@lru_cache(maxsize=1)
def load() -> dict:
    """The whole record: device, date, versions, method, rows."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def nearest(problem: Problem) -> tuple[dict[str, dict], dict]:
    """{contender: row} of the measured Problem nearest to this one, and the record they are from.

    Nearest by mask first, then precision (fp32 was not recorded: bf16 stands in), then d and N in
    octaves. Naive attention, this Problem's loop order and the fast variant; empty if none fits.
    """
    record = load()
    dtype = problem.dtype if problem.dtype in ("fp16", "bf16") else "bf16"
    mask = "causal" if problem.causal else "full"
    wanted = list(dict.fromkeys(("naive", problem.order, "hopper")))
    fitting = [
        row
        for row in record["rows"]
        if row["contender"] in wanted
        and (row["mask"], row["dtype"]) == (mask, dtype)
        and "median_ms" in row
    ]
    if not fitting:
        return {}, record

    def distance(row: dict) -> float:
        return abs(math.log2(row["n"] / problem.n)) + 2 * abs(math.log2(row["d"] / problem.d))

    best = min(fitting, key=distance)
    same = {r["contender"]: r for r in fitting if (r["n"], r["d"]) == (best["n"], best["d"])}
    return {name: same[name] for name in wanted if name in same}, record
