"""The six tabs below the claims of a run, Errors, Tiles, Time, Roofline, Backend and Script: the
HTML of each by its template, beside what its pictures and buttons need."""

import math
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
from explainer.views.times import describe_times
from kernels.spec.formats import FORMATS

t = Texts("run_result")
Tab = dict[str, Any]
SELDOM = 5e-4  # a tail of a histogram thinner than this is not drawn


def tabs(result: Result, record: Result, main: str, note: str) -> dict[str, Tab]:
    """Make the tabs by name. ``record``: the recorded problem nearest to the run, for its speed and
    PyTorch's choice where the run has none; ``note``: of which problem the times are."""
    rows, is_backward = ran(result["rows"]), verdict.has_backward(result)
    live, compared = timed(rows), run_claims.compared(result)
    query, kind = result["query"], downloads.kind_of(result)
    shape = (query[key] for key in ("n", "d", "mask", "dtype"))
    shortest = min((row["p20_ms"] for row in live), default=1.0)
    digits = max(2, min(4, 2 - math.floor(math.log10(shortest))))  # as far as 1 µs counts
    data = {**result, "kind": str(kind), "table": downloads.run_rows(result)}
    is_recorded = "recorded" in result
    found: dict[str, Tab] = {
        "errors": {
            "histogram": _histogram(rows, main, is_backward),
            "cost": _cost(next(row for row in rows if row["method"] == main)),
        },
        "tiles": {
            "maps": [
                run_claims.tile_map(result, same, METHODS[name])
                for name, same in compared
                if same and "map" in same
            ],
        },
        "time": {
            "name": downloads.file_name(*shape, "recorded" if is_recorded else "live"),
            "data": data,
        },
        "roofline": _roofline(result if live else record),
        "backend": {},
        "script": {"name": "run_again.py"},
    }
    facts = {
        "result": result,
        "record": record,
        "rows": rows,
        "names": METHODS,
        "stores": STORE_S,
        "compared": compared,
        "is_backward": is_backward,
        "refused": refused_methods(result["rows"]),
        "u": power(2, int(math.log2(FORMATS[query["dtype"]].unit_roundoff))),
        "signed_n": SIGNED_N,
        "signed_values": SIGNED_VALUES,
        "kind": kind.text,
        "card_peak": peak_tflops(result["machine"]["device"], query["dtype"]),
        "naive": naive_ms(result["rows"]),
        "slowest": min((row["tflops"] for row in live), default=1.0),
        "in_ms": f",.{digits}f",
        "described": describe_times(live, result["after_timing"]) if live else [],
        "note": note,
        "least": CONVENTIONS[COMPULSORY],
        "of": record_note(record),
        "code": _script(result),
    }
    return {
        name: tab | {"html": render(f"run/{name}", **facts, **tab)} for name, tab in found.items()
    }


def _cost(row: Row) -> Tab:
    """What rounding may cost, in parts of what is allowed, the largest first; and the error."""
    whole, name = max(row["allowed"], 1e-300), METHODS[row["method"]]
    terms = {label: row["terms"][key] for key, label in t.named("cost.terms").items()}
    return {
        "title": t("cost", name=name, allowed=row["allowed"]),
        "parts": [
            {"share": value / whole, "text": t("cost.part", label=label, share=100 * value / whole)}
            for label, value in sorted(terms.items(), key=lambda x: -x[1])
        ],
        "error": min(1.0, row["error"] / whole) if math.isfinite(row["error"]) else 1.0,
        "text": t("cost.error", name=name, error=row["error"]),
    }


def _histogram(ran: list[Row], main: str, is_backward: bool) -> Tab:
    """Bins of log₁₀ |error| of the main method and of naive attention, as shares of all values,
    from the first to the last that counts."""
    judged = {row["method"]: row for row in ran}
    rows = {name: judged[name] for name in dict.fromkeys((main, "naive")) if name in judged}
    counts = {name: row["histogram"]["counts"] for name, row in rows.items()}
    used = [k for c in counts.values() for k, x in enumerate(c) if x > SELDOM * max(1, sum(c))]
    first, last = (min(used), max(used)) if used else (0, A_DECADE)
    values = sum(counts[main]) + rows[main]["histogram"]["exact"]
    series = []
    for name, row in rows.items():
        exact = row["histogram"]["exact"]
        total = max(1, sum(counts[name]) + exact)
        label = METHODS[name]
        if exact / total >= 0.005:
            label = t("histogram.exact", name=label, share=100 * exact / total)
        shares = [count / total for count in counts[name][first : last + 1]]
        texts = [
            t("histogram.tip", name=METHODS[name], share=100 * share, error=_middle(k))
            for k, share in enumerate(shares, first)
        ]
        series.append({"name": label, "main": name == main, "shares": shares, "texts": texts})
    of = t("gradients.all") if is_backward else "O"
    low, high = (LOWEST + k / A_DECADE for k in (first, last + 1))
    title = t("histogram", values=values, of=of)
    return {"title": title, "low": low, "high": high, "series": series}


def _middle(k: int) -> float:
    return 10 ** (LOWEST + (k + 0.5) / A_DECADE)


def _roofline(source: Result) -> Tab:
    """TFLOP/s over FLOPs per compulsory byte under the card's measured ceilings; no ``points``
    without them."""
    rows = timed(source["rows"])
    if not source["ceilings"]:
        return {"points": []}
    peak, hbm = (source["ceilings"][key] / 1e12 for key in ("flops", "hbm_bytes_per_s"))
    main = run_claims.fastest_of_ours(rows)
    points = [
        {
            "method": row["method"],
            "name": METHODS[row["method"]],
            "main": row["method"] == main,
            "x": row["flops"] / row["least_bytes"],
            "y": row["tflops"],
            "value": rounded(row["tflops"]),
            "stores": t("roofline.stores") if row["method"] in STORE_S else "",
            "text": t(
                "roofline.tip",
                name=METHODS[row["method"]],
                speed=row["tflops"],
                x=row["flops"] / row["least_bytes"],
                least=row["least_bytes"],
            ),
        }
        for row in rows
    ]
    return {
        "points": points,
        "peak": peak,
        "hbm": hbm,
        "labels": [t("roofline.peak", peak=peak), t("roofline.hbm", rate=hbm)],
        "axes": t.row("roofline.axes"),
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
