"""How much work a call is, counted instead of timed: the same on a busy machine and on an idle one.

Lines that Python runs, loops and everything that is called included, bound the work of the
interpreter; the most bytes held at once bound what each of them can do to an array.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable


def effort(call: Callable[[], object]) -> tuple[int, int]:
    """(lines of Python that ``call()`` ran, most bytes that it held at once)."""
    lines, before = 0, sys.gettrace()

    def count(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return count

    tracemalloc.start()
    sys.settrace(count)
    try:
        call()
    finally:
        sys.settrace(before)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return lines, most


def assert_light(call: Callable[[], object], lines: int, most_bytes: int) -> None:
    """``call()`` takes at most so many lines and bytes."""
    found = effort(call)
    assert found[0] <= lines and found[1] <= most_bytes, f"{found[0]:,} lines, {found[1]:,} bytes"
