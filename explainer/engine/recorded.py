"""Measurements made earlier on a GPU, kept with where and when: assets/recorded/*.json.

They come in the form that a live run has, so that the same page shows them, said to be recorded.
"""

from __future__ import annotations

import math
from dataclasses import replace

from explainer.algorithms.traffic import asked, least
from explainer.base.formats import ITEMSIZE
from explainer.base.records import about, load
from explainer.engine.requests import METHODS, RunRequest, Sweep
from explainer.engine.results import PointRow, Result, Row
from kernels.masks import flops, parse


def nearest(request: RunRequest) -> Result | None:
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

    def distance(row: PointRow) -> float:
        return abs(math.log2(row["n"] / p.n)) + 2 * abs(math.log2(row["d"] / p.d))

    best = min(fitting, key=distance)
    same = {r["method"]: r for r in fitting if (r["n"], r["d"]) == (best["n"], best["d"])}
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
        "ceilings": load()["ceilings"].get(dtype),
    }


def _row(r: PointRow) -> Row:
    """The same without its problem, which a run's query says; with its FLOPs, and its bytes."""
    row: Row = {key: r[key] for key in Row.__annotations__ if key in r}
    if "refused" in r:
        return row
    heads = r["batch"] * r["heads"]
    row["flops"] = flops(parse(r["mask"]), heads, r["n"], r["n"], r["d"])
    if "block_m" in r:
        order = r["method"] if r["method"] != "hopper" else "fa2"
        tile = r["block_m"], r["block_n"]
        row["bytes"] = heads * asked(r["n"], r["d"], r["mask"], r["dtype"], order, *tile)
        row["least_bytes"] = heads * least(r["n"], r["d"], r["dtype"], order)
    else:  # the records count what PyTorch's operators move, each one's inputs and outputs once
        once = heads * least(r["n"], r["d"], r["dtype"], "fa2")
        row["least_bytes"] = row.pop("bytes", once)
    return row


def swept(sweep: Sweep) -> tuple[Sweep, list[PointRow]]:
    """The recorded sweep nearest to this one (d in octaves; bf16 for fp32), and its rows."""
    rows: list[PointRow] = load()["rows"]
    d = min({row["d"] for row in rows}, key=lambda d: abs(math.log2(d / sweep.d)))
    near = replace(sweep, d=d, dtype=sweep.dtype if sweep.dtype in ("fp16", "bf16") else "bf16")
    return near, [
        row
        for row in rows
        if (row["d"], row["dtype"]) == (near.d, near.dtype)
        and row["n"] <= near.longest
        and row["method"] in near.methods
    ]
