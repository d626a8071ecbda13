"""The Run page: every method on the Problem of the Step page, or on a larger one; the sweep."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import parse_qsl

import gradio as gr

from explainer.algorithms.inputs import INPUTS
from explainer.base.fields import DTYPES, ProblemError
from explainer.engine import recorded
from explainer.engine.engine import REFUSED, Engine, Job
from explainer.engine.requests import AUTO, METHODS, RunRequest
from explainer.engine.results import has_gpu
from explainer.pages import sweep
from explainer.pages.opening import ONCE_OPENED, OPENED, controls_follow
from explainer.pages.plots import ALONE, plot, shown
from explainer.pages.step import MASK_CHOICES, StepPage, own_data, values
from explainer.views import figures, run_details, run_report
from explainer.web.routes import asset_url

POLL_S = 0.15
# The controls, in this order; keys of RunRequest.to_query.
KEYS = ("data", "seed", "n", "d", "br", "bc", "b", "h", "mask", "dtype", "methods", "text", "gain")
PREFIX = "run-"  # the Run page's request in the address: run-n, run-d, … beside the Step page's
SIZES = {
    "n": ("Length N", (16, 64, 128, 512, 1024, 4096, 16384, 65536)),
    "d": ("Head dim. d", (8, 16, 32, 64, 80, 96, 128, 256)),
    "br": ("Query block Br", (AUTO, 4, 16, 32, 64, 128)),
    "bc": ("Key block Bc", (AUTO, 4, 16, 32, 64, 128)),
    "b": ("Batch B", (1, 2, 4, 8, 16)),
    "h": ("Heads H", (1, 8, 16, 32)),
}

# the page's large type
HALL = f"import(new URL({asset_url('js/site/scenes.js')!r}, document.baseURI))"
INSTEAD = "The controls show the default problem in its place."
# Text that was typed is used: a CSV of three blocks is Q, K and V, with their N and d, and anything
# else a sentence.
USE_TEXT = """
(data, n, d, br, bc, text) => {
  if (!text.trim()) return [data, n, d, br, bc];
  const blocks = text.trim().split(/\\n\\s*\\n/).map((part) => part.trim().split("\\n"));
  if (blocks.length !== 3) return [data === "own" ? data : "sentence", n, d, br, bc];
  const [rows, columns] = [blocks[0].length, blocks[0][0].split(/[,;]/).length];
  const block = (size) => (Number(size) > rows ? String(rows) : size); // “auto” stays
  return ["own", String(rows), String(columns), block(br), block(bc)];
}
"""

# Writes the Run page's request to the address; the values go on to the server unchanged, and after
# them whether this is a lecture hall.
REMEMBER = """(...given) => {
  const values = given.slice(0, -1);
  window.faSite?.ran(values);
  return [...values, window.faSite?.hall() ?? ""];
}"""
# The bar says whether the kernel agrees with the picture on the Step page.
QUERY = "() => window.faSite.query()"
TELL = "() => window.faSite?.found()"


@dataclass(frozen=True)
class RunPage:
    """Handles for app.py; ``controls`` in the order of ``KEYS``."""

    controls: list[gr.components.Component]
    button: gr.Button
    how: dict


def prefill(request: gr.Request) -> list:
    """Control values for the address: its ``run-…`` keys, else its Step page's Problem."""
    query = dict(request.query_params)
    own = {k: query[PREFIX + k] for k in KEYS if PREFIX + k in query}
    return _shown(own or query)


def _shown(query: dict) -> list:
    """Control values; sizes as text, since their menus take any number that is typed."""
    try:
        asked = RunRequest.from_query(query)
    except ProblemError:
        asked = RunRequest.from_query({})
    said = asked.to_query()
    inputs, seed, *_ = values(asked.problem)
    rest = [asked.problem.dtype, list(asked.methods), asked.problem.text, asked.problem.gain]
    return [inputs, seed, *(said[key] for key in SIZES), said["mask"], *rest]


def told(request: gr.Request):
    """What the result's place says of the address: nothing, or why its request is not shown."""
    query = dict(request.query_params)
    own = {k: query[PREFIX + k] for k in KEYS if PREFIX + k in query}
    try:
        RunRequest.from_query(own or query)
    except ProblemError as error:
        return run_report.failure(f"The address is not used as it is: {error} {INSTEAD}")
    return gr.skip()


def outcome(engine: Engine, job: Job, hall: bool = False) -> tuple:
    """What the page shows of a job that has ended, in the order of ``build``'s outputs.

    Without a GPU, and when the live one is busy or gone, the record's nearest problem stands below,
    said to be recorded.
    """
    live, old = job.result, None
    on_gpu = has_gpu(live["machine"] if live else engine.machine())
    if live:
        first, below = run_report.report(live), run_details.details(live)
        errors, roof = figures.histogram(live["rows"]), figures.roofline(live)
    else:
        first, below, errors, roof = run_report.failure(job.error), "", None, None
    if on_gpu is False or job.why not in (None, REFUSED):
        old = recorded.nearest(job.request)
    return (
        first,
        shown(errors, hall, ALONE),
        shown(roof, hall, ALONE),
        below,
        run_report.recorded(old) if old else "",
        shown(figures.roofline(old) if old else None, hall, ALONE),
        run_details.details(old) if old else "",
    )


