"""A sweep as HTML: how far it is, what it shows in a sentence, every figure. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from explainer.figures import legend
from explainer.html import amount, card, div, milliseconds, rounded, table, tag, words
from explainer.report import meter
from explainer.request import METHODS, Point, Sweep


def on_its_way(
    done: int, points: Sequence[Point], position: int = 0, rows: Sequence[dict] = ()
) -> str:
    """Which point is measured now; or the place in the queue."""
    total, now = len(points), points[min(done, len(points) - 1)]
    text = f"{done} of {total} points. Now N = {now.n:,}, {'causal' if now.causal else 'full'}."
    if position:
        text += f" Waiting: {position} before this one."
    return div("fa-run", div("fa-sweep-line", meter(done / total), words(text), _legend(rows)))


def note(text: str, kind: str = "", rows: Sequence[dict] = ()) -> str:
    """One sentence above the curves of ``rows`` with their legend: finished, recorded, why not."""
    kinds = f"fa-sweep-line {kind}".strip()
    return div("fa-run", div(kinds, words(text), _legend(rows)), data_testid="sweep-note")


def _legend(rows: Sequence[dict]) -> str:
    names = "".join(
        tag("span", tag("i", sign, style=f"color:{colour}", aria_hidden="true") + escape(name))
        for sign, colour, name in legend(rows)
    )
    return div("fa-legend", names, tag("span", "solid: causal, dotted: full")) if names else ""


def figures(rows: list[dict], sweep: Sweep, source: str) -> str:
    """What the curves show, the table, the downloads; ``source``: when and where, live or not."""
    rows = sorted(rows, key=lambda r: (r["n"], r["mask"] == "causal"))
    shown = [_cells(row) for row in rows]
    name = f"flashattention-sweep-{sweep.d}"
    buttons = "".join(
        tag("button", text, type="button", data_download=kind)
        for text, kind in (("CSV", "csv"), ("JSON", "json"))
    )
    data = json.dumps({"sweep": source, "rows": rows}, allow_nan=False)
    body = table(HEAD, shown, f"Sweep, d = {sweep.d}, {sweep.dtype}, {source}")
    return div(
        "fa-run",
        *(words(text) for text in findings(rows)),
        card("all", "All points", source, body) + div("fa-run-tools", buttons),
        data_rows=data,
        data_name=name,
    )


HEAD = (
    "Method", "N", "mask", "B × H", "median", "p20", "p80", "TFLOP/s", "peak memory", "max error",
)  # fmt: skip


def _cells(row: dict) -> tuple[str, ...]:
    first = (
        METHODS[row["contender"]],
        f"{row['n']:,}",
        row["mask"],
        f"{row['batch']} × {row['heads']}",
    )
    if "not_available" in row:
        return (*first, row["not_available"], *[""] * (len(HEAD) - 5))
    times = (milliseconds(row[key]) for key in ("median_ms", "p20_ms", "p80_ms"))
    return (
        *first, *times, rounded(row["tflops"]), amount(row["peak_bytes"]), f"{row['error']:.1e}",
    )  # fmt: skip


def findings(rows: list[dict]) -> list[str]:
    """Sentences computed from the rows: causal against full, and who was refused where."""
    timed = {(r["contender"], r["n"], r["mask"]): r["median_ms"] for r in rows if "median_ms" in r}
    out, parts = [], []
    for method, label in METHODS.items():
        both = [n for m, n, k in timed if m == method and k == "causal" and (m, n, "full") in timed]
        if both:
            n = max(both)
            share = timed[method, n, "causal"] / timed[method, n, "full"]
            parts.append(f"{label} {share:.2f} (N = {n:,})")
    if parts:
        out.append(f"Causal takes this share of full's time: {', '.join(parts)}.")
    for method, label in METHODS.items():
        refused = [r for r in rows if r["contender"] == method and "not_available" in r]
        if refused:
            first = min(refused, key=lambda r: (r["n"], r["mask"] != "full"))
            out.append(f"{label} from N = {first['n']:,} on: {first['not_available']}")
    return out
