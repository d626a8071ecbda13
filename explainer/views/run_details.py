"""Render every figure of a run as a table with its downloads, how to read the roofline, and what
PyTorch would have picked."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from explainer.algorithms.algorithm import COMPULSORY, CONVENTIONS
from explainer.base.amounts import amount, milliseconds, rounded, scientific
from explainer.base.cards import peak_tflops
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS
from explainer.engine.results import Result, Row, naive_ms, ran, timed
from explainer.views import downloads, verdict
from explainer.views.script import write_script
from explainer.views.templates import render

t = Texts("run")


def render_details(result: Result) -> Markup:
    """Render how to read the roofline, the rules and SDPA's choice; every figure as a table, to be
    read, downloaded or measured again."""
    kind = downloads.kind_of(result)
    shape = (result["query"][key] for key in ("n", "d", "mask", "dtype"))
    source, head = result.get("recorded"), t.row("all.head")
    head, rows = downloads.known_columns(
        head, [_cells(row, result, len(head)) for row in result["rows"]]
    )
    return render(
        "run/details",
        kind=kind,
        data=result | {"kind": str(kind), "table": downloads.run_rows(result)},
        name=downloads.file_name(*shape, "recorded" if source else "live"),
        # The script has the forward pass alone.
        script=""
        if verdict.has_backward(result)
        else write_script(result["query"], _findings(result)),
        has_roof=timed(result["rows"]) and result["ceilings"],
        convention=CONVENTIONS[COMPULSORY],
        rules=None if source else verdict.rules(result),
        chooser=result.get("chooser"),
        methods=METHODS,
        head=head,
        rows=rows,
        source=source,
    )


def _findings(result: Result) -> list[str]:
    """Say what the run found, in lines for the script that repeats it."""
    if "recorded" in result:
        lines = [t("script.recorded", recorded=result["recorded"])]
    else:
        lines = [t("script.live", device=result["machine"]["device"], when=result["when"])]
    for row in ran(result["rows"]):
        speed = f", {row['median_ms']:.4g} ms" if "median_ms" in row else ""
        error = f"{row['error']:.2e}" if "error" in row else "–"  # not judged at every length
        lines.append(f"  {row['method']}: {error}{speed}")
    return lines


def _cells(row: Row, result: Result, columns: int) -> tuple[str, ...]:
    """Return a method's cells of the table."""
    name = METHODS[row["method"]]
    if "refused" in row:
        return (name, t("all.not_run"), *[""] * (columns - 2))  # the cards say why
    peak = peak_tflops(result["machine"]["device"], result["query"]["dtype"])
    naive = naive_ms(result["rows"])

    def cell(key: str, format_value: Callable[[float], str]) -> str:
        return format_value(row[key]) if key in row else "–"

    speed = row.get("tflops")
    return (
        name,
        *(cell(key, scientific) for key in ("error", "relative", "bias", "lse_error")),
        *(cell(key, milliseconds) for key in ("median_ms", "p20_ms", "p80_ms", "loop_ms")),
        cell("host_us", lambda us: f"{rounded(us)} µs"),
        *(cell(key, milliseconds) for key in ("graph_ms", "first_ms")),
        cell("tflops", rounded),
        f"{100 * speed / peak:.0f} %" if speed and peak else "–",
        f"{naive / row['median_ms']:.3g}" if naive and speed else "–",
        cell("peak_bytes", amount),
        amount(row["bytes"]) if "bytes" in row else t("all.unknown"),
        cell("least_bytes", amount),
        rounded(row["flops"] / row["least_bytes"]) if "least_bytes" in row else "–",
    )
