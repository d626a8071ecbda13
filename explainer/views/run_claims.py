"""The four claims that a run tests, Correct, Same as Step, Fast and Small: a sentence and what its
picture shows, as plain JSON."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from explainer.algorithms import schedule
from explainer.algorithms.registry import ALGORITHMS
from explainer.base.amounts import amount, milliseconds, scientific
from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS, ORDERS, YOURS, RunRequest
from explainer.engine.results import Result, Row, Same, ran, timed
from explainer.views import verdict
from explainer.views.templates import render_words
from kernels.spec.formats import ITEMSIZE

t = Texts("run_result")
Claim = dict[str, Any]
OURS = ("fa2", "hopper", "fa2_split", "fa1", "standard")  # the first that ran is the one in blue
MOST_BARS = 8
CUT = 3.0  # a bar that many times as long as the next is cut short


def main_method(rows: Sequence[Row]) -> str:
    """Return the method that the page is about: FA-2's kernel, or the next of ours that ran."""
    names = [row["method"] for row in ran(rows)]
    return next((name for name in OURS if name in names), names[0] if names else "")


def fastest_of_ours(rows: Sequence[Row]) -> str:
    """Return the fastest timed kernel of this app; "" without one."""
    mine = [row for row in timed(rows) if row["method"] in OURS]
    return min(mine, key=lambda row: row["median_ms"])["method"] if mine else ""


def bars(rows: Sequence[tuple[str, float, str]], main: str) -> list[dict[str, Any]]:
    """Make bars of (method, size, text), each with its ``share`` of the longest that is drawn to
    scale; ``cut``: of a bar drawn shorter, how many times as long it would be."""
    sizes = sorted((size for _, size, _ in rows), reverse=True)
    most = sizes[0] if sizes else 1.0
    if len(sizes) > 2 and sizes[1] > 0 and sizes[0] > CUT * sizes[1]:
        most = 1.16 * sizes[1]
    return [
        {
            "method": name,
            "name": METHODS[name],
            "main": name == main,
            "share": min(1.0, size / most) if most else 0.0,
            "cut": t("bar.cut", times=size / most) if size > 1.001 * most else "",
            "short": t("bar.cut.short", times=size / most),
            "text": text,
        }
        for name, size, text in rows
    ]


def _first(rows: Sequence[Row], main: str) -> list[Row]:
    """Return the rows that fit a picture: naive, the main method, then the others."""
    order = {"naive": 0, main: 1}
    most_useful = sorted(rows, key=lambda row: order.get(row["method"], 2))[:5]
    return [row for row in rows if row in most_useful]


def correct(result: Result, main: str) -> Claim:
    """The largest errors beside what rounding allows."""
    rows = ran(result["rows"])
    wrong = [row for row in rows if not row["right"]]
    drawn = wrong[:5] if len(wrong) > 4 else _first(rows, main)
    if wrong and not any(row in drawn for row in wrong):
        drawn = [*drawn[:-1], wrong[0]]
    sizes = [x for row in drawn for x in (row["error"], row["allowed"]) if 0 < x < math.inf]
    first = wrong[0] if wrong else None
    margins = [row["allowed"] / row["error"] for row in rows if row["error"] > 0]
    low, high = math.log10(min(sizes, default=1e-7)), math.log10(max(sizes, default=1e-6))
    return {
        "key": "correct",
        "title": t("correct"),
        **render_words(
            "run/correct",
            wrong=first,
            name=first and METHODS[first["method"]],
            is_finite=first and math.isfinite(first["error"]),
            excess=first["error"] / first["allowed"] if first and first["allowed"] else math.inf,
            margin=min(margins, default=None),
            count=len(rows),
        ),
        "axis": [math.floor(low) if low - math.floor(low) > 0.3 else low - 0.4, high + 0.45],
        "allowed": t("correct.allowed"),
        "rows": [
            {
                "method": row["method"],
                "name": METHODS[row["method"]],
                "main": row["method"] == main,
                "error": row["error"],
                "allowed": row["allowed"],
                "right": row["right"],
                "text": t(
                    "correct.tip",
                    name=METHODS[row["method"]],
                    error=row["error"],
                    allowed=row["allowed"],
                ),
            }
            for row in drawn
        ],
    }


def compared(result: Result) -> list[tuple[str, Same | None]]:
    """Return the comparison with Step of each kernel that ran, and of a learner's function."""
    return [
        (row["method"], row.get("same"))
        for row in ran(result["rows"])
        if row["method"] in (*ORDERS, YOURS)
    ]


