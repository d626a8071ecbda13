"""The Parallel page: which program runs where and when, and how warps share a tile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.engine.engine import Engine
from explainer.engine.requests import Placed
from explainer.engine.results import has_gpu
from explainer.memory.workload import Workload
from explainer.pages.picker import Picker
from explainer.pages.plots import plot, shown
from explainer.pages.warp_player import WarpPlayer
from explainer.pages.workload import (
    KEYS,
    QUICK,
    answer,
    controls,
    opened,
    parse,
    query_of,
    remember,
    said_by,
    settling,
)
from explainer.pages.workload import shown as shown_controls
from explainer.parallel import durations, launch, real_schedules
from explainer.views import charts, parallel_report

PREFIX = "par-"
POLL_S = 0.15
VIEWS = {
    "grid": "Grid to multiprocessors",
    "real": "The real schedule",
    "warps": "Warps",
    "decode": "Decoding",
}
CASES = {
    "fa2-full": "FA-2, full",
    "fa2-causal": "FA-2, causal",
    "fa1-full": "FA-1, full",
    "fa1-causal": "FA-1, causal",
}
EXTRA = ("view", "case")
PLAIN = {
    "view": "grid", "case": "fa2-full", "card": "h200", "n": "4096", "d": "64", "br": "128",
    "bc": "64", "b": "1", "h": "16", "mask": "full", "dtype": "fp16", "sliders": "1",
}  # fmt: skip
HALF = 268  # px of a chart in a lecture hall when two stand one above the other
FAR_APART = 6  # from this ratio on each timeline has a scale of its own


def _grid(w: Workload, hall: bool) -> tuple:
    both = {order: durations.schedule(w, order) for order in ("fa1", "fa2")}
    other = (
        {o: durations.schedule(w, "fa2", o) for o in (launch.PLAIN, launch.HEAD)}
        if w.causal
        else None
    )
    unit = durations.pace(w, "fa2").unit
    longest = max(s.makespan for s in both.values())
    figures = []
    for order, s in both.items():
        name = {"fa1": "FA-1: a program a head", "fa2": "FA-2: a program a row block"}[order]
        name += f", {parallel_report.time(s.makespan, unit)}"
        told = parallel_report.told(s, launch.programs(w, order), unit, "simulated")
        remark = f"simulated; {s.waves:.2f} waves"
        end = longest if longest < FAR_APART * s.makespan else s.makespan
        name += "" if end == longest else " (a scale of its own)"
        chart = charts.timeline(s, told, name, remark, unit, end)
        figures.append(shown(chart, hall, HALF))
    head = parallel_report.grid_head(w, both)
    return head, *figures, parallel_report.grid_tail(w, both, other)


def _real(compared: real_schedules.Compared, hall: bool = False) -> tuple:
    longest = max(compared.real.makespan, compared.simulated.makespan)
    figures = []
    for s, name, origin in (
        (compared.simulated, "Simulated", "simulated"),
        (compared.real, "Real", f"measured, {compared.source}"),
    ):
        name += f", {parallel_report.time(s.makespan, 'µs')}"
        told = parallel_report.told(s, compared.launch, "µs", origin)
        chart = charts.timeline(s, told, name, origin, "µs", longest)
        figures.append(shown(chart, hall, HALF))
    return parallel_report.real_head(compared), *figures, parallel_report.real_tail(compared)


def render(query: Mapping[str, str]) -> tuple:
    """The view that the query asks for: (head, first plot, second plot, tail)."""
    view, hall = query.get("view", "grid"), query.get("mode") == "present"
    try:
        if view == "real":
            case = query.get("case", "")
            return _real(real_schedules.of_case(case if case in CASES else PLAIN["case"]), hall)
        w = parse(query, PLAIN)
        if view == "grid":
            return _grid(w, hall)
        if view == "decode":
            rows = parallel_report.decode_rows(w)
            remark = f"N = {w.n:,} keys, B × H = {w.batch * w.heads}"
            tail = parallel_report.decode_tail(w, rows)
            head = parallel_report.decode_head(w, rows)
            return head, shown(charts.decode(rows, remark), hall), shown(None), tail
    except ProblemError as error:
        return parallel_report.failure(str(error)), shown(None), shown(None), ""
    return parallel_report.warps_head(), shown(None), shown(None), ""


def _extra(query: Mapping[str, str]) -> list[str]:
    view, case = query.get("view"), query.get("case")
    return [view if view in VIEWS else PLAIN["view"], case if case in CASES else PLAIN["case"]]


def _visible(view: str, live: bool) -> tuple:
    """Updates of what only some views show: the cases, the live run, the warps, the controls."""
    real = view == "real"
    return (
        gr.update(visible=real),
        gr.update(visible=real and live),
        gr.update(visible=view == "warps"),
        gr.update(visible=view in ("grid", "decode") or (real and live)),
    )


def build(engine: Engine) -> dict:
    """Lays the page out inside the caller's tab; returns what ``wire`` needs."""
    with gr.Row(elem_classes=["fa-page", "fa-run-page", "fa-figure-page"]):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=232) as column:
            sizes = controls(shown_controls({}, PLAIN), sliders=True)
        with gr.Column(elem_classes="fa-main"):
            with gr.Row(elem_classes="fa-views"):
                names = [(label, key) for key, label in VIEWS.items()]
                view = gr.Radio(names, value="grid", label="View", show_label=False)
                cases = [(label, key) for key, label in CASES.items()]
                case = gr.Radio(
                    cases, value="fa2-full", label="Recorded case", show_label=False, visible=False
                )
                live = gr.Button(
                    "Record this launch here", elem_classes="fa-secondary", visible=False
                )
            head = gr.HTML("", apply_default_css=False, elem_classes="fa-run-block")
            with gr.Row(elem_classes=["fa-plots", "fa-stacked"]):
                plots = [plot(), plot()]
            with gr.Column(visible=False, elem_classes="fa-warps-place") as warps:
                WarpPlayer(elem_id="warps")
            tail = gr.HTML("", apply_default_css=False, elem_classes="fa-run-block")
            picker = Picker()
    return {
        "inputs": [view, case, *sizes, picker], "outputs": [head, *plots, tail], "picker": picker,
        "live": live, "warps": warps, "column": column, "engine": engine,
    }  # fmt: skip


