"""Progress of a launch under Triton's interpreter, where a program takes milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .availability import INTERPRETED

_total = 0  # programs of the running call, set by its launcher


def expect(programs: int) -> None:
    """Called by a launcher: the call that starts now runs this many programs in all."""
    global _total
    _total = programs
    if _restart is not None:
        _restart()


_restart: Callable[[], None] | None = None


@contextmanager
def progress(callback: Callable[[int, int], None]) -> Iterator[None]:
    """Within the block, call `callback(done_programs, total_programs)` as programs finish.

    Each call of a kernel function counts from 0 to its own total. Only under the interpreter: on
    a GPU nothing is reported. An exception that the callback raises ends the launch.
    Not thread-safe, like the interpreter itself.
    """
    if not INTERPRETED:
        yield
        return
    from triton.runtime.interpreter import interpreter_builder

    global _restart
    started = 0  # programs started so far: all but the last of them are done

    def restart() -> None:
        nonlocal started
        started = 0

    def set_grid_idx(x: int, y: int, z: int) -> None:
        nonlocal started
        type(interpreter_builder).set_grid_idx(interpreter_builder, x, y, z)
        callback(started, max(_total, started + 1))
        started += 1

    _restart = restart
    interpreter_builder.set_grid_idx = set_grid_idx
    try:
        yield
        if started:
            callback(started, max(_total, started))
    finally:
        del interpreter_builder.set_grid_idx
        _restart = None
