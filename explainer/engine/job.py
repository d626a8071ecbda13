"""A job: one request on its way through the engine, and how that can end."""

from __future__ import annotations

import contextvars
import threading
from dataclasses import dataclass, field
from typing import Any

from explainer.base.texts import Texts
from explainer.engine.requests import Request
from explainer.engine.results import Machine

t = Texts("engine")
BROKE, RESTS = t("broke"), t("rests")
# Why a job has no result: the request itself, too many others, or no worker to be had.
REFUSED, BUSY, GONE = "refused", "busy", "gone"


@dataclass(eq=False)
class Job:
    """One request on its way: queued → running → done, failed or dropped. Read-only outside."""

    request: Request
    state: str = "queued"
    stage: str = ""
    done: int = 0
    total: int = 1
    result: Any = None  # as jobs.py returns it for this kind of request
    error: str | None = None
    why: str | None = None
    admitted_on: Machine | None = None
    is_sent: bool = False  # to the child that runs now
    began: float | None = None  # by the engine's clock
    expected_s: float = 0.0  # as its turn began
    # Of the visitor who asked first: on ZeroGPU it is this one's share of the GPU.
    context: contextvars.Context = field(default_factory=contextvars.copy_context, repr=False)
    sessions: set[str] = field(default_factory=set)
    finished: threading.Event = field(default_factory=threading.Event)

    def _end(self, state: str, *, result=None, error: str | None = None, why=None) -> None:
        self.state, self.result, self.error, self.why = state, result, error, why
        self.finished.set()
