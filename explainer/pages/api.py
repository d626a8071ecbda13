"""The named endpoints: /run, /sweep and /trace, typed and bounded, for programs."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable
from typing import Literal
from uuid import uuid4

import gradio as gr

from explainer.base import kinds
from explainer.base.fields import FIELDS, MAX_N_MADE, PASSES, ProblemError, pass_of, refuse
from explainer.base.own_data import MAX_CHARACTERS
from explainer.base.texts import Texts
from explainer.engine import recorded
from explainer.engine.engine import Engine
from explainer.engine.job import REFUSED
from explainer.engine.requests import AUTO, AUTO_BLOCKS, MAX_N_DROPPED, METHODS, RunRequest, Sweep
from explainer.engine.results import Result, has_gpu, with_older_names
from explainer.pages.sweep import POLL_S, rows_of
from explainer.pages.visitors import program
from explainer.problem import Problem
from explainer.views import downloads
from explainer.web.files import as_json, check_exported
from explainer.web.gradio_internals import describe_input, function_inputs, is_event_abandoned
from kernels.spec.masks import MAX_CHARACTERS as MASK_CHARACTERS
from kernels.spec.masks import PREDICATES
from kernels.spec.scores import MAX_CHARACTERS as SCORE_CHARACTERS

say, shared = Texts("api"), Texts("shared")
# What each endpoint takes, in this order.
PROBLEM = ("n", "d", "br", "bc", "mask", "dtype", "data", "seed", "text", "gain")
OF_HEADS = ("hk", "head", "dropout", "rope")
ENDPOINTS = {
    "run": (*PROBLEM, "b", "h", "methods", "score", "sink", *OF_HEADS, "pass_"),
    "trace": (*PROBLEM, "order", "score", "sink", "h", *OF_HEADS, "pass_"),
    "sweep": ("d", "dtype", "methods", "longest", "mask", "score", "sink", "hk", "dropout"),
}
MAX_TRACED = 128  # rows of a trace that is sent as JSON
MOST_SENT = 1_000_000  # numbers in it: all visitors wait while a thread of ours reads them again
TEXTS = {"text": MAX_CHARACTERS, "mask": MASK_CHARACTERS, "score": SCORE_CHARACTERS}
EXAMPLE_MASK = "causal&window:256,0|prefix:4"
EXAMPLE_SCORE = "softcap:30&alibi"
Block = int | Literal["auto"]

BY_KEY = {field.key: field for field in FIELDS.values()}
BY_KEY["pass_"] = FIELDS["pass"]  # since no argument of a function can be called pass
# What a program must know beside a field's name and range.
NOTES = {
    **say.named("notes"),
    "n": say("note.n", most=MAX_N_MADE),
    "br": say("note.block", auto=AUTO, block=AUTO_BLOCKS[0]),
    "bc": say("note.block", auto=AUTO, block=AUTO_BLOCKS[1]),
    "text": say("note.text", most=MAX_CHARACTERS),
    "mask": say("note.mask", predicates=", ".join(PREDICATES), example=EXAMPLE_MASK),
    "score": say("note.score", example=EXAMPLE_SCORE),
    "dropout": say("note.dropout", most=MAX_N_DROPPED),
}


def _schema(key: str, endpoint: str) -> dict:
    """JSON schema of one argument, from its field; a trace is bounded more tightly."""
    field = BY_KEY[key]
    if key == "methods":
        return {"type": "array", "items": {"type": "string", "enum": list(METHODS)}}
    if field.choices:
        return {"type": "string", "enum": list(field.choices)}
    if key in TEXTS:
        return {"type": "string", "maxLength": TEXTS[key]}
    high = MAX_TRACED if endpoint == "trace" and key in ("n", "br", "bc") else field.high
    kind = "number" if key in ("gain", "sink", "dropout", "rope") else "integer"
    numbers = {"type": kind, "minimum": field.low, "maximum": high}
    if key in ("sink", "hk"):
        return {"anyOf": [numbers, {"type": "null"}]}
    return {"anyOf": [numbers, {"const": AUTO}]} if key in ("br", "bc") else numbers


def _words(key: str, endpoint: str) -> str:
    """The same for a reader: the field's name, what is allowed, and its note."""
    field, schema = BY_KEY[key], _schema(key, endpoint)
    numbers = schema.get("anyOf", [schema])[0]
    allowed = schema.get("items", schema).get("enum", ())
    said = say("one_of", choices=", ".join(allowed)) if allowed else ""
    if key == "methods":
        said = say("some_of", choices=", ".join(allowed))
    if "minimum" in numbers:
        said = say("range", low=numbers["minimum"], high=numbers["maximum"])
    note = "" if (endpoint, key) == ("trace", "n") else NOTES.get(key, "")
    return say("field", name=field.name, what="; ".join(part for part in (said, note) if part))