def same(result: Result, main: str) -> Claim:
    """The kernel's numbers tile by tile beside the Step page's."""
    found = compared(result)
    wrong = next((x for _, x in found if x and not x["agrees"]), None)
    mine = wrong or dict(found).get(main)
    mine = mine or next((x for _, x in found if x and "map" in x), None)
    mine = mine or next((x for _, x in found if x), None)
    name = next((METHODS[key] for key, x in found if x is mine and x), "")
    said = render_words("run/same", same=mine, name=name, has_kernels=bool(found))
    claim: Claim = {"key": "same", "title": t("same"), "note": "", "map": None, "rows": []} | said
    if mine is None:
        return claim
    if "errors" in mine:
        rows = [[k, scientific(e)] for k, e in mine["errors"].items() if e is not None]
        return claim | {"rows": rows}
    if mine["against"] != "O":
        claim["map"] = tile_map(result, mine, name)
    return claim | {"note": t("same.allowed", most=mine["tolerance"])}


def tile_map(result: Result, same: Same, name: str) -> dict[str, Any]:
    """The map of a kernel's tiles for the page: ``cells``, the ``texts`` of their differences, and
    the ``steps`` of the Step page at which each is computed, None where it has no such step."""
    found = same["map"]
    texts = [
        t("same.tip", m=m, l=l) if m is not None and l is not None else ""
        for m, l in zip(found["m"], found["l"], strict=True)
    ]
    single = found["down"] == found["across"] == 1
    worst = max(
        (k for k, cell in enumerate(found["cells"]) if cell == "x" or texts[k]),
        key=lambda k: (found["cells"][k] == "x", (found["m"][k] or 0) + (found["l"][k] or 0)),
        default=-1,
    )
    if single and found["first"]:  # what a sentence names is also what is picked
        worst = found["first"][0] * found["columns"] + found["first"][1]
    return {
        "name": name,
        "columns": found["columns"],
        "cells": found["cells"],
        "down": found["down"],
        "across": found["across"],
        "texts": texts,
        "worst": worst,
        "steps": _steps(result, found["columns"], len(found["cells"])) if single else [],
    }


def _steps(result: Result, columns: int, cells: int) -> list[int | None]:
    """Return the step of each tile on the Step page; [] where it lists none."""
    problem = RunRequest.from_query(verdict.step_query(result)).problem
    try:
        at = {
            (step.i, step.j): k
            for k, step in enumerate(schedule.schedule(problem))
            if step.kind != "skipped"
        }
    except ProblemError:
        return []
    return [at.get(divmod(k, columns)) for k in range(cells)]


def fast(result: Result, old: Result | None, note: str) -> Claim:
    """GPU times, live or the record's; ``note``: of which problem the record is."""
    source = result if timed(result["rows"]) else old
    claim: Claim = {"key": "fast", "title": t("fast"), "note": note, "bars": []}
    if source is None:
        return claim | render_words("run/fast", rows={})
    rows = sorted(timed(source["rows"]), key=lambda row: -row["median_ms"])
    main = fastest_of_ours(rows)
    if len(rows) > MOST_BARS:
        rows = [rows[0], *rows[-MOST_BARS + 1 :]]
    made = bars([(r["method"], r["median_ms"], milliseconds(r["median_ms"])) for r in rows], main)
    most = next(
        (r["median_ms"] / b["share"] for r, b in zip(rows, made, strict=True) if not b["cut"]), 1.0
    )
    for row, bar in zip(rows, made, strict=True):
        loop = row.get("loop_ms")
        bar["loop"] = min(1.0, loop / most) if loop and not bar["cut"] else None
        bar["more"] = t("fast.call", time=loop) if loop else ""
    claim["stroke"] = t("fast.stroke") if any(bar["loop"] for bar in made) else ""
    said = render_words(
        "run/fast",
        rows={row["method"]: row for row in timed(source["rows"])},
        main=main,
        names=METHODS,
        card=source["machine"]["device"].removeprefix("NVIDIA "),
        n=int(source["query"]["n"]),
    )
    return claim | said | {"bars": made}


def small(result: Result, main: str) -> Claim:
    """The peak memory of each method beyond its inputs."""
    rows = _first(ran(result["rows"]), main)
    peaks = {row["method"]: row["peak_bytes"] for row in rows if "peak_bytes" in row}
    q: Mapping[str, str] = result["query"]
    matrix = int(q["b"]) * int(q["h"]) * int(q["n"]) ** 2 * ITEMSIZE[q["dtype"]]
    return {
        "key": "small",
        "title": t("small"),
        **render_words(
            "run/small",
            name=METHODS[main],
            mine=peaks.get(main),
            naive=peaks.get("naive"),
            is_naive=main == "naive",
            stores=main in ALGORITHMS and ALGORITHMS[main].stores_scores,
        ),
        "note": t("small.matrix", matrix=matrix),
        "bars": bars([(name, size, amount(size)) for name, size in peaks.items()], main),
    }
