"""Every figure of a run as a table with its downloads, how to read the roofline, and what PyTorch
would have picked. Pure: nothing is computed here that the worker could have measured."""

from __future__ import annotations

import json

from explainer.algorithms.algorithm import CONVENTIONS, LEAST
from explainer.base.amounts import amount, milliseconds, rounded, scientific
from explainer.base.cards import peak_tflops
from explainer.base.kinds import Kind
from explainer.engine.requests import METHODS
from explainer.engine.results import Choice, Result, Row, naive_ms, ran, timed
from explainer.views import downloads
from explainer.views.html import card, div, filled, saving, table, tag, words
from explainer.views.script import script
from explainer.views.verdict import backward, rules


def details(result: Result) -> str:
    """How to read the roofline; every figure as a table, to be read, downloaded or measured again;
    and SDPA's choice."""
    chooser = _chooser(result["chooser"], downloads.kind(result)) if result.get("chooser") else ""
    table_of = {"kind": str(downloads.kind(result)), "table": downloads.of_run(result)}
    data = json.dumps(result | table_of, allow_nan=False)
    shape = (result["query"][key] for key in ("n", "d", "mask", "dtype"))
    name = downloads.name(*shape, "recorded" if "recorded" in result else "live")
    copy = tag("button", "Copy a script", type="button", data_copy="script")
    again = {"data_script": script(result["query"], _measured(result))}
    if backward(result):  # the script has the forward pass alone
        copy, again = "", {}
    caption = "All figures" + (f", {result['recorded']}" if "recorded" in result else "")
    body = table(*filled(HEAD, [_cells(row, result) for row in result["rows"]]), caption)
    return div(
        "fa-run",
        _under_the_roof(result),
        rules(result) if "recorded" not in result else "",
        chooser,
        card("all", "All figures", downloads.kind(result), "", body),
        saving(copy),
        data_rows=data,
        data_name=name,
        **again,
    )


def _measured(result: Result) -> list[str]:
    """What the run found, in lines for the script that repeats it."""
    where = result.get("recorded") or f"measured on {result['machine']['device']}"
    when = "" if "recorded" in result else f", {result['when']}"
    lines = [f"The run was {where}{when}; largest |O - O in float64|:"]
    for row in ran(result["rows"]):
        speed = f", {row['median_ms']:.4g} ms" if "median_ms" in row else ""
        lines.append(f"  {row['method']}: {row['error']:.2e}{speed}")
    return lines


HEAD = (
    "Method", "max error", "relative", "mean error", "lse error", "GPU time", "p20", "p80",
    "call in a loop", "on the host", "in a CUDA graph",
    "first call", "TFLOP/s", "of peak", "× naive", "peak memory", "bytes asked", "least bytes",
    "FLOP / least byte",
)  # fmt: skip


def _cells(row: Row, result: Result) -> tuple[str, ...]:
    name = METHODS[row["method"]]
    if "refused" in row:
        return (name, "not run", *[""] * (len(HEAD) - 2))  # the cards say why
    peak = peak_tflops(result["machine"]["device"], result["query"]["dtype"])
    naive = naive_ms(result["rows"])

    def cell(key: str, form) -> str:
        return form(row[key]) if key in row else "–"

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
        amount(row["bytes"]) if "bytes" in row else "not known",
        cell("least_bytes", amount),
        rounded(row["flops"] / row["least_bytes"]) if "least_bytes" in row else "–",
    )


def _under_the_roof(result: Result) -> str:
    """How to read the roofline; "" where there is none."""
    if not timed(result["rows"]) or not result["ceilings"]:
        return ""
    text = (
        f"The roofline counts the least bytes of every method alike: {CONVENTIONS[LEAST]}. What a "
        "kernel writes and the next one reads may still be in L2, so a point may stand above the "
        "roof of memory."
    )
    return words(text, "fa-fine fa-roof-note")


def _chooser(choice: Choice, kind: Kind) -> str:
    picked = choice["picked"]
    lines = []
    for name, reason in choice["reasons"].items():
        if name == picked:
            text = "picked."
        else:
            text = reason or "could run; PyTorch prefers the one it picked."
        lines.append(words(f"{METHODS[name]}: {text}"))
    if picked == "sdpa_math":
        lines.append(words(f"{METHODS[picked]}: picked, since no fused backend takes this input."))
    title = "What does scaled_dot_product_attention pick here?"
    return card("chooser", title, kind, "PyTorch's own reasons", *lines)
