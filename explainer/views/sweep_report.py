"""A sweep as HTML: how far it is, what it shows in a sentence, every figure. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from explainer.base.amounts import amount, listed, milliseconds, rounded, scientific
from explainer.base.kinds import Kind
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS, TOKENS, WIDTH, Sweep
from explainer.engine.results import PointRow, timed, with_older_names
from explainer.views import downloads
from explainer.views.figures import legend, masks_of
from explainer.views.html import card, div, filled, saving, table, tag, words
from explainer.views.run_report import meter
from explainer.views.times import what_times_are

say = Texts("run")


def measures(sweep: Sweep) -> str:
    """What the points of a sweep measure, and what of the controls it leaves out."""
    d, heads = sweep.d, WIDTH // sweep.d
    changed = downloads.scored(sweep.rules).removeprefix(str(sweep.mask))
    width = say("sweep.width" if heads * d == WIDTH else "sweep.width_below", width=WIDTH)
    return say(
        "sweep.points",
        tokens=TOKENS,
        width=width,
        heads=heads,
        d=d,
        masks=listed([*sweep.masks]),
        changed=changed,
    )


def on_its_way(done: int, sweep: Sweep, position: int = 0, rows: Sequence[PointRow] = ()) -> str:
    """Which point is measured now; or the place in the queue."""
    points = sweep.points()
    total, now = len(points), points[min(done, len(points) - 1)].case
    text = say("sweep.now", done=done, total=total, n=now.n, mask=now.mask)
    if position:
        text += " " + say("waiting", position=position)
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
    solid = [say("sweep.solid", mask=mask) for mask in masks_of(rows) if mask != "full"]
    dashes = ", ".join([*solid, say("sweep.dotted")])
    return div("fa-legend", *names, tag("span", dashes)) if names else ""


def figures(rows: list[PointRow], sweep: Sweep, kind: Kind, about: Mapping) -> str:
    """What the curves show, the table, the downloads; ``about``: when and where, for a program, as
    :func:`downloads.of_sweep` takes it."""
    rows = sorted(rows, key=lambda r: (r["n"], r["mask"] != "full"))
    head = say.row("sweep.head")
    shown = [_cells(row, head) for row in rows]
    name = downloads.name("sweep", sweep.d, sweep.dtype, about["source"])
    lines = downloads.of_sweep(rows, kind, about)
    told = {"sweep": str(kind), "rows": with_older_names(rows), "table": lines}
    data = json.dumps(told, allow_nan=False)
    caption = say("sweep.caption", d=sweep.d, dtype=sweep.dtype, kind=kind)
    body = table(*filled(head, shown), caption)
    return div(
        "fa-run",
        *(words(text) for text in findings(rows)),
        card("all", say("sweep.all"), kind, "", body),
        saving(),
        data_rows=data,
        data_name=name,
    )


def _cells(row: PointRow, head: tuple[str, ...]) -> tuple[str, ...]:
    first = (
        METHODS[row["method"]],
        f"{row['n']:,}",
        row["mask"],
        f"{row['batch']} × {row['heads']}",
    )
    if "refused" in row:
        return (*first, say("all.not_run"), *[""] * (len(head) - 5))  # the sentences above say why
    times = (milliseconds(row[key]) for key in ("median_ms", "p20_ms", "p80_ms"))
    call = milliseconds(row["loop_ms"]) if "loop_ms" in row else "–"
    host = f"{rounded(row['host_us'])} µs" if "host_us" in row else "–"
    return (
        *first,
        *times,
        call,
        host,
        rounded(row["tflops"]),
        amount(row["peak_bytes"]),
        scientific(row["error"]),
    )


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
            parts.append(say("sweep.share_of", method=label, share=share, n=n))
    if parts:
        name = other[0].upper() + other[1:]
        out.append(say("sweep.share", mask=name, parts=", ".join(parts)))
    for method, label in METHODS.items():
        refused = [r for r in rows if r["method"] == method and "refused" in r]
        if refused:
            first = min(refused, key=lambda r: (r["n"], r["mask"] != "full"))
            out.append(say("sweep.refused", method=label, n=first["n"], why=first["refused"]))
    return out
