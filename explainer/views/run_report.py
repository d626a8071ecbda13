"""What a run found, as HTML: a pure function of the result. Nothing is computed here that the
worker could have measured; every text is escaped. A recorded result has the same form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from explainer.algorithms.inputs import INPUTS
from explainer.base.amounts import amount, listed, milliseconds, rounded, scientific
from explainer.base.cards import peak_tflops
from explainer.base.formats import ITEMSIZE
from explainer.engine.recorded import MOST_N, MOST_WORK, what
from explainer.engine.requests import AUTO, METHODS, ORDERS
from explainer.engine.results import Result, Row, naive_ms, ran, timed
from explainer.views.downloads import kind, scored
from explainer.views.gradients_run_report import both_passes, repeated, tiles_of
from explainer.views.html import absent, bar, card, div, mark, tag, words
from explainer.views.times import what_times_are
from explainer.views.verdict import (
    agrees,
    allowed,
    backward,
    judged,
    lesson,
    picture,
    several_heads,
    times_naive,
    verdict,
)

KINDS = {"naive": "naive", "standard": "naive", "fa1": "fa1", "fa2": "kernel", "hopper": "hopper"}
KINDS["naive_compiled"] = "naive"


def _kind(method: str) -> str:
    return KINDS.get(method, "sdpa")


def idle() -> str:
    """Before anything ran."""
    text = (
        "Choose a problem and press Run: every method computes it, its O is compared with float64, "
        "and the Triton kernels' m and ℓ, tile by tile, with what the Step page shows."
    )
    return div("fa-run", div("fa-run-idle", words(text)))


def failure(sentence: str) -> str:
    """One sentence in place of a result."""
    return div("fa-run", tag("p", sentence, class_="fa-run-refused", role="alert"))


def progress(
    stage: str,
    done: int,
    total: int,
    position: int = 0,
    elapsed_s: float = 0.0,
    expected_s: float | None = None,
    wait_s: float | None = None,
) -> str:
    """The job on its way: its place in the line and when its turn is expected, or its stage and how
    far that is; for how long, and for how long it will be, in seconds, where that is known."""
    if position:
        text, share = f"Waiting: {position} before this one.", 0.0
        if wait_s is not None:
            text = f"{text[:-1]}, its turn in about {max(1, wait_s):.0f} s."
    elif not stage:
        text, share = "Starting the kernel's process.", 0.0
    else:
        share = done / max(1, total)
        text = f"{stage[0].upper()}{stage[1:]}"
        text += f": program {done:,} of {total:,}." if total > 1 else "."
    clock = f"{elapsed_s:.0f} s so far"
    if expected_s is not None and elapsed_s > 1.5 * expected_s:
        clock += f": more than the {max(1, expected_s):.0f} s expected, this machine is busy"
    elif expected_s is not None:
        clock += f", about {max(1, expected_s):.0f} s expected"
    body = meter(share), words(text), words(f"{clock}.", "fa-fine")
    return div("fa-run", div("fa-run-idle", *body))


def cancelled(elapsed_s: float) -> str:
    """In place of a result that its visitor does not want any more."""
    text = f"Cancelled after {elapsed_s:.0f} s: nothing was judged. Run starts it again."
    return div("fa-run", div("fa-run-idle", words(text), data_testid="run-cancelled"))


def meter(share: float) -> str:
    """A bar that says how far something is."""
    values = {"aria_valuenow": round(100 * share), "aria_valuemin": 0, "aria_valuemax": 100}
    inner = tag("i", "", style=f"width:{100 * share:.1f}%")
    return div("fa-run-meter", inner, role="progressbar", aria_label="Run", **values)


def _bars(result: Result, made: Callable[[Row], dict]) -> list[str]:
    """One for each method, of what ``made`` tells ``bar``; of those not run, why."""
    return [
        absent(METHODS[row["method"]], row["refused"])
        if "refused" in row
        else bar(METHODS[row["method"]], kind=_kind(row["method"]), **made(row))
        for row in result["rows"]
    ]


def report(result: Result) -> str:
    """The verdict and the four questions of a live run."""
    right, same = all(row["right"] for row in ran(result["rows"])), agrees(result)
    cards = [_right(result), _same(result), _fast(result), _small(result)]
    if backward(result):
        cards.append(repeated(result))
    return div(
        "fa-run",
        verdict(result),
        div("fa-run-cards", *cards),
        data_testid="run-result",
        data_query=urlencode(lesson(result)),
        data_device=result["machine"]["device"],
        data_right=str(right).lower(),
        data_agrees="" if same is None else str(same).lower(),  # empty: nothing was compared
    )


def _shape(q: Mapping) -> str:
    return (
        f"N = {int(q['n']):,}, d = {q['d']}, {scored(q)}, {q['dtype']}, B × H = {q['b']} × {q['h']}"
        + ", backward" * ("pass" in q)
    )


def recorded(result: Result) -> str:
    """The same questions answered from the record, said to be from there, for which problem, and
    how that differs from what was asked."""
    found = _shape(result["query"])
    apart = _apart(result)
    if apart:
        text = f"Measured there: {found}. It differs: {listed(apart)}."
    else:
        text = f"What you asked for was measured there: {found}, random normal numbers."
    about = result["recorded"]
    head = div("fa-run-words", tag("b", about[0].upper() + about[1:]), tag("span", text))
    return div(
        "fa-run",
        div("fa-run-verdict is-recorded", head),
        div("fa-run-cards", _fast(result), _small(result)),
        data_testid="run-recorded",
    )


def _apart(result: Result) -> list[str]:
    """How a recorded problem differs from the asked one: "N = 256 in place of 200"."""
    asked, found = result["asked"], result["query"]

    def heads(q: dict) -> str:
        return f"{q['b']} × {q['h']}"

    out = []
    if asked["n"] != found["n"]:
        out.append(f"N = {int(found['n']):,} in place of {int(asked['n']):,}")
    if heads(asked) != heads(found):
        out.append(f"B × H = {heads(found)} in place of {heads(asked)}")
    if asked["data"] != "random":
        out.append(f"random normal numbers in place of “{INPUTS[asked['data']]}”")
    if "rope" in asked:
        out.append("no RoPE")
    if any(asked[key] != AUTO for key in ("br", "bc")):
        out.append("tiles from the kernels' own tables in place of yours")
    return out


def nothing_recorded(asked: Mapping, nearest: Mapping, href: str) -> str:
    """No record can stand beside this run: the rule, what there is, and a link that sets the
    controls to the nearest of it. ``asked``, ``nearest``: queries of requests."""
    text = (
        f"Nothing like {_shape(asked)} was measured on a GPU: set beside a run is "
        f"only the same mask, precision and d, with N at most {MOST_N} times as long or as short "
        f"and at most {MOST_WORK} times the FLOPs, or a {MOST_WORK}th. On record: {what()}."
    )
    link = tag("a", "Set the controls to it", href=href, class_="fa-run-link")
    to = f"The nearest measured is {_shape(nearest)}."
    head = div("fa-run-words", tag("b", "No comparable measurement"), *map(_span_of, (text, to)))
    return div(
        "fa-run",
        div("fa-run-verdict is-recorded", head, link),
        data_testid="run-not-recorded",
    )


def _span_of(text: str) -> str:
    return tag("span", text)


def _right(result: Result) -> str:
    rows = ran(result["rows"])
    sizes = [x for row in rows for x in (row["error"], row["allowed"]) if x > 0]
    low = math.floor(math.log10(min(sizes, default=1e-7))) - 0.5
    span = max(1.0, math.log10(max(sizes, default=1.0)) - low) * 1.05

    def place(x: float) -> float:
        return max(0.0, (math.log10(x) - low) / span) if x > 0 else 0.0

    def made(row: Row) -> dict:
        ratio = times_naive(row, result["naive_error"])
        cells = (scientific(row["error"]), ratio, "✓" if row["right"] else "✗")
        return {"share": place(row["error"]), "cells": cells, "limit": place(row["allowed"])}

    naive = result["naive_error"]
    said = any(row["method"] == "naive" and "refused" in row for row in result["rows"])
    unknown = "not known." if said else f"not known. {result['naive_refused']}"
    note = f"Of {judged(result)}. Naive attention's own error in {result['query']['dtype']} is " + (
        f"{scientific(naive)}." if naive is not None else unknown
    )
    remark = "largest |O − O in float64|, log scale · × naive's"
    if backward(result):
        note = f"Of {judged(result)}. Of dQ, dK and dV the one that comes nearest to its limit."
        remark = "largest |gradient − float64's|, log scale · × naive's"
    notes = words(note), words(allowed(result), "fa-fine")
    return card("right", "Right?", kind(result), remark, *_bars(result, made), *notes)


def _same(result: Result) -> str:
    rows = [row for row in ran(result["rows"]) if row["method"] in ORDERS]
    lines = []
    for row in rows:
        s, name = row.get("same"), METHODS[row["method"]]
        if s is None:
            made = "gradients were" if backward(result) else "O was"
            text = f"{name}: too many tiles for a list of them, so only its {made} judged."
            lines.append(words(text))
            continue
        if "errors" in s:
            found = tiles_of(s)
        elif s["against"] == "O":
            found = f"O is the trace's to {scientific(s['o_error'])}."
        elif s["m_error"] is None:
            found = "m and ℓ stand in other tiles than in the picture."
        else:
            found = (
                f"{s['values']:,} values of m and ℓ in {s['tiles']:,} tiles: "
                f"|Δm| ≤ {scientific(s['m_error'])}, |Δℓ|/ℓ ≤ {scientific(s['l_error'])}."
            )
        lines.append(div("fa-run-same", mark(s["agrees"]), words(f"{name}: {found}")))
    if not rows:
        lines.append(words("None of the methods with tiles was chosen: FA-2, FA-1 or Standard."))
    against = {row["same"]["against"] for row in rows if row.get("same")}
    made = "what it adds to dQ, dK and dV" if backward(result) else "m and ℓ"
    why = {
        "trace": f"The kernel writes {made} after every tile; the Step page's trace is NumPy.",
        "float64": "Too large for a trace: m and ℓ are compared with their definition in float64.",
        "O": "Standard attention keeps no running m and ℓ: its output is compared.",
    }
    notes = [words(why[key]) for key in ("trace", "float64", "O") if key in against]
    allowed = [row["same"]["tolerance"] for row in rows if row.get("same")]
    if allowed and not backward(result):
        text = f"Rounding alone explains up to {scientific(min(allowed))}."
        notes.append(words(text, "fa-fine"))
    first = picture(result["query"]).removeprefix("the ")
    where = f", {first}" if several_heads(result["query"]) else ""
    remark = f"kernel against trace{where}"
    return card("same", "The same as the picture?", kind(result), remark, *lines, *notes)


def _fast(result: Result) -> str:
    rows = timed(result["rows"])
    if not rows:
        return _not_fast(result)
    naive = naive_ms(rows)
    looped = any("loop_ms" in row for row in rows)
    most = max(max(row["p80_ms"], row.get("loop_ms", 0.0)) for row in rows)

    def made(row: Row) -> dict:
        ratio = f"{naive / row['median_ms']:.3g} ×" if naive else ""
        cells = (milliseconds(row["median_ms"]), ratio, f"{rounded(row['tflops'])} TF")
        told = {"share": row["median_ms"] / most, "cells": cells}
        told["whisker"] = (row["p20_ms"] / most, row["p80_ms"] / most)
        if looped:
            call = milliseconds(row["loop_ms"]) if "loop_ms" in row else "–"
            told["cells"] = (cells[0], f"▏{call}", *cells[1:])
            told["limit"] = row["loop_ms"] / most if "loop_ms" in row else None
        return told

    device, dtype = result["machine"]["device"], result["query"]["dtype"]
    peak, best = peak_tflops(device, dtype), max(rows, key=lambda row: row["tflops"])
    notes = []
    if peak:
        share = f"{100 * best['tflops'] / peak:.0f} %"
        text = f"{METHODS[best['method']]} reaches {share} of the card's {peak:g} TFLOP/s ({dtype})"
        notes.append(words(f"{text}, data sheet."))
    else:
        notes.append(words(f"{device} is not in the table of cards: its peak is not known here."))
    if backward(result):
        notes.append(words(both_passes(rows), "fa-fine"))
    first = [
        f"{METHODS[r['method']]} {milliseconds(r['first_ms'])}" for r in rows if "first_ms" in r
    ]
    if first:
        notes.append(words(f"First call, compiling included: {', '.join(first)}.", "fa-fine"))
    notes += [words(text, "fa-fine") for text in what_times_are(rows, result["after_timing"])]
    source = result.get("recorded") or result["when"]
    notes.append(words(f"{source[0].upper()}{source[1:]}.", "fa-fine"))
    times = "GPU time, ▏call in a loop, " if looped else ""
    remark = f"{times}{'× naive, ' if naive else ''}TFLOP/s · {device}"
    return card("fast", "Fast?", kind(result), remark, *_bars(result, made), *notes)


def _not_fast(result: Result) -> str:
    took = [
        f"{METHODS[row['method']]} {row['interpreter_s']:.2f} s"
        for row in result["rows"]
        if "interpreter_s" in row
    ]
    text = (
        f"One pass in Triton's interpreter, NumPy on the CPU, took: {listed(took)}. That says "
        "nothing about how fast a GPU is."
    )
    if not took:
        text = "No kernel was run, and PyTorch's time on this CPU says nothing about a GPU."
    below = "Below: what a GPU took for a comparable problem, or why none is shown."
    remark = "not a speed: interpreter"
    return card("fast", "Fast?", kind(result), remark, words(text), words(below))


def _small(result: Result) -> str:
    most = max([1, *(row["peak_bytes"] for row in ran(result["rows"]))])

    def made(row: Row) -> dict:
        return {"share": row["peak_bytes"] / most, "cells": (amount(row["peak_bytes"]),)}

    q = result["query"]
    matrix = int(q["b"]) * int(q["h"]) * int(q["n"]) ** 2 * ITEMSIZE[q["dtype"]]
    notes = [
        words(f"One N × N matrix for every head is {amount(matrix)}; S and P are two."),
        words(f"Q, K, V and O themselves are {amount(result['io_bytes'])}.", "fa-fine"),
    ]
    interpreted = result["machine"].get("interpreted")
    how = "tensors alive at once" if interpreted else "PyTorch's allocator"
    both = " of both passes" * backward(result)
    remark = f"peak memory{both} beyond the inputs · {how}"
    return card("small", "Small?", kind(result), remark, *_bars(result, made), *notes)
