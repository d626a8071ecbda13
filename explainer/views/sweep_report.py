"""A sweep as HTML: how far it is, what it shows in a sentence, every figure. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from explainer.base.amounts import amount, listed, milliseconds, rounded, scientific
from explainer.base.kinds import Kind
from explainer.engine.requests import METHODS, TOKENS, WIDTH, Sweep
from explainer.engine.results import PointRow, timed, with_older_names
from explainer.views import downloads
from explainer.views.figures import legend, masks_of
from explainer.views.html import card, div, filled, saving, table, tag, words
from explainer.views.run_report import meter
from explainer.views.times import what_times_are


def measures(sweep: Sweep) -> str:
    """What the points of a sweep measure, and what of the controls it leaves out."""
    d, heads = sweep.d, WIDTH // sweep.d
    changed = downloads.scored(sweep.said).removeprefix(str(sweep.mask))
    width = f"H · d = {WIDTH:,}" if heads * d == WIDTH else f"H · d just below {WIDTH:,}"
    return (
        f"Every point: random normal q, k and v, B · N = {TOKENS:,} tokens (B = 1 beyond), {width} "
        f"(H = {heads} at d = {d}), {listed([*sweep.masks])}{changed}, tiles from the "
        "kernels' own tables. Of the controls only d, the precision, the methods, the mask, the "
        "scores, the sink, Hk and the dropout count, not N, B, H, Br, Bc and the inputs."
    )


def on_its_way(done: int, sweep: Sweep, position: int = 0, rows: Sequence[PointRow] = ()) -> str:
    """Which point is measured now; or the place in the queue."""
    points = sweep.points()
    total, now = len(points), points[min(done, len(points) - 1)]
    text = f"{done} of {total} points. Now N = {now.n:,}, {now.mask}."
    if position:
        text += f" Waiting: {position} before this one."
    what = words(measures(sweep), "fa-fine")
    line = div("fa-sweep-line", meter(done / total), words(text), what, _legend(rows))
    return div("fa-run", line)


def note(
    text: str,
    kind: str = "",
    rows: Sequence[PointRow] = (),
    sweep: Sweep | None = None,
    clocks: list[str] | None = None,
) -> str:
    """One sentence above the curves of ``rows`` with their legend: finished, recorded, why not.

    ``sweep``, when points are shown: what they measure is said; ``clocks``: what nvidia-smi said of
    them.
    """
    kinds = f"fa-sweep-line {kind}".strip()
    parts = [words(measures(sweep), "fa-fine")] if sweep else []
    if timed(rows):
        parts += [words(text, "fa-fine") for text in what_times_are(timed(rows), clocks or [])]
    return div("fa-run", div(kinds, words(text), *parts, _legend(rows)), data_testid="sweep-note")


def _legend(rows: Sequence[PointRow]) -> str:
    names = [
        tag("span", tag("i", sign, style=f"color:{colour}", aria_hidden="true"), name)
        for sign, colour, name in legend(rows)
    ]
    solid = "".join(f"solid: {mask}, " for mask in masks_of(rows) if mask != "full")
    return div("fa-legend", *names, tag("span", f"{solid}dotted: full")) if names else ""


def figures(rows: list[PointRow], sweep: Sweep, kind: Kind, about: Mapping) -> str:
    """What the curves show, the table, the downloads; ``about``: when and where, for a program, as
    :func:`downloads.of_sweep` takes it."""
    rows = sorted(rows, key=lambda r: (r["n"], r["mask"] != "full"))
    shown = [_cells(row) for row in rows]
    name = downloads.name("sweep", sweep.d, sweep.dtype, about["source"])
    lines = downloads.of_sweep(rows, kind, about)
    told = {"sweep": str(kind), "rows": with_older_names(rows), "table": lines}
    data = json.dumps(told, allow_nan=False)
    body = table(*filled(HEAD, shown), f"Sweep, d = {sweep.d}, {sweep.dtype}, {kind}")
    return div(
        "fa-run",
        *(words(text) for text in findings(rows)),
        card("all", "All points", kind, "", body),
        saving(),
        data_rows=data,
        data_name=name,
    )


HEAD = (
    "Method", "N", "mask", "B × H", "GPU time", "p20", "p80", "call in a loop", "on the host",
    "TFLOP/s", "peak memory", "max error",
)  # fmt: skip


def _cells(row: PointRow) -> tuple[str, ...]:
    first = (
        METHODS[row["method"]],
        f"{row['n']:,}",
        row["mask"],
        f"{row['batch']} × {row['heads']}",
    )
    if "refused" in row:
        return (*first, "not run", *[""] * (len(HEAD) - 5))  # the sentences above say why
    times = (milliseconds(row[key]) for key in ("median_ms", "p20_ms", "p80_ms"))
    call = milliseconds(row["loop_ms"]) if "loop_ms" in row else "–"
    host = f"{rounded(row['host_us'])} µs" if "host_us" in row else "–"
    return (
        *first, *times, call, host, rounded(row["tflops"]), amount(row["peak_bytes"]),
        scientific(row["error"]),
    )  # fmt: skip


def findings(rows: list[PointRow]) -> list[str]:
    """Sentences computed from the rows: its mask against full, and who was refused where."""
    ms = {(r["method"], r["n"], r["mask"]): r["median_ms"] for r in timed(rows)}
    out, parts = [], []
    other = masks_of(rows)[-1]
    for method, label in METHODS.items():
        both = [n for m, n, k in ms if (m, k) == (method, other) and (m, n, "full") in ms]
        if both and other != "full":
            n = max(both)
            share = ms[method, n, other] / ms[method, n, "full"]
            parts.append(f"{label} {share:.2f} (N = {n:,})")
    if parts:
        name = other[0].upper() + other[1:]
        out.append(f"{name} takes this share of full's time: {', '.join(parts)}.")
    for method, label in METHODS.items():
        refused = [r for r in rows if r["method"] == method and "refused" in r]
        if refused:
            first = min(refused, key=lambda r: (r["n"], r["mask"] != "full"))
            out.append(f"{label} from N = {first['n']:,} on: {first['refused']}")
    return out