def _only(html: str) -> tuple:
    """This in the first place, and nothing in the others."""
    return html, shown(None), shown(None), "", "", shown(None), ""


def build(engine: Engine) -> RunPage:
    """Lays the page out inside the caller's tab; the run itself is an event on the server."""

    async def stream(request: gr.Request, *values: object) -> AsyncIterator[tuple]:
        """What the page shows while the methods run, and what they found."""
        *given, hall = values
        try:
            asked = RunRequest.from_query(dict(zip(KEYS, given, strict=True)))
        except (ProblemError, ValueError) as error:
            yield _only(run_report.failure(str(error)))
            return
        session = request.session_hash or ""
        job = engine.submit(asked, session)
        said = None
        try:
            while not job.finished.is_set():
                now = (job.stage, job.done, job.total, engine.position(job))
                if now != said:
                    yield _only(run_report.progress(*now))
                    said = now
                await asyncio.sleep(POLL_S)
            yield outcome(engine, job, hall == "present")
        finally:
            engine.leave(job, session)  # the tab was closed: who else waits for it still does

    start = _shown({})
    with gr.Row(elem_classes=["fa-page", "fa-run-page", "fa-report"]):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=232):
            controls = _controls(start)
            button = gr.Button("Run", variant="primary", elem_classes="fa-primary")
            begin, longest = sweep.controls()
        with gr.Column(elem_classes="fa-main"):
            result = gr.HTML(
                run_report.idle(), elem_id="run-result", apply_default_css=False, js_on_load=HALL
            )
            with gr.Row(elem_classes="fa-plots"):
                errors = plot()
                roof = plot()
            tables = _block()
            old = _block()
            old_roof = plot()
            old_tables = _block()
            hall = gr.Textbox(visible=False)
            sweep.build(engine, begin, [*controls, longest, hall])
    quick = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    opens = gr.on(None, told, None, result, **quick)  # when the page is opened
    opens.then(None, js=OPENED.format(name="told", js="() => {}"))
    how = {
        "fn": stream,
        "inputs": [*controls, hall],
        "outputs": [result, errors, roof, tables, old, old_roof, old_tables],
        "js": REMEMBER,
        "show_progress": "hidden",
        "concurrency_limit": None,  # the engine itself bounds and orders the runs
        "api_visibility": "private",
    }
    return RunPage(controls, button, how)


def _block() -> gr.HTML:
    return gr.HTML("", apply_default_css=False, elem_classes="fa-run-block")


def _controls(start: list) -> list[gr.components.Component]:
    """In the order of ``KEYS``."""
    with gr.Row(elem_classes="fa-start-row"):
        choices = [(label, name) for name, label in INPUTS.items()]
        data = gr.Dropdown(choices, value=start[0], label="Inputs", filterable=False)
        seed = gr.Number(start[1], label="Seed", min_width=64)
    with gr.Row(elem_classes="fa-sizes"):
        sizes = [
            gr.Dropdown(
                [str(x) for x in choices],
                value=start[KEYS.index(key)],
                label=label,
                allow_custom_value=True,
                min_width=80,
            )
            for key, (label, choices) in SIZES.items()
        ]
    mask = gr.Radio(MASK_CHOICES, value=start[8], label="Mask")
    dtype = gr.Radio(list(DTYPES), value=start[9], label="Precision")
    names = [(label, name) for name, label in METHODS.items()]
    methods = gr.CheckboxGroup(names, value=start[10], label="Methods", elem_classes="fa-methods")
    text, gain = own_data(*start[11:])
    sized = [data, *sizes[:4]]
    text.input(None, [*sized, text], sized, js=USE_TEXT)
    return [data, seed, *sizes, mask, dtype, methods, text, gain]


def take(query: str) -> list:
    """The Run page's control values for the Step page's Problem, and its tab."""
    return [gr.Tabs(selected="run"), *_shown(dict(parse_qsl(query, keep_blank_values=True)))]


def wire(page: RunPage, pages: gr.Tabs, step: StepPage) -> None:
    """The Run button here, and the Step page's that brings its Problem along."""
    quick = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    page.button.click(None, js=ONCE_OPENED).then(**page.how).then(None, js=TELL)
    # The address, not the controls: it also holds what their sliders do not reach.
    outputs = [pages, *page.controls]
    brought = step.run.click(take, step.player, outputs, js=QUERY, **quick)
    brought.then(**page.how).then(None, js=TELL)


def open_address(demo: gr.Blocks, page: RunPage) -> None:
    """When the page is opened its controls show what its address asks for."""
    controls_follow("run", demo, prefill, _shown({}), page.controls, page.controls)
