"""The records of assets/recorded/ beside the benchmark's: one place that reads them."""

from __future__ import annotations

import json
from functools import lru_cache

from explainer.base.paths import RECORDED

NAMES = ("traffic_nvidia_h200", "placement_nvidia_h200", "tiles_nvidia_h200", "decode_nvidia_h200",
         "compiled", "counted")  # fmt: skip


@lru_cache(maxsize=len(NAMES))
def load(name: str) -> dict:
    """One of NAMES: ``rows`` with device, date, versions, command, commit."""
    return json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))


def about(name: str) -> str:
    """Where and when, for beside every figure."""
    r = load(name)
    versions = ", ".join(f"{k} {v}" for k, v in r["versions"].items() if k in ("torch", "triton"))
    where = r["device"] if "GPU" not in r["device"] else "no GPU"
    return f"recorded on {where}, {r['date']}, {versions}"
