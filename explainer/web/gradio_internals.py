"""Every private part of Gradio, and of the FastAPI app that it builds, that this app uses.

Gradio promises nothing about these names. requirements.txt therefore pins its minor version, and
tests/web/test_gradio_internals.py fails by name when one of them changes. The part in the browser
is assets/js/site/gradio_patches.js; connections.py does the same for uvicorn.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio import http_server, state_holder
from gradio.context import Context, LocalContext
from gradio.route_utils import FnIndexInferError
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

LAYERED = "/assets/layered/"
QUEUE_POLL_S = 0.02  # a run starts so much later at most
UnknownFunction = FnIndexInferError
# Gradio ends the app when its own first page takes 3 s, which it does on a busy machine.
LAUNCH_OPTIONS: dict[str, Any] = {"_frontend": False}


class LightSession(state_holder.SessionState):
    """Keep only those components of a session that an event has changed.

    Gradio copies the configuration of every component into each session, for deep links, which
    this app does not use: 10 ms of the event loop and 150 kB for every call of a program.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        no_components: Any = SimpleNamespace(default_config=blocks.default_config, blocks={})
        super().__init__(no_components)


def use_light_sessions() -> None:
    """Replace Gradio's sessions. Call it before the app is launched."""
    state_holder.SessionState = LightSession


def slow_queue_polling(demo: gr.Blocks) -> None:
    """Let the queue sleep longer while it is empty.

    Gradio looks for work 1,000 times a second, which takes 5 % of a core for nothing.
    """
    queue = demo._queue
    queue.sleep_when_free = queue.progress_update_sleep_when_free = QUEUE_POLL_S


def check_ports_by_ipv4() -> None:
    """Let Gradio test a port of an IPv6 address; its test knows IPv4 alone."""
    http_server.LOCALHOST_NAME = "127.0.0.1"


def count_function_inputs(demo: gr.Blocks) -> dict[int, int]:
    """Return {function number: number of inputs} of the functions that run on the server."""
    return {k: len(f.inputs) for k, f in demo.fns.items() if f.fn is not None}


def describe_function(
    number: int, inputs: Sequence[tuple[str, dict[str, Any]]], answer: dict[str, Any]
) -> None:
    """Set what ``view_api`` and an MCP client read of a function of the app that is being built:
    the words and the JSON schema of each of its inputs, and the schema of its answer."""
    root = Context.root_block
    assert root is not None, "an endpoint is added inside of gr.Blocks"
    function: Any = root.fns[number]
    for component, (label, schema) in zip(function.inputs, inputs, strict=True):
        component.label = label
        component._api_info = schema | {"default": component.value}
    (output,) = function.outputs
    output._api_info = answer


def is_event_abandoned() -> bool:
    """Return True if the client of the event that runs now has closed its connection.

    Gradio marks such an event, but ends only generators for it.
    """
    blocks, event_id = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    jobs = (job for job in (blocks._queue.active_jobs if blocks else ()) if job)
    return any(event._id == event_id and not event.alive for job in jobs for event in job)


def inner_path(path: str) -> str:
    """Return the path by which Gradio knows a file that the page names by its layered copy."""
    return f"/assets/{path.removeprefix(LAYERED)}" if path.startswith(LAYERED) else path


def layer_styles(path: str, media_type: bytes, body: bytes) -> bytes:
    """Put Gradio's styles into the cascade layer "gradio", over which all of ours win.

    The page names Gradio's files by LAYERED, because browsers may have the files as Gradio serves
    them under their own names for a year. Its modules name each other relatively, but for one
    stylesheet that the first module names as the page does.
    """
    if path == "/" or path.startswith(LAYERED):
        body = re.sub(rb"([\"`]\.)/assets/", rb"\g<1>" + LAYERED.encode(), body)
    if path == "/":
        body = body.replace(b"<style>", b"<style>@layer gradio{", 1)
        return body.replace(b"</style>", b"}</style>", 1)
    if media_type.startswith(b"text/css") and path.startswith((LAYERED, "/theme.css")):
        return b"@layer gradio{%s}" % body
    return body


def list_routes(routes: Iterable[BaseRoute]) -> list[BaseRoute]:
    """Return all routes; FastAPI keeps an included router as one route, Gradio has several."""
    found: list[BaseRoute] = []
    for route in routes:
        inner = getattr(route, "original_router", None)
        found += list_routes(inner.routes) if inner else [route]
    return found


def wrap_app(app: Starlette, wrap: Callable[[ASGIApp], ASGIApp]) -> None:
    """Put middleware around the whole app, outside of Gradio's own layers.

    ``app_kwargs`` of ``launch`` can only add layers inside of those. Call it once the app has
    started, when its stack of middleware exists.
    """
    assert app.middleware_stack is not None, "the app has not started"
    app.middleware_stack = wrap(app.middleware_stack)
