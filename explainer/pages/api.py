"""The named endpoints for programs: /run, /trace and /sweep, typed and bounded.

Arguments, types, defaults, ranges and words of each come from the table of fields.
"""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import fields, replace
from typing import Any, Literal
from uuid import uuid4

import gradio as gr
from gradio.events import api

from explainer.base import kinds
from explainer.base.fields import (
    BY_KEY,
    KEYS,
    ProblemError,
    parse_pass,
    parse_whole,
    refuse,
    title_of,
)
from explainer.base.own_data import MAX_CHARACTERS
from explainer.base.texts import Texts
from explainer.engine import recorded
from explainer.engine.engine import Engine
from explainer.engine.job import REFUSED
from explainer.engine.requests import AUTO, AUTO_BLOCKS, MAX_N_DROPPED, METHODS, RunRequest, Sweep
from explainer.engine.results import Result, has_gpu, with_older_names
from explainer.pages.answers import SCHEMAS, RunAnswer
from explainer.pages.sweep import POLL_S, live_device, measure_sweep
from explainer.pages.visitors import program
from explainer.problem import Problem
from explainer.views import downloads
from explainer.web.files import as_json, check_exported
from explainer.web.gradio_internals import describe_function, is_event_abandoned
from kernels.spec.fields import FP8, MAX_N_MADE, STORED, Field
from kernels.spec.masks import MAX_CHARACTERS as MASK_CHARACTERS
from kernels.spec.masks import PREDICATES
from kernels.spec.scores import MAX_CHARACTERS as SCORE_CHARACTERS

t, shared = Texts("api"), Texts("shared")
# The arguments of each endpoint, in the order in which programs pass them. A field of a Problem
# that these lists lack stands at the end.
PROBLEM = ("n", "d", "br", "bc", "mask", "dtype", "data", "seed", "text", "gain")
OF_HEADS = ("hk", "head", "dropout", "rope")
# hq is h under an older name; kv changes no number, and run has kernels for contiguous K and V.
KNOWN = {*PROBLEM, *OF_HEADS, "order", "score", "sink", "hq", "kv"}
LATER = tuple(KEYS[field.name] for field in fields(Problem) if KEYS[field.name] not in KNOWN)
ENDPOINTS = {
    "run": (*PROBLEM, "b", "h", "methods", "score", "sink", *OF_HEADS, "pass_", *LATER),
    "trace": (*PROBLEM, "order", "score", "sink", "h", *OF_HEADS, "pass_", *LATER),
    "sweep": ("d", "dtype", "methods", "longest", "mask", "score", "sink", "hk", "dropout"),
}
MAX_TRACED = 128  # rows of a trace that is sent as JSON
MOST_SENT = 1_000_000  # numbers in it: a thread of this process reads them again, and all wait
TEXTS = {"text": MAX_CHARACTERS, "mask": MASK_CHARACTERS, "score": SCORE_CHARACTERS}
EXAMPLE_MASK = "causal&window:256,0|prefix:4"
EXAMPLE_SCORE = "softcap:30&alibi"
TYPES = {"whole": int, "number": float, "methods": list[str]}  # str: every other kind
JSON_TYPES = {"whole": "integer", "number": "number"}
Block = int | Literal["auto"]

# What a program must know beside a field's name and range.
NOTES = {
    **t.named("notes"),
    "n": t("note.n", most=MAX_N_MADE),
    "br": t("note.block", auto=AUTO, block=AUTO_BLOCKS[0]),
    "bc": t("note.block", auto=AUTO, block=AUTO_BLOCKS[1]),
    "text": t("note.text", most=MAX_CHARACTERS),
    "mask": t("note.mask", predicates=", ".join(PREDICATES), example=EXAMPLE_MASK),
    "score": t("note.score", example=EXAMPLE_SCORE),
    "dropout": t("note.dropout", most=MAX_N_DROPPED),
}


def _field(argument: str) -> Field:
    return BY_KEY[argument.rstrip("_")]  # no argument of a function can be called pass


def _default(argument: str, endpoint: str) -> Any:
    if argument == "methods":
        return list(Sweep.methods if endpoint == "sweep" else RunRequest.methods)
    if argument == "hk":
        return None
    of_sweep = {KEYS[field.name]: field.default for field in fields(Sweep)}
    default = of_sweep.get(argument) if endpoint == "sweep" else _field(argument).default
    return default if isinstance(default, (int, float, str, type(None))) else str(default)


