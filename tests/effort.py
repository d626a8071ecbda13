"""How much work a call is, counted instead of timed: the same on a busy machine and on an idle one.

Lines that Python runs, loops and everything that is called included, bound the work of the
interpreter; the most bytes held at once bound what each of them can do to an array.
"""

import sys
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def effort(call: Callable[[], T]) -> tuple[int, int, T]:
    """(lines of Python that ``call()`` ran, most bytes that it held at once, what it gave)."""
    lines, before = 0, sys.gettrace()

    def count(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return count

    tracemalloc.start()
    sys.settrace(count)
    try:
        result = call()
    finally:
        sys.settrace(before)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return lines, most, result


def assert_light(call: Callable[[], T], lines: int, most_bytes: int) -> T:
    """What ``call()`` gives; it may take so many lines and bytes."""
    ran, held, result = effort(call)
    assert ran <= lines and held <= most_bytes, f"{ran:,} lines, {held:,} bytes"
    return result
