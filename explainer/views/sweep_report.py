"""Render a sweep: how far it is, what it shows in a sentence, every figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from explainer.base.amounts import amount, listed, milliseconds, rounded, scientific
from explainer.base.kinds import Kind
from explainer.base.kinds import recorded as from_record
from explainer.base.texts import Texts
from explainer.engine import recorded
from explainer.engine.requests import METHODS, TOKENS, WIDTH, Sweep
from explainer.engine.results import PointRow, timed, with_older_names
from explainer.views import downloads
from explainer.views.figures import legend, masks_of
from explainer.views.templates import render
from explainer.views.times import describe_times

t = Texts("run")


def describe_points(sweep: Sweep) -> str:
    """Say what the points of a sweep measure, and what of the controls it leaves out."""
    d, heads = sweep.d, WIDTH // sweep.d
    changed = downloads.describe_scores(sweep.rules).removeprefix(str(sweep.mask))
    width = t("sweep.width" if heads * d == WIDTH else "sweep.width_below", width=WIDTH)
    return t(
        "sweep.points",
        tokens=TOKENS,
        width=width,
        heads=heads,
        d=d,
        masks=listed([*sweep.masks]),
        changed=changed,
    )


def render_progress(
    done: int, sweep: Sweep, position: int = 0, rows: Sequence[PointRow] = ()
) -> Markup:
    """Render which point is measured now, or the position in the queue."""
    points = sweep.points()
    total, now = len(points), points[min(done, len(points) - 1)].case
    text = t("sweep.now", done=done, total=total, n=now.n, mask=now.mask)
    if position:
        text += " " + t("waiting", position=position)
    return _render_note(text, [describe_points(sweep)], rows, share=done / total)


def render_note(
    text: str,
    style: str = "",
    rows: Sequence[PointRow] = (),
    sweep: Sweep | None = None,
    clocks: list[str] | None = None,
) -> Markup:
    """Render one sentence above the curves of ``rows`` with their legend: finished, recorded, why
    not. ``sweep``: whose points are shown; ``clocks``: what nvidia-smi reported after them."""
    remarks = [describe_points(sweep)] if sweep else []
    if timed(rows):
        remarks += describe_times(timed(rows), clocks or [])
    return _render_note(text, remarks, rows, style)


def _render_note(
    text: str,
    remarks: list[str],
    rows: Sequence[PointRow],
    style: str = "",
    share: float | None = None,
) -> Markup:
    """``share``: how much of a sweep is done that is being measured."""
    return render(
        "run/sweep_note",
        text=text,
        remarks=remarks,
        legend=legend(rows),
        masks=masks_of(rows),
        style=style,
        share=share,
    )


def render_table(rows: list[PointRow], sweep: Sweep, kind: Kind, about: Mapping) -> Markup:
    """Render what the curves show, the table, the downloads; ``about``: when and where, for a
    program, as :func:`downloads.sweep_rows` takes it."""
    rows = sorted(rows, key=lambda r: (r["n"], r["mask"] != "full"))
    head = t.row("sweep.head")
    head, cells = downloads.known_columns(head, [_cells(row, len(head)) for row in rows])
    return render(
        "run/sweep",
        kind=kind,
        findings=findings(rows),
        head=head,
        rows=cells,
        caption=t("sweep.caption", d=sweep.d, dtype=sweep.dtype, kind=kind),
        name=downloads.file_name("sweep", sweep.d, sweep.dtype, about["source"]),
        data={
            "sweep": str(kind),
            "rows": with_older_names(rows),
            "table": downloads.sweep_rows(rows, kind, about),
        },
    )


def render_recorded(
    text: str, sweep: Sweep, rows: list[PointRow], style: str = ""
) -> tuple[Markup, Markup]:
    """Render note and table of a recorded sweep."""
    record = recorded.load()
    about = {key: record[key] for key in ("device", "versions")}
    about |= {"source": "recorded", "when": record["date"]}
    note = render_note(text, style, rows, sweep, recorded.clocks_of(rows))
    return note, render_table(rows, sweep, from_record(), about)


def _cells(row: PointRow, columns: int) -> tuple[str, ...]:
    """Return a point's cells of the table."""
    first = (
        METHODS[row["method"]],
        f"{row['n']:,}",
        row["mask"],
        f"{row['batch']} × {row['heads']}",
    )
    if "refused" in row:
        return (*first, t("all.not_run"), *[""] * (columns - 5))  # the sentences above say why
    return (
        *first,
        *(milliseconds(row[key]) for key in ("median_ms", "p20_ms", "p80_ms")),
        milliseconds(row["loop_ms"]) if "loop_ms" in row else "–",
        f"{rounded(row['host_us'])} µs" if "host_us" in row else "–",
        rounded(row["tflops"]),
        amount(row["peak_bytes"]),
        scientific(row["error"]),
    )


def findings(rows: list[PointRow]) -> list[str]:
    """Return sentences computed from the rows: its mask against full, and each method's refusal."""
    ms = {(r["method"], r["n"], r["mask"]): r["median_ms"] for r in timed(rows)}
    out, parts = [], []
    other = masks_of(rows)[-1]
    for method, label in METHODS.items():
        both = [n for m, n, k in ms if (m, k) == (method, other) and (m, n, "full") in ms]
        if both and other != "full":
            n = max(both)
            share = ms[method, n, other] / ms[method, n, "full"]
            parts.append(t("sweep.share_of", method=label, share=share, n=n))
    if parts:
        name = other[0].upper() + other[1:]
        out.append(t("sweep.share", mask=name, parts=", ".join(parts)))
    for method, label in METHODS.items():
        refused = [r for r in rows if r["method"] == method and "refused" in r]
        if refused:
            first = min(refused, key=lambda r: (r["n"], r["mask"] != "full"))
            out.append(t("sweep.refused", method=label, n=first["n"], why=first["refused"]))
    return out
