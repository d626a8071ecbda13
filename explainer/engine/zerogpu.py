"""ZeroGPU as the engine's child: every request is one short call of a `@spaces.GPU` function.

There a GPU exists only inside such a call, in a process forked for it; arguments and result cross
a pickle, and the visitor's quota is checked against the duration that is declared. So messages are
plain values, the declared durations are small, and nothing of CUDA is touched outside.
"""

import contextvars
import importlib
import importlib.util
import logging
import multiprocessing
import os
import queue
import threading
import time
from collections.abc import Callable
from contextvars import Context
from multiprocessing import connection

from explainer.engine.admission import expected_s, refuse
from explainer.engine.child import NoGpu
from explainer.engine.requests import Request
from explainer.engine.results import Machine, unknown_machine

LOG = logging.getLogger("explainer.engine.zerogpu")
FORK_S = 4  # what a call costs beside its work
MOST_S = 30
END_S = 5.0  # a killed process is gone at once
BROKEN = "ZeroGPU worker error"


def on_zero_gpu() -> bool:
    """Whether this is a Space with ZeroGPU; the package alone has no effect elsewhere."""
    return bool(os.environ.get("SPACES_ZERO_GPU")) and bool(importlib.util.find_spec("spaces"))


def declared_seconds(request: Request) -> int:
    """Seconds of GPU that a request declares."""
    return min(MOST_S, round(FORK_S + expected_s(request, None)))


def on_gpu(request: Request) -> dict:
    """Run one request inside the forked process: {"result": …} or {"refused": sentence}.

    Anything that breaks is raised: the caller cannot trust what it does not understand.
    """
    from explainer.engine import jobs

    try:
        if sentence := refuse(request, jobs.machine()):  # the engine did not know the machine
            return {"refused": sentence}
        return {
            "result": jobs.answer(request, lambda *progress, **about: None),
            "machine": jobs.machine(),
        }
    except jobs.REFUSALS as error:
        return {"refused": " ".join(str(error).split())}


def decorated() -> Callable[[Request], dict]:
    """``on_gpu`` as a `@spaces.GPU` function. To be called in the main thread, before torch is
    imported and before ``launch()``: that reports to ZeroGPU what is decorated by then."""
    import spaces

    return spaces.GPU(duration=declared_seconds)(on_gpu)


def refusal(error: Exception) -> str | None:
    """What ``spaces`` says where it gives no GPU: a quota, a duration, a full queue, a token. None
    for what broke. It knows its errors by their titles, and this does."""
    title = getattr(error, "title", "")
    if not title.startswith("ZeroGPU") or title == BROKEN:
        return None
    text = getattr(error, "message", "") or title
    return f"{title}: {' '.join(str(text).split()).rstrip('.')}."


def end_forks() -> None:
    """Ends what ``spaces`` has forked for its calls: while they work they hear no SIGTERM, and
    would live on, with the server's port."""
    forks = multiprocessing.active_children()
    for process in forks:
        process.kill()
    connection.wait([process.sentinel for process in forks], END_S)


class ZeroChild:
    """The engine's child where ``spaces`` gives a GPU by the call.

    ``call`` is what :func:`decorated` gave. What the machine is, is known after the first call;
    until then everything is admitted and judged inside.
    """

    admits = True

    def __init__(self, call: Callable[[Request], dict]) -> None:
        importlib.import_module("explainer.engine.jobs")  # torch and kernels, before any fork
        self._call = call
        self._answers: queue.Queue[dict | NoGpu] = queue.Queue()
        self._alive = True
        self.machine: Machine = unknown_machine("ZeroGPU")

    def ask(self, request: Request, context: Context | None = None) -> None:
        """In the visitor's context ``spaces`` finds the token that says whose share is used."""
        context = context or contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._answer, request), daemon=True).start()

    def _answer(self, request: Request) -> None:
        try:
            answer = self._call(request)
        except Exception as error:
            sentence = refusal(error)
            LOG.log(
                logging.INFO if sentence else logging.ERROR,
                "a call on ZeroGPU ended: %s",
                getattr(error, "title", "") or type(error).__name__,
            )
            answer = {"fault": type(error).__name__}
            if sentence:
                self._answers.put(NoGpu(sentence))
                return
        else:
            self.machine.update(answer.pop("machine", {}))
        self._answers.put(answer)

    def next(self, deadline: float) -> dict:
        try:
            answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(answer, NoGpu):
            raise answer
        return answer

    def cancel(self) -> None:
        """Its call is short and runs out by itself."""

    def alive(self) -> bool:
        return self._alive

    def kill(self) -> None:
        self._alive = False
        end_forks()
