"""Memory that a large answer took is the machine's again when the answer is sent."""

from __future__ import annotations

import ctypes
import threading

THRESHOLD = -3  # M_MMAP_THRESHOLD of glibc's malloc.h
LARGE = 256 << 10  # bytes
TRIM_S = 30.0  # between two looks at what lies free among small blocks


def give_back() -> None:
    """Blocks of 256 KiB and more come from the system one by one, and go back to it when freed.

    glibc raises that bound to the largest block freed so far, up to 32 MiB; the next ones then lie
    among small ones that stay, and a storm of large answers leaves a hundred MiB behind. Does
    nothing where the C library is another one.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_trim"):
        return
    libc.mallopt(THRESHOLD, LARGE)

    def trim() -> None:
        while not over.wait(TRIM_S):
            libc.malloc_trim(0)  # whole pages that a crowd left free; takes milliseconds

    over = threading.Event()
    threading.Thread(target=trim, daemon=True, name="heap").start()
