"""Identify visitors for the engine's queue, and notice those who have left."""

import gradio as gr

from explainer.engine.fair_queue import Client


def address_of(request: gr.Request | None) -> str:
    """Return the visitor's address as the nearest proxy saw it; the visitor may have written the
    rest of the header. "" where there is no request."""
    if request is None:
        return ""
    last = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    return last or getattr(request.client, "host", None) or ""


def client_of(request: gr.Request) -> Client:
    """Identify this page, one of its address."""
    return Client(address_of(request), request.session_hash or "?")


def program(request: gr.Request | None) -> Client:
    """Identify the programs of this address."""
    return Client(address_of(request))
