"""What a run found, as HTML: a pure function of the result. Nothing is computed here that the
worker could have measured; every text is escaped. A recorded result has the same form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from explainer.algorithms.inputs import INPUTS
from explainer.algorithms.registry import ALGORITHMS
from explainer.base.amounts import amount, listed, milliseconds, rounded, scientific
from explainer.base.cards import peak_tflops
from explainer.base.texts import Texts
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
from kernels.spec.formats import ITEMSIZE

say = Texts("run")
# The colour of a bar, by what becomes of O in a method's loop.
STYLES = {"final": "naive", "normalized": "normalized", "unnormalized": "kernel"}
KINDS = {key: STYLES[a.output] for key, a in ALGORITHMS.items()}
KINDS |= {"naive": "naive", "naive_compiled": "naive", "hopper": "hopper"}


def _kind(method: str) -> str:
    return KINDS.get(method, "sdpa")


def idle() -> str:
    """Before anything ran."""
    return div("fa-run", div("fa-run-idle", words(say("idle"))))


def render_refusal(sentence: str) -> str:
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
        text, share = say("waiting", position=position), 0.0
        if wait_s is not None:
            text = say("waiting.turn", position=position, wait=max(1, wait_s))
    elif not stage:
        text, share = say("starting"), 0.0
    else:
        share, now = done / max(1, total), f"{stage[0].upper()}{stage[1:]}"
        text = say("stage", stage=now)
        if total > 1:
            text = say("stage.program", stage=now, done=done, total=total)
    clock = say("clock", elapsed=elapsed_s)
    if expected_s is not None:
        key = "clock.late" if elapsed_s > 1.5 * expected_s else "clock.expected"
        clock = say(key, elapsed=elapsed_s, expected=max(1, expected_s))
    body = meter(share), words(text), words(clock, "fa-fine")
    return div("fa-run", div("fa-run-idle", *body))


def cancelled(elapsed_s: float) -> str:
    """In place of a result that its visitor does not want any more."""
    text = say("canceled", elapsed=elapsed_s)
    return div("fa-run", div("fa-run-idle", words(text), data_testid="run-cancelled"))


def meter(share: float) -> str:
    """A bar that says how far something is."""
    values = {"aria_valuenow": round(100 * share), "aria_valuemin": 0, "aria_valuemax": 100}
    inner = tag("i", "", style=f"width:{100 * share:.1f}%")
    return div("fa-run-meter", inner, role="progressbar", aria_label=say("button.run"), **values)


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
    return say(
        "shape",
        n=int(q["n"]),
        d=q["d"],
        scored=scored(q),
        dtype=q["dtype"],
        b=q["b"],
        h=q["h"],
        backward=say("shape.backward") if "pass" in q else "",
    )


def recorded(result: Result) -> str:
    """The same questions answered from the record, said to be from there, for which problem, and
    how that differs from what was asked."""
    found = _shape(result["query"])
    apart = _apart(result)
    if apart:
        text = say("recorded.apart", found=found, apart=listed(apart))
    else:
        text = say("recorded.same", found=found)
    about = result["recorded"]
    head = div("fa-run-words", tag("b", about[0].upper() + about[1:]), tag("span", text))
    return div(
        "fa-run",
        div("fa-run-verdict is-recorded", head),
        div("fa-run-cards", _fast(result), _small(result)),
        data_testid="run-recorded",
    )


def _apart(result: Result) -> list[str]:
    """How a recorded problem differs from the asked one: "N = 256 instead of 200"."""
    asked, found = result["asked"], result["query"]

    def heads(q: dict) -> str:
        return f"{q['b']} × {q['h']}"

    out = []
    if asked["n"] != found["n"]:
        out.append(say("apart.n", found=int(found["n"]), asked=int(asked["n"])))
    if heads(asked) != heads(found):
        out.append(say("apart.heads", found=heads(found), asked=heads(asked)))
    if asked["data"] != "random":
        out.append(say("apart.data", data=INPUTS[asked["data"]]))
    if "rope" in asked:
        out.append(say("apart.rope"))
    if any(asked[key] != AUTO for key in ("br", "bc")):
        out.append(say("apart.tiles"))
    return out


def nothing_recorded(asked: Mapping, nearest: Mapping, href: str) -> str:
    """No record can stand beside this run: the rule, what there is, and a link that sets the
    controls to the nearest of it. ``asked``, ``nearest``: queries of requests."""
    shape = _shape(asked)
    text = say("no_record.why", shape=shape, most_n=MOST_N, most_work=MOST_WORK, what=what())
    link = tag("a", say("no_record.link"), href=href, class_="fa-run-link")
    to = say("no_record.nearest", shape=_shape(nearest))
    head = div("fa-run-words", tag("b", say("no_record")), *map(_span_of, (text, to)))
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

    naive, remark = result["naive_error"], say("right.remark")
    told = {"judged": judged(result), "dtype": result["query"]["dtype"]}
    said = any(row["method"] == "naive" and "refused" in row for row in result["rows"])
    if naive is None and not said:
        note = say("right.unknown_why", **told, why=result["naive_refused"])
    else:
        note = say(
            "right.note", **told, naive=say("right.unknown") if naive is None else scientific(naive)
        )
    if backward(result):
        note, remark = (
            say("right.note_backward", judged=judged(result)),
            say("right.remark_backward"),
        )
    notes = words(note), words(allowed(result), "fa-fine")
    return card("right", say("right"), kind(result), remark, *_bars(result, made), *notes)


def _same(result: Result) -> str:
    rows = [row for row in ran(result["rows"]) if row["method"] in ORDERS]
    lines, both = [], backward(result)
    for row in rows:
        s, name = row.get("same"), METHODS[row["method"]]
        if s is None:
            lines.append(words(say("same.many_backward" if both else "same.many", name=name)))
            continue
        if "errors" in s:
            found = tiles_of(s)
        elif s["against"] == "O":
            found = say("same.o", error=scientific(s["o_error"]))
        elif s["m_error"] is None:
            found = say("same.elsewhere")
        else:
            m, l = (scientific(s[key]) for key in ("m_error", "l_error"))
            found = say("same.values", values=s["values"], tiles=s["tiles"], m=m, l=l)
        lines.append(div("fa-run-same", mark(s["agrees"]), words(f"{name}: {found}")))
    if not rows:
        lines.append(words(say("same.none")))
    against = {row["same"]["against"] for row in rows if row.get("same")}
    why = {
        "trace": say("same.trace_backward" if both else "same.trace"),
        "float64": say("same.float64"),
        "O": say("same.output"),
    }
    notes = [words(why[key]) for key in ("trace", "float64", "O") if key in against]
    allowed = [row["same"]["tolerance"] for row in rows if row.get("same")]
    if allowed and not both:
        text = say("same.rounding", most=scientific(min(allowed)))
        notes.append(words(text, "fa-fine"))
    remark = say("same.remark")
    if several_heads(result["query"]):
        remark = say("same.remark_head", head=picture(result["query"]))
    return card("same", say("same"), kind(result), remark, *lines, *notes)


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
        name = METHODS[best["method"]]
        notes.append(words(say("fast.peak", method=name, share=share, peak=peak, dtype=dtype)))
    else:
        notes.append(words(say("fast.no_peak", device=device)))
    if backward(result):
        notes.append(words(both_passes(rows), "fa-fine"))
    first = [
        f"{METHODS[r['method']]} {milliseconds(r['first_ms'])}" for r in rows if "first_ms" in r
    ]
    if first:
        notes.append(words(say("fast.first", times=", ".join(first)), "fa-fine"))
    notes += [words(text, "fa-fine") for text in what_times_are(rows, result["after_timing"])]
    source = result.get("recorded") or result["when"]
    notes.append(words(f"{source[0].upper()}{source[1:]}.", "fa-fine"))
    columns = say("fast.columns_naive" if naive else "fast.columns")
    if looped:
        columns = say("fast.columns_loop", more=columns)
    remark = say("fast.remark", columns=columns, device=device)
    return card("fast", say("fast"), kind(result), remark, *_bars(result, made), *notes)


def _not_fast(result: Result) -> str:
    took = [
        f"{METHODS[row['method']]} {row['interpreter_s']:.2f} s"
        for row in result["rows"]
        if "interpreter_s" in row
    ]
    text = say("slow", took=listed(took)) if took else say("slow.none")
    body = words(text), words(say("slow.below"))
    return card("fast", say("fast"), kind(result), say("slow.remark"), *body)


def _small(result: Result) -> str:
    most = max([1, *(row["peak_bytes"] for row in ran(result["rows"]))])

    def made(row: Row) -> dict:
        return {"share": row["peak_bytes"] / most, "cells": (amount(row["peak_bytes"]),)}

    q = result["query"]
    matrix = int(q["b"]) * int(q["h"]) * int(q["n"]) ** 2 * ITEMSIZE[q["dtype"]]
    notes = [
        words(say("small.matrix", matrix=amount(matrix))),
        words(say("small.inputs", inputs=amount(result["io_bytes"])), "fa-fine"),
    ]
    how = say("small.alive" if result["machine"].get("interpreted") else "small.allocator")
    remark = say("small.remark_backward" if backward(result) else "small.remark", how=how)
    return card("small", say("small"), kind(result), remark, *_bars(result, made), *notes)
