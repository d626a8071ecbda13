"""Who asks, for the line before the kernel, and whether somebody still waits for the answer."""

from __future__ import annotations

import gradio as gr

from explainer.engine.fair_queue import Client


def address_of(request: gr.Request | None) -> str:
    """The visitor's address as the nearest proxy saw it; what stands before it in the header the
    visitor may have written. "" where there is no request."""
    if request is None:
        return ""
    seen = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    return seen or getattr(request.client, "host", None) or ""


def client_of(request: gr.Request) -> Client:
    """This page, one of its address."""
    return Client(address_of(request), request.session_hash or "?")


def program(request: gr.Request | None) -> Client:
    """The programs of this address."""
    return Client(address_of(request))