def _signature(endpoint: str) -> inspect.Signature:
    """Make the signature that Gradio reads; ``request`` is its own."""
    arguments = []
    for argument in ENDPOINTS[endpoint]:
        kind = Block if argument in ("br", "bc") else TYPES.get(_field(argument).kind, str)
        if argument in ("hk", "sink"):
            kind = kind | None
        arguments.append((argument, _default(argument, endpoint), kind))
    arguments.append(("request", None, gr.Request))
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter(name, either, default=x, annotation=kind) for name, x, kind in arguments]
    )


def _describe(argument: str, endpoint: str) -> tuple[str, dict]:
    """Describe an argument for a reader, by its name, the allowed values and its note, and as a
    JSON schema; a trace is bounded more tightly."""
    field = _field(argument)
    note = "" if (endpoint, argument) == ("trace", "n") else NOTES.get(argument, "")
    allowed = ""
    if argument == "methods":
        schema: dict[str, Any] = {"type": "array", "items": {"type": "string", "enum": [*METHODS]}}
        allowed = t("some_of", choices=", ".join(METHODS))
    elif field.choices:
        choices = [*field.choices, *([FP8] if (endpoint, argument) == ("trace", "dtype") else [])]
        schema = {"type": "string", "enum": choices}
        allowed = t("one_of", choices=", ".join(choices))
    elif argument in TEXTS:
        schema = {"type": "string", "maxLength": TEXTS[argument]}
    else:
        is_bounded = endpoint == "trace" and argument in ("n", "br", "bc")
        high = MAX_TRACED if is_bounded else field.high
        allowed = t("range", low=field.low, high=high)
        schema = {"type": JSON_TYPES[field.kind], "minimum": field.low, "maximum": high}
        if argument in ("sink", "hk"):
            schema = {"anyOf": [schema, {"type": "null"}]}
        elif argument in ("br", "bc"):
            schema = {"anyOf": [schema, {"const": AUTO}]}
    text = t("field", name=title_of(field), what="; ".join(filter(None, (allowed, note))))
    return text, schema | {"description": text, "additional_description": text}


def _add(fn: Callable, endpoint: str, concurrency_limit: int | None) -> None:
    """Add an endpoint whose arguments have choices, ranges and words for every client: `view_api`
    reads them from the components, an MCP client their types there and their words in the text."""
    arguments = ENDPOINTS[endpoint]
    about = [_describe(argument, endpoint) for argument in arguments]
    lines = (f"    {name}: {text}" for name, (text, _) in zip(arguments, about, strict=True))
    fn.__doc__ = "\n".join((inspect.getdoc(fn) or "", "", "Args:", *lines))
    event = api(fn, api_name=endpoint, concurrency_limit=concurrency_limit)
    describe_function(event["id"], about, SCHEMAS[endpoint])


def takes(endpoint: str) -> Callable[[Callable], Callable]:
    """Decorate the function of an endpoint with the signature that the table gives it."""

    def decorate(function: Any) -> Callable:
        signature = _signature(endpoint)
        hints = {name: p.annotation for name, p in signature.parameters.items()}
        function.__signature__ = signature.replace(return_annotation=dict)  # one output; SCHEMAS
        function.__annotations__ = hints | {"return": dict}
        return function

    return decorate


def _parse_call(endpoint: str, args: tuple, given: dict) -> tuple[dict, gr.Request | None]:
    """Return the query of a call, with the defaults, and the visitor's request."""
    call = _signature(endpoint).bind(*args, **given)
    call.apply_defaults()
    values = call.arguments
    return {key.rstrip("_"): values[key] for key in ENDPOINTS[endpoint]}, values["request"]


def _with_kind(result: Result, methods: Collection[str]) -> RunAnswer:
    rows = [row for row in result["rows"] if row["method"] in methods]
    return {"kind": str(downloads.kind_of(result)), **result, "rows": rows}


def _refusal(sentence: object) -> gr.Error:
    return gr.Error(str(sentence), print_exception=False)


def crowded(engine: Engine) -> dict[str, Callable[[gr.Request], str | None]]:
    """{endpoint: why it takes nothing of this visitor now}, for the request filter."""
    return {"run": lambda request: engine.crowded(program(request))}