def _recorder(engine: Engine):
    """The event that records a real schedule of the launch on screen."""

    async def record(request: gr.Request, *given: object) -> AsyncIterator[tuple]:
        query, session = query_of(EXTRA, given), request.session_hash or ""
        order = query["case"].partition("-")[0]
        try:
            asked = Placed(parse(query, PLAIN), order)
            launch.programs(asked.workload, order)
        except ProblemError as error:
            yield parallel_report.failure(str(error)), shown(None), shown(None), ""
            return
        job = engine.submit(asked, session)
        yield parallel_report.progress("Running the kernel."), shown(None), shown(None), ""
        try:
            while not job.finished.is_set():
                await asyncio.sleep(POLL_S)
        finally:
            engine.leave(job, session)
        if job.result is None:
            yield parallel_report.failure(job.error), shown(None), shown(None), ""
            return
        source = f"measured on {(engine.machine() or {}).get('device', 'this GPU')}"
        ran = asked.workload.with_tile(job.result)
        yield _real(real_schedules.compare(ran, order, job.result, source))

    return record


def wire(page: dict, tab: gr.Tab) -> None:
    """Every change of a control shows the view anew; the address holds what is shown."""
    inputs, outputs, engine = page["inputs"], page["outputs"], page["engine"]
    *chosen, picker = inputs
    now = [chosen[1], page["live"], page["warps"], page["column"], *outputs]
    js = remember(PREFIX, (*EXTRA, *KEYS), PLAIN, asks=True)

    def shown_now(query: Mapping[str, str], given: tuple) -> tuple:
        extra, before = _extra(query), given[:-1]
        values = [*extra, *shown_controls(query, PLAIN, before[len(EXTRA) :])]
        query = {**query, **dict(zip(EXTRA, extra, strict=True))}
        gpu = bool(has_gpu(engine.machine()))
        return answer(before, values), *_visible(extra[0], gpu), *render(query)

    def changed(*given: object) -> tuple:
        return shown_now(query_of(EXTRA, given), given)

    def asked(text: str, *given: object) -> tuple:
        return shown_now(said_by(text), given)

    said, follow = settling(chosen)
    how = {"fn": changed, "inputs": inputs, "outputs": [said, *now], "js": js, **QUICK}
    how["trigger_mode"] = "always_last"
    gr.on([control.input for control in chosen], **how).then(**follow)
    picker.picked(**how).then(**follow)  # a lecture hall, or not
    opening = opened("parallel", PREFIX, [*_extra({}), *shown_controls({}, PLAIN)])
    said, follow = settling(chosen)
    opens = tab.select(asked, [picker, *inputs], [said, *now], js=opening, **QUICK)
    opens.then(**follow)
    page["live"].click(_recorder(engine), inputs, outputs, show_progress="hidden",
                       concurrency_limit=None, api_visibility="private")  # fmt: skip
