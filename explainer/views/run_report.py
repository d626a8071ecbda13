"""Render what a run found: a pure function of the result, live or recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from explainer.algorithms.inputs import INPUTS
from explainer.algorithms.registry import ALGORITHMS
from explainer.base.amounts import amount, listed, milliseconds, rounded, scientific
from explainer.base.cards import peak_tflops
from explainer.base.texts import Texts
from explainer.engine.recorded import MOST_N, MOST_WORK, what
from explainer.engine.requests import AUTO, METHODS, ORDERS
from explainer.engine.results import Result, Row, naive_ms, ran, timed
from explainer.views import gradients_run_report, verdict
from explainer.views.downloads import describe_scores, kind_of
from explainer.views.templates import render
from explainer.views.times import describe_times
from explainer.views.verdict import has_backward
from kernels.spec.formats import ITEMSIZE
from kernels.spec.methods import OTHERS

t = Texts("run")
# The colour of a bar, by what becomes of O in a method's loop.
STYLES = {"final": "naive", "normalized": "normalized", "unnormalized": "kernel"}
KINDS = {key: STYLES[a.output] for key, a in ALGORITHMS.items()}
KINDS |= {name: method.style for name, method in OTHERS.items()}


@dataclass(frozen=True)
class Question:
    """A card: ``bars`` are arguments of the macro bar or ``refused``; ``comparisons`` are texts
    with True, False or None for ✓, ✗ and neither; below them ``notes``, and ``fine`` print."""

    key: str
    title: str
    remark: str
    bars: list[dict] = field(default_factory=list)
    comparisons: list[tuple[bool | None, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fine: list[str] = field(default_factory=list)


def render_refusal(sentence: str | None) -> Markup:
    """Render one sentence in place of a result or a view."""
    return render("run/refusal", sentence=sentence)


def render_report(result: Result) -> Markup:
    """Render the verdict and the four questions of a live run."""
    return render(
        "run/report",
        step_query=verdict.step_query(result),
        machine=result["machine"],
        is_right=verdict.is_right(result),
        agrees=verdict.agrees(result),
        headline=verdict.headline(result),
        problem=verdict.describe_problem(result),
        cards=[_right(result), _same(result), _fast(result), _small(result)],
        kind=kind_of(result),
        repeated=gradients_run_report.render_repeated(result) if has_backward(result) else "",
    )


def render_recorded(result: Result) -> Markup:
    """Render the same questions answered from the record: for which problem, and how that differs
    from the requested one."""
    shape, differences = _shape(result["query"]), _differences(result)
    if differences:
        text = t("recorded.apart", found=shape, apart=listed(differences))
    else:
        text = t("recorded.same", found=shape)
    # The records of masks and of the backward pass have no memory
    has_peak = all("peak_bytes" in row for row in ran(result["rows"]))
    return render(
        "run/recorded",
        source=result["recorded"],
        text=text,
        cards=[_fast(result), *([_small(result)] if has_peak else [])],
        kind=kind_of(result),
    )


def render_no_record(requested: Mapping, nearest: Mapping, href: str) -> Markup:
    """Render that no record can stand beside this run: the rule, what there is, and a link that
    sets the controls to the nearest of it. ``requested``, ``nearest``: queries of requests."""
    shapes = {"shape": _shape(requested), "nearest": _shape(nearest), "href": href}
    return render("run/no_record", **shapes, most_n=MOST_N, most_work=MOST_WORK, what=what())


def _shape(q: Mapping) -> str:
    sizes = {key: q[key] for key in ("d", "dtype", "b", "h")} | {"n": int(q["n"])}
    backward = t("shape.backward") if "pass" in q else ""
    return t("shape", scored=describe_scores(q), backward=backward, **sizes)


def _differences(result: Result) -> list[str]:
    """Say how a recorded problem differs from the requested one: "N = 256 instead of 200"."""
    requested, found = result["asked"], result["query"]

    def heads(q: dict) -> str:
        return f"{q['b']} × {q['h']}"

    out = []
    if requested["n"] != found["n"]:
        out.append(t("apart.n", found=int(found["n"]), asked=int(requested["n"])))
    if heads(requested) != heads(found):
        out.append(t("apart.heads", found=heads(found), asked=heads(requested)))
    if requested["data"] != "random":
        out.append(t("apart.data", data=INPUTS[requested["data"]]))
    if "rope" in requested:
        out.append(t("apart.rope"))
    if any(requested[key] != AUTO for key in ("br", "bc")):
        out.append(t("apart.tiles"))
    return out


# ---- the four questions


def _bars(result: Result, values_of: Callable[[Row], dict]) -> list[dict]:
    """Return a bar for each method; of those that did not run, why."""
    return [
        {"label": METHODS[row["method"]], "refused": row["refused"]}
        if "refused" in row
        else {
            "label": METHODS[row["method"]],
            "style": KINDS[row["method"]],
            **values_of(row),
        }
        for row in result["rows"]
    ]


def _right(result: Result) -> Question:
    rows = ran(result["rows"])
    sizes = [x for row in rows for x in (row["error"], row["allowed"]) if x > 0]
    low = math.floor(math.log10(min(sizes, default=1e-7))) - 0.5
    span = max(1.0, math.log10(max(sizes, default=1.0)) - low) * 1.05

    def place(x: float) -> float:
        return max(0.0, (math.log10(x) - low) / span) if x > 0 else 0.0

    def values(row: Row) -> dict:
        ratio = verdict.times_naive(row, result["naive_error"])
        cells = (scientific(row["error"]), ratio, "✓" if row["right"] else "✗")
        return {"share": place(row["error"]), "cells": cells, "limit": place(row["allowed"])}

    naive, heads = result["naive_error"], verdict.judged_heads(result)
    dtype, remark = result["query"]["dtype"], t("right.remark")
    has_reason = any(row["method"] == "naive" and "refused" in row for row in result["rows"])
    if has_backward(result):
        note, remark = t("right.note_backward", judged=heads), t("right.remark_backward")
    elif naive is None and not has_reason:
        note = t("right.unknown_why", judged=heads, dtype=dtype, why=result["naive_refused"])
    else:
        error = t("right.unknown") if naive is None else scientific(naive)
        note = t("right.note", judged=heads, dtype=dtype, naive=error)
    return Question(
        "right",
        t("right"),
        remark,
        bars=_bars(result, values),
        notes=[note],
        fine=[verdict.allowed_error(result)],
    )


def _same(result: Result) -> Question:
    rows = [row for row in ran(result["rows"]) if row["method"] in ORDERS]
    both = has_backward(result)
    comparisons = [_comparison(row, both) for row in rows] or [(None, t("same.none"))]
    compared = [same for row in rows if (same := row.get("same"))]
    why = {
        "trace": t("same.trace_backward" if both else "same.trace"),
        "float64": t("same.float64"),
        "O": t("same.output"),
    }
    against = {same["against"] for same in compared}
    fine = []
    if compared and not both:
        tolerance = min(same["tolerance"] for same in compared)
        fine = [t("same.rounding", most=scientific(tolerance))]
    remark = t("same.remark")
    if verdict.has_several_heads(result["query"]):
        remark = t("same.remark_head", head=verdict.picture_head(result["query"]))
    return Question(
        "same",
        t("same"),
        remark,
        comparisons=comparisons,
        notes=[text for key, text in why.items() if key in against],
        fine=fine,
    )


def _comparison(row: Row, both: bool) -> tuple[bool | None, str]:
    """Say how one method's tiles compare with the picture's; ``both``: of both passes."""
    same, name = row.get("same"), METHODS[row["method"]]
    if same is None:
        return None, t("same.many_backward" if both else "same.many", name=name)
    if "errors" in same:
        text = gradients_run_report.describe_tiles(same)
    elif same["against"] == "O":
        text = t("same.o", error=scientific(same["o_error"]))
    elif same["m_error"] is None:
        text = t("same.elsewhere")
    else:
        m, l = (scientific(same[key] or 0.0) for key in ("m_error", "l_error"))
        text = t("same.values", values=same["values"], tiles=same["tiles"], m=m, l=l)
    return same["agrees"], f"{name}: {text}"


def _fast(result: Result) -> Question:
    rows = timed(result["rows"])
    if not rows:
        return _not_timed(result)
    naive = naive_ms(rows)
    looped = any("loop_ms" in row for row in rows)
    most = max(max(row["p80_ms"], row.get("loop_ms", 0.0)) for row in rows)

    def values(row: Row) -> dict:
        ratio = f"{naive / row['median_ms']:.3g} ×" if naive else ""
        cells = [milliseconds(row["median_ms"]), ratio, f"{rounded(row['tflops'])} TF"]
        bar = {"share": row["median_ms"] / most, "cells": cells}
        bar["whisker"] = (row["p20_ms"] / most, row["p80_ms"] / most)
        if looped:
            loop_ms = row.get("loop_ms")
            cells.insert(1, "▏–" if loop_ms is None else f"▏{milliseconds(loop_ms)}")
            bar["limit"] = None if loop_ms is None else loop_ms / most
        return bar

    device, dtype = result["machine"]["device"], result["query"]["dtype"]
    peak, best = peak_tflops(device, dtype), max(rows, key=lambda row: row["tflops"])
    if peak:
        share = f"{100 * best['tflops'] / peak:.0f} %"
        name = METHODS[best["method"]]
        note = t("fast.peak", method=name, share=share, peak=peak, dtype=dtype)
    else:
        note = t("fast.no_peak", device=device)
    is_alone = "recorded" in result  # the record times the backward pass by itself
    fine = [gradients_run_report.describe_times(rows, is_alone)] if has_backward(result) else []
    first = [
        f"{METHODS[r['method']]} {milliseconds(r['first_ms'])}" for r in rows if "first_ms" in r
    ]
    if first:
        fine.append(t("fast.first", times=", ".join(first)))
    source = result.get("recorded") or result["when"]
    fine += [*describe_times(rows, result["after_timing"]), f"{source[0].upper()}{source[1:]}."]
    columns = t("fast.columns_naive" if naive else "fast.columns")
    if looped:
        columns = t("fast.columns_loop", more=columns)
    remark = t("fast.remark", columns=columns, device=device)
    bars = _bars(result, values)
    return Question("fast", t("fast"), remark, bars=bars, notes=[note], fine=fine)


def _not_timed(result: Result) -> Question:
    seconds = [
        f"{METHODS[row['method']]} {row['interpreter_s']:.2f} s"
        for row in result["rows"]
        if "interpreter_s" in row
    ]
    text = t("slow", took=listed(seconds)) if seconds else t("slow.none")
    return Question("fast", t("fast"), t("slow.remark"), notes=[text, t("slow.below")])


def _small(result: Result) -> Question:
    most = max([1, *(row["peak_bytes"] for row in ran(result["rows"]))])

    def values(row: Row) -> dict:
        return {"share": row["peak_bytes"] / most, "cells": (amount(row["peak_bytes"]),)}

    q = result["query"]
    matrix = int(q["b"]) * int(q["h"]) * int(q["n"]) ** 2 * ITEMSIZE[q["dtype"]]
    how = t("small.alive" if result["machine"].get("interpreted") else "small.allocator")
    return Question(
        "small",
        t("small"),
        t("small.remark_backward" if has_backward(result) else "small.remark", how=how),
        bars=_bars(result, values),
        notes=[t("small.matrix", matrix=amount(matrix))],
        fine=[t("small.inputs", inputs=amount(result["io_bytes"]))],
    )
