"""The six tabs below the claims of a run, Errors, Tiles, Time, Roofline, Backend and Script: the
HTML of each by its template, and the points of the roofline."""

import math
import re
from collections.abc import Iterable
from typing import Any

from explainer.algorithms.algorithm import COMPULSORY, CONVENTIONS
from explainer.base.amounts import power, rounded
from explainer.base.cards import peak_tflops
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS, STORE_S
from explainer.engine.results import (
    A_DECADE,
    LOWEST,
    SIGNED_N,
    SIGNED_VALUES,
    Result,
    Row,
    naive_ms,
    ran,
    refused_methods,
    timed,
)
from explainer.views import downloads, run_claims, verdict
from explainer.views.script import write_script
from explainer.views.templates import render
from kernels.spec.formats import FORMATS

t = Texts("run_result")
CLOCKS = re.compile(r"([\d.]+) MHz, ([\d.]+) MHz, ([\d.]+) W, ")  # of SM and memory; power
TABS = ("errors", "tiles", "time", "roofline", "backend", "script")
SELDOM = 5e-4  # a tail of a histogram thinner than this is not drawn


def render_tabs(result: Result, record: Result, main: str, note: str) -> dict[str, str]:
    """Return the HTML of each tab. ``record``: the recorded problem nearest to the run, for its
    speed and PyTorch's choice where the run has none; ``note``: of which problem the times are."""
    rows, is_backward = ran(result["rows"]), verdict.has_backward(result)
    live, compared = timed(rows), run_claims.compared(result)
    dtype = result["query"]["dtype"]
    shortest = min((row["p20_ms"] for row in live), default=1.0)
    digits = max(2, min(4, 2 - math.floor(math.log10(shortest))))  # as far as 1 µs counts
    facts = {
        "result": result,
        "record": record,
        "rows": rows,
        "main": main,
        "names": METHODS,
        "stores": STORE_S,
        "compared": compared,
        "maps": [
            run_claims.tile_map(result, same, METHODS[name])
            for name, same in compared
            if same and "map" in same
        ],
        "histogram": _histogram(rows, main),
        "a_decade": A_DECADE,
        "is_backward": is_backward,
        "refused": refused_methods(result["rows"]),
        "u": power(2, int(math.log2(FORMATS[dtype].unit_roundoff))),
        "signed_n": SIGNED_N,
        "signed_values": SIGNED_VALUES,
        "kind": downloads.kind_of(result).text,
        "card_peak": peak_tflops(result["machine"]["device"], dtype),
        "naive": naive_ms(result["rows"]),
        "slowest": min((row["tflops"] for row in live), default=1.0),
        "in_ms": f",.{digits}f",
        "live": live,
        "clocks": _clocks(result["after_timing"]),
        "has_roofline": bool((result if live else record)["ceilings"]),
        "note": note,
        "least": CONVENTIONS[COMPULSORY],
        "of": record_note(record),
        "code": _script(result),
    }
    return {name: render(f"run/{name}", **facts) for name in TABS}


def _clocks(lines: Iterable[str]) -> list[tuple[float, ...]]:
    """Return MHz of SM and memory, and W, of the points that nvidia-smi reported after timing."""
    points = filter(None, map(CLOCKS.match, lines))
    return [tuple(map(float, point.groups())) for point in points]


def _histogram(ran: list[Row], main: str) -> dict[str, Any]:
    """Bins of log₁₀ |error| of the main method and of naive attention, as shares of all values,
    from the first to the last that counts; and which share has no error at all."""
    judged = {row["method"]: row["histogram"] for row in ran}
    of = {name: judged[name] for name in dict.fromkeys((main, "naive")) if name in judged}
    counts = {name: one["counts"] for name, one in of.items()}
    totals = {name: max(1, sum(counts[name]) + one["exact"]) for name, one in of.items()}
    used = [k for c in counts.values() for k, x in enumerate(c) if x > SELDOM * max(1, sum(c))]
    first, last = (min(used), max(used) + 1) if used else (0, A_DECADE + 1)
    return {
        "values": totals[main],
        "axis": run_claims.LogAxis(LOWEST + first / A_DECADE, LOWEST + last / A_DECADE),
        "exact": {name: one["exact"] / totals[name] for name, one in of.items()},
        "shares": {
            name: [count / totals[name] for count in counts[name][first:last]] for name in of
        },
    }


def roofline(source: Result) -> dict[str, Any]:
    """TFLOP/s over FLOPs per compulsory byte under the card's measured ceilings; {} without
    them."""
    rows, ceilings = timed(source["rows"]), source["ceilings"]
    if not ceilings:
        return {}
    peak, hbm = (ceilings[key] / 1e12 for key in ("flops", "hbm_bytes_per_s"))
    main = run_claims.fastest_of_ours(rows)
    return {
        "points": [_point(row, row["method"] == main) for row in rows],
        "peak": peak,
        "hbm": hbm,
        "labels": [t("roofline.peak", peak=peak), t("roofline.hbm", rate=hbm)],
        "axes": t.row("roofline.axes"),
    }


def _point(row: Row, is_main: bool) -> dict[str, Any]:
    name, least = METHODS[row["method"]], row["least_bytes"]
    x, y = row["flops"] / least, row["tflops"]
    return {
        "method": row["method"],
        "name": name,
        "main": is_main,
        "x": x,
        "y": y,
        "value": rounded(y),
        "stores": t("roofline.stores") if row["method"] in STORE_S else "",
        "text": t("roofline.tip", name=name, speed=y, x=x, least=least),
    }


def record_note(record: Result) -> str:
    """Name the recorded problem, and say where it is only the nearest one."""
    q = record["query"]
    shape = {"n": int(q["n"]), "d": q["d"], "dtype": q["dtype"]}
    shape["scores"] = downloads.describe_scores(q)
    heads = f"{q['b']} × {q['h']}"
    return t("record.nearest" if record["differs"] else "record.same", heads=heads, **shape)


def _script(result: Result) -> str:
    """Write the Python file that repeats the run, with what the run found."""
    lines = [t("script.live", device=result["machine"]["device"], when=result["when"])]
    for row in ran(result["rows"]):
        speed = f", {row['median_ms']:.4g} ms" if "median_ms" in row else ""
        lines.append(f"  {row['method']}: {row['error']:.2e}{speed}")
    return write_script(result["query"], lines)
