"""Read the measurements made earlier on a GPU, with where and when: assets/recorded/*.json.

They come in the form of a live run, so that the same page draws them, marked as recorded.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

from explainer.algorithms.traffic import compulsory_bytes, requested_bytes
from explainer.base.amounts import listed
from explainer.base.records import about, load, rows_where
from explainer.base.texts import Texts
from explainer.engine.requests import AUTO, METHODS, RunRequest, Sweep
from explainer.engine.results import PointRow, Result, Row
from kernels.spec.formats import ITEMSIZE
from kernels.spec.masks import flops, parse

t = Texts("engine")
POINT = ("n", "d", "mask", "dtype")  # what is the same in all rows of a point
MOST_N, MOST_WORK = 2, 10  # how many times longer, and how much more work, is still comparable


def nearest(request: RunRequest) -> Result | None:
    """The measured problem that can stand beside this one, as a run's result; None without one.

    Comparable: the same mask, precision and d, no score, no sink, no shared keys, no dropout and no
    backward pass, which were not recorded, N at most MOST_N times as long or as short, and the
    FLOPs of all heads within a factor of MOST_WORK.
    Batch and heads are the record's: 16,384 tokens, 2,048 wide.
    """
    p = request.problem
    if p.rules.keys() != {"mask"} or p.dropped or p.shares or request.pass_ == "backward":
        return None
    work = flops(p.mask, request.batch * request.heads, p.n, p.n, p.d)

    def distance(row: PointRow) -> tuple[float, float]:
        theirs = flops(parse(row["mask"]), row["batch"] * row["heads"], row["n"], row["n"], p.d)
        return abs(math.log2(row["n"] / p.n)), abs(math.log10(theirs / work))

    fitting = [
        row
        for row in rows_where(mask=str(p.mask), dtype=p.dtype, d=p.d)
        if distance(row)[0] <= math.log2(MOST_N) and distance(row)[1] <= math.log10(MOST_WORK)
    ]
    return _result(request, min(fitting, key=distance)) if fitting else None


def measured_like(request: RunRequest) -> RunRequest:
    """The measured problem that comes nearest, comparable or not: mask first, then precision (bf16
    for fp32, which was not recorded), then d and N in octaves."""
    p = request.problem
    dtype = p.dtype if p.dtype in ("fp16", "bf16") else "bf16"
    best = min(
        rows_where(dtype=dtype, mask=str(p.mask)) or rows_where(dtype=dtype),
        key=lambda r: abs(math.log2(r["n"] / p.n)) + 2 * abs(math.log2(r["d"] / p.d)),
    )
    return RunRequest.from_query(
        {key: best[key] for key in POINT}
        | {"b": best["batch"], "h": best["heads"], "br": AUTO, "bc": AUTO, "data": "random"}
        | {"methods": request.methods}
    )


def _result(request: RunRequest, best: PointRow) -> Result:
    same = {row["method"]: row for row in rows_where(**{key: best[key] for key in POINT})}
    wanted = {"naive", *request.methods, "fa2", "hopper", "sdpa_flash"}
    rows = [_row(same[name]) for name in METHODS if name in wanted and name in same]
    shape = {key: str(best[key]) for key in POINT}
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
        "io_bytes": 4 * elements * ITEMSIZE[best["dtype"]],
        "rows": rows,
        "ceilings": load()["ceilings"].get(best["dtype"]),
        "after_timing": _clocks(best),
    }


def _row(r: PointRow) -> Row:
    """The same without its problem, which a run's query says; with its FLOPs, and its bytes."""
    row = cast(Row, {key: r[key] for key in Row.__annotations__ if key in r})
    if "refused" in r:
        return row
    heads = r["batch"] * r["heads"]
    row["flops"] = flops(parse(r["mask"]), heads, r["n"], r["n"], r["d"])
    if "block_m" in r:
        order = r["method"] if r["method"] != "hopper" else "fa2"
        tile = r["block_m"], r["block_n"]
        row["bytes"] = heads * requested_bytes(r["n"], r["d"], r["mask"], r["dtype"], order, *tile)
        row["least_bytes"] = heads * compulsory_bytes(r["n"], r["d"], r["dtype"], order, r["mask"])
    else:  # the records count what PyTorch's operators move, each one's inputs and outputs once
        once = heads * compulsory_bytes(r["n"], r["d"], r["dtype"], "fa2", r["mask"])
        row["least_bytes"] = row.pop("bytes", once)
    return row


def _clocks(point: PointRow) -> list[str]:
    """Read what nvidia-smi reported right after this point was timed, as in a live result."""
    return [
        clocks["after_timing"]
        for clocks in load()["clocks"]
        if all(clocks[key] == point[key] for key in POINT)
    ]


def swept(sweep: Sweep) -> tuple[Sweep, list[PointRow]]:
    """The recorded sweep nearest to this one (d in octaves; bf16 for fp32; causal for any other
    mask, without score, sink, shared keys and dropout), and its rows: of what was asked only where
    the first is ``sweep`` itself."""
    rows: list[PointRow] = load()["rows"]
    d = min({row["d"] for row in rows}, key=lambda d: abs(math.log2(d / sweep.d)))
    there = {row["mask"] for row in rows}
    near = replace(
        sweep,
        d=d,
        dtype=sweep.dtype if sweep.dtype in ("fp16", "bf16") else "bf16",
        mask=sweep.mask if str(sweep.mask) in there else "causal",
        score="none",
        sink=None,
        kv_heads=None,
        dropout=0.0,
    )
    return near, [
        row
        for row in rows_where(d=near.d, dtype=near.dtype)
        if row["n"] <= near.longest and row["mask"] in near.masks and row["method"] in near.methods
    ]


def clocks_of(rows: list[PointRow]) -> list[str]:
    """Read what nvidia-smi reported after each of these points."""
    points = {tuple(row[key] for key in POINT): row for row in rows}
    return [clocks for row in points.values() for clocks in _clocks(row)]


def labelled_rows(sweep: Sweep) -> list[Any]:
    """The rows of :func:`swept`, each with where and when it was ``recorded`` and, where this sweep
    was not, ``instead_of`` what it stands."""
    near, rows = swept(sweep)
    more = {"recorded": about()}
    if near != sweep:
        more["instead_of"] = sweep.name
    return [row | more for row in rows]


def what() -> str:
    """What the record holds, for a sentence."""
    rows = load()["rows"]
    d, dtypes = ({row[key] for row in rows} for key in ("d", "dtype"))
    lengths = [row["n"] for row in rows]
    sizes, types = listed([str(x) for x in sorted(d)]), listed(sorted(dtypes))
    return t("record", d=sizes, dtypes=types, least=min(lengths), most=max(lengths))
