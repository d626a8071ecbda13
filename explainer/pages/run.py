"""The Run page: every method on the Problem of the Step page, or on a larger one; the sweep."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

import gradio as gr

from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.engine import admission, recorded
from explainer.engine.engine import Engine
from explainer.engine.job import REFUSED, Job
from explainer.engine.requests import EACH, METHODS, RunRequest
from explainer.engine.results import has_gpu
from explainer.pages import masks, sweep
from explainer.pages.browser import QUICK, Fields, call, here, mounted, opening
from explainer.pages.components import CONTROLS, block
from explainer.pages.plots import plot, update_view
from explainer.pages.step import StepPage, own_data, start_row, values
from explainer.pages.visitors import client_of
from explainer.pages.workload import parse_address, precision, size_menus
from explainer.problem import Problem
from explainer.views import (
    backward_report,
    downloads,
    figures,
    masks_report,
    run_details,
    run_report,
)
from explainer.views.templates import render
from kernels.spec.fields import PASSES

t, shared = Texts("run"), Texts("shared")
POLL_S = 0.15
PREFIX = "run-"  # the Run page's request in the address: run-n, run-d, … beside the Step page's
SIZES = CONTROLS["run"]


@dataclass(frozen=True)
class RunPage:
    """Handles for explainer/app.py; ``controls`` by the keys of RunRequest.to_query."""

    controls: Fields
    button: gr.Button
    result: gr.HTML
    how: dict


def _page_query(query: dict) -> dict:
    """What the address asks for: its ``run-…`` keys, else its Step page's Problem."""
    return _named({k: query[PREFIX + k] for k in KEYS if PREFIX + k in query} or query)


def _named(query: dict) -> dict:
    """The same, its mask a text where it is the title of a preset."""
    if "mask" not in query:
        return query
    return query | {"mask": masks.preset_text(query["mask"], query.get("n", Problem.n))}


def _control_values(query: dict) -> dict:
    """Control values; sizes as text, since their menus take any number that is typed."""
    try:
        request = RunRequest.from_query(query)
    except ProblemError:
        request = RunRequest.from_query({})
    written = request.to_query()
    found = values(request.problem) | {key: written.get(key, EACH) for key in (*SIZES, "hk")}
    found |= {"methods": list(request.methods), "pass": request.pass_}
    return {key: value for key, value in found.items() if key not in ("order", "hq")}


KEYS = tuple(_control_values({}))


def prefill(query: dict) -> dict:
    """Control values for the address that was opened."""
    return _control_values(_page_query(query))


def request_of(address: str) -> RunRequest:
    """Of the query string of an address. Raises ProblemError."""
    return RunRequest.from_query(_page_query(parse_address(address)))


def address_notice(query: dict) -> dict:
    """Return as ``notice`` why the request of the address is not shown, or nothing."""
    try:
        RunRequest.from_query(_page_query(query))
    except ProblemError as error:
        return {"notice": run_report.render_refusal(t("address.unused", error=error))}
    return {"notice": ""}


class RunView(NamedTuple):
    """What a run's event gives to each of the page's outputs: HTML, figures, and whether the run
    can be stopped; also those outputs themselves."""

    result: Any
    errors: Any = None
    roof: Any = None
    tables: Any = ""
    record: Any = ""
    record_roof: Any = None
    record_tables: Any = ""
    stop: Any = False

    def updates(self, mode: str = "") -> RunView:
        """Make the updates of the outputs, in this mode of the page."""
        return update_view(self, ("errors", "roof", "record_roof"), mode)


def show_outcome(engine: Engine, request: RunRequest, job: Job) -> RunView:
    """Render a job that has ended.

    Without a GPU, and when the live one is busy or gone, the record of a comparable problem stands
    below, named as recorded; or why there is none.
    """
    live, old, record = job.result, None, ""
    on_gpu = has_gpu(live["machine"] if live else engine.machine())
    if on_gpu is False or job.why not in (None, REFUSED):
        old = recorded.nearest(request)
        record = run_report.render_recorded(old) if old else _no_record(request)
    errors = roof = None
    if live:
        kind = downloads.kind_of(live)
        errors, roof = figures.plot_errors(live["rows"], kind), figures.plot_roofline(live, kind)
    return RunView(
        run_report.render_report(live) if live else run_report.render_refusal(job.error),
        errors=errors,
        roof=roof,
        tables=run_details.render_details(live) if live else "",
        record=record,
        record_roof=figures.plot_roofline(old, downloads.kind_of(old)) if old else None,
        record_tables=run_details.render_details(old) if old else "",
    )


def _no_record(request: RunRequest) -> str:
    near = recorded.measured_like(request).to_query()
    there = {"page": "run"} | {PREFIX + key: near[key] for key in KEYS if key in near}
    return run_report.render_no_record(request.to_query(), near, f"?{urlencode(there)}")


def _stage(job: Job) -> str:
    text = t.named("stages").get(job.stage, "")
    return text.replace("{method}", METHODS.get(job.method, ""))