def run(engine: Engine):
    """Make the function behind ``/run``."""

    @takes("run")
    async def run(*args: object, **given: object) -> RunAnswer:
        """Run attention by several methods on one problem, and judge and measure each.

        Gives of what kind its figures are (kind) and a row for each method: error against float64
        and what is allowed, agreement of m and l with the NumPy trace, peak memory in bytes, and on
        a GPU median, p20, p80 of GPU time in milliseconds, time of a call in a loop (loop_ms), and
        until it returns (host_us). With pass_ = backward all that is of both passes: each of dQ,
        dK, dV is judged (gradients), compared with the trace's tiles, and computed once more, to
        count the numbers that differ in a bit (repeat). Without a GPU a comparable measurement,
        where there is one, stands under record; where Triton's interpreter does not take the
        problem, that record is the answer: recorded says where and when, refused why nothing was
        run, query which problem was measured, differs in which fields it is another one.
        """
        query, visitor = _parse_call("run", args, given)
        try:
            request = RunRequest.from_query(query)
        except ProblemError as error:
            raise _refusal(error) from None
        session = uuid4().hex
        job = engine.submit(request, session, program(visitor))
        try:
            while not job.finished.is_set() and not is_event_abandoned():
                await asyncio.sleep(POLL_S)
        finally:
            engine.leave(job, session)
        old = recorded.nearest(request) if has_gpu(engine.machine()) is False else None
        record = _with_kind(old, request.methods) if old else None
        if job.result is not None:
            answer = _with_kind(job.result, request.methods)
            return {**answer, "record": record} if record else answer
        if record and job.why == REFUSED:
            return {**record, "refused": str(job.error)}
        raise _refusal(job.error or t("closed"))

    return run


def _check_length(n: object) -> None:
    try:
        parse_whole("n", n, (1, MAX_TRACED, None))
    except ProblemError:
        raise refuse("n", n, t("traced", most=MAX_TRACED)) from None


@takes("trace")
def trace(*args: object, **given: object) -> dict:
    """The whole computation of a head tile by tile: Q, K, V, S, O, lse, every visit's m and l; of
    the backward pass dO, D, dQ, dK, dV and every visit with its P, dP, dS and sums."""
    query, _ = _parse_call("trace", args, given)
    try:
        _check_length(query["n"])
        stored = STORED.get(query["dtype"], query["dtype"])  # no run takes e4m3
        problem = RunRequest.from_query({**query, "dtype": stored}).problem
        problem, pass_ = replace(problem, dtype=query["dtype"]), parse_pass(query)
        check_exported(problem, MOST_SENT, pass_)
        return json.loads(as_json(problem, pass_))
    except ProblemError as error:
        raise _refusal(error) from None


def sweep(engine: Engine):
    """Make the function behind ``/sweep``."""

    @takes("sweep")
    async def sweep(*args: object, **given: object) -> AsyncIterator[list[dict]]:
        """Time, TFLOP/s and peak memory over N = 256, 512, … longest, a mask beside full.

        Yields the measured so far; the last is the whole sweep. Without a GPU it gives what was
        recorded: every row then says where and when (recorded) and, where this d or dtype was not
        recorded, in whose place it stands (instead_of). A row says of what kind its figures are,
        and method or, where it did not run, refused; their older names contender and not_available
        stand beside them.
        """
        query, visitor = _parse_call("sweep", args, given)
        try:
            wanted = Sweep.from_query(query)
        except ProblemError as error:
            raise _refusal(error) from None
        sent = -1
        async for step in measure_sweep(
            engine, wanted, uuid4().hex, program(visitor), is_event_abandoned
        ):
            has_no_gpu = has_gpu(engine.machine()) is False
            if step.error and not has_no_gpu:
                raise _refusal(step.error)
            if step.error:
                kind, rows = kinds.recorded(), recorded.labelled_rows(wanted)
            elif step.done > sent:
                device = live_device(engine)
                kind, rows, sent = kinds.measured(device), step.rows, step.done
            else:
                continue
            yield [{"kind": str(kind), **row} for row in with_older_names(rows)]

    return sweep


def build(engine: Engine) -> None:
    """Add the endpoints to the Blocks around it."""
    _add(run(engine), "run", None)  # they wait in the engine's own queue
    _add(trace, "trace", 2)
    _add(sweep(engine), "sweep", 2)