def _add(fn: Callable, endpoint: str, concurrency_limit: int | None) -> None:
    """Adds an endpoint whose arguments have choices, ranges and words for every client: `view_api`
    reads them from the components, an MCP client their types there and their words in the text."""
    keys = ENDPOINTS[endpoint]
    words = {key: _words(key, endpoint) for key in keys}
    lines = (f"    {key}: {words[key]}" for key in keys)
    fn.__doc__ = "\n".join((inspect.getdoc(fn), "", "Args:", *lines))
    event = gr.api(fn, api_name=endpoint, concurrency_limit=concurrency_limit)
    for component, key in zip(function_inputs(event["id"]), keys, strict=True):
        told = {"description": words[key], "additional_description": words[key]}
        told |= {"default": component.value}
        describe_input(component, words[key], _schema(key, endpoint) | told)


def _with_kind(result: Result) -> dict:
    return {"kind": str(downloads.kind_of(result)), **result}


def _refused(sentence: str) -> gr.Error:
    return gr.Error(sentence, print_exception=False)


def crowded(engine: Engine) -> dict[str, Callable[[gr.Request], str | None]]:
    """{endpoint: why it takes nothing of this visitor now}, for the door."""
    return {"run": lambda request: engine.crowded(program(request))}


def run(engine: Engine):
    """The function behind ``/run``."""

    async def run(
        n: int = 16,
        d: int = 8,
        br: Block = 4,
        bc: Block = 4,
        mask: str = "causal",
        dtype: str = "fp32",
        data: str = Problem.inputs,
        seed: int = Problem.seed,
        text: str = "",
        gain: float = 1.0,
        b: int = 1,
        h: int = 1,
        methods: list[str] = ("naive", "fa2"),
        score: str = "none",
        sink: float | None = None,
        hk: int | None = None,
        head: int = 0,
        dropout: float = 0.0,
        rope: float = 0.0,
        pass_: str = PASSES[0],
        request: gr.Request = None,
    ) -> dict:
        """Run attention by several methods on one problem, and judge and measure each.

        Gives of what kind its figures are (kind) and a row for each method: error against float64
        and what is allowed, agreement of m and l with the NumPy trace, peak memory in bytes, and on
        a GPU median, p20, p80 of GPU time in milliseconds, time of a call in a loop (loop_ms), and
        until it returns (host_us). With pass_ = backward all that is of both passes: each of dQ,
        dK, dV is judged (gradients), compared with the trace's tiles, and computed once more, to
        count the numbers that differ in a bit (repeat). Without a GPU a comparable measurement,
        where there is one, stands under record; where Triton's interpreter does not take the
        problem, that record is the answer: recorded says where and when, refused why nothing was
        run.
        """
        given = (
            n,
            d,
            br,
            bc,
            mask,
            dtype,
            data,
            seed,
            text,
            gain,
            b,
            h,
            methods,
            score,
            sink,
            hk,
            head,
            dropout,
            rope,
        )
        try:
            keys = (*ENDPOINTS["run"][:-1], "pass")
            asked = RunRequest.from_query(dict(zip(keys, (*given, pass_), strict=True)))
        except ProblemError as error:
            raise _refused(str(error)) from None
        waiting = uuid4().hex
        job = engine.submit(asked, waiting, program(request))
        try:
            while not job.finished.is_set() and not is_event_abandoned():
                engine.position(job)  # whoever waits sees to it that somebody works
                await asyncio.sleep(POLL_S)
        finally:
            engine.leave(job, waiting)
        old = recorded.nearest(asked) if has_gpu(engine.machine()) is False else None
        if job.result is not None:
            return _with_kind(job.result) | ({"record": _with_kind(old)} if old else {})
        if old and job.why == REFUSED:
            return _with_kind(old) | {"refused": job.error}
        raise _refused(job.error or say("closed"))

    return run


