"""The Run page: the real kernel on the Problem of the Step page, or on a larger one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import parse_qsl

import gradio as gr

from explainer import report
from explainer.engine import Engine
from explainer.inputs import INPUTS
from explainer.pages.step import MASK_CHOICES, ORDER_CHOICES, StepPage, own_data, values
from explainer.problem import DTYPES, Problem, ProblemError

POLL_S = 0.15
KEYS = (
    "data",
    "seed",
    "n",
    "d",
    "br",
    "bc",
    "mask",
    "order",
    "dtype",
    "text",
    "gain",
)  # in the order of values()
PREFIX = "run-"  # the Run page's Problem in the address: run-n, run-d, … beside the Step page's
# What the endpoint /run takes, in this order.
VALUES = ("n", "d", "br", "bc", "mask", "order", "dtype", "data", "seed", "text", "gain")
SIZES = {
    "n": ("Length N", (16, 64, 128, 512, 1024, 4096, 16384)),
    "d": ("Head dim. d", (8, 16, 32, 64, 80, 96, 128, 256)),
    "br": ("Query block Br", (4, 16, 32, 64, 128)),
    "bc": ("Key block Bc", (4, 16, 32, 64, 128)),
}

# Writes the Run page's Problem to the address; the values go on to the server unchanged.
REMEMBER = "(...values) => { window.faSite?.ran(values); return values; }"
# The bar says whether the kernel agrees with the picture on the Step page.
QUERY = "() => window.faSite.query()"
TELL = "() => window.faSite?.found()"


@dataclass(frozen=True)
class RunPage:
    """Handles for app.py; ``controls`` in the order of ``KEYS``."""

    controls: list[gr.components.Component]
    result: gr.HTML
    button: gr.Button
    how: dict


def prefill(request: gr.Request) -> list[str | int]:
    """Control values for the address: its ``run-…`` keys, else its Step page's Problem."""
    query = dict(request.query_params)
    own = {k: query[PREFIX + k] for k in KEYS if PREFIX + k in query}
    try:
        return _shown(Problem.from_query(own or query))
    except ProblemError:
        return _shown(Problem())


def _shown(problem: Problem) -> list[str | int]:
    """Sizes as text: their menus take any number that is typed."""
    return [str(v) if k in SIZES else v for k, v in zip(KEYS, values(problem), strict=True)]


def build(engine: Engine) -> RunPage:
    """Lays the page out inside the caller's tab; the run itself is an event on the server."""

    async def stream(request: gr.Request, *given: object) -> AsyncIterator[str]:
        """What the page shows while the kernel runs, and what it found."""
        try:
            problem = Problem.from_query(dict(zip(KEYS, given, strict=True)))
        except (ProblemError, ValueError) as error:
            yield report.failure(str(error))
            return
        job = engine.submit(problem, request.session_hash or "")
        shown = None
        while not job.finished.is_set():
            now = (job.stage, job.done, job.total, engine.position(job))
            if now != shown:
                yield report.progress(*now)
                shown = now
            await asyncio.sleep(POLL_S)
        yield report.report(job.result) if job.result else report.failure(job.error)

    start = _shown(Problem())
    with gr.Row(elem_classes=["fa-page", "fa-run-page"]):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=216):
            with gr.Row(elem_classes="fa-start-row"):
                choices = [(label, name) for name, label in INPUTS.items()]
                data = gr.Dropdown(choices, value=start[0], label="Inputs", filterable=False)
                seed = gr.Number(start[1], label="Seed", precision=0, minimum=0, min_width=64)
            with gr.Row(elem_classes="fa-sizes"):
                sizes = [
                    gr.Dropdown(
                        [str(x) for x in SIZES[key][1]],
                        value=start[KEYS.index(key)],
                        label=SIZES[key][0],
                        allow_custom_value=True,
                        min_width=80,
                    )
                    for key in SIZES
                ]
            mask = gr.Radio(MASK_CHOICES, value=start[6], label="Mask")
            order = gr.Radio(ORDER_CHOICES, value=start[7], label="Loop order")
            dtype = gr.Radio(list(DTYPES), value=start[8], label="Precision")
            text, gain = own_data(start)
            button = gr.Button("Run", variant="primary", elem_classes="fa-primary")
        with gr.Column(elem_classes="fa-main"):
            result = gr.HTML(report.idle(), elem_id="run-result", apply_default_css=False)
    controls = [data, seed, *sizes, mask, order, dtype, text, gain]
    how = {
        "fn": stream,
        "inputs": controls,
        "outputs": result,
        "js": REMEMBER,
        "show_progress": "hidden",
        "concurrency_limit": None,  # the engine itself bounds and orders the runs
        "api_visibility": "private",
    }
    return RunPage(controls, result, button, how)


def take(query: str) -> list:
    """The Run page's control values for the Step page's Problem, and its tab."""
    try:
        problem = Problem.from_query(dict(parse_qsl(query, keep_blank_values=True)))
    except ProblemError:
        problem = Problem()
    return [gr.Tabs(selected="run"), *_shown(problem)]


def wire(page: RunPage, pages: gr.Tabs, step: StepPage) -> None:
    """The Run button here, and the Step page's that brings its Problem along."""
    quick = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    page.button.click(**page.how).then(None, js=TELL)
    # The address, not the controls: it also holds what their sliders do not reach.
    outputs = [pages, *page.controls]
    brought = step.run.click(take, step.player, outputs, js=QUERY, **quick)
    brought.then(**page.how).then(None, js=TELL)


def api(engine: Engine):
    """The function behind the named endpoint ``/run``."""

    def run(
        n: int = 16,
        d: int = 8,
        br: int = 4,
        bc: int = 4,
        mask: str = "causal",
        order: str = "fa2",
        dtype: str = "fp32",
        data: str = "rising",
        seed: int = 0,
        text: str = "",
        gain: float = 1.0,
    ) -> dict:
        """Run the Triton kernel on one attention problem and judge it.

        n 1 to 16384 rows, d 1 to 256, blocks br and bc 1 to n, mask causal or full, order standard,
        fa1 or fa2, dtype fp32, fp16 or bf16, data rising, random, spike, sentence or
        own (text: a sentence, or Q, K and V as CSV), gain a factor on the logits. Returns the
        error against float64 beside naive attention's, the agreement of m and l with the NumPy
        trace, peak memory in bytes, and on a GPU median, p20 and p80 in milliseconds.
        """
        query = dict(
            zip(KEYS, (data, seed, n, d, br, bc, mask, order, dtype, text, gain), strict=True)
        )
        try:
            job = engine.submit(Problem.from_query(query))
        except ProblemError as error:
            raise gr.Error(str(error), print_exception=False) from None
        job.finished.wait()
        if job.result is None:
            raise gr.Error(job.error, print_exception=False)
        return job.result

    return run
