"""Render decoding on the Parallel page: one query, its keys split."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.algorithms.inputs import INPUTS
from explainer.base.kinds import Kind, computed, recorded, simulated
from explainer.base.records import about
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import split_keys
from explainer.problem import Problem
from explainer.views import charts
from explainer.views.templates import render
from explainer.views.view import View
from kernels.spec import launches

t = Texts("parallel")
RECORD = "decode_nvidia_h200"


def _rows(w: Workload) -> list[dict]:
    """Return the view's rows: parts, simulated share of the card at work, measured time where there
    is one; then SDPA's."""
    timed = {r["splits"]: r for r in split_keys.recorded_rows(w)}
    chosen = split_keys.choose_parts(w)
    rows = []
    for splits in sorted({*split_keys.SPLITS, *timed, chosen}):
        s = split_keys.schedule(w, splits)
        row = {"method": t("decode.method"), "splits": splits}
        row["rule"] = t("decode.yes") if splits == chosen else ""
        row |= {"programs": len(s.sm), "busy": round(s.busy, 4)}
        rows.append(row | _times(timed.get(splits, {})))
    return rows + [
        {"method": name} | _times(r)
        for r in split_keys.compared_rows(w)
        if (name := split_keys.SDPA.get(r["method"])) and "median_ms" in r
    ]


def _times(r: Mapping) -> dict:
    """Return the time of a recorded row, and where it comes from; nothing without one."""
    if "median_ms" not in r:
        return {}
    at = t("decode.at", n=r["n_k"], heads=r["heads"], about=about(RECORD))
    return {x: r[x] for x in ("median_ms", "p20_ms", "p80_ms")} | {"source": at}


def _kind_of(r: Mapping) -> Kind:
    """Return the kind of a row: how busy the card is was simulated, times were recorded."""
    busy = [simulated(t("decode.busy"))] * ("busy" in r)
    times = [recorded(RECORD, t("decode.times"))] * ("median_ms" in r)
    first, *more = busy + times
    return sum(more, first)


def render_decode(w: Workload) -> View:
    """Render how one query leaves the card idle and splitting its keys fills it; the rule by which
    the kernel splits; and how the parts are combined, number by number."""
    rows = _rows(w)
    kinds = [_kind_of(r) for r in rows]
    timed = [r for r in rows if "splits" in r and "median_ms" in r]
    head = render(
        "parallel/decode_head",
        w=w,
        kind=computed() + recorded(RECORD),
        at=split_keys.recorded_rows(w)[0],
        best=min(timed, key=lambda r: r["median_ms"]),
        whole=timed[0],
    )
    remark = t("decode.remark", n=w.n, heads=w.batch * w.heads)
    chart = charts.plot_decode(rows, sum(kinds[1:], kinds[0]), remark)
    problem = Problem(n=16, d=8, block_q=4, block_k=4, mask="full")
    parts, o, lse = split_keys.parts(problem, 4)
    beside = split_keys.compared_rows(w)
    tail = render(
        "parallel/decode_tail",
        rule=launches,
        sdpa=split_keys.SDPA,
        rule_kind=computed() + recorded(RECORD) if beside else computed(),
        chosen=split_keys.choose_parts(w),
        beside=beside,
        computed=computed(),
        inputs=INPUTS[problem.inputs],
        parts=[*parts],
        O=o,
        lse=lse,
        kinds=kinds,
        rows=rows,
    )
    return View(head, (chart,), tail)
