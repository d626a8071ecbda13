"""Every figure of a run as a table with its downloads, how to read the roofline, and what PyTorch
would have picked. Pure: nothing is computed here that the worker could have measured."""

from __future__ import annotations

import json

from explainer.algorithms.algorithm import COMPULSORY, CONVENTIONS
from explainer.base.amounts import amount, milliseconds, rounded, scientific
from explainer.base.cards import peak_tflops
from explainer.base.kinds import Kind
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS
from explainer.engine.results import Choice, Result, Row, naive_ms, ran, timed
from explainer.views import downloads
from explainer.views.html import card, div, filled, saving, table, tag, words
from explainer.views.script import script
from explainer.views.verdict import backward, rules

say = Texts("run")


def details(result: Result) -> str:
    """How to read the roofline; every figure as a table, to be read, downloaded or measured again;
    and SDPA's choice."""
    chooser = _chooser(result["chooser"], downloads.kind(result)) if result.get("chooser") else ""
    table_of = {"kind": str(downloads.kind(result)), "table": downloads.of_run(result)}
    data = json.dumps(result | table_of, allow_nan=False)
    shape = (result["query"][key] for key in ("n", "d", "mask", "dtype"))
    name = downloads.name(*shape, "recorded" if "recorded" in result else "live")
    copy = tag("button", say("all.script"), type="button", data_copy="script")
    again = {"data_script": script(result["query"], _measured(result))}
    if backward(result):  # the script has the forward pass alone
        copy, again = "", {}
    caption = say("all")
    if "recorded" in result:
        caption = say("all.recorded", recorded=result["recorded"])
    head = say.row("all.head")
    body = table(*filled(head, [_cells(row, result, head) for row in result["rows"]]), caption)
    return div(
        "fa-run",
        _under_the_roof(result),
        rules(result) if "recorded" not in result else "",
        chooser,
        card("all", say("all"), downloads.kind(result), "", body),
        saving(copy),
        data_rows=data,
        data_name=name,
        **again,
    )


def _measured(result: Result) -> list[str]:
    """What the run found, in lines for the script that repeats it."""
    if "recorded" in result:
        lines = [say("script.recorded", recorded=result["recorded"])]
    else:
        lines = [say("script.live", device=result["machine"]["device"], when=result["when"])]
    for row in ran(result["rows"]):
        speed = f", {row['median_ms']:.4g} ms" if "median_ms" in row else ""
        lines.append(f"  {row['method']}: {row['error']:.2e}{speed}")
    return lines


def _cells(row: Row, result: Result, head: tuple[str, ...]) -> tuple[str, ...]:
    name = METHODS[row["method"]]
    if "refused" in row:
        return (name, say("all.not_run"), *[""] * (len(head) - 2))  # the cards say why
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
        amount(row["bytes"]) if "bytes" in row else say("all.unknown"),
        cell("least_bytes", amount),
        rounded(row["flops"] / row["least_bytes"]) if "least_bytes" in row else "–",
    )


def _under_the_roof(result: Result) -> str:
    """How to read the roofline; "" where there is none."""
    if not timed(result["rows"]) or not result["ceilings"]:
        return ""
    return words(say("roof", least=CONVENTIONS[COMPULSORY]), "fa-fine fa-roof-note")


def _chooser(choice: Choice, kind: Kind) -> str:
    picked = choice["picked"]
    lines = []
    for name, reason in choice["reasons"].items():
        text = say("chooser.picked") if name == picked else reason or say("chooser.could")
        lines.append(words(say("chooser.line", method=METHODS[name], text=text)))
    if picked == "sdpa_math":
        lines.append(words(say("chooser.math", method=METHODS[picked])))
    return card("chooser", say("chooser"), kind, say("chooser.remark"), *lines)
