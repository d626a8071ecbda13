"""ZeroGPU as the engine's child: every request is one short call of a `@spaces.GPU` function.

There a GPU exists only inside such a call, in a process forked for it; arguments and result cross
a pickle, and the visitor's quota is checked against the duration that is declared. So messages are
plain values, the declared durations are small, and nothing of CUDA is touched outside.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import queue
import threading
import time
from collections.abc import Callable

from explainer.engine.child import WorkerLost
from explainer.engine.requests import COMPILED
from explainer.engine.results import unknown_machine

LOG = logging.getLogger("explainer.engine.zerogpu")
BASE_S, METHOD_S, POINT_S, COMPILED_S = 5, 2, 10, 8
MOST_S = 30


def on_zero_gpu() -> bool:
    """Whether this is a Space with ZeroGPU; the package alone has no effect elsewhere."""
    return bool(os.environ.get("SPACES_ZERO_GPU")) and bool(importlib.util.find_spec("spaces"))


def declared_seconds(message: dict) -> int:
    """Seconds of GPU that a request declares: a fixed start, a little for every method, more for
    those that are compiled first."""
    methods = message.get("point", message.get("run", {})).get("methods", "")
    names = methods.split(",") if isinstance(methods, str) else methods
    compiling = COMPILED_S * sum(name in COMPILED for name in names)
    if "point" in message or "placed" in message:
        return min(MOST_S, POINT_S + compiling)
    return min(MOST_S, BASE_S + METHOD_S * len(names) + compiling)


def on_gpu(message: dict) -> dict:
    """One request inside the forked process: {"result": …} or {"refused": sentence}.

    Anything that breaks is raised: the caller cannot trust what it does not understand.
    """
    from explainer.base.fields import ProblemError
    from explainer.engine import jobs

    try:
        return {"result": jobs.answer(message, lambda *progress: None), "machine": jobs.machine()}
    except (jobs.Refused, ProblemError) as refusal:
        return {"refused": str(refusal)}
    except (ValueError, TypeError) as error:
        return {"refused": " ".join(str(error).split())}


class ZeroChild:
    """The engine's child where ``spaces`` gives a GPU by the call.

    ``gpu`` wraps a function as `spaces.GPU(duration=…)` does. What the machine is, is known after
    the first call; until then everything is admitted and judged inside.
    """

    def __init__(self, gpu: Callable | None = None) -> None:
        if gpu is None:
            gpu = importlib.import_module("spaces").GPU
        importlib.import_module("explainer.engine.jobs")  # torch and kernels, before any fork
        self._call = gpu(duration=declared_seconds)(on_gpu)
        self._answers: queue.Queue[dict] = queue.Queue()
        self._alive = True
        self.machine = unknown_machine("ZeroGPU")

    def ask(self, message: dict) -> None:
        threading.Thread(target=self._answer, args=(message,), daemon=True).start()

    def _answer(self, message: dict) -> None:
        try:
            answer = self._call(message)
        except Exception as error:  # quota, a fault, the end of the time: all end this call
            LOG.error("a call on ZeroGPU ended: %s", error)
            answer = {"fault": f"{type(error).__name__}: {str(error)[:200]}"}
        self.machine |= answer.pop("machine", {})
        self._answers.put(answer)

    def next(self, deadline: float) -> dict:
        try:
            answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None
        if not isinstance(answer, dict):
            raise WorkerLost(f"ZeroGPU answered {answer!r:.80}")
        return answer

    def cancel(self) -> None:
        """Its call is short and runs out by itself."""

    def alive(self) -> bool:
        return self._alive

    def kill(self) -> None:
        self._alive = False  # its call runs out by itself; its answer goes nowhere
