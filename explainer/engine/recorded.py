"""Measurements made earlier on a GPU, kept with where and when: assets/recorded/*.json.

They come in the form that a live run has, so that the same page shows them, said to be recorded.
"""

from __future__ import annotations

import math
from dataclasses import replace

from explainer.algorithms.traffic import requested
from explainer.base.formats import ITEMSIZE
from explainer.base.records import about, load
from explainer.engine.requests import METHODS, RunRequest, Sweep


def nearest(request: RunRequest) -> dict | None:
    """The measured problem nearest to this one, in the form of a run's result; None if none fits.

    Nearest by mask first, then precision (fp32 was not recorded: bf16 stands in), then d and N in
    octaves. Batch and heads are the record's: 16,384 tokens, 2,048 wide.
    """
    p = request.problem
    dtype = p.dtype if p.dtype in ("fp16", "bf16") else "bf16"
    mask = str(p.mask)
    fitting = [r for r in load()["rows"] if (r["mask"], r["dtype"]) == (mask, dtype)]
    if not fitting:
        return None

    def distance(row: dict) -> float:
        return abs(math.log2(row["n"] / p.n)) + 2 * abs(math.log2(row["d"] / p.d))

    best = min(fitting, key=distance)
    same = {r["contender"]: r for r in fitting if (r["n"], r["d"]) == (best["n"], best["d"])}
    wanted = dict.fromkeys(("naive", *request.methods, "fa2", "hopper", "sdpa_flash"))
    rows = [_row(same[name]) for name in METHODS if name in wanted and name in same]
    shape = {key: str(best[key]) for key in ("n", "d", "mask", "dtype")}
    shape |= {"b": str(best["batch"]), "h": str(best["heads"]), "data": "random"}
    shape["methods"] = ",".join(row["method"] for row in rows)
    elements = best["batch"] * best["heads"] * best["n"] * best["d"]
    return {
        "recorded": about(),
        "when": load()["date"],
        "asked": request.to_query(),
        "query": shape,
        "machine": {"device": load()["device"], "versions": load()["versions"]},
        "naive_error": next((r["naive_error"] for r in same.values() if "naive_error" in r), None),
        "io_bytes": 4 * elements * ITEMSIZE[dtype],
        "rows": rows,
        "ceilings": load().get("ceilings", {}).get(dtype),
    }


def _row(r: dict) -> dict:
    """A row of the benchmark with the names of a run's."""
    row = {"method": r["contender"]}
    if "not_available" in r:
        return row | {"refused": r["not_available"]}
    kept = ("error", "peak_bytes", "median_ms", "p20_ms", "p80_ms", "runs", "tflops")
    row |= {key: r[key] for key in kept}
    heads, causal = r["batch"] * r["heads"], r["mask"] == "causal"
    row["flops"] = 4.0 * heads * r["n"] ** 2 * r["d"] * (0.5 if causal else 1.0)
    if "block_m" in r:
        order = r["contender"] if r["contender"] != "hopper" else "fa2"
        one = requested(r["n"], r["d"], r["mask"], r["dtype"], order, r["block_m"], r["block_n"])
        row |= {"block_m": r["block_m"], "block_n": r["block_n"], "bytes": heads * one}
    elif "bytes" in r:
        row["bytes"] = r["bytes"]
    return row


def swept(sweep: Sweep) -> tuple[Sweep, list[dict]]:
    """The recorded sweep nearest to this one (d in octaves; bf16 for fp32), and the benchmark's own
    rows of its points."""
    rows = load()["rows"]
    d = min({row["d"] for row in rows}, key=lambda d: abs(math.log2(d / sweep.d)))
    near = replace(sweep, d=d, dtype=sweep.dtype if sweep.dtype in ("fp16", "bf16") else "bf16")
    return near, [
        row
        for row in rows
        if (row["d"], row["dtype"]) == (near.d, near.dtype)
        and row["n"] <= near.longest
        and row["contender"] in near.methods
    ]