def build(engine: Engine) -> RunPage:
    """Lays the page out inside the caller's tab; the run itself is an event on the server."""
    cancelled: set[str] = set()  # sessions that do not wait any more

    def cancel(request: gr.Request) -> None:
        cancelled.add(request.session_hash or "")

    async def stream(visitor: gr.Request, *values: object) -> AsyncIterator[RunView]:
        """What the page shows while the methods run, and what they found."""
        try:
            given = dict(zip(inputs, values, strict=True))
            mode = str(given.pop("mode"))
            request = RunRequest.from_query(_named(given))
        except (ProblemError, ValueError) as error:
            yield RunView(run_report.render_refusal(str(error))).updates()
            return
        session = visitor.session_hash or ""
        cancelled.discard(session)
        job = engine.submit(request, session, client_of(visitor))
        began, last = time.monotonic(), None
        try:
            while not job.finished.is_set():
                elapsed = time.monotonic() - began
                if session in cancelled:
                    text = t("canceled", elapsed=elapsed)
                    message = render("run/message", text=text, testid="run-cancelled")
                    yield RunView(message).updates()
                    return
                machine = engine.machine()
                is_known = machine and machine["interpreted"]  # a GPU's estimate is too rough
                expected = admission.expected_s(request, machine) if is_known else None
                wait = engine.wait_s(job)
                now = {
                    "stage": _stage(job),
                    "done": job.done,
                    "total": job.total,
                    "position": engine.position(job),
                    "elapsed_s": int(elapsed),
                    "expected_s": expected,
                    "wait_s": wait if wait is None else round(wait),
                }
                if now != last:
                    yield RunView(render("run/progress", **now), stop=True).updates()
                    last = now
                await asyncio.sleep(POLL_S)
            yield show_outcome(engine, request, job).updates(mode)
        finally:
            cancelled.discard(session)
            engine.leave(job, session)  # the tab was closed; other sessions still wait

    start = _control_values({})
    with gr.Row(elem_classes=["fa-page", "fa-run-page", "fa-report"]):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=232):
            controls = _controls(start)
            with gr.Row(elem_classes="fa-go"):
                button = gr.Button(t("button.run"), variant="primary", elem_classes="fa-primary")
                begin = gr.Button(
                    t("button.sweep"), elem_classes=["fa-secondary", "fa-sweeps"], min_width=80
                )
            longest = sweep.longest()
        with gr.Column(elem_classes="fa-main"):
            result = gr.HTML(
                render("run/message", text=t("idle"), testid=""),
                elem_id="run-result",
                apply_default_css=False,
                js_on_load=mounted("scenes"),
            )
            stop = gr.Button(
                t("button.cancel"), visible=False, elem_classes=["fa-secondary", "fa-stop"]
            )
            with gr.Row(elem_classes="fa-plots"):
                errors = plot()
                roof = plot()
            tables = block()
            old = block()
            old_roof = plot()
            old_tables = block()
            mode = gr.Textbox(visible=False)
            sweep.build(engine, begin, {**controls, "longest": longest, "mode": mode}, request_of)
            block(masks_report.render_recorded())
            block(backward_report.render_recorded())
    private: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    stop.click(cancel, None, None, queue=False, **private)  # the run itself then says so
    inputs = {**controls, "mode": mode}
    how = {
        "fn": stream,
        "inputs": [*inputs.values()],
        "outputs": [*RunView(result, errors, roof, tables, old, old_roof, old_tables, stop)],
        "js": call("writeRun", inputs, inputs, prefix=PREFIX),
        "concurrency_limit": None,  # the engine itself bounds and orders the runs
        **private,
    }
    return RunPage(controls, button, result, how)


def _controls(at: dict) -> Fields:
    """By the keys of ``_control_values``, their first values."""
    controls = start_row(at, t("control.inputs")) | size_menus(SIZES, at)
    controls["mask"] = masks.menu(at["mask"])
    controls["dtype"] = precision(at)
    passes = [(shared.named("passes")[PASSES[0]], PASSES[0]), (t("control.both"), PASSES[1])]
    controls["pass"] = gr.Radio(
        passes, value=at["pass"], label=shared("pass"), elem_classes="fa-passes-run"
    )
    names = [(label, name) for name, label in METHODS.items()]
    controls["methods"] = gr.CheckboxGroup(
        names, value=at["methods"], label=t("control.methods"), elem_classes="fa-methods"
    )
    controls |= own_data(at, ("hk", "head"))
    sized = {key: controls[key] for key in ("data", "n", "d", "br", "bc")}
    masks.keep_names(controls["mask"], controls["n"])
    controls["text"].input(**here("useText", sized | {"text": controls["text"]}, sized))
    return controls


def wire(page: RunPage, pages: gr.Tabs, tab: gr.Tab, step: StepPage) -> None:
    """The Run button here, the tab, which follows the Step page until another Problem was run, and
    the Step page's button that brings its Problem along."""

    def take(query: str) -> dict:
        """The Run page's control values for the Step page's Problem, and its tab."""
        new = _control_values(parse_address(query))
        return {pages: gr.Tabs(selected="run")} | {page.controls[key]: new[key] for key in new}

    plain = _control_values({})
    tab.select(**here("followStep", page.controls, page.controls, prefix=PREFIX, plain=plain))
    found = here(
        "recordFinding"
    )  # the bar says whether the kernel agrees with the Step page's picture
    page.button.click(**here("onceOpened", part="run")).then(**page.how).then(**found)
    # The address, not the controls: it also holds what their sliders do not reach.
    outputs = [pages, *page.controls.values()]
    query = call("stepProblem", ["player"], ["player"])
    brought = step.run.click(take, step.player, outputs, js=query, **QUICK)
    brought.then(**page.how).then(**found)


def open_address(demo: gr.Blocks, page: RunPage) -> None:
    """When the page is opened its controls show what its address asks for."""
    opening(demo, "merged", "run", page.controls, _control_values({}))
    opening(demo, "addressNotice", "notice", {"notice": page.result}, {"notice": ""})
