"""The child process that owns CUDA: reads requests, one a line, and answers in lines of JSON.

A fault of a kernel poisons the process that made it, so this one is made to be thrown away:
``engine.py`` starts it, watches it and replaces it. It ends when its parent does.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

from explainer.base import logs
from explainer.base.lines import from_line
from explainer.base.texts import Texts
from explainer.engine.child import BEAT, CANCEL
from explainer.engine.requests import Request
from explainer.engine.results import unknown_machine

if TYPE_CHECKING:
    from explainer.engine.jobs import Learner

t = Texts("engine")
REPORT_EVERY_S = 0.1
BEAT_EVERY_S = 1.0


def _die_with_parent() -> None:
    """Ask Linux to end this process with its parent; elsewhere the closed pipe must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _requests() -> queue.Queue[tuple[Request, threading.Event]]:
    """Queue requests as they come, each with the event that cancels it; at the end of the pipe
    the process ends, since no answer can be read any more."""
    waiting: queue.Queue[tuple[Request, threading.Event]] = queue.Queue()

    def read() -> None:
        cancelled = threading.Event()  # of the last request
        for line in sys.stdin:
            if line.strip() == CANCEL:
                cancelled.set()
            else:
                cancelled = threading.Event()
                waiting.put((from_line(line), cancelled))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return waiting


class _Answers:
    """Writes to the real stdout; everything else that prints goes to stderr."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)
        self._last = 0.0
        self._writing = threading.Lock()

    def send(self, **message) -> None:
        line = json.dumps(message) + "\n"
        with self._writing:
            self._out.write(line)

    def beat(self) -> None:
        """Says for ever that this process runs: what is stopped or swapped out says nothing."""
        while True:
            time.sleep(BEAT_EVERY_S)
            self.send(**BEAT)

    def report(self, stage: str, done: int, total: int, **about: object) -> None:
        """Progress, at most ten times a second but every beginning and end."""
        now = time.monotonic()
        if done in (0, total) or now - self._last >= REPORT_EVERY_S:
            self._last = now
            self.send(progress=[stage, done, total], **about)


def _prefer_gpu() -> None:
    """Without a GPU Triton's interpreter runs the kernels: to be said before importing them.

    It computes on the CPU for seconds, so it stands behind the web process that answers a class.
    """
    import torch

    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"
        if hasattr(os, "nice"):
            os.nice(int(os.environ.get("WORKER_NICE", "10")))


def main(learner: Learner | None = None) -> None:
    """Serve until the pipe closes or CUDA breaks; a ``learner``'s function is one method more."""
    answers = _Answers()
    _die_with_parent()
    waiting = _requests()
    try:
        _prefer_gpu()
        from explainer.engine import jobs

        jobs.learner = learner
    except ImportError as error:
        reason = t("worker.cannot", error=error)
        answers.send(machine=unknown_machine("") | {"available": False, "reason": reason})
        while True:
            waiting.get()
    logs.configure()  # from here on something may be quoted
    answers.send(machine=jobs.machine())
    threading.Thread(target=answers.beat, daemon=True).start()
    while True:
        _answer(*waiting.get(), answers, jobs)


def _answer(request: Request, cancelled: threading.Event, answers: _Answers, jobs) -> None:
    """One request; a broken GPU ends the process, anything else is answered and survived. One that
    is cancelled ends where it next reports: under the interpreter after a program of a kernel."""
    import torch

    def report(stage: str, done: int, total: int, **about: object) -> None:
        if cancelled.is_set():
            raise jobs.Refused(t("worker.canceled"))
        answers.report(stage, done, total, **about)

    try:
        result = jobs.answer(request, report)
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        answers.send(refused=t("worker.memory"))
    except jobs.REFUSALS as error:
        answers.send(refused=" ".join(str(error).split()))
    except RuntimeError as error:
        text = " ".join(str(error).split())
        if "CUDA error" in text or "CUDA driver" in text:
            answers.send(fault=text[:300])
            os._exit(3)
        answers.send(refused=text[:300])
    else:
        answers.send(result=result)


if __name__ == "__main__":
    main()
