"""The named endpoints: /run, /sweep and /trace, typed and bounded, for programs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from uuid import uuid4

import gradio as gr

from explainer.algorithms.schedule import check_size
from explainer.base.fields import ProblemError, refuse
from explainer.engine.engine import Engine
from explainer.engine.requests import RunRequest, Sweep
from explainer.engine.results import with_older_names
from explainer.pages.sweep import rows_of
from explainer.problem import Problem
from explainer.web.export import as_json

# What each endpoint takes, in this order.
PROBLEM = ("n", "d", "br", "bc", "mask", "dtype", "data", "seed", "text", "gain")
ENDPOINTS = {
    "run": (*PROBLEM, "b", "h", "methods"),
    "trace": (*PROBLEM, "order"),
    "sweep": ("d", "dtype", "methods", "longest"),
}
MAX_CELLS = 128 * 128  # of S in a trace that is sent as JSON


def _refused(sentence: str) -> gr.Error:
    return gr.Error(sentence, print_exception=False)


def run(engine: Engine):
    """The function behind ``/run``."""

    def run(
        n: int = 16,
        d: int = 8,
        br: str = "4",
        bc: str = "4",
        mask: str = "causal",
        dtype: str = "fp32",
        data: str = Problem.inputs,
        seed: int = Problem.seed,
        text: str = "",
        gain: float = 1.0,
        b: int = 1,
        h: int = 1,
        methods: str = "naive,fa2",
    ) -> dict:
        """Run attention by several methods on one problem, and judge and measure each.

        n 1 to 65536 rows (beyond 16384 only data random), d 1 to 256, blocks br and bc 1 to n or
        auto, mask causal or full, dtype fp32, fp16 or bf16, data rising, random, spike, sentence or
        own (text: a sentence, or Q, K and V as CSV), gain a factor on the logits, b 1 to 64 and h 1
        to 128 heads, methods some of naive, standard, fa1, fa2, hopper, sdpa_flash, sdpa_cudnn,
        sdpa_efficient, sdpa_math, naive_compiled, flex, fa4. Returns a row for each: error against
        float64, agreement of m and l with the NumPy trace, peak memory in bytes, and on a GPU
        median, p20, p80 of GPU time in milliseconds, time of a call in a loop (loop_ms), and until
        it returns (host_us).
        """
        given = (n, d, br, bc, mask, dtype, data, seed, text, gain, b, h, methods)
        try:
            asked = RunRequest.from_query(dict(zip(ENDPOINTS["run"], given, strict=True)))
        except ProblemError as error:
            raise _refused(str(error)) from None
        job = engine.submit(asked)
        job.finished.wait()
        if job.result is None:
            raise _refused(job.error)
        return job.result

    return run


def trace(
    n: int = 16,
    d: int = 8,
    br: int = 4,
    bc: int = 4,
    mask: str = "causal",
    dtype: str = "fp32",
    data: str = Problem.inputs,
    seed: int = Problem.seed,
    text: str = "",
    gain: float = 1.0,
    order: str = "fa2",
) -> dict:
    """The whole computation tile by tile: Q, K, V, S, O, lse and every visit with its m and l.

    n 1 to 128 rows, d 1 to 256, blocks br and bc 1 to n, mask causal or full, dtype fp32, fp16 or
    bf16, data rising, random, spike, sentence or own (with text), order standard, fa1 or fa2.
    """
    given = (n, d, br, bc, mask, dtype, data, seed, text, gain, order)
    try:
        problem = Problem.from_query(dict(zip(ENDPOINTS["trace"], given, strict=True)))
        check_size(problem)
        if problem.n**2 > MAX_CELLS:
            allowed = "a whole number from 1 to 128 for a trace with all its numbers"
            raise refuse("n", f"{problem.n:,}", allowed)
    except ProblemError as error:
        raise _refused(str(error)) from None
    return json.loads(as_json(problem))


def sweep(engine: Engine):
    """The function behind ``/sweep``."""

    async def sweep(
        d: int = 64,
        dtype: str = "bf16",
        methods: str = "naive,fa2,sdpa_flash",
        longest: int = 65536,
    ) -> AsyncIterator[list]:
        """Time, TFLOP/s and peak memory over N = 256, 512, … longest, causal beside full.

        d 1 to 256, dtype bf16, fp16 or fp32, longest 256 to 65536, methods as for /run. Yields the
        measured so far; the last is the whole sweep. Needs a GPU. A row says method or, where it
        did not run, refused; their older names contender and not_available stand beside them.
        """
        session = uuid4().hex
        try:
            wanted = Sweep(d, dtype, methods, longest)  # type: ignore[arg-type]
        except ProblemError as error:
            raise _refused(str(error)) from None
        sent = -1
        async for rows, done, _, error in rows_of(engine, wanted, session):
            if error:
                raise _refused(error)
            if done > sent:
                yield with_older_names(rows)
                sent = done

    return sweep


def build(engine: Engine) -> None:
    """Adds the endpoints to the Blocks around it."""
    gr.api(run(engine), api_name="run", concurrency_limit=8)
    gr.api(trace, api_name="trace", concurrency_limit=2)
    gr.api(sweep(engine), api_name="sweep", concurrency_limit=2)
