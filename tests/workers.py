"""What lets tests meet a worker at a known moment: no test waits for a time to pass."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from explainer.engine.child import ProcessChild

WAIT_S = 240.0  # ends a test that hangs, and no other


def wait_until(wanted: Callable[[], object]) -> None:
    """Wait for what another process or thread does."""
    until = time.monotonic() + WAIT_S
    while not wanted():
        assert time.monotonic() < until
        time.sleep(0.05)


class Clock:
    """The engine's clock: it stands still until a test or a hanging worker moves it."""

    def __init__(self) -> None:
        self.now, self.waited = 1000.0, []

    def __call__(self) -> float:
        return self.now


class Patient(ProcessChild):
    """A worker's process whose deadline has come once it says that it hangs, and not before."""

    def __init__(self, clock: Clock, command) -> None:
        self.clock, self.hangs = clock, False
        super().__init__(command, WAIT_S)

    def next(self, deadline: float) -> dict:
        if self.hangs:
            self.clock.waited.append(deadline - self.clock.now)
            self.clock.now = deadline
            return super().next(time.monotonic())
        message = super().next(time.monotonic() + WAIT_S)
        self.hangs = message.get("progress", [""])[0] == "hangs"
        return message


class Gate:
    """A FIFO at which a worker that finds it stops, once, until the test lets it go."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def shut(self) -> None:
        os.mkfifo(self.path)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Begins when the worker has come to the gate; at the end it goes on."""
        with open(self.path, "w"):
            self.path.unlink()
            yield


def stop_at(path: str) -> None:
    """The worker's side of a gate."""
    if os.path.exists(path):
        with open(path) as gate:
            gate.read()


def below(pid: int) -> list[int]:
    """The processes that this one has started, and those that they did."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    own = [int(child) for task in tasks for child in task.read_text().split()]
    return own + [each for child in own for each in below(child)]
