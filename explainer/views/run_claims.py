"""The four claims that a run tests, Correct, Same as Step, Fast and Small: a sentence and what its
picture shows, as plain JSON."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from explainer.algorithms import schedule
from explainer.algorithms.registry import ALGORITHMS
from explainer.base.amounts import power
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


def longest(sizes: Iterable[float]) -> float:
    """Return the size that a bar of full length stands for: the largest, or little more than the
    second where that one is so small beside it that the largest is cut."""
    first, second, third, *_ = [*sorted(sizes, reverse=True), 0.0, 0.0, 0.0]
    return 1.16 * second if third and first > CUT * second else first or 1.0


class LogAxis(NamedTuple):
    """A logarithmic axis between two powers of ten."""

    low: float
    high: float

    def at(self, x: float) -> float:
        """Return the share of the axis that lies before x; one of its ends beyond them."""
        place = math.log10(x) if x > 0 else self.low
        return (min(max(place, self.low), self.high) - self.low) / (self.high - self.low)

    def decades(self) -> list[tuple[float, str]]:
        """Return (share of the axis, label) of at most six powers of ten."""
        first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
        powers = range(first, last + 1, max(1, math.ceil((last - first + 1) / 6)))
        return [(self.at(10.0**k), power(10, k)) for k in powers]


def _first(rows: Sequence[Row], main: str) -> list[Row]:
    """Return the rows that fit a picture: wrong ones, naive, the main method, then the others."""
    order = {"naive": 1, main: 2}
    key = lambda row: order.get(row["method"], 3) if row["right"] else 0  # noqa: E731
    most_useful = sorted(rows, key=key)[:5]
    return [row for row in rows if row in most_useful]


def correct(result: Result, main: str) -> Claim:
    """The largest errors beside what rounding allows."""
    rows = ran(result["rows"])
    drawn = _first(rows, main)
    sizes = [x for row in drawn for x in (row["error"], row["allowed"]) if 0 < x < math.inf]
    first = next((row for row in rows if not row["right"]), None)
    margins = [row["allowed"] / row["error"] for row in rows if row["error"] > 0]
    low, high = math.log10(min(sizes, default=1e-7)), math.log10(max(sizes, default=1e-6))
    words = render_words(
        "run/correct",
        wrong=first,
        name=first and METHODS[first["method"]],
        is_finite=first and math.isfinite(first["error"]),
        excess=first["error"] / first["allowed"] if first and first["allowed"] else math.inf,
        margin=min(margins, default=None),
        count=len(rows),
    )
    return words | {"axis": LogAxis(low - 0.4, high + 0.45), "rows": drawn}


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
    others = sorted((x for _, x in found if x), key=lambda x: "map" not in x)
    mine = wrong or dict(found).get(main) or next(iter(others), None)
    name = next((METHODS[key] for key, x in found if x is mine and x), "")
    words = render_words("run/same", same=mine, name=name, has_kernels=bool(found))
    if not mine or "map" not in mine or mine["against"] == "O":
        return words | {"same": mine, "map": None}
    return words | {"same": mine, "map": tile_map(result, mine, name)}


def tile_map(result: Result, same: Same, name: str) -> dict[str, Any]:
    """The map of a kernel's tiles for the page: which is the ``worst``, -1 for none, and at which
    ``steps`` of the Step page each is computed, None where it has no such step."""
    found = same["map"]
    sizes = {
        k: (cell == "x", (m or 0) + (l or 0))
        for k, (cell, m, l) in enumerate(zip(found["cells"], found["m"], found["l"], strict=True))
        if cell == "x" or None not in (m, l)
    }
    worst = max(sizes, key=lambda k: sizes[k], default=-1)
    single = found["down"] == found["across"] == 1
    if single and found["first"]:  # what a sentence names is also what is picked
        worst = found["first"][0] * found["columns"] + found["first"][1]
    steps = _steps(result, found["columns"], len(found["cells"])) if single else []
    return {**found, "name": name, "worst": worst, "steps": steps}


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


def fast(source: Result) -> Claim:
    """GPU times, live or the record's."""
    rows = sorted(timed(source["rows"]), key=lambda row: -row["median_ms"])
    main = fastest_of_ours(rows)
    if len(rows) > MOST_BARS:
        rows = [rows[0], *rows[-MOST_BARS + 1 :]]
    words = render_words(
        "run/fast",
        rows={row["method"]: row for row in timed(source["rows"])},
        main=main,
        names=METHODS,
        card=source["machine"]["device"].removeprefix("NVIDIA "),
        n=int(source["query"]["n"]),
    )
    times = (row["median_ms"] for row in rows)
    return words | {"rows": rows, "main": main, "longest": longest(times)}


def small(result: Result, main: str) -> Claim:
    """The peak memory of each method beyond its inputs."""
    rows = _first(ran(result["rows"]), main)
    peaks = {row["method"]: row["peak_bytes"] for row in rows if "peak_bytes" in row}
    q: Mapping[str, str] = result["query"]
    matrix = int(q["b"]) * int(q["h"]) * int(q["n"]) ** 2 * ITEMSIZE[q["dtype"]]
    words = render_words(
        "run/small",
        name=METHODS[main],
        mine=peaks.get(main),
        naive=peaks.get("naive"),
        is_naive=main == "naive",
        stores=main in ALGORITHMS and ALGORITHMS[main].stores_scores,
    )
    return words | {"peaks": peaks, "longest": longest(peaks.values()), "matrix": matrix}
