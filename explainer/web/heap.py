"""Return the memory of large responses to the system once they are sent."""

import ctypes
import os
import threading

THRESHOLD = -3  # M_MMAP_THRESHOLD of glibc's malloc.h
LARGE = 256 << 10  # bytes
TRIM_S = 30.0  # between two searches for free pages among small blocks


def return_freed_memory() -> None:
    """Make glibc map blocks of 256 KiB and more one by one, so that freeing returns them.

    glibc raises that bound to the largest block freed so far, up to 32 MiB; the next ones then lie
    among small ones that stay, and many large responses leave a hundred MiB behind. Does nothing
    with another C library.
    """
    libc = ctypes.CDLL(None) if os.name == "posix" else None
    if libc is None or not hasattr(libc, "malloc_trim"):
        return
    libc.mallopt(THRESHOLD, LARGE)

    def trim() -> None:
        while not never.wait(TRIM_S):
            libc.malloc_trim(0)  # whole free pages among small blocks; takes milliseconds

    never = threading.Event()
    threading.Thread(target=trim, daemon=True, name="heap").start()
