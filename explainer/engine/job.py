"""A job: one request on its way through the engine, and how that can end."""

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


@dataclass
class Lane:
    """One method's own run within a job: so many of its programs are ``done``; times by the
    engine's clock."""

    began: float
    ended: float | None = None
    done: int = 0
    total: int = 1
    is_refused: bool = False


@dataclass(eq=False)
class Job:
    """One request on its way: queued → running → done, failed or dropped. Read-only outside.

    ``stage``: what the worker does, a key of the texts "stage.…" of run.json, for which ``method``;
    ``lanes``: the methods begun so far; ``blocks``: (Br, Bc) once the worker has chosen them.
    """

    request: Request
    state: str = "queued"
    stage: str = ""
    method: str = ""
    done: int = 0
    total: int = 1
    lanes: dict[str, Lane] = field(default_factory=dict)
    blocks: tuple[int, int] | None = None
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

    def _advance(self, message: dict, now: float) -> None:
        """Take a message of progress: [stage, done, total], and its method and blocks."""
        self.stage, self.done, self.total = message["progress"]
        self.method = message.get("method", "")
        if blocks := message.get("blocks"):
            self.blocks = (blocks[0], blocks[1])
        is_running = self.stage == "running"
        for name, lane in self.lanes.items():
            if lane.ended is None and not (is_running and name == self.method):
                lane.ended = now
        if is_running and self.method:
            lane = self.lanes.setdefault(self.method, Lane(now))
            lane.done, lane.total = self.done, self.total
        elif self.stage == "refused" and (lane := self.lanes.get(self.method)):
            lane.is_refused = True

    def _end(self, state: str, *, result=None, error: str | None = None, why=None) -> None:
        self.state, self.result, self.error, self.why = state, result, error, why
        self.finished.set()