def trace(
    n: int = 16,
    d: int = 8,
    br: Block = 4,
    bc: Block = 4,
    mask: str = "causal",
    dtype: str = "fp32",
    data: str = Problem.inputs,
    seed: int = Problem.seed,
    text: str = "",
    gain: float = 1.0,
    order: str = "fa2",
    score: str = "none",
    sink: float | None = None,
    h: int = 1,
    hk: int | None = None,
    head: int = 0,
    dropout: float = 0.0,
    rope: float = 0.0,
    pass_: str = PASSES[0],
) -> dict:
    """The whole computation of a head tile by tile: Q, K, V, S, O, lse, every visit's m and l; of
    the backward pass dO, D, dQ, dK, dV and every visit with its P, dP, dS and sums."""
    given = (
        n,
        d,
        br,
        bc,
        mask,
        dtype,
        data,
        seed,
        text,
        gain,
        order,
        score,
        sink,
        h,
        hk,
        head,
        dropout,
        rope,
        pass_,
    )
    asked = dict(zip(ENDPOINTS["trace"], given, strict=True))
    try:
        problem, pass_ = RunRequest.from_query(asked).problem, pass_of({"pass": pass_})
        if problem.n > MAX_TRACED:
            raise refuse("n", f"{problem.n:,}", say("traced", most=MAX_TRACED))
        check_exported(problem, MOST_SENT, pass_)
        found = as_json(problem, pass_)
    except ProblemError as error:
        raise _refused(str(error)) from None
    return json.loads(found)


def sweep(engine: Engine):
    """The function behind ``/sweep``."""

    async def sweep(
        d: int = 64,
        dtype: str = "bf16",
        methods: list[str] = ("naive", "fa2", "sdpa_flash"),
        longest: int = 65536,
        mask: str = "causal",
        score: str = "none",
        sink: float | None = None,
        hk: int | None = None,
        dropout: float = 0.0,
        request: gr.Request = None,
    ) -> AsyncIterator[list]:
        """Time, TFLOP/s and peak memory over N = 256, 512, … longest, a mask beside full.

        Yields the measured so far; the last is the whole sweep. Without a GPU it gives what was
        recorded: every row then says where and when (recorded) and, where this d or dtype was not
        recorded, in whose place it stands (instead_of). A row says of what kind its figures are,
        and method or, where it did not run, refused; their older names contender and not_available
        stand beside them.
        """
        session = uuid4().hex
        try:
            wanted = Sweep(  # type: ignore[arg-type]
                d, dtype, methods, longest, mask, score, sink, hk, dropout
            )
        except ProblemError as error:
            raise _refused(str(error)) from None
        sent = -1
        client = program(request)
        async for rows, done, _, error in rows_of(
            engine, wanted, session, client, is_event_abandoned
        ):
            if error and has_gpu(engine.machine()) is not False:
                raise _refused(error)
            if error:
                kind, found = kinds.recorded(), recorded.told(wanted)
            elif done > sent:
                kind = kinds.measured((engine.machine() or {}).get("device", shared("this_gpu")))
                found, sent = rows, done
            else:
                continue
            yield [{"kind": str(kind), **row} for row in with_older_names(found)]

    return sweep


def build(engine: Engine) -> None:
    """Adds the endpoints to the Blocks around it."""
    _add(run(engine), "run", None)  # the engine's line is the one where they wait
    _add(trace, "trace", 2)
    _add(sweep(engine), "sweep", 2)
