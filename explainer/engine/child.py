"""One life of the worker process, as the engine sees it: asked in lines, answering in lines."""

import json
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from contextvars import Context
from typing import Protocol

from explainer.base.lines import to_line
from explainer.base.logs import is_line
from explainer.base.paths import ROOT
from explainer.engine.requests import Request
from explainer.engine.results import Machine

LOG = logging.getLogger("explainer.engine")
WORKER = (sys.executable, "-m", "explainer.engine.worker")
START_S = 120.0  # importing torch on a cold disk
CANCEL = "cancel"  # in place of a request: the last one may end early
BEAT = {"beat": True}  # a worker says this each second, whatever it does
SILENT_S = 20.0  # without a word a worker is stopped or gone; one behind everybody else is slow


class WorkerLost(Exception):
    """The child died, faulted or talked nonsense; ``str`` says which, for the log."""


class NoGpu(Exception):
    """No GPU is to be had for this request now: one sentence for the visitor. The child is well."""


class Child(Protocol):
    """What runs the jobs: a process of ours, or ZeroGPU's (zerogpu.py)."""

    machine: Machine
    admits: bool  # whether it knows its machine only when it runs, and admits a request itself

    def ask(self, request: Request, context: Context | None = None) -> None:
        """Send one request, of the visitor whose ``context`` it is. Raises WorkerLost."""

    def next(self, deadline: float) -> dict:
        """Return the next message: progress, result, refused or fault.

        Raises TimeoutError at ``deadline`` (of time.monotonic), WorkerLost if the child ends or is
        silent, and NoGpu.
        """
        ...

    def cancel(self) -> None:
        """Let the last request end early, with any answer. Never raises."""

    def alive(self) -> bool:
        """Return True if it takes requests."""
        ...

    def kill(self) -> None:
        """End it at once, whatever it does."""


class ProcessChild:
    """``command`` as a process that writes ``{"machine": …}`` and then answers requests."""

    admits = False

    def __init__(
        self,
        command: Sequence[str] = WORKER,
        silent_s: float = SILENT_S,
    ) -> None:
        env = os.environ | {"PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            text=True,
            errors="replace",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        self._stderr = self.process.stderr
        self._has_request = False
        threading.Thread(target=self._pass_on, daemon=True).start()
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._silent_s = START_S
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self.machine: Machine = self.next(time.monotonic() + START_S)["machine"]
        except TimeoutError:
            self.kill()
            raise WorkerLost(f"worker did not start within {START_S:.0f} s") from None
        except BaseException:
            self.kill()
            raise
        self._silent_s = silent_s

    def _read(self) -> None:
        with suppress(ValueError):  # ``kill`` closed it while a line was passed on
            for line in self._stdout:
                self._lines.put(line)
        self._lines.put(None)

    def _pass_on(self) -> None:
        """Copy its log to ours. Anything else that it or C code in it writes is logged only before
        its first request, because it may quote a visitor later."""
        with self._stderr as lines:
            for line in lines:
                if is_line(line):
                    print(line, end="", file=sys.__stderr__, flush=True)
                elif line.strip():
                    text = (
                        "a line that may quote a visitor"
                        if self._has_request
                        else line.strip()[:400]
                    )
                    LOG.warning("the worker writes: %s", text)

    def next(self, deadline: float) -> dict:
        while True:
            left = deadline - time.monotonic()
            try:
                line = self._lines.get(timeout=max(0.0, min(left, self._silent_s)))
            except queue.Empty:
                if left <= self._silent_s:
                    raise TimeoutError from None
                raise WorkerLost(f"worker was silent for {self._silent_s:.0f} s") from None
            if line is None:
                raise WorkerLost(f"worker ended with status {self.process.wait()}")
            try:
                message = json.loads(line)
            except ValueError:
                raise WorkerLost("the worker wrote a line that is no JSON") from None
            if message != BEAT:
                return message

    def ask(self, request: Request, context: Context | None = None) -> None:
        self._has_request = True
        self._send(to_line(request))

    def _send(self, line: str) -> None:
        try:
            self._stdin.write(line + "\n")
            self._stdin.flush()
        except (OSError, ValueError) as error:
            raise WorkerLost(f"worker closed its pipe: {error}") from error

    def cancel(self) -> None:
        with suppress(WorkerLost):  # whatever reads its answer will notice
            self._send(CANCEL)

    def alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._stdin.close()
        self._stdout.close()
