"""Progress of a launch under Triton's interpreter, where a program takes milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_total = 0  # programs of the running call
_restart: Callable[[], None] | None = None


def expect(programs: int) -> None:
    """Announce that the call which starts now runs this many programs in all its launches."""
    global _total
    _total = programs
    if _restart is not None:
        _restart()


@contextmanager
def progress(callback: Callable[[int, int], None]) -> Iterator[None]:
    """Within the block, call `callback(done_programs, total_programs)` as programs finish.

    Each call of a kernel function counts from 0 to its own total. Only under the interpreter: on
    a GPU nothing is reported. An exception that the callback raises ends the launch.
    Not thread-safe, like the interpreter itself.
    """
    from .availability import INTERPRETED

    if not INTERPRETED:
        yield
        return
    from .triton_internals import wrap_interpreter

    global _restart
    started = 0  # programs started so far: all but the last of them are done

    def restart() -> None:
        nonlocal started
        started = 0

    def counted(set_grid_idx: Callable) -> Callable:
        def start_program(x: int, y: int, z: int) -> None:
            nonlocal started
            set_grid_idx(x, y, z)
            callback(started, max(_total, started + 1))
            started += 1

        return start_program

    _restart = restart
    try:
        with wrap_interpreter(set_grid_idx=counted):
            yield
            if started:
                callback(started, max(_total, started))
    finally:
        _restart = None
